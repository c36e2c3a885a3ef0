"""Tips are kept with every revision; ids derive from content; everything can be undone."""

from dataclasses import replace
from pathlib import Path

import pytest

from kb.errors import BadTip, NoSuchTip
from kb.store import KnowledgeBase
from kb.tip import Kind, Provenance, Scope, Status, Tip, TipDraft

MENU = TipDraft(site="shopping", text="Hover the category; a click leaves the page.", kind=Kind.UI_QUIRK)
ORDERS = TipDraft(site="shopping", text="Past purchases stand under My Account > My Orders.")


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        yield kb


def told(tip: Tip) -> Tip:
    """The tip without what an undo may not restore: the count of revisions and the time of the last."""
    return replace(tip, revision=0, changed_at=0.0)


def test_an_id_is_the_site_and_a_hash_of_the_content(kb: KnowledgeBase, tmp_path: Path):
    tip = kb.add(MENU)
    assert tip.id.startswith("shopping-")
    assert len(tip.id) == len("shopping-") + 10
    with KnowledgeBase.open(tmp_path / "other.akb", author="bob") as other:
        assert other.add(MENU).id == tip.id
        assert other.add(replace(MENU, scope=Scope(path="/admin/**"))).id != tip.id


def test_an_id_never_changes_between_versions_of_this_program(kb: KnowledgeBase):
    assert kb.add(MENU).id == "shopping-x2znzjdwpt"


def test_adding_the_same_twice_gives_the_same_tip_and_no_change(kb: KnowledgeBase):
    tip = kb.add(MENU)
    assert kb.add(replace(MENU, text="  " + MENU.text + "\r\n")) == tip
    assert len(kb.journal.entries()) == 1


def test_content_whose_tip_was_edited_since_gets_a_counted_id(kb: KnowledgeBase):
    tip = kb.add(MENU)
    kb.edit(tip.id, ORDERS)
    again = kb.add(MENU)
    assert again.id == f"{tip.id}-2"
    assert kb.get(tip.id).text == ORDERS.text


def test_a_tip_is_signed_by_its_author_unless_it_came_from_a_file(kb: KnowledgeBase):
    assert kb.add(MENU).provenance.author == "ada"
    [imported] = kb.add_many([replace(ORDERS, provenance=Provenance(source="tips.csv"))])
    assert imported.provenance.author == ""


def test_an_edit_keeps_status_provenance_and_taint(kb: KnowledgeBase):
    draft = replace(MENU, taint=("webarena.21",), provenance=Provenance(run="r1", step=3))
    tip = kb.add(replace(draft, status=Status.ACTIVE))
    edited = kb.edit(tip.id, replace(ORDERS, taint=("webarena.9",)))
    assert edited.id == tip.id
    assert edited.revision == 2
    assert edited.text == ORDERS.text
    assert edited.status is Status.ACTIVE
    assert edited.provenance == Provenance(run="r1", step=3, author="ada")
    assert edited.taint == ("webarena.21", "webarena.9")


def test_an_edit_that_changes_nothing_leaves_no_trace(kb: KnowledgeBase):
    tip = kb.add(MENU)
    version = kb.data_version
    assert kb.edit(tip.id, MENU) == tip
    assert kb.set_status([tip.id], Status.DRAFT) == [tip]
    assert kb.restore_revision(tip.id, 1) == tip
    assert kb.data_version == version


def test_every_version_is_kept_with_who_when_and_what(kb: KnowledgeBase):
    tip = kb.add(MENU)
    kb.edit(tip.id, ORDERS)
    kb.set_status([tip.id], Status.RETIRED)
    kb.set_status([tip.id], Status.ACTIVE)
    kb.restore_revision(tip.id, 1)
    kb.undo()

    history = kb.history(tip.id)
    assert [(r.tip.revision, r.deed) for r in history] == [
        (1, "add"),
        (2, "edit"),
        (3, "retire"),
        (4, "restore"),
        (5, "restore revision 1"),
        (6, "undo restore"),
    ]
    assert [r.tip.text for r in history] == [MENU.text, *[ORDERS.text] * 3, MENU.text, ORDERS.text]
    assert {r.author for r in history} == {"ada"}
    assert [r.at for r in history] == sorted(r.at for r in history)


