"""Merging and splitting states through the engine: part of the one history, in words, and undone like any deed."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.page_state import Mode
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from app.errors import UsageError
from tests.support.runs import make_run, make_step

LISTS = "RootWebArea 'Products'\n\t[1] link 'Mug'\n\t[2] button 'Sort'"
ITEM = "RootWebArea '{0}'\n\theading '{0}'\n\t[1] button 'Add {0}'"


@pytest.fixture
async def engine(tmp_path):
    """One run that passed a list and three products."""
    trees = [LISTS, *(ITEM.format(name) for name in ("Mug", "Jug", "Bowl"))]
    paths = ["", "product/mug", "product/jug", "product/bowl"]
    with Workspace.open(tmp_path / "workspace") as workspace:
        digests = [hashlib.sha256(tree.encode()).hexdigest() for tree in trees]
        steps = [
            make_step(
                at,
                url=f"http://shop.example:7770/{path}",
                title=path or "list",
                tree=digest,
                action=RecordedAction(kind="click", args={"bid": "1"}),
            )
            for at, (path, digest) in enumerate(zip(paths, digests, strict=True))
        ]
        run = make_run("run-0", site="shopping", step_count=3, final=replace(steps[-1], executed=False))
        blobs = {digest: tree.encode() for digest, tree in zip(digests, trees, strict=True)}
        assert workspace.runs.add(run, steps[:-1], blobs)
        workspace.rebuild_index()
    opened = await Engine.open(tmp_path / "workspace", author="mina")
    await opened.graph_from_runs("shopping")
    yield opened
    await opened.aclose()


async def nodes(engine: Engine) -> dict[str, str]:
    """Titles by id, as the map shows them."""
    return {row.id: row.title for row in (await engine.graph_picture("shopping")).nodes}


def named(rows: dict[str, str], title: str) -> str:
    return next(node for node, name in rows.items() if name == title)


async def test_merging_is_undone_and_redone_between_other_changes(engine):
    before = await nodes(engine)
    mug, jug = named(before, "product/mug"), named(before, "product/jug")

    merged = await engine.merge_nodes("shopping", [mug, jug])
    await engine.give_verdict("run-0", Label.LOOP)

    assert merged == mug
    assert set(await nodes(engine)) == set(before) - {jug}
    assert any("merge" in deed for deed in await engine.history())
    await engine.undo()
    assert (await engine.open_run("run-0")).verdicts == ()
    assert set(await nodes(engine)) == set(before) - {jug}
    done = await engine.undo()
    assert "merge" in done.did
    assert await nodes(engine) == before
    await engine.redo()
    assert set(await nodes(engine)) == set(before) - {jug}


async def test_splitting_shows_what_was_merged_and_undo_puts_it_together(engine):
    before = await nodes(engine)
    mug, bowl = named(before, "product/mug"), named(before, "product/bowl")
    await engine.merge_nodes("shopping", [mug, bowl])

    parts = await engine.split_node("shopping", mug)

    assert set(parts) == {mug, bowl}
    assert await nodes(engine) == before
    await engine.undo()
    assert set(await nodes(engine)) == set(before) - {bowl}


async def test_a_state_of_one_page_is_not_split_and_one_state_is_not_merged(engine):
    mug = named(await nodes(engine), "product/mug")
    with pytest.raises(UsageError):
        await engine.split_node("shopping", mug)
    with pytest.raises(UsageError):
        await engine.merge_nodes("shopping", [mug, mug])


async def test_every_state_of_the_map_tells_the_runs_that_passed(engine):
    rows = (await engine.graph_picture("shopping")).nodes
    assert [row.runs for row in rows] == [1] * 4
    detail = await engine.graph_node("shopping", next(row.id for row in rows if row.title == "product/jug"))
    assert detail.runs == (("run-0", 2),)
    assert [one.words for one in detail.incoming] == ["click button 'Add Mug'"]


async def test_in_skeleton_mode_the_products_are_one_state_that_can_be_split(tmp_path, engine):
    await engine.aclose()
    with Workspace.open(tmp_path / "workspace") as workspace:
        workspace.graph("shopping").describe(mode=Mode.SKELETON)
    again = await Engine.open(tmp_path / "workspace", author="mina")
    try:
        rows = (await again.graph_picture("shopping")).nodes
        assert sorted(row.pages for row in rows) == [1, 3]
        parts = await again.split_node("shopping", next(row.id for row in rows if row.pages == 3))
        assert len(parts) == 3
        assert len((await again.graph_picture("shopping")).nodes) == 4
        await again.undo()
        assert len((await again.graph_picture("shopping")).nodes) == 2
    finally:
        await again.aclose()
