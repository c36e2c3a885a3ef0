"""One window per workspace; a second start hands over its files and ends cleanly."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import Conflict
from app.models.common.single_instance import SingleInstance

ROOT = Path(__file__).parents[2]


def test_the_first_start_owns_the_workspace_and_gives_it_back(qapp, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path / "ws", tmp_path)
    assert first.claim()
    first.release()
    second = SingleInstance(tmp_path / "ws", tmp_path)
    assert second.claim()
    second.release()


def test_another_workspace_is_another_window(qapp, tmp_path: Path) -> None:
    one, other = SingleInstance(tmp_path / "a", tmp_path), SingleInstance(tmp_path / "b", tmp_path)
    assert one.claim()
    assert other.claim()
    one.release()
    other.release()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no mode")
def test_the_socket_is_the_users_own(qapp, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path / "ws", tmp_path)
    first.claim()
    (socket,) = tmp_path.glob("*.window")
    assert socket.stat().st_mode & 0o077 == 0
    first.release()


HAND_OVER = """
import sys
import tempfile
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.models.common.single_instance import SingleInstance
app = QCoreApplication([])
print(SingleInstance(Path(sys.argv[1]), Path(sys.argv[2])).claim(sys.argv[3:], "live"))
"""


def hand_over(*arguments: str) -> list[str]:
    return [sys.executable, "-c", HAND_OVER, *arguments]


def test_a_second_start_hands_its_files_over(run, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path / "ws", tmp_path)
    first.claim()
    brought: list[tuple[list[str], str]] = []
    first.called.connect(lambda paths, place: brought.append((paths, place)))

    async def start_again() -> bytes:
        process = await asyncio.create_subprocess_exec(
            *hand_over(str(tmp_path / "ws"), str(tmp_path), "runs/a"),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        return out

    assert run(start_again()).strip() == b"False"
    assert brought == [([str(ROOT / "runs/a")], "live")]
    first.release()


def test_files_that_come_while_the_window_is_being_filled_are_not_lost(run, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path / "ws", tmp_path)
    first.claim()

    async def start_again(name: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *hand_over(str(tmp_path / "ws"), str(tmp_path), name), cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        await process.communicate()

    brought: list[str] = []
    run(start_again("/a"))
    first.listen(lambda paths, _place: brought.extend(paths))
    assert brought == ["/a"]
    run(start_again("/b"))
    assert brought == ["/a", "/b"]
    first.release()


def test_a_window_that_was_killed_leaves_no_lock(qapp, tmp_path: Path) -> None:
    code = HAND_OVER + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    dead = subprocess.run(
        [sys.executable, "-u", "-c", code, str(tmp_path / "ws"), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert dead.stdout.strip() == "True"
    after = SingleInstance(tmp_path / "ws", tmp_path)
    assert after.claim()
    after.release()


def test_an_owner_that_does_not_answer_is_named(qapp, tmp_path: Path, monkeypatch) -> None:
    first = SingleInstance(tmp_path / "ws", tmp_path)
    first.claim()
    assert first._server is not None
    first._server.close()
    monkeypatch.setattr("app.models.common.single_instance.ANSWER_MS", 50)
    with pytest.raises(Conflict, match="does not answer"):
        SingleInstance(tmp_path / "ws", tmp_path)._hand_over([])
    first.release()


@pytest.mark.parametrize("message", [b"", b"nonsense\n", b"[]\n", b'{"protocol": 99, "paths": []}\n'])
def test_a_stranger_at_the_socket_changes_nothing(run, tmp_path: Path, message: bytes) -> None:
    if sys.platform == "win32":
        pytest.skip("a pipe is not opened this way")
    first = SingleInstance(tmp_path / "ws", tmp_path)
    first.claim()
    brought: list[list[str]] = []
    first.called.connect(lambda paths, _place: brought.append(paths))
    (socket,) = tmp_path.glob("*.window")

    async def knock() -> None:
        _reader, writer = await asyncio.open_unix_connection(str(socket))
        writer.write(message)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.close()
        await writer.wait_closed()

    run(knock())
    assert brought == []
    first.release()


# ---------------------------------------------------------------- the whole program
def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "TMPDIR")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **{name: str(home) for name in names}}
    environment.pop("XDG_RUNTIME_DIR", None)
    # No model: a first start would export one, which takes half a minute of both processors.
    environment["SITELORE_ENCODER"] = str(home / "none")
    return subprocess.Popen(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def short_home() -> Iterator[Path]:
    """A folder near the root: a socket's path has 108 bytes, and pytest's own folders may be longer."""
    with tempfile.TemporaryDirectory(prefix="home-") as folder:
        yield Path(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
def test_the_program_opens_hands_over_and_ends_on_sigterm(short_home: Path) -> None:
    workspace = str(short_home / "ws")
    first = start(short_home, "--workspace", workspace)
    try:
        wait_for(lambda: list(short_home.rglob("*.window")))
        wait_for(lambda: (short_home / "ws" / "knowledge.akb").exists() or first.poll() is not None)
        time.sleep(1.0)
        second = start(short_home, "--workspace", workspace)
        _out, complaint = second.communicate(timeout=120)
        assert second.returncode == 0, complaint
        first.send_signal(signal.SIGTERM)
        _out, complaint = first.communicate(timeout=120)
    finally:
        first.kill()
    assert first.returncode == 0, complaint
    assert "Traceback" not in complaint
    assert not list(short_home.rglob("*.window"))


def test_without_a_display_it_says_what_else_works(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("there is always a display there")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    done = subprocess.run(
        [sys.executable, "-m", "app", "--workspace", str(tmp_path / "ws")],
        cwd=ROOT,
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "sitelore demo --headless" in done.stderr
    assert "Traceback" not in done.stderr
