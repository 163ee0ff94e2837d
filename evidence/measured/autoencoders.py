"""VAEs, for several β, and a plain autoencoder, on 1500 digits that a world draws (chapter 2)."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import logsumexp

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import vae
from evidence.claim import Trial
from evidence.measured._measure import mean, rms

N_TRAIN, N_MADE = 1500, 500
CHEAP, DEARER, DEAR, DEAREST = 0.1, 2.0, 4.0, 10.0  # β
CIRCLE, CORNER = 2.0, np.array([3.5, 3.5])  # on the explorer's map: a radius, and the corner


class Coded(NamedTuple):
    """What VAEs and a plain autoencoder make of the digits; codes have two numbers."""

    mean: Array  # of q(z | x) for all digits, β = 1 [n, 2]
    std: Array  # of the same [n, 2]
    drawn: Array  # one z from each third q(z | x) [n/3, 2]
    codes: Mapping[float, Array]  # means of q(z | x) for the training digits, by β [1500, 2]
    plain: Array  # the plain autoencoder's codes of the training digits [1500, 2]
    scores: Mapping[float, vae.Elbo]  # of the held-out digits, by β
    again: vae.Elbo  # the same for β = 1 from another start
    labels: Array  # digits that the held-out pictures show
    read: Array  # digits that their codes' nearest neighbours show
    made: Mapping[str, Array]  # digits that a classifier sees in generated pictures [500]
    silent: Array  # pictures decoded from a grid over the explorer's map, β = 10 [k, 64]
    average: Array  # the mean training picture [64]


def coded(world: World) -> Coded:
    """Train the autoencoders, and a classifier that names the digits that they generate."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    bundled = datasets.digits()
    order = np.random.default_rng(world.data_seed).permutation(len(bundled.images))
    pixels, labels = bundled.images.reshape(len(order), -1)[order], bundled.labels[order]
    train, test = pixels[:N_TRAIN], pixels[N_TRAIN:]
    plain = vae.fit_autoencoder(train, seed=world.start_seed)
    betas = (1.0, CHEAP, DEARER, DEAR)
    fits = {beta: vae.fit(train, beta=beta, seed=world.start_seed) for beta in betas}
    silent = vae.fit(train, beta=DEAREST, seed=world.start_seed)
    means, std = fits[1.0].encode(pixels)
    noise = np.random.default_rng(world.seed(3)).standard_normal(means[::3].shape)
    near = KNeighborsClassifier(10).fit(means[:N_TRAIN], labels[:N_TRAIN])
    judge = LogisticRegression(max_iter=1000).fit(train, labels[:N_TRAIN])
    side = np.linspace(-CORNER[0], CORNER[0], 8)
    grid = np.array([(one, other) for one in side for other in side])
    return Coded(
        mean=means,
        std=std,
        drawn=means[::3] + std[::3] * noise,
        codes={beta: fit.encode(train)[0] for beta, fit in fits.items()},
        plain=plain.encode(train)[0],
        scores={beta: fit.elbo(test, 20) for beta, fit in fits.items()},
        again=vae.fit(train, seed=world.seed(4)).elbo(test, 20),
        labels=labels[N_TRAIN:],
        read=near.predict(means[N_TRAIN:]),
        made={
            name: judge.predict(fit.sample(N_MADE, seed=world.seed(2)))
            for name, fit in (("made", fits[1.0]), ("made-plain", plain))
        },
        silent=silent.decode(grid).reshape(len(grid), -1),
        average=train.mean(axis=0),
    )


def codes_and_costs(found: Coded) -> dict[str, float]:
    """Measure the codes, the ELBO (nats a digit) and the generated digits."""
    one, cheap = found.scores[1.0], found.scores[CHEAP]
    dearer, dear = found.scores[DEARER], found.scores[DEAR]
    return {
        "right": mean(found.read == found.labels),
        "code-sd": float(found.std.mean()),
        "misfit": _misfit(found.mean[::3], found.std[::3], found.drawn),
        "kl": float(vae.kl_from_prior(found.mean, found.std).mean()),
        **{name: _different(digits) for name, digits in found.made.items()},
        "beside": max(float(each.elbo.mean()) for each in (cheap, dearer, dear)),
        "elbo": float(one.elbo.mean()),
        "elbo-again": float(found.again.elbo.mean()),
        "radius": rms(found.plain),
        "kl-dear": float(dear.kl.mean()),
        "kl-dearer": float(dearer.kl.mean()),
        "kl-cheap": float((cheap.kl - one.kl).mean()),
        "rebuilt-cheap": float((cheap.reconstruction - one.reconstruction).mean()),
        "rebuilt-dearer": float((dearer.reconstruction - one.reconstruction).mean()),
        "outside-cheap": _outside(found.codes[CHEAP]) - _outside(found.codes[1.0]),
        "size-dearer": rms(found.codes[DEARER]) / rms(found.codes[1.0]),
        "corner": float(np.linalg.norm(found.codes[1.0] - CORNER, axis=1).min()),
        "silent": max(map(rms, found.silent - found.average)),
    }


def _different(digits: Array) -> float:
    """Return how many different digits there are: the exponential of their entropy."""
    return float(np.exp(scipy.stats.entropy(np.bincount(digits, minlength=10))))


def _misfit(means: Array, std: Array, z: Array) -> float:
    """Estimate KL[mixture of all codes ‖ prior] in nats, with one draw z from each code."""
    log_each = scipy.stats.norm(means, std).logpdf(z[:, None]).sum(axis=-1)  # draw i, code j
    log_all = logsumexp(log_each, axis=1) - np.log(len(z))
    return float(np.mean(log_all - scipy.stats.norm.logpdf(z).sum(axis=1)))


def _outside(codes: Array) -> float:
    """Return the share of codes outside the outer circle that the explorer draws."""
    return mean(np.linalg.norm(codes, axis=1) > CIRCLE)


digits = Trial(coded, codes_and_costs)
