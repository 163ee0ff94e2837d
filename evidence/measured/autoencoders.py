"""VAEs, for several β, and a plain autoencoder, on 1500 digits that a world draws (chapter 2)."""

import numpy as np
import scipy
from scipy.special import logsumexp

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.claims import Figures, World
from bdl_teach.methods import vae
from evidence.measured._measure import rms

N_TRAIN, N_MADE = 1500, 500
CHEAP, DEARER, DEAR, DEAREST = 0.1, 2.0, 4.0, 10.0  # β
CIRCLE, CORNER = 2.0, np.array([3.5, 3.5])  # on the explorer's map: a radius, and the corner


def digits(world: World) -> Figures:
    """Measure the codes, the ELBO and the generated digits of VAEs and of a plain autoencoder."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    bundled = datasets.digits()
    order = np.random.default_rng(world.data_seed).permutation(len(bundled.images))
    pixels, labels = bundled.images.reshape(len(order), -1)[order], bundled.labels[order]
    train, test = pixels[:N_TRAIN], pixels[N_TRAIN:]
    plain = vae.fit_autoencoder(train, seed=world.start_seed)
    fits = {b: vae.fit(train, beta=b, seed=world.start_seed) for b in (1.0, CHEAP, DEARER, DEAR)}
    fit, again = fits[1.0], vae.fit(train, seed=world.seed(4))
    codes = {beta: which.encode(train)[0] for beta, which in fits.items()}
    scores = {beta: which.elbo(test, 20) for beta, which in fits.items()}
    elbo, *elbos = (score.elbo.mean() for score in scores.values())
    mean, std = fit.encode(pixels)
    near = KNeighborsClassifier(10).fit(mean[:N_TRAIN], labels[:N_TRAIN])
    judge = LogisticRegression(max_iter=1000).fit(train, labels[:N_TRAIN])

    def made(which: vae.Fit) -> float:
        seen = judge.predict(which.sample(N_MADE, seed=world.seed(2)))
        return float(np.exp(scipy.stats.entropy(np.bincount(seen, minlength=10))))

    return {
        "right": near.score(mean[N_TRAIN:], labels[N_TRAIN:]),
        "code-sd": std.mean(),
        "misfit": _misfit(mean[::3], std[::3], world.seed(3)),
        "kl": vae.kl_from_prior(mean, std).mean(),
        "made": made(fit),
        "made-plain": made(plain),
        "beside": max(elbos),
        "elbo": elbo,
        "elbo-again": again.elbo(test, 20).elbo.mean(),
        "radius": rms(plain.encode(train)[0]),
        "kl-dear": scores[DEAR].kl.mean(),
        "kl-dearer": scores[DEARER].kl.mean(),
        "kl-cheap": (scores[CHEAP].kl - scores[1.0].kl).mean(),
        "rebuilt-cheap": (scores[CHEAP].reconstruction - scores[1.0].reconstruction).mean(),
        "rebuilt-dearer": (scores[DEARER].reconstruction - scores[1.0].reconstruction).mean(),
        "outside-cheap": _outside(codes[CHEAP]) - _outside(codes[1.0]),
        "size-dearer": rms(codes[DEARER]) / rms(codes[1.0]),
        "corner": np.linalg.norm(codes[1.0] - CORNER, axis=1).min(),
        "silent": _off_the_mean(train, world.start_seed),
    }


def _misfit(mean: Array, std: Array, seed: int) -> float:
    """Estimate KL[mixture of all codes ‖ prior] in nats, with one draw from each code."""
    z = mean + std * np.random.default_rng(seed).standard_normal(mean.shape)
    log_each = scipy.stats.norm(mean, std).logpdf(z[:, None]).sum(axis=-1)  # draw i, code j
    log_all = logsumexp(log_each, axis=1) - np.log(len(z))
    return float(np.mean(log_all - scipy.stats.norm.logpdf(z).sum(axis=1)))


def _outside(codes: Array) -> float:
    """Return the share of codes outside the outer circle that the explorer draws."""
    return float(np.mean(np.linalg.norm(codes, axis=1) > CIRCLE))


def _off_the_mean(train: Array, seed: int) -> float:
    """Fit with β = 10; return the largest rms difference of decoded codes from the mean picture.

    The codes are a grid that covers the explorer's map.
    """
    side = np.linspace(-CORNER[0], CORNER[0], 8)
    places = np.array([(one, other) for one in side for other in side])
    silent = vae.fit(train, beta=DEAREST, seed=seed)
    off = silent.decode(places).reshape(len(places), -1) - train.mean(axis=0)
    return max(map(rms, off))
