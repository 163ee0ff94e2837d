"""Names, arguments, controls and ids that courses, notebooks and saved files rely on."""

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import snapshot

import bdl_teach
from bdl_teach import exercises, widgets
from bdl_teach.widgets._engine import background

NETWORK = "noise_std=1.0, hidden_units=(20, 20)"
FIT = f"x, y, *, prior=None, likelihood='gaussian', {NETWORK}, steps=1500, seed=0"
VARIATIONAL = f"{FIT}, learning_rate=0.08, n_samples=1, kl_weight=1.0, starts=1"
PREDICT = "self, x, n_samples=500, seed=1"
# Published functions and their arguments; a function may take more.
CALLS = {
    "datasets.sinusoid": "n=32, noise_std=1.0, seed=0",
    "densities.ScaleMixture": "sigma1=1.5, sigma2=0.1, pi=0.5",
    "densities.Gaussian": "sigma=1.0",
    "densities.gaussian_kl": "mu_q, sigma_q, mu_p, sigma_p",
    "densities.scale_mixture_log_prob": "w, sigma1, sigma2, pi",
    "densities.gaussian_nll": "y, mean, var",
    "elbo.minibatch_weights": "n_batches, scheme='uniform'",
    "estimators.bbb_gradients": "mu, rho, eps, x, y, noise_std, prior",
    "methods.bbb.fit": VARIATIONAL,
    "methods.local_reparam.fit": VARIATIONAL,
    "methods.low_rank.fit": f"{VARIATIONAL}, rank=5",
    "methods.point.fit": f"{FIT}, learning_rate=0.02, starts=1, weight_decay=0.0",
    "methods.ensemble.fit": f"{FIT}, learning_rate=0.02, n_members=10",
    "methods.mc_dropout.fit": f"{FIT}, learning_rate=0.02, rate=0.1",
    "methods.laplace.fit": f"{FIT}, learning_rate=0.02, structure='full', linearised=True",
    "methods.sgmcmc.fit": f"{FIT}, temperature=1.0",
    "methods.infinite_width.fit": f"x, y, *, prior=None, {NETWORK}",
    "methods.empirical_bayes.fit": (
        f"x, y, *, likelihood='gaussian', tie='weight', {NETWORK}, steps=1500, seed=0"
    ),
    "methods.pbp.fit": "x, y, *, hidden_units=(50,), epochs=40, seed=0",
    "methods.exact.nuts": f"x, y, *, prior=None, {NETWORK}, n_samples=500, n_chains=2, seed=0",
    "methods.vae.fit": "x, *, latent_dim=2, beta=1.0, seed=0",
    "methods.exact.linear_regression": "x, y, prior_std, noise_std",
    "methods.local_reparam.preactivation_moments": "x, mu, sigma",
    "methods.empirical_bayes.kl": "gamma",
    "methods.empirical_bayes.optimal_prior_std": "mu, sigma",
    "methods.pbp.relu_moments": "mean, var",
    "methods.pbp.linear_moments": "mean, var, weight_mean, weight_var",
    "methods.pbp.adf_update": "m, v, dlogz_dm, dlogz_dv",
    "methods.pbp.gamma_update": "alpha, beta, residual, var",
    "metrics.rmse": "y, mean",
    "metrics.log_likelihood": "y, mean, var",
    "metrics.coverage": "y, lower, upper",
    "metrics.auroc": "labels, scores",
    "metrics.predictive_entropy": "probabilities",
    "metrics.mutual_information": "probabilities",
    "methods.bbb.Fit.predict": PREDICT,
    "methods.exact.NutsFit.predict": "self, x, n_samples=None, seed=1",
    "claims.show": "*ids",
    "exercises.check": "number, answer, *, record=True",
    "exercises.progress": "chapter=None",
    "exercises.reset": "chapter=None",
}
# Published attributes.
READ = {
    "methods.bbb.Fit": "predict free_energy converged history",
    "methods.low_rank.Fit": "predict free_energy converged history",
    "methods.empirical_bayes.Fit": "predict free_energy converged history",
    "methods.exact.NutsFit": "predict r_hat ess",
    "methods.exact.LinearPosterior": "predict mean cov log_evidence",
    "methods.laplace.Fit": "predict log_evidence",
    "methods.vae.Fit": "encode decode elbo sample",
    "predictive.Predictive": (
        "mean epistemic_std aleatoric_std total_std samples log_prob mc_error interval"
    ),
    "predictive.BernoulliPredictive": "probability log_prob",
}


def named(name: str) -> Any:
    """Return the object of a dotted name in the package; import modules on the way."""
    found: Any = bdl_teach
    for part in name.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_public_function_takes_published_arguments(name: str) -> None:
    published = inspect.signature(eval(f"lambda {CALLS[name]}: None")).parameters
    taken = inspect.signature(named(name)).parameters
    for argument, asked in published.items():
        assert argument in taken, f"{name}: no argument {argument}"
        assert taken[argument].kind == asked.kind, f"{name}: {argument}"
        assert taken[argument].default == asked.default, f"{name}: {argument}"
    required = {n for n, p in taken.items() if p.default is p.empty and p.kind != p.VAR_POSITIONAL}
    assert required <= set(published), f"{name}: requires more"


@pytest.mark.parametrize("name", READ)
def test_fit_has_published_attributes(name: str) -> None:
    kind = named(name)
    has = {*dir(kind), *getattr(kind, "__dataclass_fields__", ())}
    assert has >= set(READ[name].split())


def in_lines(names: str) -> list[str]:
    return textwrap.wrap(names, 95, break_on_hyphens=False)


@pytest.fixture
def idle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield an explorer whose worker is not started, so that nothing is computed."""
    monkeypatch.setattr(background, "start", lambda _: None)
    made = getattr(widgets, request.param)()
    yield made
    made.close()


@pytest.mark.parametrize("idle", widgets.__all__, indirect=True)
def test_explorer_has_the_published_controls_presets_and_missions(idle: Any) -> None:
    """Scripts and saved states use these names."""
    controls = [name for name, c in idle._view.controls.items() if getattr(c, "description", None)]
    missions = [mission.id for mission in idle.MISSIONS]
    names = {"controls": controls, "presets": list(idle.presets), "missions": missions}
    lines = {kind: in_lines(", ".join(of_kind)) for kind, of_kind in names.items()}
    snapshot.check(f"explorers/{type(idle).__name__}", lines)
    public = ("set", "wait", "state", "preset", "png", "svg", "code", "replay", "warm")
    assert all(callable(getattr(idle, name)) for name in public)
    rebuilt = type(idle)(**idle.state())
    assert rebuilt.state() == idle.state()
    rebuilt.close()


def test_no_published_exercise_has_disappeared() -> None:
    """New ones may be added; the numbers of learners' records must stay."""
    before = " ".join(snapshot.kept("exercises", in_lines(" ".join(exercises.REGISTRY))))
    assert set(before.split()) - set(exercises.REGISTRY) == set()
