"""Run numpyro's NUTS for `bench chains`, in a Python that has numpyro.

Each input line is a problem with one hidden layer, as JSON. The answer is a line with the seconds
of a run without compilation, and the function's values at ``grid``, ``[chains, s, m]``.
"""

import json
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
from numpyro import distributions as dist
from numpyro.infer import MCMC, NUTS


def network(w: Any, x: Any, units: int) -> Any:
    """Return outputs ``[..., n]`` at x ``[n]`` of networks with weights ``[..., 3 units + 1]``."""
    slope, shift, weight = (w[..., i * units : (i + 1) * units] for i in range(3))
    hidden = jax.nn.relu(slope[..., None] * x + shift[..., None])
    return (weight[..., None] * hidden).sum(-2) + w[..., -1:]


def model(x: Any, y: Any, prior_std: Any, noise_std: Any, units: int) -> None:
    """Define the prior of the weight vector and the likelihood."""
    w = numpyro.sample("w", dist.Normal(0.0, prior_std).expand([3 * units + 1]).to_event(1))
    numpyro.sample("y", dist.Normal(network(w, x, units), noise_std).to_event(1), obs=y)


def main() -> None:
    """Read problems from standard input, and print an answer to each."""
    for line in sys.stdin:
        problem = json.loads(line)
        x, y, grid = (jnp.array(problem[name]) for name in ("x", "y", "grid"))
        chains = MCMC(
            NUTS(model),
            num_warmup=problem["n_warmup"],
            num_samples=problem["n_samples"],
            num_chains=problem["n_chains"],
            chain_method="vectorized",
            progress_bar=False,
        )
        given = x, y, problem["prior_std"], problem["noise_std"], problem["units"]
        for seed in (problem["seed"], problem["seed"] + 1):  # the first one compiles
            start = time.perf_counter()
            chains.run(jax.random.PRNGKey(seed), *given)
            w = jax.block_until_ready(chains.get_samples(group_by_chain=True)["w"])
            seconds = time.perf_counter() - start
        outputs = jnp.stack([network(chain, grid, problem["units"]) for chain in w])
        print(json.dumps({"seconds": seconds, "outputs": outputs.tolist()}), flush=True)


if __name__ == "__main__":
    main()
