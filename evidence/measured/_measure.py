"""What experiments share: what they keep of a fit, and figures of it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.methods import exact
from bdl_teach.predictive import Predictive
from bdl_teach.problems import truth

X = np.linspace(-1, 1, 201)[:, None]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What an experiment keeps of a fit to points of the sine."""

    prediction: Predictive  # at m inputs
    x: Array  # the inputs [m, 1]
    regions: Mapping[str, Array]  # masks of them [m], by name
    new: Array | None = None  # new targets there [k, m], if the experiment scores them
    numbers: Mapping[str, float] = field(default_factory=dict)  # what the fit itself tells

    @property
    def off(self) -> Array:
        """Return the predicted mean minus the sine ``[m]``, in units of y."""
        return np.asarray(self.prediction.mean - truth(self.x))

    @property
    def is_held(self) -> Array:
        """Return whether the sine lies inside ±2 epistemic sd, at each input ``[m]``."""
        return np.asarray(np.abs(self.off) < 2 * self.prediction.epistemic_std)

    def sd(self, region: str) -> float:
        """Return the mean epistemic sd in a region, in units of y."""
        return spread(self.prediction, self.regions[region])


Found = Mapping[str, Trained]  # by the names that figures begin with


def halves(x: Array) -> dict[str, Array]:
    """Return masks of inputs x [m, 1] "among" the data of the sinusoid, |x| ≤ ½, and "outside"."""
    among = np.abs(x[:, 0]) <= 0.5
    return {"among": among, "outside": ~among}


def new_targets(x: Array, seed: int, n: int = 20, noise_std: float = 1.0) -> Array:
    """Draw n noisy targets of the sine at each of the inputs x [m, 1]: ``[n, m]``."""
    noise = np.random.default_rng(seed).standard_normal((n, len(x)))
    return np.asarray(truth(x) + noise_std * noise)


def predicted(
    fits: Mapping[str, Any],
    x: Array,
    regions: Mapping[str, Array],
    new: Array | None = None,
    *,
    energies: Collection[str] = (),
    **draws: Any,
) -> dict[str, Trained]:
    """Keep the predictions of fits at x [m, 1], and as "F" the free energies of those named."""
    return {
        name: Trained(
            prediction=fit.predict(x, **draws),
            x=x,
            regions=regions,
            new=new,
            numbers={"F": fit.free_energy} if name in energies else {},
        )
        for name, fit in fits.items()
    }


def figures(found: Found) -> dict[str, float]:
    """Return what is measured of every fit: ``{name}-{number}`` and ``{name}-{region}-{figure}``.

    ``noise`` is the mean noise sd. In a region, ``sd`` is the mean epistemic sd, ``error`` the rms
    error and ``bias`` the mean error of the predicted mean, ``held`` the share where the sine lies
    inside ±2 epistemic sd, and ``score`` the mean log density of the new targets (nats a point).
    """
    told: dict[str, float] = {}
    for name, one in found.items():
        told |= {f"{name}-{what}": value for what, value in one.numbers.items()}
        told[f"{name}-noise"] = float(one.prediction.aleatoric_std.mean())
        for region, mask in one.regions.items():
            told[f"{name}-{region}-sd"] = one.sd(region)
            told[f"{name}-{region}-error"] = rms(one.off[mask])
            told[f"{name}-{region}-bias"] = float(one.off[mask].mean())
            told[f"{name}-{region}-held"] = mean(one.is_held[mask])
            if one.new is not None:
                told[f"{name}-{region}-score"] = float(log_score(one)[mask].mean())
    return told


def log_score(one: Trained) -> Array:
    """Return the mean log predictive density of the new targets, in nats at each input ``[m]``."""
    assert one.new is not None
    return np.asarray(np.mean([one.prediction.log_prob(y) for y in one.new], axis=0))


def spread(prediction: Predictive, where: Array) -> float:
    """Return the mean epistemic sd at the inputs ``where`` [m] is true, in units of y."""
    return float(prediction.epistemic_std[where].mean())


def rms(values: Array) -> float:
    """Return the root mean square of an array."""
    return float(np.sqrt(np.mean(np.square(values))))


def mean(values: Iterable[float]) -> float:
    """Return the mean of some numbers, or the share of those that are true."""
    return float(np.mean(list(values)))


def nuts_until_converged(x: Array, y: Array, **settings: Any) -> exact.NutsFit:
    """Run NUTS with 1, 2, 4, 8 times the transitions; return the first converged or last run."""
    for thin in (1, 2, 4, 8):
        fit = exact.nuts(x, y, n_thin=thin, **settings)
        if fit.converged:
            break
    return fit
