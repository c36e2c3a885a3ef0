"""A browser starts in its sandbox if the system allows it, and leaves nothing in the temporary folder."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from app.engine.browser import session
from app.engine.browser.launch import playwright_process, sandbox
from app.engine.browser.live_browser import LiveBrowser
from app.engine.browser.session import open_browser, open_session
from app.engine.browser.session_state import browser_process_id
from app.engine.store.temp_folder import TempFolder

STARTS, KILLED_BROWSERS, KILLED_PROGRAMS = 20, 6, 6
NOBODY = 65534

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes in /proc")


@pytest.fixture
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A private temporary folder; sockets in it need a short path."""
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    folder.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(playwright_process, "_drivers", WeakKeyDictionary())  # other tests hold one
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def command_lines(word: str) -> dict[int, str]:
    """Command lines of the processes whose own contains a word; Chromium's child processes use blanks."""
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_text("utf-8", "replace").replace("\0", " ")
        except OSError:
            continue
        if word in line:
            found[int(folder.name)] = line
    return found


def descendants(of: int) -> set[int]:
    """Descendant processes of a process."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {of}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {of}


async def program(temp: Path, *more: str) -> tuple[asyncio.subprocess.Process, dict[str, object]]:
    """A separate program with an open browser."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.browser_start", str(temp), *more,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    line = await process.stdout.readline()
    assert line, (await process.stderr.read()).decode()[-2000:]
    return process, json.loads(line)


async def ended(process: asyncio.subprocess.Process) -> None:
    process.kill()
    await process.communicate()


async def nobody_runs_in(folder: Path) -> None:
    async with asyncio.timeout(30):
        while command_lines(str(folder)):
            await asyncio.sleep(0.1)


async def test_twenty_starts_leave_nothing_in_the_temporary_folder_however_they_end(temp: Path) -> None:
    for number in range(STARTS - KILLED_PROGRAMS):
        async with open_browser() as browser, open_session(browser) as tab:
            await tab.page.goto("data:text/html,<title>x</title>")
            assert len(list(temp.iterdir())) == 1
            if number < KILLED_BROWSERS:
                os.kill(await browser_process_id(browser), signal.SIGKILL)
        assert list(temp.iterdir()) == []
    for _ in range(KILLED_PROGRAMS):
        process, _ = await program(temp)
        await ended(process)
        await nobody_runs_in(temp)
        assert len(list(temp.iterdir())) == 1, "nobody is there to remove it; the next start does"
    with TempFolder.make():
        pass
    assert list(temp.iterdir()) == []


@pytest.mark.smoke
async def test_browsers_at_once_share_a_driver_a_few_each_and_leave_nothing(temp: Path) -> None:
    before = {name: os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")}
    together = asyncio.Barrier(playwright_process.BROWSERS_PER_DRIVER + 1)

    async def one() -> int:
        async with open_browser() as browser, open_session(browser):
            await together.wait()
            found = len(list(temp.iterdir()))
            await together.wait()
            return found

    assert await asyncio.gather(*(one() for _ in range(together.parties))) == [2] * together.parties
    assert list(temp.iterdir()) == []
    assert {name: os.environ.get(name) for name in before} == before


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_driver_that_dies_or_hangs_gets_no_more_browsers(
    temp: Path, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playwright_process, "ANSWER_TIMEOUT", 2.0)
    monkeypatch.setattr(playwright_process, "STOP_TIMEOUT", 1.0)
    monkeypatch.setattr(session, "CLOSE_TIMEOUT", 1.0)
    before = set(command_lines("run-driver"))  # drivers of other tests in this process
    first = await LiveBrowser.open()
    own = command_lines("run-driver").keys() & descendants(os.getpid())
    (driver,) = own - before
    os.kill(driver, how)
    async with await LiveBrowser.open() as second:
        await second.session.page.goto("data:text/html,<title>x</title>")
        await first.reopen()
        await first.session.page.goto("data:text/html,<title>x</title>")
        assert len(list(temp.iterdir())) == 1, "the second has a driver, and the first has joined it"
    await first.aclose()
    if how is signal.SIGSTOP:
        os.kill(driver, signal.SIGKILL)
    async with asyncio.timeout(
        10
    ):  # until the event loop has closed the pipes of the driver that was given up
        while Path(f"/proc/{driver}").exists():
            await asyncio.sleep(0.05)
    await asyncio.sleep(0)
    assert list(temp.iterdir()) == []


async def test_an_ordinary_user_gets_a_browser_in_its_sandbox(temp: Path) -> None:
    process, answer = await program(temp, *([str(NOBODY)] if os.getuid() == 0 else []))
    try:
        if answer["unsandboxed"] == sandbox.NO_NAMESPACES:
            pytest.skip("this machine allows no user namespaces")
        own = descendants(process.pid)
        browsers = {pid: line for pid, line in command_lines("chrom").items() if pid in own}
        assert [line for line in browsers.values() if "--no-sandbox" in line] == []
        renderers = [pid for pid, line in browsers.items() if "--type=renderer" in line]
        assert renderers
        for pid in renderers:
            assert "Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text()
    finally:
        await ended(process)
        await nobody_runs_in(temp)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="root alone is refused the sandbox")
async def test_root_gets_a_browser_without_and_is_told_why(temp: Path) -> None:
    process, answer = await program(temp)
    await ended(process)
    await nobody_runs_in(temp)

    assert answer["unsandboxed"] == sandbox.ROOT
