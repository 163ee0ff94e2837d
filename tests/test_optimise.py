"""The one compiled loop: Adam as Keras has it, a schedule, and a record of how it went."""

from functools import lru_cache
from threading import Barrier, Event

import numpy as np
import pytest

from bdl_teach import DivergedError, optimise
from bdl_teach._support.compiled import Compiled
from bdl_teach.backend import tf
from bdl_teach.optimise import Schedule, Trace

START = [np.float32([3.0, -2.0]), np.float32([[0.5, 4.0, -1.0]])]


def schedule(steps: int, learning_rate: float, cooldown: float = 0.0) -> Schedule:
    return Schedule(tf.constant(steps), tf.constant(learning_rate), tf.constant(cooldown))


def bowl(parameters, step=0, block=0):
    """A loss that is steeper along some axes than along others, and changes from step to step."""
    a, b = parameters
    loss = tf.reduce_sum(a**2 * [1.0, 30.0]) + tf.reduce_sum(tf.abs(b) ** 1.5)
    return loss * (1.0 + 0.5 * tf.sin(tf.cast(step, tf.float32))), tf.stack([loss])


def minimise(objective, plan: Schedule, **options) -> Trace:
    def run(a, b, *plan):
        return optimise.adam(objective, [a, b], Schedule(*plan), **options)

    return Compiled(run)(*(tf.constant(p) for p in START), *plan)


def keras_adam(steps: int, learning_rate: float) -> list[np.ndarray]:
    variables = [tf.Variable(p) for p in START]
    optimiser = tf.keras.optimizers.Adam(learning_rate, epsilon=optimise.EPSILON)
    for step in range(steps):
        with tf.GradientTape() as tape:
            loss, _ = bowl(variables, step)
        optimiser.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return [v.numpy() for v in variables]


@pytest.mark.parametrize(("steps", "learning_rate"), [(1, 0.1), (60, 0.05)])
def test_the_loop_is_keras_adam(steps, learning_rate):
    ours = minimise(bowl, schedule(steps, learning_rate)).parameters
    for mine, twin in zip(ours, keras_adam(steps, learning_rate), strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-4, atol=1e-5)


def test_blocks_are_summed():
    """Each block pulls at other parameters: Adam would not tell one block from many alike."""

    def slices(parameters, step, block):
        a, b = parameters
        columns = tf.reduce_sum(tf.abs(b) ** 1.5, axis=0)
        terms = [tf.reduce_sum(a**2 * [1.0, 30.0]), columns[0], columns[1] + columns[2]]
        part = tf.gather(tf.stack(terms), block)
        return part * (1.0 + 0.5 * tf.sin(tf.cast(step, tf.float32))), tf.stack([part])

    whole = minimise(bowl, schedule(30, 0.05))
    parts = minimise(slices, schedule(30, 0.05), n_blocks=tf.constant(3))
    for one, other in zip(whole.parameters, parts.parameters, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(whole.records, parts.records, rtol=1e-3)


# The schedule


def test_the_rate_holds_and_then_falls_linearly_to_zero():
    plan = schedule(100, 0.2, cooldown=0.25)
    rates = [float(plan.rate(tf.constant(step))) for step in (0, 50, 75, 80, 99, 100)]
    np.testing.assert_allclose(rates, [0.2, 0.2, 0.2, 0.16, 0.008, 0.0], atol=1e-7)


# The record


@pytest.mark.parametrize(
    ("steps", "n_records", "n_blocks"), [(7, 100, 3), (250, 100, 3), (60, 60, None), (1000, 7, 3)]
)
def test_each_record_is_of_its_own_step_just_after_its_update(steps, n_records, n_blocks):
    """Under a slope that never changes, each step of Adam is as long as its learning rate.

    The record of step t (counted from 1) sees what step t saw, and what that has made of it.
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


def trace_of(records, parameters=(0.0,)) -> Trace:
    steps = tf.range(10, 10 * len(records) + 1, 10)
    return Trace([tf.constant(parameters)], steps, tf.constant(records))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_divergence_names_the_first_bad_step_and_the_remedy(bad):
    with pytest.raises(DivergedError, match="step 20: walk slower") as caught:
        optimise.history(trace_of([[1.0], [bad], [1.0], [bad]]), ("a",), "walk slower")
    assert (caught.value.step, caught.value.remedy) == (20, "walk slower")


@pytest.mark.parametrize("place", [0, 1])
def test_non_finite_parameter_is_a_divergence(place):
    trace = trace_of([[1.0], [1.0]])
    parameters = [tf.constant([0.0, 1.0]), tf.constant([0.0, 1.0])]
    parameters[place] = tf.constant([0.0, np.nan])
    with pytest.raises(DivergedError) as caught:
        optimise.history(trace._replace(parameters=parameters), ("a",), "walk slower")
    assert caught.value.step == 20


# The path


def along(steps: int) -> Trace:
    """Run with the path kept; any number of steps in one program."""
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


# Several starts


def diverging(*bad: int):
    """Fit a seed by returning it, or diverge at the step of its number."""

    def fit(seed: int) -> int:
        if seed in bad:
            raise DivergedError(seed, "walk slower")
        return seed

    return fit


@pytest.mark.parametrize(("bad", "best"), [((), 3), ((3,), 4), ((5, 3), 4), ((5, 4), 3)])
def test_best_start_is_kept_and_diverging_one_skipped(bad, best):
    assert optimise.best_of(diverging(*bad), [5, 3, 4], float) == best


def test_first_start_ends_before_others_run_in_parallel(monkeypatch):
    """It may have to be compiled; each of the two that follow waits until the other has begun."""
    monkeypatch.setattr(optimise.os, "cpu_count", lambda: 2)
    together, others = Barrier(2), Event()

    def fit(seed: int) -> int:
        if seed == 5:
            assert not others.wait(timeout=0.1)
        else:
            others.set()
            together.wait(timeout=20)
        return seed

    assert optimise.best_of(fit, [5, 3, 4], float) == 3
    others.clear()
    assert optimise.best_of(fit, [5, 7, 8], float) == 5
