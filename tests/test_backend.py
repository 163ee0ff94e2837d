"""TensorFlow as the package loads it: quiet, with Keras 2, and with the flag for small matrices."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

LOOK = (
    "import os; from bdl_teach.backend import tf; "
    "print(tf.keras.layers.Layer.__module__, os.environ['XLA_FLAGS'])"
)
FLAG = "--xla_cpu_multi_thread_eigen"
RUN = """
import time
from bdl_teach import datasets
from bdl_teach.methods import local_reparam
data = datasets.sinusoid()
def fit():
    return local_reparam.fit(data.x, data.y, **local_reparam.QUIET)
fit()
clocks = time.process_time(), time.perf_counter()
for _ in range(5):
    fit()
print((time.process_time() - clocks[0]) / (time.perf_counter() - clocks[1]))
"""


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ("", f"{FLAG}=false"),
        ("--xla_dump_to=", f"--xla_dump_to= {FLAG}=false"),
        (f"{FLAG}=true", f"{FLAG}=true"),
    ],
    ids=["none", "another", "the user's own"],
)
def test_it_loads_without_a_word_and_adds_its_flag_to_those_of_the_user(given, flags):
    ran = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={**os.environ, "XLA_FLAGS": given},
        capture_output=True,
        text=True,
        check=True,
    )
    keras, _, found = ran.stdout.strip().partition(" ")
    assert (keras.partition(".")[0], found, ran.stderr) == ("tf_keras", flags, "")


def test_a_refit_takes_one_core_and_no_second_one_to_wait_in():
    ran = subprocess.run(
        [sys.executable, "-c", RUN],
        env={k: v for k, v in os.environ.items() if k != "TF_NUM_INTRAOP_THREADS"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(ran.stdout) < 1.2  # 1.9 with two; a busy machine can only make it less


QUICK = """
import sys
from bdl_teach import datasets
from bdl_teach.methods import bbb, local_reparam
data = datasets.sinusoid()
for fit in (local_reparam.fit(data.x, data.y, **local_reparam.QUIET), bbb.fit(data.x, data.y)):
    fit.free_energy, fit.predict(data.x)
print([name for name in ("tensorflow_probability", "tf_keras", "keras") if name in sys.modules])
"""
LATE = """
from bdl_teach.backend import tf, tfd, tfp
@tf.function
def density():  # it loads while a program is traced
    return tfd.Normal(0.0, 1.0).log_prob(tf.zeros([3]))
print(density().shape, tfp.__version__, "Normal" in dir(tfd), "mcmc" in dir(tfp))
print(float(tfp.math.log_add_exp(0.0, 0.0)), tf.keras.layers.Layer.__module__)
"""


CAREFREE = "import tensorflow as tf\nmade = tf.constant(6.0) * 7.0\n"
IN_A_PROGRAM = """
from bdl_teach.backend import tf, tfp
@tf.function
def asks():
    tfp.made
    return tf.constant(0.0)
asks()
print(float(tfp.made))
"""


def said(code: str, *, path: Path | None = None) -> list[str]:
    """The words that code prints in a process of its own, which looks for modules there first."""
    env = {**os.environ, **({} if path is None else {"PYTHONPATH": str(path)})}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


def test_a_refit_loads_neither_tensorflow_probability_nor_keras():
    assert said(QUICK) == ["[]"]


def test_what_loads_late_is_whole_also_when_a_program_asks_for_it():
    shape, version_, *listed, log_2, keras = said(LATE)
    assert (shape, version_) == ("(3,)", version("tensorflow-probability"))
    assert listed == ["True", "True"]
    assert float(log_2) == pytest.approx(0.6931472)
    assert keras.startswith("tf_keras")


def test_what_a_library_makes_while_it_loads_is_no_part_of_a_program(tmp_path):
    (tmp_path / "tensorflow_probability.py").write_text(CAREFREE)
    assert said(IN_A_PROGRAM, path=tmp_path) == ["42.0"]
