"""Merge, differences and release page through the engine's own use cases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.shared_knowledge_api import MergeChoices
from app.engine.engine import Engine
from app.errors import InputError, SiteloreError
from kb.merge import MergeSide
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft


async def test_two_workspaces_merge_compare_and_release(tmp_path: Path):
    engine = await Engine.open(tmp_path / "ada", "ada")
    try:
        tip = await engine.save_tip(TipDraft(site="shop", text="Sort the orders by date."))
        await engine.set_status([tip.id], Status.ACTIVE)
        await engine.freeze(str(tmp_path / "old.akb"))
        with (  # the file is open here: a plain copy would lack what is still in its log
            closing(sqlite3.connect(tmp_path / "ada" / "knowledge.akb")) as source,
            closing(sqlite3.connect(tmp_path / "bob.akb")) as copy,
        ):
            source.backup(copy)
        with KnowledgeBase.open(tmp_path / "bob.akb", author="bob") as bob:
            bob.edit(tip.id, replace(bob.get(tip.id), why="theirs"))
        await engine.edit_tip(tip.id, replace(await engine.tip(tip.id), why="mine"))
        other = str(tmp_path / "bob.akb")
        plan = await engine.kb_merge_plan(other)
        assert [row.tip for row in plan.conflicts] == [tip.id]
        with pytest.raises(SiteloreError, match="nothing was changed"):
            await engine.kb_merge(other)
        choices = MergeChoices(decisions={tip.id: MergeSide.THEIRS}, plan_key=plan.key)
        assert (await engine.kb_merge(other, choices)).changed == (tip.id,)
        assert (await engine.tip(tip.id)).why == "theirs"
        assert "merge bob.akb" in (await engine.undo()).did
        assert (await engine.tip(tip.id)).why == "mine"
        changes = await engine.kb_changes(str(tmp_path / "old.akb"), str(tmp_path / "ada" / "knowledge.akb"))
        assert [change.field for one in changes.tips for change in one.fields] == ["why"]
        await engine.freeze(str(tmp_path / "new.akb"))
        page = await engine.kb_release(
            str(tmp_path / "new.akb"), str(tmp_path / "old.akb"), str(tmp_path / "p.html")
        )
        assert (page.intact, page.differences) == (True, 1)
        assert "Release of new.akb" in (tmp_path / "p.html").read_text()
    finally:
        await engine.aclose()


async def test_what_is_no_frozen_file_or_no_page_is_refused_in_one_sentence(tmp_path: Path):
    engine = await Engine.open(tmp_path / "ada", "ada")
    try:
        (tmp_path / "text.akb").write_text("nothing of that kind")
        with pytest.raises(InputError, match="not a knowledge base"):
            await engine.kb_merge_plan(str(tmp_path / "text.akb"))
        with pytest.raises(InputError, match="freeze the knowledge base first"):
            await engine.kb_release(str(tmp_path / "ada" / "knowledge.akb"), "", str(tmp_path / "p.html"))
        await engine.freeze(str(tmp_path / "f.akb"))
        with pytest.raises(InputError, match="another kind"):
            await engine.kb_release(str(tmp_path / "f.akb"), "", str(tmp_path / "text.akb"))
        assert (tmp_path / "text.akb").read_text() == "nothing of that kind"
    finally:
        await engine.aclose()
