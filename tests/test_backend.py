"""TensorFlow as the package loads it: quiet, with Keras 2, and with the flag for small matrices."""

import os
import subprocess
import sys

from bdl_teach._startup import kept_programs

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


def test_backend_loads_silently_and_adds_its_xla_flag():
    ran = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={**os.environ, "XLA_FLAGS": "--xla_dump_to="},
        capture_output=True,
        text=True,
        check=True,
    )
    keras, _, found = ran.stdout.strip().partition(" ")
    assert keras.partition(".")[0] == "tf_keras"
    assert (found, ran.stderr) == (f"--xla_dump_to= {FLAG}=false", "")


def test_flag_of_the_users_own_stays(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"{FLAG}=true")
    monkeypatch.setenv(kept_programs.VARIABLE, "")
    kept_programs.prepare()
    assert os.environ["XLA_FLAGS"] == f"{FLAG}=true"


def test_refit_uses_one_core_only():
    ran = subprocess.run(
        [sys.executable, "-c", RUN],
        env={k: v for k, v in os.environ.items() if k != "TF_NUM_INTRAOP_THREADS"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(ran.stdout) < 1.2  # 1.9 with two; a busy machine can only make it less
