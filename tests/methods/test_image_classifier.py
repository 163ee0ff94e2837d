"""The Bayesian convolutional network: training, draws, ensemble and free energy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from bdl_teach import datasets, densities, metrics
from bdl_teach.backend import tf, tfd
from bdl_teach.methods import image_classifier
from bdl_teach.methods.image_classifier import ConvNet

DIGITS = datasets.digits()
FEW = DIGITS.labels < 3
IMAGES, LABELS = DIGITS.images[FEW][:96], DIGITS.labels[FEW][:96]
NETWORK = ConvNet((8, 8), 3, filters=4, kernel_size=3)
TINY = {"filters": 4, "kernel_size": 3, "epochs": 1, "n_classes": 3}


def tiny(**changes) -> image_classifier.Fit:
    given = {"images": IMAGES[:32], "labels": LABELS[:32], **TINY, **changes}
    return image_classifier.fit(**given)


@pytest.fixture(scope="module")
def fit() -> image_classifier.Fit:
    return tiny()


# Training


@pytest.fixture(scope="module")
def still() -> image_classifier.Fit:
    """A fit that stays where it starts with σ ≈ 0, so that its records are exact."""
    moves = {"learning_rate": 1e-12, "initial_rho": -40.0}
    return tiny(**moves, prior_std=0.7, kl_weight=0.25, batch_size=8)


class Loop:
    """Stand in for the training step: keep pictures, labels and draws, and count the steps."""

    def __init__(self) -> None:
        self.seen, self.draw = [], tf.Variable([0, 0])

    def __call__(self, x, y):
        self.seen.append((x.numpy(), y.numpy(), tuple(self.draw.numpy())))
        n = len(self.seen)
        return tf.constant([1.0 * n, 10.0 * n, np.nan if n == self.bad else 100.0 * n])

    bad = 0

    def run(self, epochs=2, size=4, seed=0) -> dict:
        pictures, labels = np.arange(10.0), 2 * np.arange(10)
        problem = image_classifier.Problem(pictures, labels, 1.0, 0.1, epochs, size, seed)
        return image_classifier._train(self, pictures, self.draw, problem)


def test_every_epoch_visits_each_picture_once_in_a_new_order():
    orders = []
    for seed in (0, 1):
        loop = Loop()
        history = loop.run(seed=seed)
        assert [len(x) for x, *_ in loop.seen] == [4, 4, 2, 4, 4, 2]
        for epoch in (loop.seen[:3], loop.seen[3:]):
            order = np.concatenate([x for x, *_ in epoch])
            np.testing.assert_array_equal(np.sort(order), np.arange(10))
            np.testing.assert_array_equal(np.concatenate([y for _, y, _ in epoch]), 2 * order)
            orders.append(tuple(order))
    assert len(set(orders)) == 4
    assert {name: values.tolist() for name, values in history.items()} == {
        "epoch": [1, 2],
        "free_energy": [2.0, 5.0],  # means of steps 1 to 3, and 4 to 6
        "complexity_cost": [20.0, 50.0],
        "likelihood_cost": [200.0, 500.0],
    }


def test_no_two_steps_or_predictions_share_drawn_weights(fit):
    keys = []
    for seed in (0, 1):
        loop, watched = Loop(), Loop()
        loop.run(seed=seed)
        watched.assign = lambda key, kept=keys: kept.append(tuple(key))
        logits = lambda x: np.zeros((len(x), 3))  # noqa: E731
        built = fit.built._replace(draw=watched, logits=logits)
        keys += [key for *_, key in loop.seen]
        replace(fit, built=built).predict(IMAGES[:2], 9, seed=seed)
    assert len(set(keys)) == len(keys) == 2 * (6 + 9)


def test_training_step_follows_gradient_of_the_weighted_free_energy():
    """Ten pictures stand for 50; the KL has weight 0.3."""
    network = replace(NETWORK, prior_std=0.7)
    built = network.build()
    x, y = tf.constant(IMAGES[:10, ..., None], tf.float32), tf.constant(LABELS[:10], tf.int32)
    built.draw.assign([3, 4])
    built.model(x)
    tiny_std = np.finfo("float32").eps  # TFP adds it to each σ
    with tf.GradientTape() as tape:
        kl = sum(
            tf.reduce_sum(
                tfd.kl_divergence(
                    tfd.Normal(mu, tiny_std + tf.nn.softplus(rho)), tfd.Normal(0.0, 0.7)
                )
            )
            for mu, rho in built.gaussians
        )
        p = tf.nn.log_softmax(built.model(x))
        nll = -50 * tf.reduce_mean(tf.gather(p, y, axis=1, batch_dims=1))
        loss = 0.3 * kl + nll
    variables = built.model.trainable_variables
    slopes = [slope.numpy() for slope in tape.gradient(loss, variables)]
    before = [variable.numpy() for variable in variables]
    descent = tf.keras.optimizers.legacy.SGD(1.0)
    record = image_classifier._train_step(built.model, descent, 50, 0.3)(x, y)
    np.testing.assert_allclose(record, (loss, kl, nll), rtol=1e-5)
    for variable, start, slope in zip(variables, before, slopes, strict=True):
        np.testing.assert_allclose(start - variable.numpy(), slope, rtol=1e-3, atol=1e-3)


def test_convolutional_network_equals_numpy(fit):
    """Write out convolution, pooling and dense layer, for weights without spread."""
    built = fit.network.build()
    for _, rho in built.gaussians:
        rho.assign(tf.fill(rho.shape, -50.0))
    kernel, bias, dense, last = (
        v.numpy() for v in built.model.trainable_variables if "untransformed" not in v.name
    )
    padded = np.pad(IMAGES[0], 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))  # [8, 8, 3, 3]
    maps = np.maximum(np.einsum("ijab,abf->ijf", windows, kernel[:, :, 0]) + bias, 0)
    pooled = maps.reshape(4, 2, 4, 2, 4).max(axis=(1, 3))
    logits = pooled.reshape(-1) @ dense + last
    ours = replace(fit, built=built).predict(IMAGES[:1], 1)[0, 0]
    np.testing.assert_allclose(ours, softmax(logits), rtol=1e-5)


def test_convolution_weights_have_the_prior_and_independent_draws():
    built = replace(NETWORK, prior_std=0.7).build()
    draws = []
    for pair in ([0, 1], [0, 1], [1, 0]):
        built.draw.assign(pair)
        built.model(IMAGES[:1, ..., None])
        layers = [layer for layer in built.model.layers if hasattr(layer, "kernel_posterior")]
        parts = [(layer.kernel_posterior_tensor, layer.kernel_posterior) for layer in layers]
        eps = [np.ravel((w - q.mean()) / q.stddev()) for w, q in parts]
        draws.append(np.concatenate(eps))
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).all()
    assert len(np.unique(draws[0].round(3))) > 0.9 * len(draws[0])
    first = [np.unique(values[:3].round(3)) for values in eps]  # else equal
    assert len(np.unique(np.concatenate(first))) == 6
    for layer in layers:
        np.testing.assert_allclose(layer.kernel_prior.mean(), 0.0)
        np.testing.assert_allclose(layer.kernel_prior.stddev(), 0.7, rtol=1e-6)


@pytest.fixture(scope="module")
def pair() -> image_classifier.Ensemble:
    return image_classifier.ensemble(IMAGES[:32], LABELS[:32], members=2, seed=5, **TINY)


def test_picture_ensemble_predicts_once_per_member(pair):
    p = pair.predict(IMAGES[:4])
    np.testing.assert_array_equal(p[1], pair.members[1].predict(IMAGES[:4], 1)[0])
    np.testing.assert_allclose(pair.log_predict(IMAGES[:4], 2)[::2], np.log(p))
    with pytest.raises(ValueError, match="n_samples"):
        pair.predict(IMAGES[:4], 0)


def test_seed_of_a_picture_ensemble_member_is_seed_plus_member_number(pair):
    first, second = (member.mean for member in pair.members)
    alone = tiny(seed=6, **image_classifier.ORDINARY)
    np.testing.assert_allclose(second, alone.mean, rtol=1e-5, atol=1e-7)
    assert np.abs(first - second).max() > 0.1


def test_pruning_takes_an_uncertain_weight_before_a_smaller_certain_one(fit):
    """36 weights of kernels have |μ|/σ = 0.2, the 192 of the dense layer have 10."""
    built = fit.network.build()
    for (mu, rho), size, std in zip(built.gaussians, (2.0, 1.0), (10.0, 0.1), strict=True):
        mu.assign(tf.fill(mu.shape, size))
        rho.assign(tf.fill(rho.shape, np.float32(np.log(np.expm1(std)))))
    mean = replace(fit, built=built).pruned(0.1).mean
    assert (mean[:36] == 0.0).sum() == 22  # a tenth of 228
    np.testing.assert_array_equal(mean[36:], 1.0)


def test_free_energy_is_computed_on_all_training_pictures(still):
    """With σ ≈ 0 no noise is left: the mean record of an epoch is the same sum."""
    cost, seen = still.cost(n_draws=2), still.history
    kl = densities.gaussian_kl(still.mean, still.std + np.finfo("float32").eps, 0.0, 0.7).sum()
    assert cost.complexity == pytest.approx(kl, rel=1e-4)
    whole = -32 * metrics.class_log_likelihood(still.log_predict(IMAGES[:32], 1), LABELS[:32])
    assert cost.likelihood == pytest.approx(whole, rel=1e-4)
    assert cost.complexity == pytest.approx(seen["complexity_cost"][0], rel=1e-4)
    assert cost.likelihood == pytest.approx(seen["likelihood_cost"][0], rel=1e-4)
    assert cost.total == pytest.approx(0.25 * cost.complexity + cost.likelihood)
    assert still.free_energy == still.cost().total
    assert still.tolerance == 16.0  # of all data, not of a minibatch
