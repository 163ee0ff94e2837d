"""Networks for Alzheimer's patients, and learnt priors on the sinusoid (chapter 6)."""

from typing import Any

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, empirical_bayes, local_reparam, point
from evidence.measured._measure import score

DECAYS = (0.0, 3.0, 10.0, 30.0, 100.0)
WIDTHS = (4, 8, 16)  # of the networks on one split
Fit = empirical_bayes.Fit | point.Fit
Rows = tuple[Array, Array]  # features, standardised on the training rows; labels


def deal(world: World) -> tuple[Rows, Rows]:
    """Split the patients: four fifths for training, the rest for the test."""
    table = datasets.alzheimers()
    ((train, test),) = datasets.splits(len(table.y), 1, train_share=0.8, seed=world.data_seed)
    x = (table.x - table.x[train].mean(axis=0)) / table.x[train].std(axis=0)
    return (x[train], table.y[train]), (x[test], table.y[test])


def bayes(rows: Rows, width: int, seed: int, rate: float = 0.03) -> empirical_bayes.Fit:
    """Fit empirical Bayes as its source does: a prior for each weight, and steps in γ = μ/σ."""
    options = {**empirical_bayes.SOURCE, **_options(rows, width, seed), "learning_rate": rate}
    return empirical_bayes.fit(*rows, **options)


def classic(rows: Rows, width: int, decay: float, seed: int) -> point.Fit:
    """Fit one network by maximum likelihood with a weight decay, which may be 0."""
    return point.fit(*rows, weight_decay=decay, **_options(rows, width, seed))


def _options(rows: Rows, width: int, seed: int) -> dict[str, Any]:
    """Return the settings of a fit; they let widths of up to 16 units use one compiled program."""
    room = bbb.Capacity(len(rows[0]), (max(width, 16),), 1)
    options: dict[str, Any] = {"likelihood": "bernoulli", "steps": 800, "hidden_units": (width,)}
    return {**options, "seed": seed, "capacity": room}


def auc(fit: Fit, rows: Rows) -> float:
    """Return the area under the ROC curve of a fit's probabilities for some patients."""
    return metrics.auroc(rows[1], fit.predict(rows[0], n_samples=50).mean)


def tuned_decay(rows: Rows, world: World) -> float:
    """Return the weight decay with the best AUC outside a bootstrap sample, for 16 hidden units."""
    n = len(rows[0])
    bag = np.random.default_rng(world.seed(2)).integers(n, size=n)
    out = np.setdiff1d(np.arange(n), bag)
    inside, outside = ((rows[0][chosen], rows[1][chosen]) for chosen in (bag, out))
    seed = world.start_seed
    return max(DECAYS[1:], key=lambda decay: auc(classic(inside, 16, decay, seed), outside))


def wide_networks(world: World) -> dict[str, float]:
    """Measure AUCs of networks with 60 units, and how many weights empirical Bayes keeps."""
    train, test = deal(world)
    seed = world.start_seed
    fits: dict[str, Fit] = {
        "classic": classic(train, 60, 0.0, seed),
        "decay": classic(train, 60, tuned_decay(train, world), seed),
        "bayes": bayes(train, 60, seed),
        "narrow": (narrow := bayes(train, 16, seed)),
    }
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        figures |= {f"{name}-train": auc(fit, train), f"{name}-test": auc(fit, test)}
        if isinstance(fit, empirical_bayes.Fit):
            figures[f"{name}-used"] = float((fit.signal_to_noise >= 0.5).sum())
    for name in ("decay", "bayes"):
        figures[f"{name}-gain"] = figures[f"{name}-test"] - figures["classic-test"]
    plugged = 1 / (1 + np.exp(-narrow.evaluate(narrow.mean[None], test[0])[0]))
    averaged = narrow.predict(test[0], n_samples=50).mean
    for name, p in (("averaged", averaged), ("plugged", plugged)):  # nats a patient
        given = np.where(np.ravel(test[1]) == 1, p, 1 - p)
        figures[name] = float(np.log(given.clip(1e-7)).mean())
    return figures


