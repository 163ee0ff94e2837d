"""The list of the regression methods, and the interface that all of them have.

To add a method, write its module, its test and one entry of ``CATALOGUE``. Nothing here loads
TensorFlow: a method's module is imported when the method is first called.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from bdl_teach.predictive import Predictive


@runtime_checkable
class Fitted(Protocol):
    """What a method's ``fit`` returns: an immutable object that predicts.

    A method that trains in steps also has ``history``: arrays ``[r]`` by name, ``step`` or
    ``epoch`` and the r values recorded then (costs in nats, scales in the units of y).
    """

    def predict(self, x: ArrayLike, n_samples: int = ..., seed: int = ...) -> Predictive:
        """Return the predictive distribution of y at test inputs.

        Args:
            x: Test inputs ``[m, d]``, in the units of the training inputs.
            n_samples: Number of draws S, >= 1; unused by a method that draws nothing.
            seed: Seed of the draws, >= 0.

        Returns:
            A ``Predictive`` in the units of y, with arrays ``[m]``. ``samples`` is ``[s, m]``,
            ``[k, m]`` for a fit of k networks, or ``None`` for a Gaussian in closed form.

        Raises:
            ValueError: x is not finite or not ``[m, d]``, S < 1, or ``seed`` < 0.
        """


class Fit(Protocol):
    """A method: a function of the data that returns a :class:`Fitted`."""

    def __call__(self, x: ArrayLike, y: ArrayLike, *, seed: int = 0, **options: object) -> Fitted:
        """Fit the method to data.

        All arguments but the data are keywords with defaults. An argument of several methods has
        one name in all of them: ``prior`` (a ``densities.Prior`` of each weight), ``noise_std`` (of
        y, in its units), ``hidden_units``, ``steps``, ``epochs``, ``learning_rate``, ``n_samples``,
        and ``capacity`` (sizes to compile for).

        Args:
            x: Inputs ``[n, d]``.
            y: Targets ``[n, 1]`` or ``[n]``.
            seed: Seed >= 0 of all that is random; equal seeds give bitwise equal numbers. A method
                without randomness has no such argument.
            **options: The method's own, with defaults.

        Raises:
            ValueError: An argument is out of range or the shapes do not fit.
            DivergedError: The fit became NaN or infinite; the message names step and remedy.
        """


@dataclass(frozen=True)
class Method:
    """An entry of the catalogue; most methods need only the first three fields.

    Attributes:
        module: Name of the method's module in ``bdl_teach.methods``.
        label: Short name, for a small panel or a button.
        hint: Tooltip of the method's button.
        function: The module's function with the interface of :class:`Fit`.
        title: Longer name; ``label`` if "".
        bench: Name in the table of ``bench methods``; that of the module or function if "".
        options: Arguments with which ``function`` is always called for this method.
        compared: Further arguments in the comparison explorer; ``None`` leaves the method out.
        tuned: The controls that affect the method's fit in the explorer of two methods; ``None``
            leaves the method out.
        rival: Whether chapter 10's table compares the method with the true posterior.
        pace: ``"live"`` if a fit is fast enough to wait for at each movement of a slider;
            ``"slow"`` if the other methods' fits are shown first; ``"background"`` if a fit takes
            seconds and is made on request.
    """

    module: str
    label: str
    hint: str
    _: KW_ONLY
    function: str = "fit"
    title: str = ""
    bench: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    compared: Mapping[str, object] | None = field(default_factory=dict)
    tuned: tuple[str, ...] | None = None
    rival: bool = True
    pace: Literal["live", "slow", "background"] = "live"

    @property
    def name(self) -> str:
        """Return the method's name in a table."""
        by_function = self.module if self.function == "fit" else f"{self.module}.{self.function}"
        return self.bench or by_function

    @property
    def call(self) -> Fit:
        """Import the method's module, and return its fitting function."""
        found: Fit = getattr(importlib.import_module(f"{__package__}.{self.module}"), self.function)
        return found

    @property
    def takes(self) -> frozenset[str]:
        """Return the names of the arguments that the fitting function takes."""
        return frozenset(inspect.signature(self.call).parameters)

    def fit(self, x: ArrayLike, y: ArrayLike, **common: object) -> Fitted:
        """Fit the method with its ``options``; ``common`` arguments that it lacks are ignored."""
        taken: dict[str, Any] = {name: common[name] for name in common.keys() & self.takes}
        return self.call(x, y, **{**taken, **self.options})


