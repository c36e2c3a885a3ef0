"""Pages read as relations: each way in which a page may list things, and what must not be mistaken for one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.scout.relations import PageRelations, merge_relations, read_relations, stated_total
from app.engine.core.text import word_set


def page(*lines: str) -> str:
    """A tree of lines that are indented by dots."""
    told = ["\t" * (len(line) - len(line.lstrip(".")) + 1) + line.lstrip(".") for line in lines]
    return "\n".join(["RootWebArea 'Page', focused", *told])


def row(depth: int, *cells: str, head: str = "cell") -> list[str]:
    """A row whose cells are texts; ``!`` before one makes it a head."""
    dots = "." * depth
    made = [f"{dots}row ''"]
    for cell in cells:
        role = "columnheader" if cell.startswith("!") else head
        made.append(f"{dots}.{role} {cell.lstrip('!')!r}")
    return made


def labels(tree: str) -> dict[str, str]:
    return {one.label: one.value for one in read_relations(tree).labelled}


ISSUES = page(
    "heading 'Issues'",
    "table ''",
    ".row ''",
    "..columnheader 'ID'",
    "...[1] link 'ID'",
    "..columnheader 'Title'",
    "..columnheader 'Status'",
    *row(1, "7", "Printer on fire", "open"),
    "...[2] link 'Printer on fire'",
    *row(1, "8", "Door squeaks", "closed"),
)


def test_a_table_with_a_head_is_rows_by_column_with_what_can_be_pressed_in_them() -> None:
    (relation,) = read_relations(ISSUES).relations
    assert (relation.title, relation.columns) == ("Issues", ("id", "title", "status"))
    assert [one["title"] for one in relation.rows] == ["Printer on fire", "Door squeaks"]
    assert [(one.name, one.column) for one in relation.sort_controls] == [("ID", "id")]
    assert [(one.index, one.column) for one in relation.rows[0].controls] == [(2, "status")]


def test_a_first_row_of_plain_cells_over_numbers_is_the_head() -> None:
    tree = page("table ''", *row(1, "Name", "Pages"), *row(1, "A Tale", "120"), *row(1, "No Tale", "88"))
    (relation,) = read_relations(tree).relations
    assert relation.columns == ("name", "pages")
    assert [one["pages"] for one in relation.rows] == ["120", "88"]


@pytest.mark.parametrize(
    ("lines", "label", "value"),
    [
        (["table ''", *row(1, "!Reporter", "Ada")], "Reporter", "Ada"),
        (["table ''", *row(1, "!Priority:", "urgent", "!Status:", "open")], "Status", "open"),
        (["table ''", *row(1, "Colour", "red"), *row(1, "Material", "oak")], "Material", "oak"),
        (
            ["list ''", ".term ''", "..StaticText 'Owner'", ".definition ''", "..StaticText 'Kim'"],
            "Owner",
            "Kim",
        ),
        (["StaticText 'Language: English'"], "Language", "English"),
        (["StaticText 'Published:'", "StaticText 'Jan 5, 2020'"], "Published", "Jan 5, 2020"),
        (
            ["paragraph ''", ".strong ''", "..StaticText 'Publisher'", ".StaticText 'Small House'"],
            "Publisher",
            "Small House",
        ),
        (
            ["paragraph ''", ".StaticText 'Publisher'", ".StaticText ': Small House'"],
            "Publisher",
            "Small House",
        ),
        (["list ''", ".listitem ''", "..StaticText 'Paid:'", "..StaticText '12'"], "Paid", "12"),
        (["[3] textbox 'Name', value='Zoe'"], "Name", "Zoe"),
        (["label ''", ".StaticText 'Where'", "[3] combobox '', value='There'"], "Where", "There"),
        (
            ["[3] combobox 'State'", ".option 'new', selected=False", ".option 'open', selected=True"],
            "State",
            "open",
        ),
        (["[3] checkbox 'Send mail', checked='true'"], "Send mail", "yes"),
        (["heading 'Assignee'", "StaticText 'Maria Keller'"], "Assignee", "Maria Keller"),
        (["table ''", *row(1, "Distance: 1.9 km. Time: 0:25.", "x")], "Time", "0:25"),
    ],
)
def test_a_label_and_its_value_are_read_however_a_page_writes_them(
    lines: list[str], label: str, value: str
) -> None:
    assert labels(page(*lines))[label] == value


def test_a_sentence_tells_dates_and_people_by_the_words_before_them() -> None:
    words = [
        "Created on",
        "2025-03-02.10:00:00",
        "by",
        "ada",
        ", last changed",
        "2025-04-01.10:00",
        "by",
        "bob",
        ".",
    ]
    told = labels(page("paragraph ''", *(f".StaticText {one!r}" for one in words)))
    assert told == {
        "Created": "2025-03-02.10:00:00",
        "Created by": "ada",
        "last changed": "2025-04-01.10:00",
        "last changed by": "bob",
    }


def test_a_table_that_only_lays_out_a_page_hides_nothing() -> None:
    tree = page(
        "table ''",
        ".row ''",
        "..cell 'menu and all'",
        "...heading 'Issue 7'",
        "...table ''",
        *row(4, "!Reporter", "Ada"),
        "...paragraph ''",
        "....StaticText 'It burns.'",
    )
    read = read_relations(tree)
    assert read.headings == ("Issue 7",)
    assert labels(tree)["Reporter"] == "Ada"
    assert "It burns." in read.said


def test_rows_under_a_row_of_one_head_are_of_its_group() -> None:
    tree = page(
        "table ''",
        *row(1, "!ID", "!Title"),
        *row(1, "!urgent"),
        *row(1, "1", "First"),
        *row(1, "!minor"),
        *row(1, "2", "Second"),
    )
    (relation,) = read_relations(tree).relations
    assert [(one["id"], one["group"]) for one in relation.rows] == [("1", "urgent"), ("2", "minor")]


def test_totals_at_the_foot_are_labelled_values_and_no_rows() -> None:
    tree = page(
        "table ''",
        *row(1, "!Item", "!Size", "!Price"),
        *row(1, "Lamp", "S", "$3.00"),
        *row(1, "", "!Total", "!$3.00"),
    )
    (relation,) = read_relations(tree).relations
    assert len(relation.rows) == 1
    assert labels(tree)["Total"] == "$3.00"


def test_a_row_of_fields_below_the_head_filters_and_is_no_row() -> None:
    tree = page(
        "table ''",
        *row(1, "!ID", "!Name", "!State"),
        ".row ''",
        "..cell ''",
        "...[4] textbox ''",
        "..cell ''",
        "...[5] textbox ''",
        "..cell 'open'",
        "...[6] combobox '', value='open'",
        *row(1, "1", "First", "open"),
    )
    read = read_relations(tree)
    assert [one["id"] for one in read.relations[0].rows] == ["1"]
    assert ("state", "open", 6) in [(one.label, one.value, one.field) for one in read.labelled]


@pytest.mark.parametrize(
    "lines",
    [
        ["list ''", *(f"{dots}" for n in (1, 2, 3) for dots in (
            ".listitem ''", f"..[{n}] link 'Fair {n}'", "..StaticText 'by'", f"..[9{n}] link 'Person {n}'",
            f"..StaticText 'on March {n}, 2025'", f"..StaticText '{n} comments'", f"..StaticText '$1{n}.00'"))],
        [line for n in (1, 2, 3) for line in (
            "article ''", f".heading 'Fair {n}'", f"..[{n}] link 'Fair {n}'", ".StaticText 'by'",
            f".[9{n}] link 'Person {n}'", f".StaticText 'on March {n}, 2025'", f".StaticText '{n} comments'",
            f".StaticText '$1{n}.00'")],
        [line for n in (1, 2, 3) for line in (
            f"heading 'Fair {n}'", f".[{n}] link 'Fair {n}'", "StaticText 'by'", f"[9{n}] link 'Person {n}'",
            f"StaticText 'on March {n}, 2025'", f"StaticText '{n} comments'", f"StaticText '$1{n}.00'")],
    ],
    ids=["list items", "articles", "a grid of boxes"],
)  # fmt: skip
def test_things_that_repeat_in_one_shape_are_cards_with_columns_by_the_words_beside(lines: list[str]) -> None:
    (relation,) = read_relations(page(*lines)).relations
    assert relation.kind == "cards"
    assert [one["name"] for one in relation.rows] == ["Fair 1", "Fair 2", "Fair 3"]
    first = relation.rows[0]
    assert (first["by"], first["date"], first["comments"], first["amount"]) == (
        "Person 1",
        "March 1, 2025",
        "1",
        "$11.00",
    )


def test_menus_are_left_out_and_the_breadcrumb_is_kept_apart() -> None:
    tree = page(
        "navigation ''",
        ".list ''",
        "..listitem ''",
        "...[1] link 'Home'",
        "navigation 'breadcrumb'",
        ".[2] link 'Home'",
        ".StaticText '›'",
        ".StaticText 'Issues'",
    )
    assert read_relations(tree) == PageRelations(trail=("Home", "Issues"))


def test_the_text_before_a_nameless_field_is_its_label() -> None:
    assert read_relations(page("label ''", ".StaticText 'Where:'", "[3] textbox ''")).labels == (
        (3, "Where"),
    )


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("1-20 of 85", 85),
        ("1..3 out of 3", 3),
        ("Showing 21 to 40 of 1,204 entries", 1204),
        ("85 results", 85),
        ("Found 8 records", 8),
        ("146 Issues", 146),
        ("Page 1 of 8", None),
        ("0 of 100 selected", None),
        ("4 of 5 stars", None),
    ],
)
def test_the_number_of_rows_is_told_by_pagers_and_counts_and_by_nothing_else(
    text: str, total: int | None
) -> None:
    assert stated_total(read_relations(page("heading 'Issues'", f"StaticText {text!r}"))) == total


def test_pages_of_one_list_are_one_relation_with_each_row_once() -> None:
    later = ISSUES.replace("'8'", "'9'").replace("Door squeaks", "Window stuck")
    (relation,) = merge_relations([read_relations(ISSUES), read_relations(later)]).relations
    assert [one["id"] for one in relation.rows] == ["7", "8", "9"]


_WORDS = word_set(
    "table row cell columnheader rowheader list listitem article heading link StaticText "
    "paragraph label textbox combobox option checkbox radio term definition caption navigation "
    "strong time button"
)


_ROLES = st.sampled_from(sorted(_WORDS))
_NODES = st.lists(st.tuples(st.integers(0, 6), _ROLES, st.text(max_size=12), st.booleans()), max_size=40)


@given(_NODES)
def test_any_tree_is_read_as_something(nodes: list[tuple[int, str, str, bool]]) -> None:
    lines = [
        "\t" * depth + (f"[{at}] " if pressed else "") + f"{role} {name!r}, value={name!r}"
        for at, (depth, role, name, pressed) in enumerate(nodes)
    ]
    read = read_relations("\n".join(lines))
    assert all(one.label and one.value for one in read.labelled)
    assert all(
        len(one.cells) <= len(set(relation.columns)) + len(one.cells)
        for relation in read.relations
        for one in relation.rows
    )


def _large(rows: int) -> str:
    lines = ["table ''", *row(1, "!ID", "!Title", "!Status", "!Created")]
    for number in range(rows):
        lines += row(1, str(number), f"Thing {number}", "open", "2025-01-02")
    return page(*lines)


def test_reading_takes_time_in_proportion_to_the_page() -> None:
    def seconds(rows: int) -> float:
        tree = _large(rows)
        spent: list[float] = []
        for number in range(3):
            start = time.process_time()
            read_relations(f"{tree}\n\tStaticText '{number}'")
            spent.append(time.process_time() - start)
        return min(spent)

    small, large = seconds(400), seconds(1600)
    assert large < 8 * small + 0.05
