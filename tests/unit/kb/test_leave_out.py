"""A frozen base without one tip is, byte for byte, the freeze of the other tips."""

from pathlib import Path

import pytest

from kb.errors import BadFile, NoSuchTip
from kb.freeze import freeze, open_any, verify
from kb.leave_out import leave_each_out, leave_out
from kb.manifest import read_manifest
from kb.store import KnowledgeBase
from kb.tip import Kind, Scope, Status, TipDraft

DRAFTS = [
    TipDraft(site="shop", text="Sort the table first.", status=Status.ACTIVE, scope=Scope(path="/orders/**")),
    TipDraft(site="shop", text="Hover the menu; a click leaves the page.", status=Status.ACTIVE),
    TipDraft(site="forum", text="The list begins with the oldest thread.", status=Status.REVIEWED),
    TipDraft(site="forum", text="Votes are shown after a reload.", status=Status.DRAFT, kind=Kind.UI_QUIRK),
]


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        for draft in DRAFTS:
            kb.add(draft)
        kb.set_hosts("shop", ["shop.example"])
        kb.set_hosts("forum", ["forum.example"])
        yield kb


@pytest.fixture
def frozen(kb: KnowledgeBase, tmp_path: Path) -> Path:
    out = tmp_path / "june.akb"
    freeze(kb, out, include=[Status.REVIEWED, Status.DRAFT], encoder=("minilm", "cafe"))
    return out


def test_the_others_are_frozen_as_they_were_whatever_their_statuses_are(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    gone = kb.tips("shop")[0].id
    report = leave_out(frozen, gone, tmp_path / "less.akb")
    kb.set_status([gone], Status.RETIRED)
    again = freeze(kb, tmp_path / "again.akb", include=[Status.REVIEWED, Status.DRAFT])
    assert report.tips == 3
    assert (tmp_path / "less.akb").read_bytes() == (tmp_path / "again.akb").read_bytes()
    assert report.sha256 == again.sha256
    assert verify(tmp_path / "less.akb").ok
    assert read_manifest(tmp_path / "less.akb").encoder_id == "minilm"


def test_the_file_it_is_taken_from_stays(kb: KnowledgeBase, frozen: Path, tmp_path: Path):
    before = frozen.read_bytes()
    leave_out(frozen, kb.tips("forum")[0].id, tmp_path / "less.akb")
    assert frozen.read_bytes() == before
    with pytest.raises(BadFile, match="choose another name"):
        leave_out(frozen, kb.tips("forum")[0].id, frozen)


def test_an_unknown_tip_and_a_file_that_is_not_frozen_are_refused(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    with pytest.raises(NoSuchTip):
        leave_out(frozen, "nobody", tmp_path / "less.akb")
    with pytest.raises(BadFile, match="not a frozen knowledge base"):
        leave_out(kb.path, kb.tips()[0].id, tmp_path / "less.akb")
    assert not (tmp_path / "less.akb").exists()


def test_each_of_several_tips_is_left_out_of_a_file_of_its_own(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    tips = [tip.id for tip in kb.tips("shop")]
    written = leave_each_out(frozen, tips, tmp_path / "less")
    assert list(written) == tips
    for tip, report in written.items():
        with open_any(report.path) as less:
            assert {one.id for one in kb.tips()} - {one.id for one in less.tips()} == {tip}
    assert len({report.path for report in written.values()}) == 2
