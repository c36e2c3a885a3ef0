"""A step view shows the pages before and after it, with exactly the changes marked."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.api.page_diff import MAX_LINES, step_view
from app.engine.core.actions.recorded import RecordedAction
from app.engine.imports.colorbrowseragent import find_runs
from app.errors import NotFound
from tests.support.laws import examples
from tests.support.runs import COLLECTION, make_step, needs_collection, read


def _view(before: str, after: str | None, bid: str = "12", to: str = "page"):
    pages = {hashlib.sha256(t.encode()).hexdigest(): t.encode() for t in (before, after or "")}
    names = list(pages)

    def step(index: int, tree: str):
        name = hashlib.sha256(tree.encode()).hexdigest()
        place = to if index else "page"
        action = RecordedAction(kind="click", args={"bid": bid})
        return make_step(
            index, tree=name, url=f"http://shop.example/{place}?at={index}", title="x", action=action
        )

    assert names
    behind = step(1, after) if after is not None else None
    return step_view("r", step(0, before), behind, pages.__getitem__)


def _marks(page) -> list[tuple[str, str, str]]:
    return [(line.role, line.name, line.change) for line in page.lines]


PAGE = "RootWebArea 'Shop', focused\n\t[10] heading 'Cart'\n\t[12] button 'Save'\n\t\tStaticText 'Save'"


def test_the_same_page_has_no_marks():
    view = _view(PAGE, PAGE)
    assert view.changed == 0
    assert {line.change for line in (*view.before.lines, *view.after.lines)} == {"same"}


def test_element_ids_and_focus_are_no_change():
    again = (
        PAGE.replace("[10]", "[99]")
        .replace(", focused", "")
        .replace("[12] button 'Save'", "[7] button 'Save', focused")
    )
    assert _view(PAGE, again).changed == 0


def test_added_removed_and_changed_lines_are_marked_on_their_side():
    after = "RootWebArea 'Shop', focused\n\t[1] alert ''\n\t\tStaticText 'Saved'\n"
    after += "\t[2] heading 'Basket'\n\t\tStaticText 'Save'"
    view = _view(PAGE, after)
    assert _marks(view.before) == [
        ("RootWebArea", "Shop", "same"),
        ("heading", "Cart", "changed"),
        ("button", "Save", "removed"),
        ("StaticText", "Save", "same"),
    ]
    assert _marks(view.after) == [
        ("RootWebArea", "Shop", "same"),
        ("alert", "", "added"),
        ("StaticText", "Saved", "added"),
        ("heading", "Basket", "changed"),
        ("StaticText", "Save", "same"),
    ]
    assert view.changed == 4


def _list_of(*names: str) -> str:
    return "RootWebArea 'Shop'" + "".join(f"\n\tlink '{name}'" for name in names)


@pytest.mark.parametrize(
    ("to", "after", "another"),
    [
        ("elsewhere", _list_of("e", "f", "g"), True),
        ("page", _list_of("e", "f", "g"), False),
        ("elsewhere", _list_of("a", "b", "c", "g"), False),
    ],
    ids=["another address, few lines alike", "the same address", "another address, most lines alike"],
)
def test_another_page_is_one_elsewhere_with_less_than_half_of_the_lines_and_has_no_marks(to, after, another):
    view = _view(_list_of("a", "b", "c", "d"), after, to=to)
    marked = any(line.change != "same" for line in (*view.before.lines, *view.after.lines))
    assert (view.another, marked, view.changed > 0) == (another, not another, True)


def test_the_share_of_lines_that_both_pages_have_is_told():
    assert _view(_list_of("a", "b", "c"), _list_of("a", "b", "c")).alike == 1.0
    assert _view(_list_of("a", "b", "c"), _list_of("a", "b", "x")).alike == 0.75


def test_the_target_is_marked_on_the_page_before():
    view = _view(PAGE, PAGE)
    assert [line.name for line in view.before.lines if line.is_target] == ["Save"]
    assert not any(line.is_target for line in view.after.lines)


def test_inline_text_boxes_are_left_out():
    view = _view(PAGE + "\n\t\t\tInlineTextBox 'Save'", PAGE)
    assert view.changed == 0
    assert all(line.role != "InlineTextBox" for line in view.before.lines)


def test_a_name_over_several_lines_is_one_line():
    view = _view("RootWebArea 'x'\n\tStaticText 'one\n  (two) three'\n\t[12] button 'b'", PAGE)
    assert [line.role for line in view.before.lines] == ["RootWebArea", "StaticText", "button"]


def test_a_very_long_page_is_cut_and_its_target_shown_all_the_same():
    long = "RootWebArea 'x'\n" + "".join(f"\t[{n}] link 'l{n}'\n" for n in range(100, 6100))
    view = _view(long, long, bid="6000")
    assert len(view.before.lines) == MAX_LINES
    assert view.before.truncated == 6001 - MAX_LINES
    assert [line.name for line in view.before.lines if line.is_target] == ["l6000"]


def test_pages_that_are_missing_are_said_so():
    view = _view(PAGE, None)
    assert view.after.missing == "The page after this step was not recorded."
    assert (view.changed, len(view.before.lines)) == (0, 4)

    def lost(digest: str) -> bytes:
        raise NotFound(f"no {digest}")

    gone = step_view("r", make_step(tree="ab"), make_step(1), lost)
    assert gone.before.missing == "The page's content is missing: no ab"
    assert gone.after.missing == "No page was recorded at this step."
    assert gone.before.url == "http://shop.example:7770/page/0"


lines = st.lists(
    st.sampled_from(["\tlink 'a'", "\tlink 'b'", "\t[3] button 'c'", "\tStaticText 'd'"]), max_size=12
)


@settings(max_examples=examples(300), deadline=None)
@given(lines, lines)
def test_lines_that_are_not_marked_are_the_same_on_both_sides(before, after):
    root = "RootWebArea 'x'"
    view = _view("\n".join([root, *before]), "\n".join([root, *after]))

    def same(page):
        return [(line.role, line.name) for line in page.lines if line.change == "same"]

    assert same(view.before) == same(view.after)
    changed = [line for line in view.before.lines if line.change == "changed"]
    assert len(changed) == sum(line.change == "changed" for line in view.after.lines)
    assert not any(line.change == "added" for line in view.before.lines)
    assert not any(line.change == "removed" for line in view.after.lines)
    assert (view.changed == 0) == (before == after)


@needs_collection
@pytest.mark.shared_data
def test_every_step_of_the_collection_can_be_shown():
    for folder in find_runs(COLLECTION):
        got = read(f"{folder.parts[-3]}/{folder.name[5:]}")
        pages = [*got.steps, *([got.run.final] if got.run.final else [])]
        for at, step in enumerate(got.steps):
            after = pages[at + 1] if at + 1 < len(pages) else None
            view = step_view(got.run.id, step, after, got.blobs.__getitem__)
            assert view.before.lines
            assert (after is None) == bool(view.after.missing)
            if after is not None and step.state == after.state:
                assert view.changed == 0
