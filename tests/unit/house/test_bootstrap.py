"""The set-up script: what it decides, without installing anything."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
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


def test_the_lock_never_lets_linux_have_cuda(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "LOCK", tmp_path / "lock")

    bootstrap.write_lock("a==1\ncuda-toolkit==13\nnvidia-cublas==1\ntorch==2.13.0\ntriton==3 ; x == 'y'\n")

    lines = [line for line in (tmp_path / "lock").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines == [
        "a==1",
        "torch==2.13.0+cpu ; sys_platform == 'linux'",
        "torch==2.13.0 ; sys_platform != 'linux'",
    ]


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


def test_every_stage_runs_even_when_one_fails(
    bootstrap: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    code = bootstrap._stages(
        [("first", [sys.executable, "-c", "raise SystemExit(3)"]), ("second", [sys.executable, "-c", "pass"])]
    )

    told = capsys.readouterr().out
    assert code == 1
    assert "FAILED first" in told
    assert "ok     second" in told


@pytest.mark.parametrize(("second", "code", "told"), [(0, 0, "at the second try"), (1, 1, "FAILED tests")])
def test_what_failed_is_run_once_more_and_that_is_said(
    bootstrap: ModuleType, capsys: pytest.CaptureFixture[str], second: int, code: int, told: str
) -> None:
    def ends_with(code: int) -> list[str]:
        return [sys.executable, "-c", f"raise SystemExit({code})"]

    assert bootstrap._stages([("tests", ends_with(1))], {"tests": ends_with(second)}) == code
    assert told in capsys.readouterr().out


def test_a_stage_that_was_killed_says_so_and_is_not_tried_again(
    bootstrap: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    assert bootstrap._stages([("tests", killed)], {"tests": [sys.executable, "-c", "pass"]}) == 1
    assert "killed by signal 9" in capsys.readouterr().out


def test_a_wrong_command_is_wrong_usage() -> None:
    command = [sys.executable, str(PACKAGING / "bootstrap.py"), "nonsense"]

    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 2


def test_a_stage_beside_the_last_is_waited_for_told_and_tried_again(
    bootstrap: ModuleType, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    write = [sys.executable, "-c", f"open({str(mark)!r}, 'w'); print('from beside'); raise SystemExit(1)"]
    again = [sys.executable, "-c", f"raise SystemExit(0 if open({str(mark)!r}) else 1)"]
    well = [sys.executable, "-c", "pass"]
    badly = [sys.executable, "-c", "raise SystemExit(1)"]
    stages = [("first", well), ("last", well)]
    assert bootstrap._stages(stages, {"beside": again}, beside=("beside", write)) == 0
    said = capfd.readouterr().out
    assert "from beside" in said
    assert "3 of 3 stages passed" in said
    assert bootstrap._stages(stages, beside=("beside", badly)) == 1
