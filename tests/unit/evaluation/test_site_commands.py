"""Commands of the table of sites: run without a shell, bounded in time and output, told in a sentence."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from app.engine.core.sites import Site
from app.engine.services import site_commands
from app.engine.services.site_commands import SiteCommandFailed, log_in, read_state, reset_site
from app.errors import UsageError

ECHO = "import json, sys; print(json.dumps({'given': sys.argv[1:]}))"


@pytest.fixture
def command(tmp_path: Path):
    def make(text: str, *more: str) -> str:
        script = tmp_path / "a script.py"
        script.write_text(text)
        return " ".join([sys.executable, f"'{script}'", *more])

    return make


async def test_a_state_command_is_given_the_moment_and_the_task(command):
    state = await read_state(Site(name="shop", state=command(ECHO, "'two words'")), "after", "t 1; rm -rf /")
    assert state.output == {"given": ["two words", "after", "t 1; rm -rf /"]}
    assert state.why == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print('no')", "printed no JSON"),
        ("print('[1]')", "printed no JSON object"),
        ("import sys; sys.exit('the database is locked')", "ended with code 1: the database is locked"),
    ],
)
async def test_a_state_that_can_not_be_had_says_why(command, text, why):
    state = await read_state(Site(name="shop", state=command(text)), "before", "t")
    assert why in state.why
    assert state.output == {}


async def test_a_shells_signs_are_plain_words(command, tmp_path: Path):
    state = await read_state(
        Site(name="shop", state=command(ECHO, "$HOME", ">", "out", "&&", "x")), "before", "t"
    )
    assert state.output["given"][:5] == ["$HOME", ">", "out", "&&", "x"]
    assert not Path("out").exists()


async def test_a_command_that_takes_too_long_is_ended_with_what_it_started(command, tmp_path: Path):
    pids = tmp_path / "pids"
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(SiteCommandFailed, match="took longer than 4 s"):
        await reset_site(Site(name="shop", reset=command(text)), seconds=4.0)
    child = int(pids.read_text())
    until = time.monotonic() + 10
    while _lives(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    if not Path("/proc").exists():
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
    return False


async def test_a_command_that_prints_without_end_is_ended(command, monkeypatch):
    monkeypatch.setattr(site_commands, "MAX_OUTPUT", 100_000)
    with pytest.raises(SiteCommandFailed, match="printed more than"):
        await reset_site(Site(name="shop", reset=command("while True: print('x' * 1000)")))


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("/nowhere/reset", SiteCommandFailed, "can't be started"),
        ("echo 'open", UsageError, "can't be read"),
    ],
)
async def test_a_command_that_is_none_is_told(text, kind, why):
    with pytest.raises(kind, match=why):
        await reset_site(Site(name="shop", reset=text))


async def test_a_log_in_command_writes_the_file_it_is_given(command, tmp_path: Path):
    text = "import sys; open(sys.argv[2], 'w').write('{}')"
    await log_in(Site(name="shop", login=command(text)), "clerk", tmp_path / "state.json")
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0
    with pytest.raises(SiteCommandFailed, match="wrote no storage state"):
        await log_in(Site(name="shop", login=command("pass")), "clerk", tmp_path / "other.json")


async def test_a_site_without_a_reset_command_stays_as_it_is():
    await reset_site(Site(name="shop"))