def test_a_restored_revision_keeps_the_present_status(kb: KnowledgeBase):
    tip = kb.add(MENU)
    kb.edit(tip.id, ORDERS)
    kb.set_status([tip.id], Status.ACTIVE)
    restored = kb.restore_revision(tip.id, 1)
    assert (restored.text, restored.status) == (MENU.text, Status.ACTIVE)


def test_undo_and_redo_of_each_kind_of_change(kb: KnowledgeBase):
    tip = kb.add(MENU)
    states = [kb.tips()]
    kb.edit(tip.id, ORDERS)
    states.append(kb.tips())
    kb.set_status([tip.id, kb.add(MENU).id], Status.RETIRED)
    states.append(kb.tips())

    assert kb.peek()[0].label == "retire 2 tips"
    assert [kb.undo().kind for _ in range(4)] == ["retire", "add", "edit", "add"]
    assert kb.tips() == []
    assert kb.undo() is None
    with pytest.raises(NoSuchTip):
        kb.get(tip.id)
    assert kb.history(tip.id)

    assert [kb.redo().kind for _ in range(4)] == ["add", "edit", "add", "retire"]
    assert [told(t) for t in kb.tips()] == [told(t) for t in states[-1]]
    assert kb.redo() is None


def test_a_tip_whose_creation_was_undone_comes_back_under_its_own_id(kb: KnowledgeBase):
    tip = kb.add(MENU)
    kb.undo()
    again = kb.add(MENU)
    assert (again.id, again.revision) == (tip.id, 3)


def test_undo_survives_a_restart(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "k.akb") as kb:
        kb.add(MENU)
        kb.add(ORDERS)
        kb.undo()
    with KnowledgeBase.open(tmp_path / "k.akb") as kb:
        assert [tip.text for tip in kb.tips()] == [MENU.text]
        assert kb.redo().kind == "add"
        assert len(kb.tips()) == 2


def test_adding_many_is_one_change_in_order_of_arrival(kb: KnowledgeBase):
    drafts = [replace(MENU, text=f"tip {number}") for number in range(20)]
    added = kb.add_many(drafts, label="import tips.txt")
    assert [tip.text for tip in sorted(added, key=lambda tip: tip.created_at)] == [d.text for d in drafts]
    assert kb.add_many(drafts) == []
    assert kb.undo().label == "import tips.txt"
    assert kb.tips() == []
    assert len(kb.add_many(drafts)) == 20


def test_what_was_imported_and_edited_since_is_not_imported_again(kb: KnowledgeBase):
    [tip] = kb.add_many([MENU])
    kb.edit(tip.id, ORDERS)
    assert kb.add_many([MENU, ORDERS]) == []


def test_one_bad_draft_of_many_leaves_nothing_behind(kb: KnowledgeBase):
    with pytest.raises(BadTip):
        kb.add_many([MENU, replace(ORDERS, text="")])
    assert kb.tips() == []
    assert kb.data_version == 0


def test_tips_are_chosen_by_site_status_and_words(kb: KnowledgeBase):
    menu, orders = kb.add(MENU), kb.add(replace(ORDERS, status=Status.ACTIVE, keywords=("Purchase",)))
    other = kb.add(replace(ORDERS, site="gitlab"))
    assert kb.tips() == sorted([menu, orders, other], key=lambda tip: tip.id)
    assert kb.tips(site="gitlab") == [other]
    assert kb.tips(statuses={Status.ACTIVE}) == [orders]
    assert kb.tips(statuses=()) == []
    assert kb.tips(search="HOVER category") == [menu]
    assert kb.tips(site="shopping", search="purchase") == [orders]
    assert kb.tips(search=menu.id) == [menu]


