"""What is taken where nothing is given: the defaults that chapters and figures rest on."""

from collections.abc import Callable
from typing import Any

import pytest

from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import image_classifier, infinite_width, laplace, pbp, sgmcmc, vae
from bdl_teach.methods.pbp import listing
from bdl_teach.methods.pbp import replay as pbp_replay
from tests.methods.test_mean_field import defaults

NETWORK = {"prior": None, "noise_std": 1.0, "hidden_units": (20, 20)}
FITTED = {**NETWORK, "likelihood": "gaussian", "steps": 1500, "seed": 0, "capacity": None}
PICTURES = {"epochs": 10, "learning_rate": 0.001, "batch_size": 32, "pixel_scale": 1.0, "seed": 0}
CONVOLUTION = {
    "filters": 64,
    "kernel_size": 5,
    "prior_std": 1.0,
    "initial_rho": -3.0,
    "random_biases": False,
}
PAPER = {"hidden_units": (50,), "noise_prior": (6.0, 6.0), "refine_prior": True, "seed": 0}
TAKEN: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "laplace.fit": (
        laplace.fit,
        {**FITTED, "structure": "full", "linearised": True, "learning_rate": 0.02, "starts": 1},
    ),
    "laplace.around": (laplace.around, {"prior": None, "structure": "full", "linearised": True}),
    "sgmcmc.fit": (
        sgmcmc.fit,
        {
            **FITTED,
            "sampler": "sghmc",
            "learning_rate": 0.005,
            "n_chains": 8,
            "n_cycles": 0,
            "n_batches": 1,
            "temperature": 1.0,
            "preconditioned": True,
        },
    ),
    "sgmcmc.Fit.longer": (sgmcmc.Fit.longer, {"steps": 1500}),
    "infinite_width.fit": (infinite_width.fit, NETWORK),
    "infinite_width.kernel": (
        infinite_width.kernel,
        {"other": None, "prior": None, "hidden_units": (20, 20)},
    ),
    "infinite_width.prior_functions": (
        infinite_width.prior_functions,
        {"n_samples": 100, "prior": None, "hidden_units": (20, 20), "times": 1, "seed": 0},
    ),
    "pbp.fit": (pbp.fit, {**PAPER, "epochs": 40, "sites": "none"}),
    "pbp.steps": (pbp.steps, {**PAPER, "epochs": 1}),
    "pbp.replay.fit": (pbp_replay.fit, {"hidden_units": (50,), "epochs": 40, "seed": 0}),
    "pbp.replay.Trail": (
        pbp_replay.Trail,
        {"hidden_units": (50,), "noise_prior": (6.0, 6.0), "shuffle": True, "seed": 0},
    ),
    "pbp.listing.fit": (
        listing.fit,
        {
            "hidden_units": (50, 50),
            "epochs": 1,
            "batch_size": 1,
            "noise_update": "listing",
            "eps": 1e-6,
            "n_records": 40,
            "seed": 0,
        },
    ),
    "vae.fit": (
        vae.fit,
        {
            "latent_dim": 2,
            "beta": 1.0,
            "likelihood": "bernoulli",
            "decoder_std": 1.0,
            "kl": "analytic",
            "hidden_units": (128, 64),
            "steps": 2000,
            "batch_size": 100,
            "learning_rate": 0.004,
            "n_samples": 1,
            "cooldown": 0.25,
            "seed": 0,
            "variational": True,
            "start": None,
        },
    ),
    "vae.Fit.refined": (vae.Fit.refined, {"steps": 2000, "learning_rate": 0.002}),
    "vae.Fit.cost": (vae.Fit.cost, {"n_draws": 10, "seed": 1}),
    "vae.Fit.elbo": (vae.Fit.elbo, {"n_samples": 100, "seed": 1, "kl": "analytic"}),
    "vae.Fit.sample": (vae.Fit.sample, {"seed": 0}),
    "image_classifier.fit": (
        image_classifier.fit,
        {**PICTURES, **CONVOLUTION, "kl_weight": 1.0, "n_classes": None},
    ),
    "ConvNet": (image_classifier.ConvNet, {**CONVOLUTION, "seed": 0}),
    "image_classifier.ensemble": (image_classifier.ensemble, {"members": 5, "seed": 0}),
    "image_classifier.Fit.cost": (image_classifier.Fit.cost, {"n_draws": 30, "seed": 1}),
    **{
        f"image_classifier.{kind.__name__}.{name}": (
            getattr(kind, name),
            {"n_samples": n_samples, "seed": 1},
        )
        for kind, n_samples in ((image_classifier.Fit, 30), (image_classifier.Ensemble, 1))
        for name in ("predict", "log_predict")
    },
    **{
        f"{kind.__module__.rpartition('.')[2]}.Fit.predict": (
            kind.predict,
            {"n_samples": n_samples, "seed": 1},
        )
        for kind, n_samples in (
            (laplace.Fit, 500),
            (sgmcmc.Fit, 500),
            (infinite_width.Fit, 1),
            (pbp.Fit, 1),
        )
    },
    "laplace.Fit.draw": (laplace.Fit.draw, {"seed": 1}),
    "laplace.Fit.draw_linearised": (laplace.Fit.draw_linearised, {"seed": 1}),
    "ScaleMixture": (ScaleMixture, {"sigma1": 1.5, "sigma2": 0.1, "pi": 0.5}),
    "Gaussian": (Gaussian, {"sigma": 1.0}),
    **{f"{kind.__name__}.sample": (kind.sample, {"seed": 0}) for kind in (ScaleMixture, Gaussian)},
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_defaults_are_the_published_ones(name: str) -> None:
    function, published = TAKEN[name]
    assert defaults(function) == published


def test_the_recipes_for_pictures_are_the_published_ones() -> None:
    assert dict(image_classifier.FEW_IMAGES) == {
        "epochs": 30,
        "learning_rate": 0.01,
        "kl_weight": 0.3,
        "prior_std": 3.0,
        "initial_rho": -4.0,
    }
    assert image_classifier.ORDINARY["kl_weight"] == 0.0
    assert image_classifier.ORDINARY["initial_rho"] == -50.0


def test_the_samplers_have_the_momentum_that_is_said() -> None:
    assert sgmcmc.SAMPLERS == {"sgld": 0.0, "sghmc": 0.9}
