"""Test the benchmarks: what they measure and report; no test looks at a time."""

import functools
import importlib
import json

import bench
import numpy as np
import pytest
from bench import baselines, live, methods

from bdl_teach import datasets, elbo
from bdl_teach.backend import tf
from bdl_teach.densities import ScaleMixture
from bdl_teach.methods.catalogue import CATALOGUE

PRIOR = ScaleMixture()


def test_keras_loss_is_the_free_energy_at_the_drawn_weights(monkeypatch):
    """Compare with ``elbo`` for the same ε, in summed nats."""
    data, drawn = datasets.sinusoid(n=8), []

    def noise(_self, shape):
        drawn.append(np.random.default_rng(len(drawn)).standard_normal(shape).astype("f"))
        return tf.constant(drawn[-1])

    monkeypatch.setattr(baselines.VariationalDense, "_noise", noise)
    model = baselines.network(baselines.article_layer(PRIOR), hidden_units=(3,), noise_std=0.7)
    drawn.clear()
    model.run_eagerly = True
    loss = model.evaluate(data.x, data.y, batch_size=8, verbose=0)

    complexity, h = 0.0, tf.constant(data.x, tf.float32)
    eps = iter(drawn)
    for layer in model.layers:
        w = {}
        for name in ("kernel", "bias"):
            e, std = next(eps), tf.nn.softplus(layer.rho[name])
            w[name] = layer.mu[name] + std * e
            cost = elbo.complexity_cost(e, std, PRIOR.log_prob(w[name]))
            complexity += float(tf.reduce_sum(cost))
        h = layer.activation(h @ w["kernel"] + w["bias"])
    likelihood = float(elbo.likelihood_cost(tf.constant(data.y, tf.float32), h, 0.7))
    assert complexity > 1.0
    assert loss == pytest.approx(complexity + likelihood, rel=1e-4)


def test_live_benchmark_reports_refits_of_the_package(capsys):
    assert bench.main(["live", "--only-ours", "--repeats", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in told["rows"]] == list(live.OURS)
    assert all(row["refit_s"] > 0 and row["predict_s"] > 0 for row in told["rows"])
    assert all(row["rms"] < 3.0 for row in told["rows"])  # of a sine of amplitude 10
    assert told["resident_mb_after_ours"] > 100


def test_benchmarked_methods_share_the_network_and_keep_their_options(monkeypatch):
    given = {}
    for way, method in zip(methods.ways(), CATALOGUE.values(), strict=True):
        module = importlib.import_module(f"bdl_teach.methods.{method.module}")
        original = getattr(module, method.function)
        remember = functools.wraps(original)(lambda *_, **values: given.update(values))
        monkeypatch.setattr(module, method.function, remember)
        given.clear()
        way.fit([[0.0]], [0.0], seed=3)
        monkeypatch.setattr(module, method.function, original)
        common = {"prior": ScaleMixture(), "noise_std": 1.0, "hidden_units": (20, 20), "seed": 3}
        taken = {name: value for name, value in common.items() if name in method.takes}
        assert given == {**taken, **method.options}, way.name
