"""What PBP learns of the noise: it counts points, and unlearns a confident guess slowly (ch. 7)."""

from __future__ import annotations

from bdl_teach import datasets
from bdl_teach.experiments.world import World
from bdl_teach.methods.pbp import replay

STEPS = 1320  # 40 epochs of 32 points and a refinement


def noise_after_40_epochs(world: World) -> dict[str, float]:
    """α, and the noise sd that PBP believes in over the true one, after 40 epochs on 32 points.

    ``quiet`` has noise 1, ``loud`` three times that. ``sure`` starts from α = 76 and a noise of
    twice the spread of y, ``unsure`` from α = 6 and the same noise.
    """
    plans: dict[str, tuple[float, float, float]] = {  # noise, α, first guess in spreads of y
        "quiet": (1.0, 6.0, 1.0),
        "loud": (3.0, 6.0, 1.0),
        "sure": (1.0, 76.0, 2.0),
        "unsure": (1.0, 6.0, 2.0),
    }
    figures = {}
    for name, (noise, alpha, guess) in plans.items():
        data = datasets.sinusoid(n=32, noise_std=noise, seed=world.data_seed)
        prior = alpha, (alpha - 1) * guess**2
        trail = replay.Trail(data.x, data.y, noise_prior=prior, seed=world.start_seed)
        end = trail.at(STEPS)
        figures[f"{name}-alpha"] = float(end.noise[-1, 0])
        figures[f"{name}-noise"] = float(end.noise_std[-1] / noise)
    return figures
