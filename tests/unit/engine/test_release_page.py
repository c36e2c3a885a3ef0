"""The release page of a frozen file: everything on one page, nothing from outside, nothing executed or leaked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.engine_api import BehaviourDiff, StepDifference
from app.engine.api.evaluation_api import TipCreditRow
from app.engine.evaluation.report.release_page import ReleaseFacts, release_html
from kb.confidential import LeaveOut
from kb.differences import explain
from kb.freeze import freeze, open_any, verify
from kb.manifest import read_manifest
from kb.store import KnowledgeBase
from kb.tip import Provenance, Status, TipDraft

EVIL = "Press <script>alert(1)</script> \u202eand \"run\" 'it' & <img src=x onerror=y>."


@pytest.fixture
def facts(tmp_path: Path) -> ReleaseFacts:
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="<b>ada</b>") as kb:
        kb.judge = lambda draft: ()
        first = kb.add(
            TipDraft(site="shop", text="Sort by date.", status=Status.ACTIVE, taint=("webarena.7",))
        )
        gone = kb.add(TipDraft(site="shop", text="Hover the secret menu.", status=Status.ACTIVE))
        freeze(kb, tmp_path / "old.akb")
        kb.edit(first.id, replace(first, text="Sort by amount."))
        kb.set_status([gone.id], Status.RETIRED, why="<i>gone</i>")
        kb.add(TipDraft(site="forum", text=EVIL, status=Status.ACTIVE, provenance=Provenance(run="r")))
        bad = kb.add(TipDraft(site="shop", text="Odd."))
        kb.set_status([bad.id], Status.ACTIVE)
        freeze(kb, tmp_path / "new.akb", lint_errors={bad.id: ["task-value"]})
        with open_any(tmp_path / "old.akb") as old, open_any(tmp_path / "new.akb") as new:
            return ReleaseFacts(
                name="new.akb",
                since="old.akb",
                changes=explain(old, new, kb),
                behaviour=BehaviourDiff(
                    steps=40,
                    changed=1,
                    in_passed_runs=0,
                    examples=(
                        StepDifference(run="<r1>", step=3, gained=(first.id,), lost=(gone.id,), failed=True),
                    ),
                ),
                verified=verify(tmp_path / "new.akb"),
                manifest=read_manifest(tmp_path / "new.akb").data,
                tips=new.tips(),
                credits=[
                    TipCreditRow(
                        tip=first.id,
                        text="",
                        retrieved=9,
                        followed=4,
                        templates=5,
                        difference=0.25,
                        low=0.01,
                        high=0.5,
                        method="left out",
                        verdict="helps",
                    )
                ],
                at=1_700_000_000.0,
            )


def test_the_page_says_what_changed_lint_taint_credit_checks_and_what_is_left_out(facts: ReleaseFacts):
    page = release_html(facts)
    for said in (
        "1 added, 1 changed, 1 retired",
        "<del>date</del><ins>amount</ins>",
        "&lt;i&gt;gone&lt;/i&gt;",
        "1 of 40 stored steps would be given other tips",
        "task-value",
        "webarena.7",
        "helps (+0.25, +0.01 to +0.50, left out)",
        facts.verified.sha256,
        "Intact",
        "1 lint errors",
        "1 retired",
    ):
        assert said in page, said


def test_nothing_on_it_is_executed_or_fetched(facts: ReleaseFacts):
    page = release_html(facts)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href)=", page.replace("&lt;img src=x", "")) == []
    assert "<b>ada</b>" not in page


def test_a_file_that_was_changed_is_not_called_intact(facts: ReleaseFacts):
    broken = replace(facts, verified=replace(facts.verified, ok=False, problems=("the file was changed",)))
    page = release_html(replace(broken, manifest={}, changes=None, behaviour=None))
    assert "NOT INTACT" in page
    assert "the file was changed" in page
    assert "Intact: " not in page
    assert "Not compared" in page


def test_of_a_release_without_confidential_tips_no_missing_tip_is_named(facts: ReleaseFacts, tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb") as kb:
        kb.set_status([tip.id for tip in kb.tips(search="secret")], Status.ACTIVE)
        kb.edit(kb.tips(search="secret")[0].id, replace(kb.tips(search="secret")[0], tags=("confidential",)))
        freeze(kb, tmp_path / "third.akb", leave_out=LeaveOut.of(tags=["confidential"]))
        with open_any(tmp_path / "old.akb") as old, open_any(tmp_path / "third.akb") as new:
            page = release_html(
                replace(
                    facts,
                    changes=explain(old, new, kb),
                    manifest=read_manifest(tmp_path / "third.akb").data,
                    tips=new.tips(),
                )
            )
            gone = kb.tips(search="secret")[0].id
    assert "secret" not in page
    assert gone not in page
    assert "1 by tag" in page
