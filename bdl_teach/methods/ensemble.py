"""Deep ensembles: one network fitted from several starts, whose spread is the uncertainty.

Each member minimises −log P(D | w) − log P(w). The spread of the members is that of the minima of
the loss, not that of a posterior: if there is only one minimum, all members end in it. Unlike in
the paper, the noise is known or one number a member, and there are no adversarial examples.

In an *anchored* ensemble member k has its own prior mean a_k and its own noise ε_k on the targets,

    w_k = argmin Σ (y + ε_k − f_w(x))²/(2 noise²) + ‖w − a_k‖²/(2 σ²),   a_k ~ N(0, σ² I),
    ε_k ~ N(0, noise²).

For a linear f = x·w each member is then a draw from the exact posterior, whose covariance is Λ⁻¹
with Λ = I/σ² + xᵀx/noise²; for a network nothing of this is exact. Without noise on the targets, as
in Pearce et al., the covariance is Λ⁻¹ Λ⁻¹/σ², which is too narrow. Labels get no noise.

Source: Lakshminarayanan, Pritzel & Blundell 2017, algorithm 1; Pearce, Leibfried, Brintrup, Zaki &
Neely 2020 for anchors; Osband, Aslanides & Cassirer 2018, section 3, for the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.densities import Gaussian, HalfNormal, Prior, as_prior
from bdl_teach.methods import _loop, point
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._settings import LearntNoise, Training, taking


@dataclass(frozen=True, kw_only=True)
class Settings(LearntNoise, Training):
    """Settings of an ensemble, in addition to those of every method.

    Attributes:
        n_members: Number of networks.
        prior: Prior of each weight, for MAP; MLE if not given.
        anchored: Give each member its own draw from the prior as prior mean and, with the Gaussian
            likelihood, its own noise on the targets. Needs a ``prior``, which is replaced by a
            Gaussian of the same standard deviation, and a known noise.
        steps: Adam steps of each member.
        seed: Member k = 0, 1, ... has the seed ``seed + 10⁶ k``; unless anchored, it is the network
            that ``point.fit`` returns for that seed.
    """

    n_members: int = 10
    prior: Prior | None = None
    anchored: bool = False


@taking(Settings, warns=True)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit several networks, each from its own start: MLE, or MAP when a ``prior`` is given."""
    o, prior = settings, settings.prior
    if o.anchored:
        if prior is None:
            raise ValueError("prior: expected a prior to draw the anchors from, got None")
        prior = Gaussian(as_prior("prior", prior).std)
        if isinstance(o.noise_std, HalfNormal):
            raise ValueError(f"noise_std: expected a number with anchors, got {o.noise_std!r}")
    plan = _loop.lay_out(x, y, o, prior)
    seeds = optimise.start_seeds(o.seed, checks.count("n_members", o.n_members))
    anchors = np.zeros((len(seeds), plan.network.n_weights))
    if o.anchored and prior is not None:
        anchors = prior.std * _draws(seeds, plan.network.n_weights, 0xA2C)

    def member(seed: int) -> point.Fit:
        own = point.with_prior(plan, prior is not None, anchors[seeds.index(seed)])
        if o.anchored and o.likelihood == "gaussian":
            noise = (
                cast("float", plan.settings.noise_std)
                * _draws([seed], len(plan.problem.x), 0xDA7A).T
            )
            own = own.given(y=_loop.chunks(plan.problem.y + noise, plan.capacity))
        return point.train(own, seed)

    members = optimise.side_by_side(member, seeds)
    first, paths = members[0], [one.path for one in members if one.path is not None]
    costs = {
        name: np.mean([one.history[name] for one in members], axis=0) for name in first.history
    }
    path = None
    if paths and sum(one.parameters[0].size for one in paths) <= optimise.MOST_NUMBERS:
        every = zip(*(one.parameters for one in paths), strict=True)
        stacked = [np.stack(one, axis=1) for one in every]  # [frames, k, n_weights], [frames, k, 1]
        records = np.mean([one.records for one in paths], axis=0)
        path = optimise.Path(paths[0].steps, records, stacked)
    shared = {**vars(first), "history": {**costs, "step": first.history["step"]}, "path": path}
    shared["weights"] = np.stack([one.weights for one in members])
    if shared.pop("noise_prior"):
        shared |= _noises(np.array([one.noise_std for one in members]))
    return Fit(**shared, anchors=anchors)


def _noises(std: Array) -> dict[str, Any]:
    """Return the fields of a fit whose members have learnt these σ ``[k]``."""
    return {"noise_std": float(std.mean()), "members_noise_std": std}


def _draws(seeds: Sequence[int], n: int, stream: int) -> Array:
    """Draw standard normal numbers ``[members, n]``; the pair (seed, ``stream``) seeds a row."""
    return np.stack([np.random.default_rng([seed, stream]).standard_normal(n) for seed in seeds])


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(NetworkFit):
    """The members of an ensemble; the predictive is their mixture with equal weights.

    Attributes:
        weights: Weights of each member ``[k, n_weights]``, in the order of ``network``.
        anchors: Prior mean of each member ``[k, n_weights]``: a draw from the prior, or 0.
        history: ``step``, ``loss``, ``prior_cost`` and ``likelihood_cost`` in nats, averaged over
            the members.
        members_noise_std: σ of each member ``[k]``, if they have learnt it.
    """

    weights: Array
    anchors: Array
    members_noise_std: Array | None = None

    @property
    def noise_draws(self) -> Array | None:
        """Return σ of each member ``[k]``, where they have learnt it."""
        return self.members_noise_std

    def _draw(self, n_samples: int, seed: int) -> Array:
        return self.weights

    def _noise(self, n_samples: int, seed: int) -> float | Array:
        return self.noise_std if self.members_noise_std is None else self.members_noise_std

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        learnt = _noises(np.exp(parameters[1][:, 0])) if len(parameters) > 1 else {}
        return {"weights": parameters[0], **learnt}
