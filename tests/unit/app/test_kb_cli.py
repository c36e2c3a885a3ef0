"""``sitelore kb``: a merge that a person decides in a terminal, and the check before a configuration is printed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft

TIP = TipDraft(site="shop", text="Sort the orders by date.", why="before any edit")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with one tip that was edited here and in ``bob.akb`` beside it."""
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    (tmp_path / "workspace").mkdir()
    mine, theirs = tmp_path / "workspace" / "knowledge.akb", tmp_path / "bob.akb"
    with KnowledgeBase.open(mine, author="ada") as kb:
        tip = kb.add(TIP)
        with closing(sqlite3.connect(mine)) as source, closing(sqlite3.connect(theirs)) as copy:
            source.backup(copy)
        kb.edit(tip.id, replace(kb.get(tip.id), why="edited here"))
        kb.set_status([tip.id], Status.ACTIVE)
    with KnowledgeBase.open(theirs, author="bob") as kb:
        kb.edit(tip.id, replace(kb.get(tip.id), why="edited there"))
    return tmp_path


def said(place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["--workspace", str(place / "workspace"), "kb", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize(("more", "code"), [(("--plan",), 0), ((), 1)])
def test_a_conflict_shows_the_version_before_here_and_there(place, capsys, more, code):
    ended, out, err = said(place, capsys, "merge", str(place / "bob.akb"), *more)
    assert ended == code, err
    versions = "  why\n    before: before any edit\n    here:   edited here\n    there:  edited there\n"
    assert f"{versions}" in out
    assert "  text\n" not in out
    assert "edited twice: " in out


def test_a_decision_about_a_tip_that_is_in_no_conflict_is_refused(place, capsys):
    code, out, err = said(place, capsys, "merge", str(place / "bob.akb"), "--take", "nosuch=theirs")
    assert (code, out) == (2, "")
    assert err.startswith(
        "sitelore: the tip 'nosuch' is in no conflict; nothing was changed (tips in conflict: "
    )
    assert err.count("\n") == 1


def test_a_configuration_is_printed_only_for_a_file_that_can_be_served(place, capsys):
    code, out, err = said(place, capsys, "serve", str(place / "nosuch.akb"), "--print-config")
    assert (code, out) == (3, "")
    assert "there is no such file" in err
    (place / "text.akb").write_text("nothing of that kind")
    assert said(place, capsys, "serve", str(place / "text.akb"), "--print-config")[0] == 3
    assert said(place, capsys, "freeze", str(place / "good.akb"))[0] == 0
    code, out, err = said(place, capsys, "serve", str(place / "good.akb"), "--print-config")
    assert (code, "mcpServers" in out) == (0, True), err
