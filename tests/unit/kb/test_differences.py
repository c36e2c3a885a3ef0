"""Fates of tips, told to people: why, by whom and when, and what the files don't say."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kb.differences import TipChangeKind, explain
from kb.freeze import freeze, open_any
from kb.manifest import manifest_path
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft
from kb.tip_changes import DiffPart, diff_words

Kind = TipChangeKind


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        for text in ("Sort the orders by date.", "Hover the menu.", "Prices are net."):
            kb.add(TipDraft(site="shop", text=text, status=Status.ACTIVE))
        freeze(kb, tmp_path / "old.akb")
        yield kb


def changed(kb: KnowledgeBase) -> dict[str, str]:
    ids = {tip.text.split()[0]: tip.id for tip in kb.tips()}
    kb.author = "bob"
    kb.edit(ids["Sort"], replace(kb.get(ids["Sort"]), text="Sort the invoices by date."))
    kb.set_status([ids["Hover"]], Status.RETIRED, why="the menu is gone since May")
    ids["Votes"] = kb.add(TipDraft(site="forum", text="Votes count twice.", status=Status.ACTIVE)).id
    kb.author = "ada"
    return ids


def test_against_a_live_one_everything_is_said(kb: KnowledgeBase, tmp_path: Path):
    ids = changed(kb)
    with open_any(tmp_path / "old.akb") as old:
        found = explain(old, kb)
    rows = {one.tip.id: one for one in found.tips}
    assert {id: one.kind for id, one in rows.items()} == {
        ids["Votes"]: Kind.ADDED,
        ids["Sort"]: Kind.CHANGED,
        ids["Hover"]: Kind.RETIRED,
    }
    assert list(found.sites) == ["forum", "shop"]
    assert all(one.by == ("bob",) and one.at > 0 for one in rows.values())
    assert rows[ids["Hover"]].why == ("the menu is gone since May",)
    [text] = rows[ids["Sort"]].fields
    assert text.field == "text"
    assert text.plain == "Sort the [-orders-]{+invoices+} by date."
    assert [tip.id for tip in found.plain.added] == [ids["Votes"]]


def test_between_frozen_files_only_the_manifest_speaks(kb: KnowledgeBase, tmp_path: Path):
    ids = changed(kb)
    freeze(kb, tmp_path / "new.akb")
    with open_any(tmp_path / "old.akb") as old, open_any(tmp_path / "new.akb") as new:
        found = explain(old, new)
        rows = {one.tip.id: one for one in found.tips}
        assert (rows[ids["Hover"]].kind, rows[ids["Hover"]].unknown) == (Kind.REMOVED, "why is unknown")
        assert rows[ids["Sort"]].by == ("ada",), "its author, as far as the manifest says"
        assert len(found.unknown) == 2
        known = {one.tip.id: one for one in explain(old, new, kb).tips}
        assert (known[ids["Hover"]].kind, known[ids["Hover"]].by) == (Kind.RETIRED, ("bob",))
        assert known[ids["Hover"]].why == ("the menu is gone since May",)
        assert known[ids["Sort"]].by == ("bob",)
    manifest_path(tmp_path / "new.akb").unlink()
    with open_any(tmp_path / "old.akb") as old, open_any(tmp_path / "new.akb") as new:
        assert {one.unknown for one in explain(old, new).tips} == {
            "why is unknown",
            "who changed it and when is unknown",
        }


def test_tags_are_compared_between_live_ones_only(kb: KnowledgeBase, tmp_path: Path):
    tip = kb.tips()[0]
    with KnowledgeBase.open(tmp_path / "copy.akb") as copy:
        copy.add(tip)
        kb.edit(tip.id, replace(tip, tags=("confidential",)))
        rows = [one for one in explain(copy, kb).tips if one.tip.id == tip.id]
        assert [change.field for one in rows for change in one.fields] == ["tags"]
    with open_any(tmp_path / "old.akb") as old:
        assert explain(old, kb).tips == ()


def test_very_long_texts_are_compared_as_a_whole():
    old, new = "word " * 3000, "other " * 3000
    assert diff_words(old, new) == (DiffPart("removed", old), DiffPart("added", new))
