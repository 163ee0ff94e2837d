"""Errors of this package, besides ``ValueError`` for bad input."""


class DivergedError(ArithmeticError):
    """A fit reached NaN or infinity.

    Attributes:
        step: Optimiser step (PBP: data point; HMC and NUTS: transition) by which this happened.
        remedy: What to change, as a sentence.
    """

    def __init__(self, step: int, remedy: str) -> None:
        super().__init__("the fit diverged by step " + str(step) + ": " + remedy)
        self.step = step
        self.remedy = remedy


class DatasetUnavailable(OSError):
    """A data set is neither stored nor reachable; the message says what to fetch and from where."""
