"""One switch turns off all that is done to TensorFlow; what is computed stays the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
import gc, json, os, sys, threading
from bdl_teach import datasets
from bdl_teach._startup import head_start, memory
from bdl_teach.backend import tf, tfd
from bdl_teach.methods import bbb
from tensorflow.python.framework import ops
asked = []
memory.ctypes.CDLL = lambda *_: asked.append("the C library")
eager = [name for name in ("tensorflow_probability", "tf_keras") if name in sys.modules]
head_start.load_ipython_extension(None)
threads = [t.name for t in threading.enumerate() if "head start" in t.name]
data = datasets.sinusoid()
fit = bbb.fit(data.x, data.y, hidden_units=(5, 5), steps=200)
memory.release()
done = [*asked, *threads, *(["frozen"] if gc.get_freeze_count() else [])]
done += ["names"] if ops.uid.__module__ != ops.__name__ else []
done += ["kept programs"] if "persistent_cache" in os.environ.get("TF_XLA_FLAGS", "") else []
density = float(tfd.Normal(0.0, 1.0).log_prob(0.0))
print(json.dumps([eager, done, fit.predict(data.x).mean.tolist(), density]))
"""


def test_plain_switch_disables_startup_hooks_and_changes_no_number(tmp_path: Path) -> None:
    found = []
    for plain in ("", "1"):
        env = {**os.environ, "BDL_TEACH_PLAIN": plain, "BDL_TEACH_XLA_CACHE": str(tmp_path)}
        env.pop("TF_XLA_FLAGS", None)
        ran = subprocess.run([sys.executable, "-c", LOOK], env=env, stdout=-1, check=True)
        found.append(json.loads(ran.stdout))
    (late, done, mean, density), (eager, plain_done, plain_mean, plain_density) = found
    assert late == [] and eager == ["tensorflow_probability", "tf_keras"]
    linux = {"the C library"} if sys.platform == "linux" else set()
    assert set(done) == {"bdl_teach head start", "frozen", "names", "kept programs", *linux}
    assert plain_done == []
    assert plain_mean == pytest.approx(mean, rel=1e-6)
    assert plain_density == density == pytest.approx(-0.9189385)
