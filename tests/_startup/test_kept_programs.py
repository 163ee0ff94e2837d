"""Test the programs that XLA compiled and that the next process finds."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from bdl_teach._startup import kept_programs

ROOT = Path(__file__).resolve().parents[2]
POWER = 1.1**10
PROGRAM = """
import sys
from bdl_teach._support import compiled
from bdl_teach.backend import tf
exec(sys.argv[1])
def power(x):
    return tf.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s * x), (0, x))[1]
print(float(compiled.Compiled(power)(tf.constant(1.1))))
"""


def run(cache: Path, first: str = "", **environment: str) -> tuple[list[str], str]:
    """Compile and run a small loop in a new process; return its output and its errors."""
    clean = {name: text for name, text in os.environ.items() if "XLA" not in name}
    clean.pop("TF_CPP_MIN_LOG_LEVEL", None)
    env = {**clean, kept_programs.VARIABLE: str(cache), **environment}
    command = [sys.executable, "-c", PROGRAM, first]
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    *said, power = ran.stdout.splitlines()
    assert float(power) == pytest.approx(POWER, rel=1e-6)
    return said, ran.stderr


def stored(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob(kept_programs.PROGRAMS) if path.is_file())


def flip_a_bit(path: Path, where: int) -> bytes:
    """Change one bit of a file, and return what it holds now."""
    content = bytearray(path.read_bytes())
    content[where % len(content)] ^= 1 << where % 8
    path.write_bytes(content)
    return bytes(content)


OTHERS = (  # two functions of one place in the code, and a loop with its gradient
    "f = lambda x: tf.while_loop("
    "lambda s: s < 9.0, lambda s: (s * x,), (x,), maximum_iterations=9);"
    "made = [compiled.Compiled((lambda k: lambda x: k * x)(k)) for k in map(float, {})];"
    "made += [compiled.Compiled(lambda x: tf.gradients(f(x)[0], x)[0])];"
    "print([float(p(tf.constant(2.0))) for p in made])"
)


@pytest.mark.slow
def test_stored_programs_are_found_in_any_order_of_calls_and_replaced_if_damaged(
    tmp_path: Path,
) -> None:
    dumps, cache = tmp_path / "dumps", tmp_path / "cache"
    flags = f"--xla_dump_to={dumps} --xla_dump_hlo_as_text"  # one file a compiled program
    for order, said in (("(3, 4)", [6.0, 8.0, 32.0]), ("(4, 3)", [8.0, 6.0, 32.0])):
        assert run(cache, OTHERS.format(order), XLA_FLAGS=flags) == ([str(said)], "")
        assert len(list(dumps.glob("*after_optimizations.txt"))) == len(stored(cache)) == 5
    (folder,) = cache.iterdir()
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700, "other users may write"
    damaged = [flip_a_bit(path, path.stat().st_size // 2) for path in stored(cache)]
    said, errors = run(cache, OTHERS.format("(3, 4)"), XLA_FLAGS=flags)
    assert said == ["[6.0, 8.0, 32.0]"]
    assert "not available" not in errors and "graph mode" not in errors
    assert not {path.read_bytes() for path in stored(cache)} & {*damaged}
    assert run(cache, OTHERS.format("(3, 4)"), XLA_FLAGS=flags) == ([str(said[0])], "")


def test_only_programs_with_the_right_hash_are_kept(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = kept_programs.prepare()
    names = [kept_programs.PROGRAMS.replace("*", str(i)) for i in range(20)]
    for name in names[:-1]:
        (folder / name).write_bytes(os.urandom(99))
    kept_programs.seal()
    (folder / names[-1]).touch()  # its process was killed before it stored the hash
    for i, name in enumerate(names[:10]):
        flip_a_bit(folder / name, 80 * i)
    flip_a_bit((folder / names[10]).with_suffix(".sha256"), 7)
    assert kept_programs.prepare() == folder
    assert {path.name for path in stored(folder)} == set(names[11:-1])
    (folder / names[0]).touch()
    monkeypatch.setattr(Path, "unlink", Mock(side_effect=PermissionError))
    assert kept_programs.prepare() is None, "a damaged program that stays must not be read"


@pytest.mark.slow
def test_first_picture_of_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    env = {name: text for name, text in os.environ.items() if "XLA_FLAGS" not in name}
    env[kept_programs.VARIABLE] = str(tmp_path)
    draw = "from bdl_teach.widgets import SinusoidExplorer; SinusoidExplorer().wait()"
    programs = []
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", draw], env=env, capture_output=True)
        assert (ran.returncode, ran.stderr) == (0, b"")
        programs.append({(path, path.stat().st_mtime_ns) for path in stored(tmp_path)})
    assert programs[0] == programs[1] and len(programs[0]) >= 3, "probe, training, predictions"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("TF_XLA_FLAGS", "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", kept_programs._ADDED):
        monkeypatch.setenv(name, "")  # so that the end of the test restores it
        monkeypatch.delenv(name)
    monkeypatch.setenv(kept_programs.VARIABLE, str(tmp_path))
    monkeypatch.setattr(kept_programs, "FREE", 0)
    monkeypatch.setattr(kept_programs, "_in_use", None)
    return tmp_path


def test_programs_are_stored_by_tensorflow_version_cpu_and_flags(
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
        flags = os.environ["TF_XLA_FLAGS"].split()  # a child process starts with these
        assert flags[0] == "--tf_xla_clustering_debug"
        assert flags[1] == f"--tf_xla_persistent_cache_directory={folders[-1]}"
    assert len({*folders} - {None}) == 5


def test_processor_is_identified_by_its_model_and_features(tmp_path: Path) -> None:
    text = "processor\t: 0\nmodel name\t: A\ncpu MHz\t: {}\nflags\t: fpu {}\n\nprocessor\t: 1\n"
    said = []
    for clock, feature in ((1000, "avx2"), (2000, "avx2"), (1000, "avx512f")):
        (tmp_path / "cpuinfo").write_text(text.format(clock, feature))
        said.append(kept_programs._linux_processor(tmp_path / "cpuinfo"))
    assert said[0] == said[1] != said[2]


def test_programs_are_not_stored_in_an_unsuitable_environment(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / "file").touch()
    for change in (
        lambda patch: patch.setenv(kept_programs.VARIABLE, ""),
        lambda patch: patch.setenv(kept_programs.VARIABLE, str(environment / "file")),
        lambda patch: patch.setattr(kept_programs, "_processor", lambda: ""),
        lambda patch: patch.setattr(kept_programs, "version", lambda name: "2.19.1"),
        lambda patch: patch.setattr(kept_programs, "FREE", 2**70),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            assert kept_programs.prepare() is None
            assert os.environ.get("TF_XLA_FLAGS", "") == ""
            assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ
    mine = "--tf_xla_persistent_cache_directory=/elsewhere"
    monkeypatch.setenv("TF_XLA_FLAGS", mine)
    assert kept_programs.prepare() is None and os.environ["TF_XLA_FLAGS"] == mine


def test_oldest_programs_are_removed_until_half_the_limit_remains(tmp_path: Path) -> None:
    for i in range(10):
        path = tmp_path / f"processor {i % 2}" / f"program {i}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 + i, 1000 + i))
    kept_programs.tidy(tmp_path, limit=1000)
    assert len(list(tmp_path.glob("*/*"))) == 10
    kept_programs.tidy(tmp_path, limit=999)
    assert {path.name[-1] for path in tmp_path.glob("*/*")} == set("6789")