CATALOGUE: Mapping[str, Method] = {  # the quickest first
    "mle": Method(
        "point", "MLE", "one network, least squares",
        bench="point, MLE", options={"prior": None},
    ),
    "map": Method(
        "point", "MAP", "one network, with the prior as weight decay",
        bench="point, MAP", tuned=(),
    ),
    "infinite": Method(
        "infinite_width", "∞ width", "the Gaussian process of infinitely many hidden units: exact",
        title="infinite width", tuned=(),
    ),
    "laplace": Method(
        "laplace", "Laplace", "a Gaussian round MAP, as wide as the posterior is curved there",
        tuned=("structure", "linearised"),
    ),
    "last_layer": Method(
        "laplace", "Laplace, last layer", "Laplace over the weights of the last layer alone",
        bench="laplace, MAP and last layer", options={"structure": "last_layer"},
        compared=None,  # a control of the explorer of two methods selects it
    ),
    "bbb": Method("bbb", "BBB", "Bayes by Backprop: a Gaussian over each weight"),
    "local": Method(
        "local_reparam", "local, quiet", "Bayes by Backprop, reparameterized locally: less noise",
        title="mean field", tuned=(),
        compared={"estimator": "quiet", "learning_rate": 0.2},  # local_reparam.QUIET
    ),
    "lowest": Method(
        "local_reparam", "lowest", "the mean field of lowest free energy, of 16 starts at once",
        title="mean field, at its lowest", bench="local_reparam, lowest of 16 starts",
        options={  # local_reparam.LOWEST
            "estimator": "quiet", "side_by_side": True, "starts": 16, "steps": 1000,
            "learning_rate": 0.1,
        },
        compared=None,  # explorers show it as what becomes of ``local`` at rest
    ),
    "flipout": Method(
        "local_reparam", "Flipout", "Bayes by Backprop, with signs flipped for each point",
        bench="local_reparam, Flipout", options={"estimator": "flipout"},
        compared=None, rival=False,  # the same objective and family as ``local``
    ),
    "dropout": Method(
        "mc_dropout", "dropout", "one network that drops units at random, in prediction, too",
        title="MC dropout", tuned=("rate",),
    ),
    "eb": Method(
        "empirical_bayes", "emp. Bayes", "Bayes by Backprop with the prior's width learnt",
        compared={"tie": "all", "estimator": "quiet", "learning_rate": 0.3},  # QUIET
    ),
    "low_rank": Method(
        "low_rank", "low rank", "a Gaussian over all weights, with correlations of rank 5",
        tuned=("rank",),
    ),
    "swag": Method(
        "low_rank", "SWAG", "a Gaussian read off the optimiser's path round a mode",
        function="swag", compared=None,  # compiles for every number of points
    ),
    "ensemble": Method(
        "ensemble", "ensemble", "ten networks from ten starts", title="deep ensemble",
        tuned=("members",),
    ),
    "anchored": Method(
        "ensemble", "anchored", "ten networks, each pulled towards its own draw from the prior",
        title="anchored ensemble", bench="ensemble, anchored", options={"anchored": True},
        compared=None,  # a variant, shown in the explorer of two methods
        tuned=("members",),
    ),
    "sgmcmc": Method(
        "sgmcmc", "SGHMC", "chains of gradient steps with momentum and noise",
        tuned=("temperature",), pace="slow",
    ),
    "pbp": Method(
        "pbp", "PBP", "probabilistic backpropagation; learns the noise too",
        bench="pbp, 40 epochs", pace="slow",
    ),
    "hmc": Method(
        "mcmc", "HMC", "sample the true posterior: four chains at once, a fraction of a second",
        function="hmc", pace="slow",
        compared=None, rival=False,  # it is the true posterior beside all others
    ),
    "nuts": Method(
        "mcmc", "NUTS", "sample the true posterior in the background: some seconds",
        function="nuts", pace="background", rival=False,
        compared={"n_chains": 4, "n_samples": 500, "n_warmup": 300, "n_thin": 2},
    ),
}  # fmt: skip

# Not methods of regression: one predicts the classes of pictures, one codes data without any y.
OTHER_TASKS = ("image_classifier", "vae")

# ``exact`` is no method of the catalogue either: it is for linear models only.
MODULES = tuple(sorted({m.module for m in CATALOGUE.values()} | {*OTHER_TASKS, "exact"}))
