"""The compiled training loop: its records, frames and several starts."""

from functools import lru_cache

import numpy as np
import pytest

from bdl_teach import DivergedError, optimise
from bdl_teach._support.compiled import Compiled
from bdl_teach.backend import tf
from bdl_teach.methods import point
from bdl_teach.optimise import Schedule, Trace

START = [np.float32([3.0, -2.0]), np.float32([[0.5, 4.0, -1.0]])]


def schedule(steps: int, learning_rate: float, cooldown: float = 0.0) -> Schedule:
    return Schedule(tf.constant(steps), tf.constant(learning_rate), tf.constant(cooldown))


def bowl(parameters, step=0, block=0):
    """Return a loss that differs in steepness between axes and changes from step to step."""
    a, b = parameters
    loss = tf.reduce_sum(a**2 * [1.0, 30.0]) + tf.reduce_sum(tf.abs(b) ** 1.5)
    return loss * (1.0 + 0.5 * tf.sin(tf.cast(step, tf.float32))), tf.stack([loss])


def minimise(objective, plan: Schedule, **options) -> Trace:
    def run(a, b, *plan):
        return optimise.adam(objective, [a, b], Schedule(*plan), **options)

    return Compiled(run)(*(tf.constant(p) for p in START), *plan)


@pytest.mark.parametrize(("steps", "n_records", "n_blocks"), [(7, 100, 3), (250, 100, None)])
def test_each_entry_of_the_training_record_has_the_values_of_its_step(steps, n_records, n_blocks):
    """With a constant gradient each step of Adam has the length of its learning rate.

    The record of step t (counted from 1) holds the inputs of step t and the parameters after it.
    """
    blocks = n_blocks or 1

    def slope(parameters, step, block):
        a, b = parameters
        seen = tf.stack([tf.cast(step, tf.float32), a[0], blocks * tf.cast(block, tf.float32)])
        return (tf.reduce_sum(a) - tf.reduce_sum(b)) / blocks, seen / blocks

    plan, count = schedule(steps, 0.01), None if n_blocks is None else tf.constant(n_blocks)
    trace = minimise(slope, plan, n_blocks=count, n_records=n_records)
    stops = np.ceil(np.arange(1, n_records + 1) * steps / n_records)  # evenly, up to the last
    np.testing.assert_array_equal(trace.steps, stops)
    step, first, block = np.transpose(trace.records)
    np.testing.assert_allclose(step, stops - 1, rtol=1e-6)
    np.testing.assert_allclose(first, START[0][0] - 0.01 * stops, rtol=1e-3)
    np.testing.assert_allclose(block, sum(range(blocks)))
    for parameter, begin, sign in zip(trace.parameters, START, (1, -1), strict=True):
        np.testing.assert_allclose(parameter, begin - sign * 0.01 * steps, rtol=1e-3, atol=1e-3)


def trace_of(records) -> Trace:
    return Trace(
        [tf.constant([0.0])], tf.range(10, 10 * len(records) + 1, 10), tf.constant(records)
    )


def test_divergence_names_the_first_bad_step_and_the_remedy():
    with pytest.raises(DivergedError, match="step 20: walk slower") as caught:
        optimise.history(trace_of([[1.0], [np.inf], [1.0], [np.nan]]), ("a",), "walk slower")
    assert (caught.value.step, caught.value.remedy) == (20, "walk slower")
    parameters = [tf.constant([0.0, 1.0]), tf.constant([0.0, np.nan])]
    with pytest.raises(DivergedError, match="step 20"):
        optimise.history(trace_of([[1.0], [1.0]])._replace(parameters=parameters), ("a",), "slower")


def along(steps: int) -> Trace:
    """Train for some steps and keep the path; any number of steps uses one program."""
    return _along()(*(tf.constant(p) for p in START), *schedule(steps, 0.05))


@lru_cache
def _along() -> Compiled:
    return Compiled(
        lambda a, b, *plan: optimise.adam(bowl, [a, b], Schedule(*plan), keep_path=True)
    )


def test_frame_equals_result_of_a_run_of_that_many_steps():
    path = optimise.path(along(1500))
    for i in (1, 3, 6, 20):
        short = along(int(path.steps[i]))
        for frames, end in zip(path.parameters, short.parameters, strict=True):
            np.testing.assert_array_equal(frames[i], end)
        np.testing.assert_array_equal(path.records[i], short.records[-1])


def diverging(*bad: int):
    """Return a fit that returns the number of its start, or diverges at the step of its number."""

    def fit(settings: point.Settings) -> int:
        start = settings.seed // 10**6
        if start in bad:
            raise DivergedError(start, "walk slower")
        return start

    return fit


@pytest.mark.parametrize(("bad", "best"), [((), 2), ((0, 2), 1)])
def test_best_start_is_kept_and_diverging_one_skipped(bad, best):
    settings = point.Settings(starts=3, seed=7)
    assert optimise.best_start(diverging(*bad), settings, lambda start: -start) == best
    with pytest.raises(DivergedError, match="step 0: walk slower"):
        optimise.best_start(diverging(0, 1, 2), settings, float)
