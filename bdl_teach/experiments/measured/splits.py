"""Scores over splits of one table are not scores over hyper-parameters (chapter 6)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach.experiments.world import World

N_PATIENTS, N_SPLITS = 2149, 40  # as in the Alzheimer's table


def never_fitted(world: World) -> dict[str, float]:
    """Correlation over splits of training and test AUC, of scores that were never fitted.

    Made-up labels (35 % are 1) and scores that are higher by one sd for 1: each split deals the
    same patients out to two sides.
    """
    rng = np.random.default_rng(world.data_seed)
    labels = (rng.random(N_PATIENTS) < 0.35).astype(float)
    scores = labels + rng.standard_normal(N_PATIENTS)
    pairs = [
        [metrics.auroc(labels[rows], scores[rows]) for rows in split]
        for split in datasets.splits(N_PATIENTS, N_SPLITS, train_share=0.8, seed=world.start_seed)
    ]
    return {"r": float(np.corrcoef(np.transpose(pairs))[0, 1])}
