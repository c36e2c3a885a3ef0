"""The decisions of the set-up script, without installing anything."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).resolve().parents[3] / "packaging"


@pytest.fixture
def bootstrap(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PACKAGING))
    spec = importlib.util.spec_from_file_location("sitelore_bootstrap", PACKAGING / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMPILED = """\
a==1 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
cuda-toolkit==13 \\
    --hash=sha256:bb
nvidia-cublas==1
pytest==9 ; python_version > '3'
torch==2.13.0 \\
    --hash=sha256:cc
triton==3 ; x == 'y'
"""


def test_the_lock_never_lets_linux_have_cuda_and_keeps_hashes_and_parts(
    bootstrap: ModuleType, tmp_path: Path
) -> None:
    lockfile, lock = bootstrap.lockfile, tmp_path / "lock"
    lock.write_text(lockfile.in_parts(COMPILED, program={"a"}, dev={"a", "pytest"}), "utf-8")

    lines = [line for line in lock.read_text("utf-8").splitlines() if line and not line.startswith("# ")]
    assert lines == [
        "a==1 \\",
        "    --hash=sha256:aa \\",
        "    --hash=sha256:ab",
        "pytest==9 ; python_version > '3'",
        "torch==2.13.0+cpu ; sys_platform == 'linux'",
        "torch==2.13.0 ; sys_platform != 'linux' \\",
        "    --hash=sha256:cc",
    ]
    assert lockfile.read(lock, "program") == "a==1 --hash=sha256:aa --hash=sha256:ab\n"
    assert lockfile.read(lock, "program", "dev").splitlines()[1:] == ["pytest==9 ; python_version > '3'"]
    assert lockfile.named(lock, "pytest") == "pytest==9 ; python_version > '3'\n"
    with pytest.raises(lockfile.Unreadable, match="does not name b"):
        lockfile.named(lock, "b")
    lock.write_text("# an older form\na==1\n", "utf-8")
    with pytest.raises(lockfile.Unreadable, match="has no part program"):
        lockfile.read(lock, "program")


def test_without_leave_to_install_the_exact_command_is_told_once(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = bootstrap.machine
    monkeypatch.setattr(machine, "missing", lambda: machine.Missing(("libegl1",), browser=True))
    monkeypatch.setattr(machine, "root_prefix", lambda: None)
    monkeypatch.setattr(sys, "platform", "linux")

    bootstrap.ensure_machine()

    told = capsys.readouterr().out
    assert (
        told.count("sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1 chromium")
        == 1
    )


def test_a_machine_that_lacks_nothing_is_left_alone(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = bootstrap.machine
    monkeypatch.setattr(machine, "missing", lambda: machine.Missing((), browser=False))
    monkeypatch.setattr(machine, "install", lambda _: pytest.fail("installed something"))

    bootstrap.ensure_machine()


def ends_with(code: int) -> list[str]:
    return [sys.executable, "-c", f"raise SystemExit({code})"]


@pytest.fixture
def report(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "RETRIES", tmp_path / "retried.json")
    return bootstrap._report


def test_every_stage_runs_even_when_one_fails(
    bootstrap: ModuleType, report: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    stages = [[bootstrap.Stage("first", ends_with(3))], [bootstrap.Stage("second", ends_with(0))]]
    assert report(stages) == 1

    printed = capsys.readouterr().out
    assert "FAILED first" in printed
    assert "ok     second" in printed


def test_stages_of_a_group_run_at_once_and_their_output_follows(
    bootstrap: ModuleType, report: Callable[..., int], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    waits = f"import time, pathlib\nwhile not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.01)"
    first = bootstrap.Stage("first", [sys.executable, "-c", waits])
    beside = bootstrap.Stage(
        "beside", [sys.executable, "-c", f"open({str(mark)!r}, 'w'); print('from beside')"]
    )
    assert report([[first, beside]]) == 0
    printed = capfd.readouterr().out
    assert "from beside" in printed
    assert "2 of 2 stages passed" in printed
    assert report([[bootstrap.Stage("first", ends_with(0)), bootstrap.Stage("beside", ends_with(1))]]) == 1


FLAKY = """
import pathlib

def test_flaky():
    mark = pathlib.Path(__file__).with_name("mark")
    passed = mark.exists()
    mark.touch()
    assert passed
"""


def test_a_second_try_is_made_only_where_asked_for_is_named_and_fails_the_second_time(
    bootstrap: ModuleType, report: Callable[..., int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_it.py").write_text(FLAKY, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-o", "cache_dir=cache", "test_it.py"]
    groups = [[bootstrap.Stage("tests", command, Path("cache"))]]

    assert report(groups) == 1
    (tmp_path / "mark").unlink()
    assert report(groups, retry=True) == 0
    printed = capfd.readouterr().out
    assert "1 at the second try" in printed
    assert "1 tests had a second try" in printed
    (tmp_path / "mark").unlink()
    assert report(groups, retry=True) == 1
    assert "two of the last ten runs" in capfd.readouterr().out


def test_a_test_is_forgiven_a_retry_after_ten_runs(bootstrap: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "retried.json"
    assert bootstrap.record_retries(file, ["a"]) == []
    for _ in range(9):
        assert bootstrap.record_retries(file, []) == []
    assert bootstrap.record_retries(file, ["a"]) == []
    assert bootstrap.record_retries(file, ["a", "b"]) == ["a"]


def test_a_stage_that_was_killed_says_so_and_is_not_tried_again(
    bootstrap: ModuleType, report: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    killed = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    assert report([[bootstrap.Stage("tests", killed, Path("cache"))]], retry=True) == 1
    printed = capsys.readouterr().out
    assert "killed by signal 9" in printed
    assert "once more" not in printed


def test_a_wrong_command_is_wrong_usage() -> None:
    command = [sys.executable, str(PACKAGING / "bootstrap.py"), "nonsense"]

    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 2
