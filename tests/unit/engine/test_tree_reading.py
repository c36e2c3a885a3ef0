"""A tree is read by the written rule of ``tree_reading``: a row for each clause, and nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.engine.core.ax_tree import AxTreeLine, parse_line
from app.engine.core.tree_reading import (
    FIELDS,
    WRAPPERS,
    near_name,
    read_folded,
    read_gist,
    read_plain,
)
from tests.support.laws import examples


def tree(text: str) -> tuple[AxTreeLine, ...]:
    """Lines by indentation; ``+``, ``-`` or ``~`` before a line is its change, ``*`` the target."""
    lines: list[AxTreeLine] = []
    for written in text.strip("\n").split("\n"):
        signs, rest = re.fullmatch(r"([+~*-]?)( *.*)", written).groups()
        depth = (len(rest) - len(rest.lstrip())) // 2
        node = parse_line(rest.strip())
        assert node is not None
        lines.append(
            AxTreeLine(
                depth=depth, role=node.role, name=node.name, bid=node.bid, properties=node.properties,
                change={"+": "added", "-": "removed", "~": "changed"}.get(signs, "same"),
                is_target=signs == "*",
            )
        )  # fmt: skip
    return tuple(lines)


def seen(text: str, keep: tuple[int, ...] = ()) -> list[str]:
    """The rows as they are read, one indented line each."""
    rows = read_folded(tree(text), keep).rows
    return [" " * row.depth + " ".join(w for w in (row.role, row.name, row.near) if w) for row in rows]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("link 'Next'\n  StaticText 'Next'", ["link Next"]),
        ("link 'Open 8'\n  StaticText 'Open'\n  StaticText '8'", ["link Open 8"]),
        ("link 'Issues'\n  StaticText '8'", ["link Issues", " StaticText 8"]),
        ("link '18 open'\n  StaticText '8'", ["link 18 open", " StaticText 8"]),
        ("region 'Filters of the list'\n  StaticText 'list'", ["region Filters of the list", " StaticText list"]),
        ("RootWebArea 'GitLab'\n  StaticText 'GitLab'", ["RootWebArea GitLab", " StaticText GitLab"]),
        ("heading 'Sad songs'\n  link 'Sad songs'", ["heading Sad songs"]),
        ("textbox 'To' value='1/1/23'\n  StaticText '1/1/23'", ["textbox To"]),
        ("StaticText 'Period'\ncombobox 'Period'", ["combobox Period"]),
        ("StaticText 'Period'\nbutton 'Period'", ["StaticText Period", "button Period"]),
        ("row 'Total 12'\n  gridcell 'Total'\n  gridcell '12'", ["row Total 12"]),
    ],
    ids=[
        "2 the name again", "2 pieces of the name", "2 says more", "2 whole words only",
        "2 a region is not named after its content", "2 the page itself names nothing", "2 a heading's one link",
        "2 a field's value", "2 a field's label", "2 no label of a button", "2 cells of a row",
    ],
)  # fmt: skip
def test_what_repeats_is_folded_away(text, rows):
    assert seen(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("StaticText 'a1'\nimage ''\nlink 'b'", ["StaticText a1", "link b"]),
        ("link 'b'\nimage 'Logo'", ["link b", "image Logo"]),
        ("link 'b'\nStaticText ':'\nlink 'c'", ["link b", "link c"]),
        ("link 'b'\nListMarker '•'\nlink 'c'", ["link b", "link c"]),
        ("list ''\n  listitem ''\n    link 'b'", ["link b"]),
        ("main ''\n  Section ''\n    LabelText ''\n      link 'b'", ["main", " link b"]),
        ("listitem '1 approver'\n  link 'b'", ["listitem 1 approver", " link b"]),
        ("group '' expanded=True\n  link 'b'", ["group", " link b"]),
        ("dialog ''\n  link 'b'", ["dialog", " link b"]),
    ],
    ids=[
        "3 a nameless picture", "3 a picture with a name", "3 a text without a letter", "3 a list's mark",
        "4 wrappers", "4 a landmark stays", "4 a wrapper with a name", "4 a state", "4 a dialog",
    ],
)  # fmt: skip
def test_what_says_nothing_is_folded_away(text, rows):
    assert seen(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "paragraph ''\n  StaticText 'Total'\n  StaticText ':'\n  StaticText '$ 4'",
            ["StaticText Total : $ 4"],
        ),
        ("paragraph ''\n  StaticText 'a'\nparagraph ''\n  StaticText 'b'", ["StaticText a", "StaticText b"]),
        ("StaticText 'a'\nlink 'l'\nStaticText 'b'", ["StaticText a", "link l", "StaticText b"]),
        ("paragraph ''\n  StaticText 'a'\n  strong ''\n    StaticText 'b'", ["StaticText a b"]),
        ("row ''\n  cell ''\n    StaticText 'Tax'\n  cell '12'", ["row Tax | 12"]),
    ],
    ids=["5 one block", "5 two blocks", "5 something between", "5 words in bold", "6 a row without a name"],
)
def test_texts_of_one_block_are_one_row(text, rows):
    assert seen(text) == rows


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("button 'Reviewer = Byte Blaze'\n  StaticText 'Reviewer'\n*  button ''", "of 'Reviewer = Byte Blaze'"),
        ("*button ''\n  image 'Close'", "'Close'"),
        ("main 'Shop'\n  StaticText 'Price'\n*  textbox ''", "by 'Price'"),
        ("main ''\n*  button ''\n  StaticText 'After'", "by 'After'"),
        ("main ''\n  StaticText 'Before'\n*  button ''\n  StaticText 'After'", "by 'Before'"),
        ("list ''\n  listitem ''\n    link 'A'\n*    button ''\n  listitem ''\n    link 'B'", "by 'A'"),
        ("navigation 'Main'\n*  button ''", ""),
        ("*button 'Save'", ""),
    ],
    ids=[
        "7 part of a named thing", "7 its own picture", "7 the text before it", "7 the text after it",
        "7 before rather than after", "7 the smallest container", "7 a landmark names nothing", "7 has a name",
    ],
)  # fmt: skip
def test_a_nameless_control_is_named_by_its_neighbourhood(text, near):
    lines = tree(text)
    target = next(row for row, line in enumerate(lines) if line.is_target)
    assert near_name(lines, target) == near
    assert next(row.near for row in read_folded(lines).rows if row.is_target) == near


@pytest.mark.parametrize(
    ("text", "keep", "kept"),
    [
        ("link 'Next'\n*  StaticText 'Next'", (), "StaticText Next"),
        ("list ''\n*  listitem ''\n    link 'b'", (), "listitem 'b'"),
        ("link 'Next'\n  StaticText 'Next'", (1,), "StaticText Next"),
        ("link 'Next'\n+  StaticText 'Next'", (), "StaticText Next"),
        ("StaticText 'a'\n+StaticText ':'", (), "StaticText :"),
        ("link 'a'\n-image ''", (), "image"),
        ("StaticText 'a'\n+StaticText 'b'", (), "StaticText b"),
    ],
    ids=[
        "target",
        "target that wraps",
        "hit",
        "changed alone",
        "changed sign",
        "changed picture",
        "not joined",
    ],
)
def test_target_hits_and_changes_are_never_folded_away(text, keep, kept):
    assert kept in [row.strip() for row in seen(text, keep)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("+link 'Next'\n+  StaticText 'Next'", ["link Next"]),
        ("+listitem ''\n+  link 'b'", ["link b"]),
        ("+button 'x'\n+  image ''", ["button x"]),
    ],
    ids=["a repeat", "a wrapper", "a picture"],
)
def test_a_change_is_left_out_only_where_a_changed_row_shows_it(text, rows):
    assert seen(text) == rows


def test_every_line_has_the_row_that_shows_it_or_stands_nearest():
    lines = tree(
        "list ''\n  listitem ''\n    link 'Open 8'\n      StaticText 'Open'\n  listitem ''\n    link 'b'"
    )
    reading = read_folded(lines)
    assert [row.name for row in reading.rows] == ["Open 8", "b"]
    assert reading.shown_at == (0, 0, 0, 0, 1, 1)
    assert [row.row for row in reading.rows] == [2, 5]


def test_the_raw_tree_is_every_line_as_it_is():
    lines = tree("list ''\n  listitem ''\n    image ''")
    rows = read_plain(lines).rows
    assert [(row.depth, row.role, row.row) for row in rows] == [
        (0, "list", 0),
        (1, "listitem", 1),
        (2, "image", 2),
    ]


def test_a_page_in_short_has_alerts_then_headings_and_fields():
    reading = read_folded(
        tree(
            "RootWebArea 'Shop'\n  link 'Home'\n  heading 'Cart'\n  textbox 'Name'\n  StaticText 'or'\n"
            "  alert ''\n    StaticText 'Out of stock'\n  status ''\n  button 'Buy'"
        )
    )
    gist = read_gist(reading)
    assert [(row.role, row.name) for row in gist.rows] == [
        ("alert", ""), ("StaticText", "Out of stock"), ("heading", "Cart"), ("textbox", "Name"),
    ]  # fmt: skip
    assert "Home" not in [row.name for row in gist.rows]
    assert "Buy" in [row.name for row in read_gist(reading, keep=(8,)).rows]
    assert len(gist.shown_at) == 9


def test_a_page_with_few_headings_and_fields_has_the_rest_of_its_main_part_too():
    text = (
        "RootWebArea 'Shop'\n  link 'Home'\n  main ''\n    heading 'Cart'\n    link 'Mug'\n  link 'Imprint'"
    )
    assert [row.name for row in read_gist(read_folded(tree(text))).rows] == ["Cart", "Mug"]
    many = text + "".join(f"\n    heading 'h{number}'" for number in range(8))
    assert "Mug" not in [row.name for row in read_gist(read_folded(tree(many))).rows]


@pytest.mark.parametrize("role", ["button", "row", "cell", "listitem", "StaticText"])
def test_a_page_that_nests_everything_is_read_with_few_looks_at_its_lines(role):
    class Counting(tuple[AxTreeLine, ...]):
        looks = 0

        def __getitem__(self, key):
            Counting.looks += 1
            return super().__getitem__(key)

    lines = Counting(
        AxTreeLine(depth=at, role=role, name="", bid="", properties="", change="added") for at in range(1500)
    )
    read_folded(lines)
    assert Counting.looks < 1500 * 500


names = st.sampled_from(["", "a", "b", "a b", ":", "8", "Open 8"])
roles = st.sampled_from(
    [
        "link",
        "button",
        "StaticText",
        "listitem",
        "Section",
        "row",
        "gridcell",
        "image",
        "heading",
        "textbox",
        "main",
    ]
)
nodes = st.lists(
    st.tuples(st.integers(0, 5), roles, names, st.sampled_from(["same", "same", "added"]), st.booleans()),
    max_size=14,
)


@settings(max_examples=examples(300), deadline=None)
@given(nodes)
@example([(0, "StaticText", "", "same", False)])
def test_no_word_of_a_page_is_lost_and_no_control_is_folded_away(made):
    lines: list[AxTreeLine] = []
    for depth, role, name, change, target in made:
        deep = min(depth, lines[-1].depth + 1 if lines else 0)
        lines.append(
            AxTreeLine(
                depth=deep, role=role, name=name, bid="", properties="", change=change,
                is_target=target and not any(line.is_target for line in lines),
            )
        )  # fmt: skip
    reading = read_folded(tuple(lines))
    assert len(reading.shown_at) == len(lines)
    shown = {row.row for row in reading.rows}
    said = " ".join(row.name for row in reading.rows)
    for at, line in enumerate(lines):
        assert all(word in said.split() for word in re.findall(r"\w+", line.name))
        assert not reading.rows or 0 <= reading.shown_at[at] < len(reading.rows)
        if line.is_target or (line.role in FIELDS | {"button"} and line.role not in WRAPPERS):
            assert at in shown
        if line.change == "added" and line.name.strip() and at not in shown:
            assert any(row.change == "added" and line.name in row.name for row in reading.rows)
