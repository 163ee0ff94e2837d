"""Run numpyro's NUTS for `bench chains`, under a Python that has numpyro.

Each line of the input is a problem with one hidden layer, as JSON; the answer is a line with the
seconds of a run (compiled before) and the function's values ``[chains, s, m]`` at ``grid``.
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
    """Evaluate networks ``[..., 3 units + 1]`` at x ``[n]``."""
    slope, shift, weight = (w[..., i * units : (i + 1) * units] for i in range(3))
    hidden = jax.nn.relu(slope[..., None] * x + shift[..., None])
    return (weight[..., None] * hidden).sum(-2) + w[..., -1:]


def model(x: Any, y: Any, prior_std: Any, noise_std: Any, units: int) -> None:
    """Define the posterior of all weights, as one vector."""
    w = numpyro.sample("w", dist.Normal(0.0, prior_std).expand([3 * units + 1]).to_event(1))
    numpyro.sample("y", dist.Normal(network(w, x, units), noise_std).to_event(1), obs=y)


def main() -> None:
    """Answer one line after another."""
    for line in sys.stdin:
        told = json.loads(line)
        x, y, grid = (jnp.array(told[name]) for name in ("x", "y", "grid"))
        chains = MCMC(
            NUTS(model),
            num_warmup=told["n_warmup"],
            num_samples=told["n_samples"],
            num_chains=told["n_chains"],
            chain_method="vectorized",
            progress_bar=False,
        )
        given = x, y, told["prior_std"], told["noise_std"], told["units"]
        for seed in (told["seed"], told["seed"] + 1):  # the first one compiles
            start = time.perf_counter()
            chains.run(jax.random.PRNGKey(seed), *given)
            w = jax.block_until_ready(chains.get_samples(group_by_chain=True)["w"])
            seconds = time.perf_counter() - start
        outputs = jnp.stack([network(chain, grid, told["units"]) for chain in w])
        print(json.dumps({"seconds": seconds, "outputs": outputs.tolist()}), flush=True)


if __name__ == "__main__":
    main()
