"""What XLA compiled is there for the next process, for this kind of processor alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bdl_teach._startup import kept_programs

ROOT = Path(__file__).resolve().parents[2]
POWER = 1.1**10
PROGRAM = """
import pathlib, shutil, sys
from bdl_teach._support import compiled
from bdl_teach.backend import tf
exec(sys.argv[1])
def power(x):
    return tf.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s * x), (0, x))[1]
print(float(compiled.Compiled(power)(tf.constant(1.1))))
"""


def run(cache: Path, first: str = "", **environment: str) -> tuple[list[str], str]:
    """Compile and run a small loop in a process of its own; return what it said."""
    clean = {name: text for name, text in os.environ.items() if "XLA" not in name}
    clean.pop("TF_CPP_MIN_LOG_LEVEL", None)
    env = {**clean, kept_programs.VARIABLE: str(cache), **environment}
    command = [sys.executable, "-c", PROGRAM, first]
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    *said, power = ran.stdout.splitlines()
    assert float(power) == pytest.approx(POWER, rel=1e-6)
    return said, ran.stderr


def kept(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once")
    assert run(folder) == ([], "")
    return folder


@pytest.fixture
def filled(once: Path, tmp_path: Path) -> Path:
    """A folder with the probe and the loop: a copy, since a program has no part in where it is."""
    return shutil.copytree(once, tmp_path / "cache")


OTHERS = (  # of one place in the code, two that do not do the same; then a loop with its gradient
    "f = lambda x: tf.while_loop("
    "lambda s: s < 9.0, lambda s: (s * x,), (x,), maximum_iterations=9);"
    "made = [compiled.Compiled((lambda k: lambda x: k * x)(k)) for k in map(float, {})];"
    "made += [compiled.Compiled(lambda x: tf.gradients(f(x)[0], x)[0])];"
    "print([float(p(tf.constant(2.0))) for p in made])"
)


def test_stored_program_is_found_regardless_of_earlier_traces(filled: Path, tmp_path: Path) -> None:
    (folder,) = filled.iterdir()
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700, "its user's alone"
    flags = f"--xla_dump_to={tmp_path / 'dumps'} --xla_dump_hlo_as_text"  # of what XLA compiles
    cache, compiled = tmp_path / "dumped", []
    for order, said in (("(3, 4)", [6.0, 8.0, 32.0]), ("(4, 3)", [8.0, 6.0, 32.0])):
        assert run(cache, OTHERS.format(order), XLA_FLAGS=flags) == ([str(said)], "")
        compiled.append(len(list((tmp_path / "dumps").glob("*after_optimizations.txt"))))
        assert len(kept(cache)) == 5, "the probe, the loop and the others, none of them twice"
    assert compiled[0] == compiled[1] >= 5


def test_damaged_programs_are_compiled_anew_and_forgotten(filled: Path) -> None:
    for size, path in enumerate(kept(filled)):
        os.truncate(path, 1000 * size)
    _, stderr = run(filled)
    assert "not available" not in stderr and "graph mode" not in stderr
    assert min(path.stat().st_size for path in kept(filled)) > 1000


def test_first_picture_uses_stored_programs_and_second_start_compiles_nothing(
    tmp_path: Path,
) -> None:
    def said(code: str) -> str:
        env = {name: text for name, text in os.environ.items() if "XLA_FLAGS" not in name}
        env[kept_programs.VARIABLE] = str(tmp_path)
        ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert ran.returncode == 0 and ran.stderr == ""
        return ran.stdout

    fill = "import sys; from bdl_teach._cli import first_programs as first; print("
    fill += "first.main(), 'tensorflow' in sys.modules)"
    draw = "from bdl_teach.widgets import SinusoidExplorer; print(SinusoidExplorer().wait().ticks)"
    assert said(fill) == "None True\n"
    programs = set(tmp_path.rglob(kept_programs.PROGRAMS))
    assert len(programs) >= 3, "the probe, the training and the predictions"
    assert said(draw) == "1\n"
    assert set(tmp_path.rglob(kept_programs.PROGRAMS)) == programs
    assert said(fill) == "None False\n", "it has looked, and loaded nothing"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("TF_XLA_FLAGS", "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", kept_programs._ADDED):
        monkeypatch.setenv(name, "")  # so that what is set here is taken back
        monkeypatch.delenv(name)
    monkeypatch.setenv(kept_programs.VARIABLE, str(tmp_path))
    monkeypatch.setattr(kept_programs, "ROOM", 0)
    return tmp_path


def test_each_tensorflow_processor_and_set_of_flags_has_its_own_folder(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_clustering_debug")
    folders = [kept_programs.prepare()]
    assert kept_programs.prepare() == folders[0]
    for change in (
        lambda: monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true"),
        lambda: monkeypatch.setattr(kept_programs, "_tensorflow", lambda: ["2.20.0"]),
        lambda: monkeypatch.setattr(kept_programs, "_processor", lambda: "one with wings"),
        lambda: monkeypatch.setattr("platform.machine", lambda: "abacus"),
    ):
        change()
        folders.append(kept_programs.prepare())
        flags = os.environ["TF_XLA_FLAGS"].split()  # a child process chooses anew
        assert flags[0] == "--tf_xla_clustering_debug"
        assert flags[1] == f"--tf_xla_persistent_cache_directory={folders[-1]}"
    assert len({*folders} - {None}) == 5


def test_processor_is_identified_by_model_and_features(tmp_path: Path) -> None:
    text = "processor\t: 0\nmodel name\t: A\ncpu MHz\t: {}\nflags\t: fpu {}\n\nprocessor\t: 1\n"
    said = []
    for clock, feature in ((1000, "avx2"), (2000, "avx2"), (1000, "avx512f")):
        (tmp_path / "cpuinfo").write_text(text.format(clock, feature))
        said.append(kept_programs._linux_processor(tmp_path / "cpuinfo"))
    assert said[0] == said[1] != said[2]


def test_programs_are_not_stored_in_unsuitable_environment(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / "file").touch()
    for change in (
        lambda patch: patch.setenv(kept_programs.VARIABLE, ""),
        lambda patch: patch.setenv(kept_programs.VARIABLE, str(environment / "file")),
        lambda patch: patch.setattr(kept_programs, "_processor", lambda: ""),
        lambda patch: patch.setattr(kept_programs, "version", lambda name: "2.19.1"),
        lambda patch: patch.setattr(kept_programs, "ROOM", 2**70),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            assert kept_programs.prepare() is None
            assert os.environ.get("TF_XLA_FLAGS", "") == ""
            assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ
    mine = "--tf_xla_persistent_cache_directory=/elsewhere"
    monkeypatch.setenv("TF_XLA_FLAGS", mine)
    assert kept_programs.prepare() is None and os.environ["TF_XLA_FLAGS"] == mine


def test_least_recently_used_programs_are_removed_until_half_remains(tmp_path: Path) -> None:
    for i in range(10):
        path = tmp_path / f"processor {i % 2}" / f"program {i}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 + i, 1000 + i))
    kept_programs.tidy(tmp_path, limit=1000)
    assert len(kept(tmp_path)) == 10
    kept_programs.tidy(tmp_path, limit=999)
    assert {path.name[-1] for path in kept(tmp_path)} == set("6789")
