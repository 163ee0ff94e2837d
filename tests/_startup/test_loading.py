"""What TensorFlow Probability and Keras cost is paid by who asks for them."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

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


def said(code: str, path: str = "") -> list[str]:
    """The words that code prints in a process of its own, which looks for modules there first."""
    env = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run([sys.executable, "-c", code], env=env, stdout=-1, text=True, check=True)
    return ran.stdout.split()


def test_refit_loads_neither_tensorflow_probability_nor_keras() -> None:
    assert said(QUICK) == ["[]"]


def test_lazily_loaded_modules_are_complete() -> None:
    shape, version_, *listed, log_2, keras = said(LATE)
    assert (shape, version_) == ("(3,)", version("tensorflow-probability"))
    assert listed == ["True", "True"]
    assert float(log_2) == pytest.approx(0.6931472)
    assert keras.startswith("tf_keras")


def test_tensors_made_during_lazy_import_stay_out_of_traced_program(tmp_path: Path) -> None:
    (tmp_path / "tensorflow_probability.py").write_text(CAREFREE)
    assert said(IN_A_PROGRAM, str(tmp_path)) == ["42.0"]