def test_the_data_version_grows_with_every_change_also_of_another_process(kb: KnowledgeBase):
    versions = [kb.data_version]
    with KnowledgeBase.open(kb.path, author="bob") as other:
        tip = other.add(MENU)
        versions.append(kb.data_version)
        assert kb.tips() == [tip]
        kb.set_hosts("shopping", ["*:7770"])
        versions.append(other.data_version)
        other.undo()
        versions.append(kb.data_version)
    assert versions == sorted(set(versions))


def test_hosts_of_a_site_are_kept_and_checked(kb: KnowledgeBase):
    kb.set_hosts("shopping", ["*:7770", "Shop.Example.com", "*:7770"])
    assert kb.hosts() == {"shopping": ("*:7770", "shop.example.com")}
    with pytest.raises(BadTip, match="not a host pattern"):
        kb.set_hosts("shopping", ["http://x/y"])


def test_stats_count_what_is_there(kb: KnowledgeBase):
    kb.add(MENU)
    kb.edit(kb.add(ORDERS).id, replace(ORDERS, why="because"))
    kb.vectors.put_many("minilm@1", {"a": b"1", "b": b"2"})
    stats = kb.stats()
    assert (stats.tips, stats.revisions, stats.vectors, stats.encoder) == (2, 3, 2, "minilm@1")
    assert stats.by_kind == {"operation": 1, "ui-quirk": 1}
    assert not stats.frozen


def test_vectors_are_cached_by_encoder_and_key_and_change_no_version(kb: KnowledgeBase):
    version = kb.data_version
    kb.vectors.put_many("minilm@1", {str(n): bytes([n % 256]) for n in range(1200)})
    found = kb.vectors.get_many("minilm@1", [str(n) for n in range(600, 1300)])
    assert found == {str(n): bytes([n % 256]) for n in range(600, 1200)}
    assert kb.vectors.get_many("other", ["1"]) == {}
    assert kb.data_version == version


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "needs a text"),
        (" \n\t ", "needs a text"),
        ("x" * 100_000, "100,000 characters"),
        ("bell \x07", "control character .U.0007, at character 6"),
        ("nul \x00", "control character"),
        ("half \ud800", "control character .U.D800"),
    ],
)
def test_a_text_that_can_not_be_stored_is_refused_with_the_reason(
    kb: KnowledgeBase, text: str, complaint: str
):
    with pytest.raises(BadTip, match=complaint):
        kb.add(replace(MENU, text=text))
    assert kb.tips() == []


def test_text_is_brought_to_one_form(kb: KnowledgeBase):
    tip = kb.add(replace(MENU, text=" Cafe\u0301\r\nnext\u2028last\r"))
    assert tip.text == "Caf\u00e9\nnext\nlast"


@pytest.mark.parametrize("site", ["", "My Shop", "../etc", "-x", "a/b", "x" * 64, ".hidden", "caf\u00e9"])
def test_an_impossible_site_name_is_refused(kb: KnowledgeBase, site: str):
    with pytest.raises(BadTip, match="can't be a site's name"):
        kb.add(replace(MENU, site=site))


@pytest.mark.parametrize(
    "act",
    [
        lambda kb: kb.get("nowhere"),
        lambda kb: kb.history("nowhere"),
        lambda kb: kb.edit("nowhere", MENU),
        lambda kb: kb.set_status(["nowhere"], Status.ACTIVE),
        lambda kb: kb.restore_revision("nowhere", 1),
    ],
)
def test_an_unknown_id_is_named(kb: KnowledgeBase, act):
    with pytest.raises(NoSuchTip, match="nowhere"):
        act(kb)


def test_an_unknown_revision_is_named(kb: KnowledgeBase):
    with pytest.raises(NoSuchTip, match="no revision 7"):
        kb.restore_revision(kb.add(MENU).id, 7)
