"""Find the mean-field posterior of lowest free energy: many starts, side by side in one program.

With one hidden layer and y ~ Gaussian the quiet estimator has no noise, so that F can be followed
down to a minimum. Which minimum depends on the start, and mostly on the hidden units that are in
use. So there are starts of three kinds:

- drawn: small random weights, σ = 0.31;
- modes: random weights, moved by MAP to a mode of the posterior, σ = 0.1 there;
- few units: of many networks with at most four hidden units, whose kinks begin among the data and
  which are fitted first (MAP, then mean field), those of lowest F; all further units begin unused.

Modes are those under the prior's wide component: a spike at 0 would have its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import expected_log_prob
from bdl_teach.methods import _loop, _mean_field, _rao_blackwell
from bdl_teach.methods._loop import Block, Capacity, Costs, LoopInputs, Plan
from bdl_teach.methods._mean_field import RECORD, REMEDY, Again, Settings
from bdl_teach.mlp import MLP

WIDE, NARROW = 0.31, 0.1  # σ of each weight at a drawn start, and at a mode
NOISES = np.array([1.0, 0.3, 0.1, 0.05])  # σ of starts that learn it, in sds of y, by turns
FEW, CANDIDATES = 4, 64  # hidden units of a small network, and number of small networks
BETA2 = 0.99
_FEW, _PARTS = 8, 8  # records of the small networks' training; programs that a training runs in
# Settings that starts side by side have no use for: only their defaults are taken.
UNUSED = ("initial", "start_scale", "initial_rho", "cooldown", "n_samples", "n_batches")
N_LEADERS = 4  # starts of lowest F, whose training can be continued
ARRIVED = 0.5  # nats by which more training may lower the F of a fit that has converged


def _at_mode(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return −log P(w) − log P(D | w) of a block at w = μ, under the prior's wide component."""
    wide = p.prior_terms._replace(heights=tf.zeros_like(p.prior_terms.heights))
    w, none = theta[0] * p.unit_mask, tf.zeros_like(theta[0])
    given = (block.y, *_rao_blackwell.output_moments(network, w, none, block.zeta, block.x, kind))
    cost = likelihoods.expected_cost(kind, *given, p.noise_std, block.row_weight)
    log_prior = expected_log_prob(w, none, wide) * p.unit_mask
    return _loop.costs(-tf.reduce_sum(log_prior, axis=-1), cost, block, p)


@lru_cache(maxsize=16)
def _programs(network: MLP, kind: str, n_modes: int, n_records: int) -> tuple[Compiled, Compiled]:
    """Compile Adam on (μ, ρ) ``[k, n_weights]`` of k starts: its beginning, and some of its steps.

    The last ``n_modes`` starts begin by MAP. No two programs run at once: between short ones, the
    quick fit of another thread has its turn.
    """

    def objective(costs: Callable[..., Costs], inputs: LoopInputs) -> optimise.Objective:
        given = partial(costs, network, kind)
        return lambda theta, step, i: _loop.with_noise(
            given, theta, _loop.make_block(step, i, inputs), inputs
        )

    def begin(
        theta: list[Tensor], schedule: optimise.Schedule, n_blocks: Tensor, inputs: LoopInputs
    ) -> Tensor:
        if n_modes:
            to_mode = optimise.schedule(300, 0.05, 1.0)
            fixed, last = inputs, [theta[0][-n_modes:]]
            if tf.is_tensor(inputs.noise_prior):  # to a mode with the σ that a start begins with
                std = tf.exp(theta[2][-n_modes:])[..., None]
                fixed = inputs._replace(noise_std=std, noise_prior=())
            w = objective(_at_mode, fixed)
            (w,) = optimise.adam(w, last, to_mode, n_blocks=n_blocks, n_records=1).parameters
            theta = [tf.concat([theta[0][:-n_modes], w], axis=0), *theta[1:]]
        free_energy, keep_path = objective(_rao_blackwell.free_energy, inputs), n_records > _FEW
        return optimise.begin(
            free_energy, theta, schedule, n_records=n_records, keep_path=keep_path
        )

    def advance(
        run: optimise.Run,
        until: Tensor,
        schedule: optimise.Schedule,
        n_blocks: Tensor,
        inputs: LoopInputs,
    ) -> Tensor:
        free_energy = objective(_rao_blackwell.free_energy, inputs)
        return optimise.advance(free_energy, run, until, schedule, n_blocks=n_blocks, beta2=BETA2)

    return Compiled(begin), Compiled(advance)


