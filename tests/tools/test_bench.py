"""The measurements measure what they say, and say what they ran; no test looks at a time."""

import json
import math
from types import SimpleNamespace

import bench
import numpy as np
import pytest
from bench import baselines, live, ticks
from bench.verdicts import Verdict

from bdl_teach import datasets, elbo
from bdl_teach.backend import tf
from bdl_teach.densities import ScaleMixture

PRIOR = ScaleMixture()
LAYERS = {
    "article": baselines.article_layer(PRIOR),
    "reparameterization": baselines.tfp_layer(PRIOR),
    "flipout": baselines.tfp_layer(PRIOR, "DenseFlipout"),
    "variational": baselines.tfp_variational(PRIOR),
}


# The command line.


@pytest.mark.parametrize("argv", [[], ["--help"], ["nonsense"], ["live", "--nonsense"]])
def test_a_wrong_command_line_says_what_there_is(argv, capsys):
    with pytest.raises(SystemExit) as end:
        bench.main(argv)
    assert end.value.code == (0 if argv == ["--help"] else 2)
    said = capsys.readouterr()
    assert "usage: python3 -m bdl_teach bench" in said.out + said.err


@pytest.mark.parametrize(
    ("value", "at_most", "ok"),
    [(1.0, True, True), (3.0, True, False), (1.0, False, False), (3.0, False, True)],
)
def test_verdict_knows_whether_limit_is_upper_or_lower(value, at_most, ok):
    assert Verdict("x", value, "ms", 2.0, at_most).ok is ok


@pytest.mark.parametrize("value", [None, math.nan])
def test_missing_measurement_is_no_success(value):
    verdict = Verdict("x", value, "ms", 2.0)
    assert not verdict.ok
    assert verdict.cells()[-1] == "MISSED"


# The library ways.


@pytest.mark.parametrize("name", ["article", "flipout"])
def test_a_library_network_trains(name):
    data = datasets.sinusoid()
    tf.random.set_seed(1)
    losses = baselines.train(baselines.network(LAYERS[name]), data.x, data.y, epochs=200)
    assert losses.shape == (200,)
    assert np.isfinite(losses).all()
    assert losses[-20:].mean() < 0.9 * losses[:5].mean()


def test_the_keras_loss_is_the_free_energy_at_the_drawn_weights(monkeypatch):
    """Complexity and likelihood are summed nats, as in ``elbo``, for the same ε."""
    data, drawn = datasets.sinusoid(n=8), []

    def noise(_self, shape):
        drawn.append(np.random.default_rng(len(drawn)).standard_normal(shape).astype("f"))
        return tf.constant(drawn[-1])

    monkeypatch.setattr(baselines.VariationalDense, "_noise", noise)
    model = baselines.network(LAYERS["article"], hidden_units=(3,), noise_std=0.7)
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


def test_the_library_layers_carry_the_same_prior():
    """At w = 0 TFP's log density of the mixture is the package's, for every weight."""
    prior = baselines._mixture_fn(PRIOR)(tf.float32, [2, 3], "w", True, None)
    assert float(prior.log_prob(tf.zeros([2, 3]))) == pytest.approx(6 * PRIOR.log_prob(0.0))


# `bench live`.


def test_live_measures_the_package_itself(capsys):
    assert bench.main(["live", "--only-ours", "--repeats", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in told["rows"]] == list(live.OURS)
    assert all(row["refit_s"] > 0 and row["predict_s"] > 0 for row in told["rows"])
    assert all(row["rms"] < 3.0 for row in told["rows"])  # of a sine of amplitude 10
    assert told["resident_mb_after_ours"] > 100


# `bench ticks`, without TensorFlow.


class FakeExplorer:
    def __init__(self, broken=()):
        self.values, self.ticks, self.broken = {}, 0, broken

    def warm(self):
        return self

    def set(self, **values):
        self.ticks += 1
        if self.ticks in self.broken:
            self.values.update(values)
            raise RuntimeError("broken")
        self.values.update(values)

    def state(self):
        return self.values

    def close(self):
        pass


def test_an_exception_in_a_tick_is_counted_and_the_next_tick_works():
    figures = ticks.drive(FakeExplorer(broken=(7,)), 20, 5)
    assert len(figures["exceptions"]) == 1
    assert figures["pictures"] == 25


def test_ticks_fail_on_exceptions_whatever_the_figures(monkeypatch, capsys):
    import bdl_teach

    fake = SimpleNamespace(SinusoidExplorer=lambda: FakeExplorer(broken=(1,)))
    monkeypatch.setitem(__import__("sys").modules, "bdl_teach.widgets", fake)
    monkeypatch.setattr(bdl_teach, "widgets", fake, raising=False)
    assert bench.main(["ticks", "--ticks", "3", "--warm-up", "0"]) == 1
    assert "Exceptions: 1" in capsys.readouterr().out
