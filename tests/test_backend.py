"""TensorFlow as the package loads it: quiet, with Keras 2 and the package's XLA flag."""

import os
import subprocess
import sys

from bdl_teach import backend
from bdl_teach._startup import kept_programs

LOOK = (
    "import os; from bdl_teach.backend import tf; "
    "print(tf.keras.layers.Layer.__module__, os.environ['XLA_FLAGS'])"
)
FLAG = "--xla_cpu_multi_thread_eigen"


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


def test_xla_flag_set_by_user_is_kept(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"{FLAG}=true")
    monkeypatch.setenv(kept_programs.VARIABLE, "")
    kept_programs.prepare()
    assert os.environ["XLA_FLAGS"] == f"{FLAG}=true"


def test_errors_are_printed_again_after_overlapping_quiet_contexts(capfd):
    first, second = backend.quiet_stderr(), backend.quiet_stderr()  # of two threads
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    os.write(2, b"lost")
    second.__exit__(None, None, None)
    os.write(2, b"kept")
    assert capfd.readouterr().err == "kept"
