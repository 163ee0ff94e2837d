"""NUTS on ever wider networks, compared with the Gaussian process that is their limit (chapter 8).

If every weight of a ReLU network of n units has the prior sd 3 (20/n)^¼, prior functions vary as
much as those of 20 units with weights N(0, 3²), apart from the output bias, whose sd falls as n
grows. Therefore each width is compared with a Gaussian process that has the same bias.

``sine`` is the course's data, which are improbable under this prior; ``own`` has the same inputs
with a draw of the process plus noise as targets.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, predictive
from bdl_teach._support.checks import Array
from bdl_teach.claims import Figures, World
from bdl_teach.densities import Gaussian
from bdl_teach.methods import exact, infinite_width
from bdl_teach.predictive import Predictive
from evidence.claim import Trial
from evidence.measured._measure import rms

X = np.linspace(-0.7, 0.7, 71)[:, None]
PRIOR_STD, UNITS, POINTS = 3.0, 20, 16
WIDTHS = (10, 100, 1000)
CHAINS: dict[str, Any] = {"n_chains": 4, "n_warmup": 150, "n_samples": 200}


class Chains(NamedTuple):
    """NUTS at one width, and its limit."""

    limit: Predictive  # of the Gaussian process on X
    outputs: Array  # of the networks on X [chains, draws, m]
    r_hat: float  # the largest


def relative(width: int) -> dict[str, Any]:
    """Return arguments of a fit: ``width`` hidden units, and the prior with sd 3 (20/width)^¼."""
    return {"prior": Gaussian(PRIOR_STD * (UNITS / width) ** 0.25), "hidden_units": (width,)}


def at_width(x: Array, y: Array, seed: int, width: int) -> Chains:
    """Run NUTS on a network of this width, and fit its limit."""
    model = relative(width)
    limit = infinite_width.fit(x, y, **model).predict(X)
    chains = exact.nuts(x, y, seed=seed, **CHAINS, **model)
    f = [predictive.evaluate_weights(chains.network, w, X) for w in chains.weights]
    return Chains(limit, np.stack(f), float(chains.r_hat.max()))


def at_three_widths(world: World) -> dict[str, Chains]:
    """Run NUTS at three widths on two data sets: ``{data}-{width}``."""
    data = datasets.sinusoid(n=POINTS, noise_std=1.0, seed=world.data_seed)
    covariance = infinite_width.kernel(data.x, **relative(WIDTHS[-1])) + np.eye(POINTS)  # noise: 1
    own = np.random.default_rng(world.seed(2)).multivariate_normal(np.zeros(POINTS), covariance)
    return {
        f"{name}-{width}": at_width(data.x, y, world.start_seed, width)
        for name, y in (("sine", data.y), ("own", own))
        for width in WIDTHS
    }


def beside_the_process(found: Mapping[str, Chains]) -> dict[str, float]:
    """Return two distances of NUTS from the Gaussian process, with their standard errors.

    ``mean``: rms over ``X`` of the difference of the means, in sds of the process; ``sd``: rms
    difference of log sd. ``mean-error`` and ``sd-error`` come from differences between chains.
    """
    figures = {}
    for key, (limit, f, r_hat) in found.items():
        off = (f.mean(axis=1) - limit.mean) / limit.epistemic_std  # [chains, m]
        wider = np.log(f.std(axis=1) / limit.epistemic_std)
        figures[f"{key}-r-hat"] = r_hat
        for name, each in (("mean", off), ("sd", wider)):
            figures[f"{key}-{name}"] = rms(each.mean(axis=0))
            figures[f"{key}-{name}-error"] = rms(each.std(axis=0, ddof=1)) / len(each) ** 0.5
    beyond = beyond_chance(figures, "own-1000-mean") + beyond_chance(figures, "own-1000-sd")
    return {**figures, "own-1000-beyond-chance": beyond}


def beyond_chance(f: Figures, key: str) -> float:
    """Return distance² − (standard error)² for ``key``: 0 on average for equal distributions."""
    return f[key] ** 2 - f[f"{key}-error"] ** 2


wide_networks = Trial(at_three_widths, beside_the_process)
