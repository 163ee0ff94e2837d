"""The loop of the mean-field methods: what a step sees, what it costs, and Adam round it.

Everything here runs while a compiled function is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bdl_teach import elbo, optimise
from bdl_teach.backend import tf

STRIDE = 97  # distance in a table of noise between two draws of one step


class Problem(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Any  # [chunks, rows, d]
    y: Any  # [chunks, rows, 1]
    row_weight: Any  # [chunks, rows, 1]: 1 for a data point, 0 for padding
    unit_mask: Any  # [n_weights]: 1 for a weight, 0 for padding
    eps: Any  # [table, n_weights]: draw s of step t is row (t + 97 s) mod table
    zeta: Any  # [table, chunks, units, rows]: noise of each data point; () where it has none
    n_samples: Any  # S
    n_chunks: Any  # chunks that hold data points
    prior: Any  # [3]: σ₁, σ₂, π
    noise_std: Any
    kl_weight: Any
    kl_shares: Any  # [slots]: π_i of each minibatch
    n_batches: Any


class Block(NamedTuple):
    """What one block of a step sees: one draw, and one chunk of the data points."""

    x: Any  # [rows, d]
    y: Any  # [rows, 1]
    row_weight: Any  # [rows, 1]: 1 for a data point of this step's minibatch
    kl_share: Any  # π of the minibatch
    eps: Any  # [n_weights]
    zeta: Any  # [units, rows], or ()


def run(objective: Callable[..., Any]) -> Callable[..., Any]:
    """Make the function that a method compiles: ``objective(theta, block, problem)`` by Adam."""

    def loop(mu: Any, rho: Any, schedule: Any, n_blocks: Any, problem: Problem) -> Any:
        return optimise.adam(
            lambda theta, step, i: objective(theta, make_block(step, i, problem), problem),
            [mu, rho + tf.zeros_like(mu)],
            schedule,
            n_blocks=n_blocks,
        )

    return loop


def make_block(step: Any, i: Any, p: Problem) -> Block:
    """Gather what block ``i`` of a step sees.

    With tf.gather throughout: indexing would make XLA compile anew for each value of an argument.
    """
    draw, chunk = i // p.n_chunks, i % p.n_chunks
    batch, row = step % p.n_batches, step + STRIDE * draw
    x, y, row_weight = (tf.gather(values, chunk) for values in (p.x, p.y, p.row_weight))
    eps = tf.gather(p.eps, row % p.eps.shape[0])
    zeta = p.zeta
    if tf.is_tensor(zeta):
        zeta = tf.gather(tf.gather(zeta, row % zeta.shape[0]), chunk)
    point = chunk * x.shape[0] + tf.range(x.shape[0])[:, None]
    in_batch = tf.cast(point % p.n_batches == batch, tf.float32)
    return Block(x, y, row_weight * in_batch, tf.gather(p.kl_shares, batch), eps, zeta)


def costs(complexity: Any, f: Any, block: Block, p: Problem) -> tuple[Any, Any]:
    """Return one block's share of a step's free energy, and of what is recorded of it.

    Args:
        complexity: The whole KL, or an estimate of it, in nats.
        f: Outputs of the network at the block's data points ``[rows, 1]``.
        block: The block.
        p: The problem.

    Source: Blundell et al. 2015, eq. 2 with the factor 1/S, and eq. 8 for minibatches.
    """
    n_samples, n_chunks = tf.cast(p.n_samples, tf.float32), tf.cast(p.n_chunks, tf.float32)
    complexity = complexity / (n_samples * n_chunks)
    likelihood = elbo.likelihood_cost(block.y, f, p.noise_std, block.row_weight) / n_samples
    loss = elbo.free_energy(complexity, likelihood, p.kl_weight * block.kl_share)
    whole = likelihood * tf.cast(p.n_batches, tf.float32)  # estimate over the whole data set
    return loss, tf.stack([elbo.free_energy(complexity, whole, p.kl_weight), complexity, whole])