def one_split(world: World) -> dict[str, float]:
    """Return, for each of two methods, the correlation of training and test AUC over its settings.

    All fits use the same split. ``lost`` is the best test AUC minus the test AUC of the setting
    that has the best training AUC.
    """
    train, test = deal(world)
    seeds = world.start_seed, world.seed(2)
    grid = [(w, rate, seed) for w in WIDTHS for rate in (0.02, 0.05) for seed in seeds]
    families: dict[str, list[Fit]] = {
        "bayes": [bayes(train, w, seed, rate) for w, rate, seed in grid],
        "decays": [classic(train, 16, decay, seeds[0]) for decay in DECAYS],
    }
    figures = {}
    for name, fits in families.items():
        trained, tested = np.array([[auc(fit, rows) for rows in (train, test)] for fit in fits]).T
        figures[f"{name}-r"] = float(np.corrcoef(trained, tested)[0, 1])
        figures[f"{name}-lost"] = float(tested.max() - tested[trained.argmax()])
    return figures


N_PATIENTS, N_SPLITS = 2149, 40  # as in the Alzheimer's table


def never_fitted(world: World) -> dict[str, float]:
    """Draw scores from N(label, 1); return the correlation of training and test AUC over splits."""
    rng = np.random.default_rng(world.data_seed)
    labels = (rng.random(N_PATIENTS) < 0.35).astype(float)
    scores = labels + rng.standard_normal(N_PATIENTS)
    pairs = [
        [metrics.auroc(labels[rows], scores[rows]) for rows in split]
        for split in datasets.splits(N_PATIENTS, N_SPLITS, train_share=0.8, seed=world.start_seed)
    ]
    return {"r": float(np.corrcoef(np.transpose(pairs))[0, 1])}


WEAK: dict[str, Any] = {"initial_gamma": 1.0}  # starts with |μ| of about σ
# Weights that start weaker are pruned at once.
STEPS_OF_GAMMA = {**empirical_bayes.SOURCE, "initial_gamma": 20.0, "initial_rho": -2.0}
X = np.linspace(-1, 1, 121)[:, None]
SWEEP = np.logspace(-0.5, 1.5, 9)  # from σ_p to σ_p by a factor of 1.78


def learnt_priors(world: World) -> dict[str, float]:
    """Measure F (nats), share of pruned weights, learnt σ_p and test log-likelihood (nats a point).

    ``each``: a prior for each weight; ``weak``: the same from starting weights near 0; ``all``: one
    shared prior; ``again``: σ_p fixed at the value that ``all`` learnt. In names that end in
    ``-gamma``, γ = μ/σ is trained in place of μ.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    options: dict[str, Any] = {"hidden_units": (20,), "seed": world.start_seed}
    plans: dict[str, dict[str, Any]] = {
        "each": empirical_bayes.QUIET,
        "weak": {**empirical_bayes.QUIET, **WEAK},
        "all": {"tie": "all", **empirical_bayes.QUIET},
        "each-gamma": STEPS_OF_GAMMA,
        "weak-gamma": {**STEPS_OF_GAMMA, **WEAK},
        "all-gamma": {"tie": "all", **STEPS_OF_GAMMA},
        "all-mu": {"tie": "all", **STEPS_OF_GAMMA, "coordinates": "mu"},
    }
    f: dict[str, float] = {}
    for name, plan in plans.items():
        fit = empirical_bayes.fit(data.x, data.y, **options, **plan)
        f |= score(name, fit.predict(X), data, world.seed(2), X)
        f[f"{name}-F"] = fit.free_energy
        f[f"{name}-off"] = float(fit.pruning().fraction)
        f[f"{name}-std"] = float(fit.prior_std[0])
    given = {**local_reparam.QUIET, **options}
    priors = [densities.Gaussian(float(std)) for std in (*SWEEP, f["all-std"])]
    *swept, again = (local_reparam.fit(data.x, data.y, prior=prior, **given) for prior in priors)
    lowest = min(range(len(SWEEP)), key=lambda i: swept[i].free_energy)
    mle = point.fit(data.x, data.y, **options).predict(X)
    f |= score("mle", mle, data, world.seed(2), X)
    return {
        **f,
        "each-level": float(abs(f["each-among"] - f["all-among"]) < 0.25),
        "all-level": float(abs(f["all-among"] - f["mle-among"]) < 0.25),
        "learnt-outside": min(f["each-outside"], f["all-outside"]),
        "each-behind": float(f["each-outside"] < f["all-outside"]),
        "swept-F": swept[lowest].free_energy,
        "swept-std": float(SWEEP[lowest]),
        "again-F": again.free_energy,
    }
