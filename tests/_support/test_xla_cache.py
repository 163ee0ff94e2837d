"""What XLA compiled is there for the next process, for this kind of processor alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bdl_teach._support import xla_cache

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import pathlib, shutil, sys
from bdl_teach._support import compiled, xla_cache
from bdl_teach.backend import tf
exec(sys.argv[1])
def power(x):
    return tf.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s * x), (0, x))[1]
print(float(compiled.Compiled(power)(tf.constant(1.1))))
"""


def run(cache: Path, first: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Compile and run a small loop in a process of its own."""
    clean = {name: text for name, text in os.environ.items() if "XLA" not in name}
    clean.pop("TF_CPP_MIN_LOG_LEVEL", None)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, first],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**clean, "BDL_TEACH_XLA_CACHE": str(cache) if cache.name else "", **environment},
    )


def kept(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once")
    ran = run(folder)
    assert float(ran.stdout) == pytest.approx(1.1**10, rel=1e-6)
    return folder


@pytest.fixture
def filled(once: Path, tmp_path: Path) -> Path:
    """A folder with the probe and the loop: a copy, since a program has no part in where it is."""
    return shutil.copytree(once, tmp_path, dirs_exist_ok=True)


def dumps(folder: Path) -> int:
    """How many programs XLA has compiled, and not loaded."""
    return len(list(folder.glob("*after_optimizations.txt")))


def test_a_second_process_compiles_nothing_says_the_same_and_says_no_more(tmp_path: Path) -> None:
    flags = f"--xla_dump_to={tmp_path / 'dumps'} --xla_dump_hlo_as_text"
    first = run(tmp_path / "cache", XLA_FLAGS=flags)
    compiled = dumps(tmp_path / "dumps")
    second = run(tmp_path / "cache", XLA_FLAGS=flags)
    assert compiled >= 2  # the probe, and the loop
    assert dumps(tmp_path / "dumps") == compiled
    assert first.stdout == second.stdout
    assert first.stderr == second.stderr == ""


OTHERS = (  # of one place in the code, two that do not do the same; then a loop with its gradient
    "f = lambda x: tf.while_loop("
    "lambda s: s < 9.0, lambda s: (s * x,), (x,), maximum_iterations=9);"
    "made = [compiled.Compiled((lambda k: lambda x: k * x)(k)) for k in map(float, {})];"
    "made += [compiled.Compiled(lambda x: tf.gradients(f(x)[0], x)[0])];"
    "print([float(p(tf.constant(2.0))) for p in made])"
)


def test_a_program_is_found_whatever_was_traced_before_it(filled: Path) -> None:
    for order, said in (("(3, 4)", [6.0, 8.0, 32.0]), ("(4, 3)", [8.0, 6.0, 32.0])):
        ran = run(filled, OTHERS.format(order)).stdout.splitlines()
        assert ran[0] == str(said)
        assert float(ran[1]) == pytest.approx(1.1**10, rel=1e-6)
        assert len(kept(filled)) == 5, "the three others, and none of all five twice"


def test_the_folder_is_its_user_s_alone(filled: Path) -> None:
    (folder,) = filled.iterdir()
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700
    assert len(kept(filled)) == 2


@pytest.mark.parametrize("whose", ["all", "the loop's"])
@pytest.mark.parametrize("size", [0, 1000])
def test_damaged_programs_are_compiled_anew_and_forgotten(
    filled: Path, size: int, whose: str
) -> None:
    probe, loop = sorted(kept(filled), key=lambda path: path.stat().st_size)
    for path in {"all": (probe, loop), "the loop's": (loop,)}[whose]:
        os.truncate(path, size)
    ran = run(filled)
    assert float(ran.stdout) == pytest.approx(1.1**10, rel=1e-6)
    assert "not available" not in ran.stderr and "graph mode" not in ran.stderr
    assert min(path.stat().st_size for path in kept(filled)) > size


def test_a_folder_that_goes_away_makes_a_refit_slower_and_is_said(tmp_path: Path) -> None:
    spoil = (
        "compiled.xla_available(); folder = next(pathlib.Path(sys.argv[2]).iterdir());"
        "shutil.rmtree(folder); folder.write_text('')"
    )
    ran = run(tmp_path, spoil.replace("sys.argv[2]", repr(str(tmp_path))))
    assert float(ran.stdout) == pytest.approx(1.1**10, rel=1e-6)
    assert "plain graph mode" in ran.stderr and 'BDL_TEACH_XLA_CACHE=""' in ran.stderr


def test_an_error_of_the_program_itself_is_raised(tmp_path: Path) -> None:
    wrong = (
        "f = compiled.Compiled(lambda x: tf.reshape(x, [3]) + tf.reshape(x, [-1]));\n"
        "try: f(tf.constant([1.0, 2.0]))\n"
        "except Exception as error: print(type(error).__name__, file=sys.stderr)"
    )
    assert "Error" in run(tmp_path, wrong).stderr


def test_what_fails_without_xla_too_is_not_put_down_to_the_kept_programs(tmp_path: Path) -> None:
    wrong = (
        "f = compiled.Compiled(lambda x: tf.strings.to_number(tf.strings.as_string(x) + 'm'))\n"
        "try: f(tf.constant([1.0, 2.0]))\n"
        "except tf.errors.OpError as error: print(type(error).__name__, file=sys.stderr)"
    )
    said = run(tmp_path, wrong).stderr
    assert "InvalidArgumentError" in said and "cannot keep" not in said


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("TF_XLA_FLAGS", "XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", xla_cache._ADDED):
        monkeypatch.setenv(name, "")  # so that what is set here is taken back
        monkeypatch.delenv(name)
    monkeypatch.setenv(xla_cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(xla_cache, "ROOM", 0)
    return tmp_path


def test_each_tensorflow_processor_and_set_of_flags_has_a_folder_of_its_own(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [xla_cache.prepare()]
    monkeypatch.delenv("TF_XLA_FLAGS")
    assert xla_cache.prepare() == folders[0]
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    folders.append(other(monkeypatch))
    monkeypatch.setattr(xla_cache, "_tensorflow", lambda: ["2.20.0"])
    folders.append(other(monkeypatch))
    monkeypatch.setattr(xla_cache, "_processor", lambda: "one with wings")
    folders.append(other(monkeypatch))
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    folders.append(other(monkeypatch))
    assert None not in folders and len(set(folders)) == 5
    assert all(folder.parent == environment for folder in folders)


def other(monkeypatch: pytest.MonkeyPatch) -> Path | None:
    monkeypatch.delenv("TF_XLA_FLAGS")
    return xla_cache.prepare()


def test_a_child_process_chooses_anew(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_clustering_debug")
    first = xla_cache.prepare()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    second = xla_cache.prepare()
    assert first != second
    assert str(first) not in os.environ["TF_XLA_FLAGS"]
    assert os.environ["TF_XLA_FLAGS"].split()[:2] == [
        "--tf_xla_clustering_debug",
        f"--tf_xla_persistent_cache_directory={second}",
    ]
    monkeypatch.setenv(xla_cache.VARIABLE, "")
    assert xla_cache.prepare() is None
    assert os.environ["TF_XLA_FLAGS"] == "--tf_xla_clustering_debug"


def test_a_processor_is_its_model_and_its_features(tmp_path: Path) -> None:
    text = "processor\t: 0\nmodel name\t: A\ncpu MHz\t: {}\nflags\t: fpu {}\n\nprocessor\t: 1\n"
    file = tmp_path / "cpuinfo"
    said = []
    for clock, feature in ((1000, "avx2"), (2000, "avx2"), (1000, "avx512f")):
        file.write_text(text.format(clock, feature))
        said.append(xla_cache._linux_processor(file))
    assert said[0] == said[1] != said[2]
    assert xla_cache._linux_processor(tmp_path / "none") == ""


CASES = ["not wanted", "unknown processor", "untried", "no room", "flags of my own"]


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_kept(case: str, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "--tf_xla_persistent_cache_directory=/elsewhere"
    if case == "not wanted":
        monkeypatch.setenv(xla_cache.VARIABLE, "")
    elif case == "unknown processor":
        monkeypatch.setattr(xla_cache, "_processor", lambda: "")
    elif case == "untried":
        monkeypatch.setattr(xla_cache, "version", lambda name: "2.19.1")
    elif case == "no room":
        monkeypatch.setattr(xla_cache, "ROOM", 2**70)
    else:
        monkeypatch.setenv("TF_XLA_FLAGS", flags)
    assert xla_cache.prepare() is None
    assert os.environ.get("TF_XLA_FLAGS", "") == (flags if case == "flags of my own" else "")
    assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ


def test_a_folder_that_cannot_be_made_keeps_nothing(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / "file").write_text("")
    monkeypatch.setenv(xla_cache.VARIABLE, str(environment / "file"))
    assert xla_cache.prepare() is None


def test_what_was_used_longest_ago_goes_first_and_half_stays(tmp_path: Path) -> None:
    for i in range(10):
        path = tmp_path / f"processor {i % 2}" / f"program {i}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 + i, 1000 + i))
    xla_cache.tidy(tmp_path, limit=1000)
    assert len(kept(tmp_path)) == 10
    xla_cache.tidy(tmp_path, limit=999)
    assert {path.name[-1] for path in kept(tmp_path)} == set("6789")
