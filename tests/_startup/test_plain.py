"""Test the changes to TensorFlow at its start, and the switch that turns them off."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

LOOK = """
import gc, json, os, sys, threading
from IPython.core.interactiveshell import InteractiveShell
from bdl_teach import datasets
from bdl_teach._startup import loading
from bdl_teach.widgets import head_start
from bdl_teach.backend import tf, tfd, tfp
from bdl_teach.methods import local_reparam
from tensorflow.python.framework import ops
asked = []
loading.ctypes.CDLL = lambda *_: asked.append("the C library")
head_start.load_ipython_extension(InteractiveShell.instance())
threads = [t.name for t in threading.enumerate() if "head start" in t.name]
data = datasets.sinusoid()
fit = local_reparam.fit(data.x, data.y, **local_reparam.QUIET, hidden_units=(5, 5))
mean = [fit.free_energy, *fit.predict(data.x).mean.tolist()]
loaded = "tensorflow_probability" in sys.modules
loading.trim_heap()
done = [*asked, *threads, *(["frozen"] if gc.get_freeze_count() else [])]
done += ["names"] if ops.uid.__module__ != ops.__name__ else []
done += ["kept programs"] if "persistent_cache" in os.environ.get("TF_XLA_FLAGS", "") else []
@tf.function
def density():  # tfd loads while this is traced
    return tfd.Normal(0.0, 1.0).log_prob(0.0)
said = [float(density()), tfp.__version__, "Normal" in dir(tfd), "mcmc" in dir(tfp)]
print(json.dumps([loaded, done, mean, said, tf.keras.layers.Layer.__module__]))
"""
IN_A_PROGRAM = """
from bdl_teach.backend import tf, tfp
@tf.function
def asks():
    tfp.made
    return tf.constant(0.0)
asks()
print(float(tfp.made))
"""


def said(code: str, **environment: str) -> Any:
    """Run code in a new process; return what it prints, read as JSON."""
    env = {**os.environ, "BDL_TEACH_PLAIN": "", **environment}
    env.pop("TF_XLA_FLAGS", None)
    ran = subprocess.run([sys.executable, "-c", code], env=env, stdout=-1, check=True)
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_plain_tensorflow_start_gives_the_same_results(tmp_path: Path) -> None:
    found = [
        said(LOOK, BDL_TEACH_PLAIN=plain, BDL_TEACH_XLA_CACHE=str(tmp_path)) for plain in ("", "1")
    ]
    (late, done, mean, *complete), (eager, plain_done, plain_mean, *plain_complete) = found
    assert (late, eager) == (False, True), "a refit does not load TFP"
    linux = {"the C library"} if sys.platform == "linux" else set()
    assert set(done) == {"bdl_teach head start", "frozen", "names", "kept programs", *linux}
    assert plain_done == []
    assert plain_mean == pytest.approx(mean, rel=1e-6)
    ((density, of, *listed), keras) = complete
    assert plain_complete == complete
    assert density == pytest.approx(-0.9189385) and of == version("tensorflow-probability")
    assert listed == [True, True] and keras.startswith("tf_keras")


def test_import_while_a_program_is_traced_makes_ordinary_tensors(tmp_path: Path) -> None:
    carefree = "import tensorflow as tf\nmade = tf.constant(6.0) * 7.0\n"
    (tmp_path / "tensorflow_probability.py").write_text(carefree)
    assert said(IN_A_PROGRAM, PYTHONPATH=str(tmp_path)) == 42.0
