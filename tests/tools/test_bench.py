"""Test the benchmarks: what they measure and report; no test looks at a time."""

import json

import bench
import numpy as np
import pytest
from bench import baselines, live

from bdl_teach import datasets, elbo
from bdl_teach.backend import tf
from bdl_teach.densities import ScaleMixture

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
