"""Commands of the table of sites: run without a shell, bounded in time and output, ended whole, told in a sentence."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import orjson
import pytest

from app.engine.core.sites import Site
from app.engine.services import site_commands
from app.engine.services.site_commands import SiteCommandFailed, log_in, read_state, reset_site
from app.errors import UsageError
from tests.support.live_hands import until

needs_posix = pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX")


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


async def test_nothing_is_run_where_there_is_no_command():
    await reset_site(Site(name="shop"))


async def test_a_command_that_is_not_there_is_said():
    assert (await read_state(Site(name="shop"), "before", "7")).why.startswith(
        "the site 'shop' has no state command"
    )


async def test_no_shell_reads_a_command(tmp_path: Path):
    site = Site(name="shop", state=python("import json,sys; print(json.dumps(sys.argv[1:]+['$HOME;ls']))"))
    state = await read_state(site, "before", "7; touch x")
    assert state.why == "the state command of 'shop' printed no JSON object"
    site = Site(
        name="shop", state=python("import json,sys; print(json.dumps({'a': sys.argv[1:]}))") + " '$HOME' `ls`"
    )
    state = await read_state(site, "after", "7; touch x")
    assert state.output == {"a": ["$HOME", "`ls`", "after", "7; touch x"]}


FAILING = (
    ("a quote that is open", "echo 'x", UsageError, "the reset command of 'shop' can't be read: No closing quotation"),
    ("a program that is not there", "no-such-program-anywhere x", SiteCommandFailed, "can't be started"),
    ("its own failure", python("import sys; sys.exit('a' + chr(10) + 'the disk is full')"), SiteCommandFailed,
     "ended with code 1: the disk is full"),
    ("too much output", python("print('x' * 300_000)"), SiteCommandFailed, "printed more than 0 MB and was ended"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("command", "error", "words"), [row[1:] for row in FAILING], ids=[row[0] for row in FAILING]
)
async def test_a_failure_is_one_sentence(command, error, words, monkeypatch):
    monkeypatch.setattr(site_commands, "MAX_OUTPUT", 100_000)
    with pytest.raises(error) as raised:
        await reset_site(Site(name="shop", reset=command))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@needs_posix
async def test_at_its_limit_a_command_is_ended_with_what_it_started(tmp_path: Path):
    file = tmp_path / "child"
    code = (
        "import subprocess,sys,time;"
        "p=subprocess.Popen([sys.executable,'-c','import time; time.sleep(600)']);"
        f"open({str(file)!r},'w').write(str(p.pid));"
        "time.sleep(600)"
    )
    with pytest.raises(SiteCommandFailed, match="took longer than 3 s and was ended"):
        await reset_site(Site(name="shop", reset=python(code)), 3.0)
    child = int(file.read_text())
    await until(lambda: not _lives(child))


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@needs_posix
async def test_a_server_that_a_reset_starts_is_not_waited_for(tmp_path: Path):
    file = tmp_path / "child"
    code = (
        "import subprocess,sys;"
        "p=subprocess.Popen([sys.executable,'-c','import time; time.sleep(600)'],start_new_session=True);"
        f"open({str(file)!r},'w').write(str(p.pid))"
    )
    began = time.monotonic()
    await reset_site(Site(name="shop", reset=python(code)), 120.0)
    child = int(file.read_text())
    try:
        assert _lives(child)
        assert time.monotonic() - began < 60
    finally:
        os.kill(child, 9)


async def test_a_log_in_is_written_for_its_owner_alone_or_its_absence_is_said(tmp_path: Path):
    file = tmp_path / "state.json"
    code = "import json,sys; open(sys.argv[2],'w').write(json.dumps({'cookies': [], 'role': sys.argv[1]}))"
    await log_in(Site(name="shop", login=python(code)), "admin", file)
    assert orjson.loads(file.read_bytes())["role"] == "admin"
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(SiteCommandFailed, match="the login command of 'shop' wrote no storage state"):
        await log_in(Site(name="shop", login=python("pass")), "admin", tmp_path / "none.json")