def fit(x: ArrayLike, y: ArrayLike, o: Settings, few: int = FEW) -> Fit:
    """Train all starts at once, and return the fit of lowest free energy.

    ``few`` is the largest number of hidden units of the small networks.
    """
    for name in UNUSED:
        value, default = getattr(o, name), getattr(Settings, name)
        if value is not default and not (np.isscalar(value) and value == default):
            raise ValueError(f"{name}: expected {default} with side_by_side, got {value!r}")
    noise = _rao_blackwell.noise(o.likelihood)
    plan, starts = _mean_field.prepare(x, y, o, **noise), checks.count("starts", o.starts)
    rng = np.random.default_rng(plan.problem.seed)
    n_few = starts // 2 if len(plan.network.hidden_units) == 1 else 0
    n_modes = (starts - n_few) // 2
    small = _few_units(plan, o, rng, n_few, few) if n_few else ()
    mean = _scale(plan.network) * rng.standard_normal((starts - n_few, plan.network.n_weights))
    std = np.full(mean.shape, WIDE)
    std[len(std) - n_modes :] = NARROW
    parts = zip(*small, (mean, std, _noises(plan, len(mean))), strict=True)
    return _trained(plan, [np.concatenate(part) for part in parts], n_modes)


def _noises(plan: Plan, n: int) -> Array:
    """Return σ that n starts begin with ``[n]``: from the sd of y down to a twentieth of it."""
    return float(plan.inputs.noise_std) * NOISES[np.arange(n) % len(NOISES)]


def _scale(network: MLP) -> Array:
    """Return the sd of each random weight: √(2/inputs of its layer) (He et al. 2015)."""
    return np.sqrt(2.0 / network.fan_in)


