"""Logs are complete and hold no secret."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app import log

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("using sk-proj-0123456789abcdef", "0123456789abcdef"),
        ("Authorization: Bearer abcdef.ghij-klmn", "ghij-klmn"),
        ("{'api_key': 'abc def', 'n': 1}", "abc def"),
        ("GET /v1?access_token=abcdef123&x=1", "abcdef123"),
        ("http://ana:pass123@host/", "pass123"),
        ("Cookie: session=aaa; other=bbb", "bbb"),
        ('"password": "hunter two"', "hunter two"),
        ("token eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
    ],
)
def test_secrets_are_hidden_however_they_are_written(text: str, secret: str) -> None:
    assert secret not in log.redact(text)
    assert log.HIDDEN in log.redact(text)


@pytest.mark.parametrize(
    "text", ["max_tokens=1200", "token_budget: 5", "pressed key 'Enter'", "http://host:8080/a@b"]
)
def test_ordinary_lines_stay_as_they_are(text: str) -> None:
    assert log.redact(text) == text


def test_the_value_of_a_key_variable_is_hidden_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "plain-words-here")

    assert "plain-words-here" not in log.redact("sent plain-words-here to the endpoint")


def test_the_value_of_a_tasks_secret_is_hidden_and_so_is_one_that_begins_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SITELORE_SECRET_SHOP", "swordfish")
    monkeypatch.setenv("SITELORE_SECRET_BANK", "swordfish-and-more")

    line = log.redact("typed swordfish, then swordfish-and-more")

    assert line == f"typed {log.HIDDEN}, then {log.HIDDEN}"


def test_a_traceback_is_redacted_too() -> None:
    try:
        raise ValueError("bad password=hunter2!")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f", 1, "failed", None, sys.exc_info())

    line = log.RedactingFormatter("%(message)s").format(record)

    assert "ValueError" in line
    assert "hunter2" not in line


def test_a_process_writes_its_file_and_its_hooks_catch_what_nobody_awaits(tmp_path: Path) -> None:
    code = """
import asyncio, logging, sys, threading
from pathlib import Path
from app import log
log.setup("error", role="probe", folder=Path(sys.argv[1]))
log.install_hooks()
logging.getLogger("x").info("said %s", "hello")
thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()
class Bad:
    def __del__(self): raise RuntimeError("in a finalizer")
Bad()
async def main():
    log.watch_loop(asyncio.get_running_loop())
    asyncio.get_running_loop().call_soon(lambda: {}["nowhere"])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
asyncio.run(main())
raise LookupError("at the end")
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    written = (tmp_path / "probe.log").read_text("utf-8")

    for words in (
        "said hello",
        "ZeroDivisionError",
        "in a finalizer",
        "KeyError: 'nowhere'",
        "LookupError: at the end",
    ):
        assert words in written
    assert "said hello" not in done.stderr
    assert "LookupError" in done.stderr
    assert (tmp_path / "probe.crash.log").exists()


def test_a_folder_that_cant_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    files = log.setup("warning", folder=tmp_path / "file" / "logs")
    files.close()

    assert "no log file" in caplog.text


def test_qts_messages_keep_their_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        log.qt_message(SimpleNamespace(name="QtCriticalMsg"), SimpleNamespace(category="qt.qpa"), "no plugin")

    assert [(r.name, r.levelno) for r in caplog.records] == [("qt.qt.qpa", logging.ERROR)]
