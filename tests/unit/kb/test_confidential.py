"""Confidential tips stay out of a frozen file and of its manifest, and so do their names."""

from dataclasses import replace
from pathlib import Path

import pytest

from kb.confidential import LeaveOut
from kb.errors import KbError
from kb.evidence import Evidence, EvidenceKind
from kb.freeze import freeze, verify
from kb.frozen import FrozenKnowledgeBase
from kb.manifest import manifest_path
from kb.store import KnowledgeBase
from kb.tip import Anchor, Provenance, Status, TipDraft

OPEN = TipDraft(site="shop", text="Sort the orders by date.", status=Status.ACTIVE)
PAYROLL = TipDraft(site="payroll", text="Salaries stand under Reports.", status=Status.ACTIVE)
SECRET = TipDraft(
    site="shop", text="Discounts over 40 % need a second name.", status=Status.ACTIVE, tags=("confidential",)
)
MALLORY = TipDraft(
    site="shop", text="Invoices are net.", status=Status.ACTIVE, provenance=Provenance(author="Mallory Q")
)


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        for draft in (OPEN, PAYROLL, SECRET, MALLORY):
            kb.add(draft)
        kb.set_hosts("payroll", ["pay.example.com"])
        yield kb


RULES = [
    ("nothing", LeaveOut(), {}, {OPEN.text, PAYROLL.text, SECRET.text, MALLORY.text}),
    ("a tag", LeaveOut.of(tags=["Confidential"]), {"by tag": 1}, {OPEN.text, PAYROLL.text, MALLORY.text}),
    ("an author", LeaveOut.of(authors=["mallory  q"]), {"by author": 1}, {OPEN.text, PAYROLL.text, SECRET.text}),
    ("a site", LeaveOut.of(sites=["Payroll"]), {"by site": 1}, {OPEN.text, SECRET.text, MALLORY.text}),
    (
        "all of them",
        LeaveOut.of(["confidential"], ["Mallory Q"], ["payroll"]),
        {"by tag": 1, "by author": 1, "by site": 1},
        {OPEN.text},
    ),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=[rule[0] for rule in RULES])
def test_each_rule_leaves_its_tips_out_and_counts_them(
    kb: KnowledgeBase, tmp_path: Path, rule: tuple[str, LeaveOut, dict[str, int], set[str]]
):
    _, leave_out, counts, texts = rule
    report = freeze(kb, tmp_path / "f.akb", leave_out=leave_out)
    assert report.left_out == counts
    with FrozenKnowledgeBase.open(tmp_path / "f.akb") as frozen:
        assert {tip.text for tip in frozen.tips()} == texts
    assert verify(tmp_path / "f.akb").ok


def test_a_tip_that_a_left_out_author_only_edited_stays_out(kb: KnowledgeBase, tmp_path: Path):
    tip = kb.tips(search="orders")[0]
    kb.author = "Mallory Q"
    kb.edit(tip.id, replace(tip, why="a note"))
    kb.author = "ada"
    assert freeze(kb, tmp_path / "f.akb", leave_out=LeaveOut.of(authors=["Mallory Q"])).left_out == {
        "by author": 2
    }


def test_no_name_of_what_is_left_out_is_in_the_file_or_its_manifest(kb: KnowledgeBase, tmp_path: Path):
    left = LeaveOut.of(["confidential"], ["Mallory Q"], ["payroll"])
    kb.add(
        TipDraft(
            site="shop",
            text="Hover the menu.",
            status=Status.ACTIVE,
            provenance=Provenance(source="payroll.csv"),
        )
    )
    kb.author = "mallory q"
    freeze(kb, tmp_path / "f.akb", leave_out=left)
    both = (tmp_path / "f.akb").read_bytes() + manifest_path(tmp_path / "f.akb").read_bytes()
    for name in (
        b"confidential",
        b"mallory",
        b"payroll",
        b"pay.example",
        b"Salaries",
        b"Discounts",
        b"Invoices",
    ):
        assert name.lower() not in both.lower(), name


def test_a_frozen_tip_that_mentions_what_is_left_out_is_named(kb: KnowledgeBase, tmp_path: Path):
    for text in ("Open pay.example.com first.", "See the payroll of ada.", "Payrolls are elsewhere."):
        kb.add(TipDraft(site="shop", text=text, status=Status.ACTIVE))
    report = freeze(kb, tmp_path / "f.akb", leave_out=LeaveOut.of(sites=["payroll"]))
    named = {kb.get(line.split()[0]).text for line in report.warnings}
    assert named == {"Open pay.example.com first.", "See the payroll of ada."}


def test_no_picture_path_note_vote_or_tag_leaves_with_a_freeze(kb: KnowledgeBase, tmp_path: Path):
    digest = "ab" * 32
    tip = kb.add(
        TipDraft(
            site="shop",
            text="The button is below the total.",
            status=Status.ACTIVE,
            tags=("for-ana-only",),
            provenance=Provenance(run="r-1", step=3, screenshot=digest, source="home.csv"),
            anchor=Anchor(screenshot=digest, box=(1, 2, 3, 4), words="Pay"),
        )
    )
    kb.add_evidence(
        [
            Evidence(
                tip=tip.id, revision=1, kind=EvidenceKind.TEST, outcome="broke", message="a private remark"
            )
        ]
    )
    kb.edit(tip.id, replace(tip, why="an earlier thought"))
    kb.edit(tip.id, replace(tip, why=""))
    freeze(kb, tmp_path / "f.akb")
    raw = (tmp_path / "f.akb").read_bytes()
    both = raw + manifest_path(tmp_path / "f.akb").read_bytes()
    for trace in (
        b"for-ana-only",
        b"a private remark",
        b"an earlier thought",
        str(tmp_path).encode(),
        b"\x89PNG",
        b"\xff\xd8\xff",
    ):
        assert trace not in both, trace
    assert b"ada" not in raw
    assert digest.encode() in raw, "of the picture there is its hash"


@pytest.mark.parametrize(
    "given", [{"tags": [" "]}, {"authors": [""]}, {"sites": [""]}, {"sites": ["a b"]}, {"tags": ["a,b"]}]
)
def test_a_name_that_would_leave_nothing_out_is_refused(given: dict[str, list[str]]):
    with pytest.raises(KbError):
        LeaveOut.of(**given)
