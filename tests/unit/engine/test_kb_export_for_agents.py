"""Tips for other people's agents: the active ones, and none that is confidential."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.engine import Engine
from kb import Status, TipDraft
from kb.exchange import read


@pytest.mark.parametrize(
    ("file", "statuses", "texts"),
    [
        ("tips.md", (), {"an active tip"}),
        ("hints.csv", (), {"an active tip"}),
        ("tips.md", (Status.DRAFT,), {"a draft"}),
        ("tips.jsonl", (), {"an active tip", "a draft", "a secret one"}),
        ("tips.jsonl", (Status.ACTIVE,), {"an active tip", "a secret one"}),
    ],
)
async def test_which_tips_an_export_holds(tmp_path, file, statuses, texts):
    engine = await Engine.open(tmp_path / "w")
    try:
        base = TipDraft(site="shop", text="an active tip")
        for draft in (
            base,
            replace(base, text="a draft"),
            replace(base, text="a secret one", tags=("confidential",)),
        ):
            saved = await engine.save_tip(draft)
            if draft.text != "a draft":
                await engine.set_status([saved.id], Status.ACTIVE)
        out = tmp_path / file
        format = "hints" if file == "hints.csv" else "auto"
        count = await engine.kb_export(str(out), format, "", statuses)
        found = read(out, format)
        assert ({one.text for one in found}, len(found)) == (texts, count)
    finally:
        await engine.aclose()