def _few_units(plan: Plan, o: Settings, rng: np.random.Generator, n_few: int, few: int) -> Any:
    """Fit small networks; return [(means, sds, σ)] of the best, an entry for each of ``n_few``.

    The kink of each hidden unit begins at a random place between two data points. All further units
    are unused: their output weight is 0, and their inputs' weights are as wide as the prior.
    """
    (width,), data, n = plan.network.hidden_units, plan.problem.x, max(CANDIDATES, n_few)
    room = Capacity(plan.capacity.n, (few,), 1, plan.capacity.chunk)
    steps = max(1, 4 * o.steps // 5)
    small = replace(o, hidden_units=(min(few, width),), capacity=room, steps=steps)
    noise = _rao_blackwell.noise(o.likelihood)
    small_plan = _mean_field.prepare(data, plan.problem.y, small, **noise)
    network = small_plan.network
    used = network.positions_in(plan.network)
    w = _scale(plan.network)[used] * rng.standard_normal((n, len(used)))
    w[::2] *= 2.0
    first, second = data[rng.integers(len(data), size=(2, n, *network.hidden_units))]
    place = first + rng.random((*first.shape[:2], 1)) * (second - first)  # [n, units, d]
    weight, bias, *rest = network.split(w)
    bias[..., 0] = -(weight * place).sum(axis=-1)
    w = np.concatenate([part.reshape(n, -1) for part in (weight, bias, *rest)], axis=1)
    noise_std = _noises(small_plan, n)
    trace = _run(small_plan, w, np.full(w.shape, NARROW), noise_std, n, _FEW)
    cost = trace.records.numpy()[-1, 0]
    best = np.argsort(cost)[:n_few]  # NaN comes last
    mean, std = np.zeros((2, n_few, plan.network.n_weights))
    std[:] = NARROW
    std[:, : -width - 1] = plan.problem.prior.std
    inner = network.positions_in(small_plan.padded)
    mean[:, used], rho = (p.numpy()[best][:, inner] for p in trace.parameters[:2])
    std[:, used] = np.logaddexp(0.0, np.nan_to_num(rho))
    for log_std in trace.parameters[2:]:
        noise_std = np.exp(log_std.numpy()[:, 0])
    return [(mean, std, noise_std[best])]


def _run(
    plan: Plan, mean: Array, std: Array, noise_std: Array, n_modes: int, n_records: int
) -> optimise.Trace:
    """Train from (means, sds), each ``[k, n_weights]``; the trace has an entry for each start.

    ``noise_std`` [k] is where a learnt noise begins.
    """
    begin, advance = _programs(plan.padded, plan.settings.likelihood, n_modes, n_records)
    theta = [plan.embed(mean), plan.embed(_loop.inverse_softplus(std))]
    if plan.problem.noise_prior:
        theta.append(as_float(np.log(noise_std)[:, None]))
    schedule = optimise.schedule(plan.settings.steps, plan.settings.learning_rate, 1.0)
    n_blocks = None if plan.capacity.chunk is None else plan.inputs.n_chunks
    run = begin(theta, schedule, n_blocks, plan.inputs)
    n_pauses, parts = len(run.pauses), min(_PARTS, n_records)
    for k in range(parts):
        until = tf.constant(n_pauses - n_records * (parts - 1 - k) // parts)
        run = advance(run, until, schedule, n_blocks, plan.inputs)
    return optimise.finish(run)


def _trained(plan: Plan, start: Sequence[Array], n_modes: int) -> Fit:
    """Train from (means, sds, σ) as in :func:`_run`; return the fit of lowest free energy."""
    mean, std, noise_std = start
    trace = _run(plan, mean, std, noise_std, n_modes, 100)
    used = plan.network.positions_in(plan.padded)
    mean, rho = (p.numpy()[:, used].astype(np.float64) for p in trace.parameters[:2])
    shared = [plan.shared] * len(mean)
    if plan.problem.noise_prior:
        shared = [plan.shared | _loop.noise_of(one) for one in trace.parameters[2].numpy()]
    finite = np.isfinite(mean + rho).all(axis=-1)
    std, energies = (
        np.logaddexp(0.0, np.where(finite[:, None], rho, 0.0)),
        np.full(len(mean), np.inf),
    )
    if not finite.any():
        raise DivergedError(plan.settings.steps, REMEDY)
    energies[finite] = [
        _mean_field.Fit(
            mean=mean[k], std=std[k], problem=plan.problem, history={}, **shared[k]
        ).free_energy
        for k in np.flatnonzero(finite)
    ]
    order = np.argsort(energies)
    best = int(order[0])
    _, fields = plan.train(lambda *_: _alone(trace, best), [], 1.0, RECORD)
    return Fit(
        mean=mean[best],
        std=std[best],
        problem=plan.problem,
        starts_free_energy=energies,
        leaders={int(k): (mean[k], std[k], shared[k]["noise_std"]) for k in order[:N_LEADERS]},
        **fields,
    )


def _alone(trace: optimise.Trace, k: int) -> optimise.Trace:
    """Return what the trace of all starts holds of start number ``k``."""
    path = trace.path and trace.path._replace(
        records=trace.path.records[..., k], parameters=[p[:, k] for p in trace.path.parameters]
    )
    parameters = [p[k] for p in trace.parameters]
    return trace._replace(parameters=parameters, records=trace.records[..., k], path=path)


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(_mean_field.Fit):
    """The fit of lowest free energy of many starts.

    Attributes:
        starts_free_energy: F of each start in nats ``[starts]``, exact where ``exact`` says so.
        leaders: Number of each of the best starts, and its (mean, std, σ), the lowest F first.
        gain: Nats by which the last :meth:`refined` or :meth:`again` lowered F; infinite before.
    """

    starts_free_energy: Array
    leaders: dict[int, tuple[Array, Array, float]] = field(repr=False)
    gain: float = math.inf

    def refined(self, steps: int = 2000, learning_rate: float | None = None) -> Self:
        """Return the lowest fit after further training of the ``leaders``; none gets worse.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: First Adam step size, > 0; 0.1 if not given.

        Returns:
            A fit whose ``gain`` says by how many nats F has fallen; if it is large, F still falls.

        Raises:
            ValueError: An argument is out of range.
        """
        rate = self._rates[self.likelihood][0] if learning_rate is None else learning_rate
        o = Again(**self._same_problem, steps=steps, learning_rate=rate)
        noise = _rao_blackwell.noise(self.likelihood)
        plan = _mean_field.prepare(self.problem.x, self.problem.y, o, **noise)
        begin = [np.array(part) for part in zip(*self.leaders.values(), strict=True)]
        found = _trained(plan, begin, n_modes=0)
        energies, leaders = self.starts_free_energy.copy(), dict(self.leaders)
        for k, number in enumerate(self.leaders):
            if found.starts_free_energy[k] < energies[number]:
                energies[number] = found.starts_free_energy[k]
                leaders[number] = found.leaders[k]
        return self._or(found, energies, leaders)

    def again(self, starts: int = 16, steps: int = 1000) -> Self:
        """Return the lowest fit after another search, from new starts that join the old ones.

        Its small networks have up to eight hidden units, which little noise on y asks for.

        Args:
            starts: Number of new starts.
            steps: Adam steps, at a rate that falls linearly to 0.

        Returns:
            A fit whose ``gain`` says by how many nats F has fallen.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: All new starts became NaN or infinite.
        """
        n, o = len(self.starts_free_energy), Again(**self._same_problem, steps=steps)
        o = replace(o, starts=starts, learning_rate=self._rates[self.likelihood][0])
        seed = optimise.start_seeds(self.problem.seed, n + 1)[n]
        found = fit(self.problem.x, self.problem.y, replace(o, seed=seed), 2 * FEW)
        energies = np.append(self.starts_free_energy, found.starts_free_energy)
        new = {n + number: start for number, start in found.leaders.items()}
        return self._or(found, energies, {**self.leaders, **new})

    def _or(self, found: Fit, energies: Array, leaders: dict[int, Any]) -> Self:
        """Return the lower of this fit and ``found``, with the best of the ``leaders``."""
        gain = max(0.0, self.free_energy - found.free_energy)
        order = sorted(leaders, key=lambda number: energies[number])[:N_LEADERS]
        best = {number: leaders[number] for number in order}
        lower = found if gain > 0.0 else self
        return cast("Self", replace(lower, starts_free_energy=energies, leaders=best, gain=gain))

    @cached_property
    def converged(self) -> bool:
        """Return whether 1000 more steps of the best starts lower F by less than 0.5 nats.

        That no other start leads lower is more than this can say. Where F is not ``exact``, the
        word means what it means for other mean-field fits.
        """
        if not self.exact:
            return super().converged
        return self.refined(1000).gain < ARRIVED
