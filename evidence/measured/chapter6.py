"""Networks for Alzheimer's patients, and learnt priors on the sinusoid (chapter 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, empirical_bayes, local_reparam, point
from evidence.claim import Trial
from evidence.measured._measure import Found, figures, halves, new_targets, predicted

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


class Answer(NamedTuple):
    """Labels of some patients, and the probabilities that a fit gives them."""

    labels: Array  # 0 or 1 [n]
    p: Array  # P(label = 1) [n]

    @property
    def auc(self) -> float:
        """Return the area under the ROC curve."""
        return metrics.auroc(self.labels, self.p)

    @property
    def log_likelihood(self) -> float:
        """Return the mean log probability of the labels, in nats a patient."""
        given = np.where(self.labels == 1, self.p, 1 - self.p)
        return float(np.log(given.clip(1e-7)).mean())


class Network(NamedTuple):
    """The answers of a network to both parts of a split."""

    train: Answer
    test: Answer
    used: int = 0  # weights with |μ|/σ of at least a half, of empirical Bayes


def _answer(fit: Fit, rows: Rows) -> Answer:
    return Answer(np.ravel(rows[1]), fit.predict(rows[0], n_samples=50).mean)


def _answers(fit: Fit, train: Rows, test: Rows) -> Network:
    used = (fit.signal_to_noise >= 0.5).sum() if isinstance(fit, empirical_bayes.Fit) else 0
    return Network(_answer(fit, train), _answer(fit, test), int(used))


def tuned_decay(rows: Rows, world: World) -> float:
    """Return the weight decay with the best AUC outside a bootstrap sample, for 16 hidden units."""
    n = len(rows[0])
    bag = np.random.default_rng(world.seed(2)).integers(n, size=n)
    out = np.setdiff1d(np.arange(n), bag)
    inside, outside = ((rows[0][chosen], rows[1][chosen]) for chosen in (bag, out))
    fits = {decay: classic(inside, 16, decay, world.start_seed) for decay in DECAYS[1:]}
    return max(fits, key=lambda decay: _answer(fits[decay], outside).auc)


class Sixty(NamedTuple):
    """Networks with 60 units, one with 16, and two ways to predict with the last."""

    networks: Mapping[str, Network]  # "classic", "decay", "bayes", "narrow"
    plugged: Answer  # of the narrow network's mean weights to the test


def sixty_units(world: World) -> Sixty:
    """Fit networks with 60 units, without and with a tuned decay, and empirical Bayes."""
    train, test = deal(world)
    seed = world.start_seed
    fits: dict[str, Fit] = {
        "classic": classic(train, 60, 0.0, seed),
        "decay": classic(train, 60, tuned_decay(train, world), seed),
        "bayes": bayes(train, 60, seed),
        "narrow": (narrow := bayes(train, 16, seed)),
    }
    plugged = 1 / (1 + np.exp(-narrow.evaluate(narrow.mean[None], test[0])[0]))
    networks = {name: _answers(fit, train, test) for name, fit in fits.items()}
    return Sixty(networks, Answer(np.ravel(test[1]), plugged))


def aucs_and_gains(found: Sixty) -> dict[str, float]:
    """Return AUCs, the numbers of weights that empirical Bayes keeps, and two log likelihoods.

    ``-gain`` is by how much the test AUC exceeds that of ``classic``. The log likelihoods (nats a
    patient) are of the narrow network, ``averaged`` over its weights or with its mean weights.
    """
    figures: dict[str, float] = {}
    for name, network in found.networks.items():
        figures |= {f"{name}-train": network.train.auc, f"{name}-test": network.test.auc}
        figures[f"{name}-used"] = network.used
    for name in ("decay", "bayes"):
        figures[f"{name}-gain"] = figures[f"{name}-test"] - figures["classic-test"]
    averaged = found.networks["narrow"].test.log_likelihood
    return {**figures, "averaged": averaged, "plugged": found.plugged.log_likelihood}


def by_setting(world: World) -> dict[str, list[Network]]:
    """Fit one split by two methods, each at several settings."""
    train, test = deal(world)
    seeds = world.start_seed, world.seed(2)
    grid = [(w, rate, seed) for w in WIDTHS for rate in (0.02, 0.05) for seed in seeds]
    families: dict[str, Sequence[Fit]] = {
        "bayes": [bayes(train, w, seed, rate) for w, rate, seed in grid],
        "decays": [classic(train, 16, decay, seeds[0]) for decay in DECAYS],
    }
    return {name: [_answers(fit, train, test) for fit in fits] for name, fits in families.items()}


def training_beside_test(found: Mapping[str, Sequence[Network]]) -> dict[str, float]:
    """Return, for each method, the correlation of training and test AUC over its settings.

    ``lost`` is the best test AUC minus the test AUC of the setting that has the best training AUC.
    """
    figures = {}
    for name, networks in found.items():
        trained = np.array([network.train.auc for network in networks])
        tested = np.array([network.test.auc for network in networks])
        figures[f"{name}-r"] = float(np.corrcoef(trained, tested)[0, 1])
        figures[f"{name}-lost"] = float(tested.max() - tested[trained.argmax()])
    return figures


N_PATIENTS, N_SPLITS = 2149, 40  # as in the Alzheimer's table


def fixed_scores(world: World) -> list[tuple[Answer, Answer]]:
    """Draw scores from N(label, 1); return them for the two parts of each of 40 splits."""
    rng = np.random.default_rng(world.data_seed)
    labels = (rng.random(N_PATIENTS) < 0.35).astype(float)
    scores = labels + rng.standard_normal(N_PATIENTS)
    splits = datasets.splits(N_PATIENTS, N_SPLITS, train_share=0.8, seed=world.start_seed)
    return [
        (Answer(labels[train], scores[train]), Answer(labels[test], scores[test]))
        for train, test in splits
    ]


def correlation(pairs: Sequence[tuple[Answer, Answer]]) -> dict[str, float]:
    """Return the correlation of training and test AUC over splits."""
    aucs = [[part.auc for part in pair] for pair in pairs]
    return {"r": float(np.corrcoef(np.transpose(aucs))[0, 1])}


WEAK: dict[str, Any] = {"initial_gamma": 1.0}  # starts with |μ| of about σ
# Weights that start weaker are pruned at once.
STEPS_OF_GAMMA = {**empirical_bayes.SOURCE, "initial_gamma": 20.0, "initial_rho": -2.0}
X = np.linspace(-1, 1, 121)[:, None]
SWEEP = np.logspace(-0.5, 1.5, 9)  # from σ_p to σ_p by a factor of 1.78


def with_learnt_priors(world: World) -> tuple[Found, list[float]]:
    """Fit empirical Bayes in seven ways, one network, and mean field with fixed priors.

    ``each``: a prior for each weight; ``weak``: the same from starting weights near 0; ``all``: one
    shared prior. In names that end in ``-gamma``, γ = μ/σ is trained in place of μ. The number
    ``off`` is the share of pruned weights.

    Also return F (nats) with each σ_p of ``SWEEP``, and with that which ``all`` learnt.
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
    fits: dict[str, Any] = {
        name: empirical_bayes.fit(data.x, data.y, **options, **plan) for name, plan in plans.items()
    }
    given = {**local_reparam.QUIET, **options}
    priors = [densities.Gaussian(float(std)) for std in (*SWEEP, fits["all"].prior_std[0])]
    fixed = [local_reparam.fit(data.x, data.y, prior=prior, **given) for prior in priors]
    every = {**fits, "mle": point.fit(data.x, data.y, **options)}
    found = predicted(every, X, halves(X), new_targets(X, world.seed(2)), energies=plans)
    for name, fit in fits.items():
        told = {**found[name].numbers, "off": float(fit.pruning().fraction)}
        found[name] = replace(found[name], numbers=told)
    return found, [fit.free_energy for fit in fixed]


def beside_fixed_priors(learnt: tuple[Found, Sequence[float]]) -> dict[str, float]:
    """Return the figures of each fit, and comparisons.

    ``swept-F`` is the lowest F of the fixed priors; ``again-F`` that with the prior that ``all``
    learnt. Scores are level if they differ by less than a quarter of a nat.
    """
    found, (*swept, again) = learnt
    f = figures(found)
    among = {name: f[f"{name}-among-score"] for name in ("each", "all", "mle")}
    each, shared = (f[f"{name}-outside-score"] for name in ("each", "all"))
    return {
        **f,
        "each-level": float(abs(among["each"] - among["all"]) < 0.25),
        "all-level": float(abs(among["all"] - among["mle"]) < 0.25),
        "learnt-outside": min(each, shared),
        "each-behind": float(each < shared),
        "swept-F": min(swept),
        "again-F": again,
    }


wide_networks = Trial(sixty_units, aucs_and_gains)
one_split = Trial(by_setting, training_beside_test)
never_fitted = Trial(fixed_scores, correlation)
learnt_priors = Trial(with_learnt_priors, beside_fixed_priors)
