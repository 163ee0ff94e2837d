"""NUTS on ever wider networks, compared with the Gaussian process that is their limit (chapter 8).

If every weight of a ReLU network of n units has the prior sd 3 (20/n)^¼, prior functions vary as
much as those of 20 units with weights N(0, 3²), apart from the output bias, whose sd falls as n
grows. Therefore each width is compared with a Gaussian process that has the same bias.

``sine`` is the course's data, which are improbable under this prior; ``own`` has the same inputs
with a draw of the process plus noise as targets.
"""

from typing import Any

import numpy as np

from bdl_teach import datasets, predictive
from bdl_teach._support.checks import Array
from bdl_teach.claims import Figures, World
from bdl_teach.densities import Gaussian
from bdl_teach.methods import exact, infinite_width
from evidence.measured._measure import rms

X = np.linspace(-0.7, 0.7, 71)[:, None]
PRIOR_STD, UNITS, POINTS = 3.0, 20, 16
WIDTHS = (10, 100, 1000)
CHAINS: dict[str, Any] = {"n_chains": 4, "n_warmup": 150, "n_samples": 200}


def relative(width: int) -> dict[str, Any]:
    """Return arguments of a fit: ``width`` hidden units, and the prior with sd 3 (20/width)^¼."""
    return {"prior": Gaussian(PRIOR_STD * (UNITS / width) ** 0.25), "hidden_units": (width,)}


def beside_the_process(x: Array, y: Array, seed: int, width: int) -> dict[str, float]:
    """Return two distances of NUTS from the Gaussian process, with their standard errors.

    ``mean``: rms over ``X`` of the difference of the means, in sds of the process; ``sd``: rms
    difference of log sd. ``mean-error`` and ``sd-error`` come from differences between chains.
    """
    model = relative(width)
    limit = infinite_width.fit(x, y, **model).predict(X)
    chains = exact.nuts(x, y, seed=seed, **CHAINS, **model)
    f = np.stack([predictive.evaluate_weights(chains.network, w, X) for w in chains.weights])
    mean = (f.mean(axis=1) - limit.mean) / limit.epistemic_std  # [chains, m]
    sd = np.log(f.std(axis=1) / limit.epistemic_std)
    figures = {"r-hat": float(chains.r_hat.max())}
    for name, each in (("mean", mean), ("sd", sd)):
        figures[name] = rms(each.mean(axis=0))
        figures[f"{name}-error"] = rms(each.std(axis=0, ddof=1)) / len(each) ** 0.5
    return figures


def wide_networks(world: World) -> dict[str, float]:
    """Return how far NUTS at three widths is from the Gaussian process, on two data sets."""
    data = datasets.sinusoid(n=POINTS, noise_std=1.0, seed=world.data_seed)
    covariance = infinite_width.kernel(data.x, **relative(WIDTHS[-1])) + np.eye(POINTS)  # noise: 1
    own = np.random.default_rng(world.seed(2)).multivariate_normal(np.zeros(POINTS), covariance)
    figures = {
        f"{name}-{width}-{figure}": value
        for name, y in (("sine", data.y), ("own", own))
        for width in WIDTHS
        for figure, value in beside_the_process(data.x, y, world.start_seed, width).items()
    }
    beyond = beyond_chance(figures, "own-1000-mean") + beyond_chance(figures, "own-1000-sd")
    return {**figures, "own-1000-beyond-chance": beyond}


def beyond_chance(f: Figures, key: str) -> float:
    """Return distance² − (standard error)² for ``key``: 0 on average for equal distributions."""
    return f[key] ** 2 - f[f"{key}-error"] ** 2
