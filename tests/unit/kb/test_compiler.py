"""The compiler of tips: one row a rule, the readings of whole tips, hostile text and other languages."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from kb.compiler import compile_text, procedure_of
from kb.procedure import STEP_LIMIT, Choice, Entry, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import TipDraft
from tests.support.tips import PUBLISHED, published_tips

READINGS = Path(__file__).parents[3] / "benchmarks" / "data" / "tip_readings.jsonl"

RULES = [
    # only "do" makes steps
    ('Press "Save".', ('press "Save"',), ()),
    ("You can press “Save” and then open /admin/.", ('press "Save"', "open /admin/"), ()),
    ("The list is sorted by date.", (), ()),
    ('Check that "Total" is shown.', (), ()),
    ('Where is "Save"? Press "Go".', ('press "Go"',), ()),
    ("Write a review: press \"Write a review\".", ('press "Write a review"',), ()),
    # the order of acting
    ('Press "B", but first press "A".', ('press "A"', 'press "B"'), ()),
    ('Before you press "B", press "A".', ('press "A"', 'press "B"'), ()),
    ('After you have pressed "A", press "B".', ('press "A"', 'press "B"'), ()),
    ('1. Press "A". 2. Press "B".', ('press "A"', 'press "B"'), ()),
    # menu paths, and where something is
    ("Go to Sales > Orders.", ('press "Sales"', 'press "Orders"'), ()),
    ('Settings → Users → "Add".', ('press "Settings"', 'press "Users"', 'press "Add"'), ()),
    ("Take the report at Reports > Sales.", ('press "Reports"', 'press "Sales"'), ()),
    ("Orders of one day: /orders/?day=<day>.", ("open /orders/?day={day}",), ()),
    # names, roles, keys
    ("Press the button Submit Changes.", ('press "Submit Changes" button',), ()),
    ('Hit Enter in the field "Name".', ('press "Enter"',), ()),
    ('Tick "Agree".', ('press "Agree" checkbox',), ()),
    ("Click the matching entry.", ('press "matching entry" menuitem',), ()),
    # a landmark is not the control
    ('Press the small arrow beside "Sort".', ('press "small arrow" beside "Sort"',), ()),
    ('Press the icon to the right of "Go".', ('press "icon" icon right of "Go"',), ()),
    ('Press "Actions" in the row of the range.', ('press "Actions" in "{range}"',), ()),
    ('Press "A" and the arrow next to it.', ('press "A"', 'press "arrow" next to "A"'), ()),
    ('Press "Star" at the top right of the page.', ('press "Star"',), ()),
    # choosing and filling
    ('Choose Draft under "Status".', ('choose "Draft" in "Status"',), ()),
    ('Under Status, choose "Draft".', ('choose "Draft" in "Status"',), ()),
    ("Set the drop-down Status to Draft.", ('choose "Draft" in "Status" select',), ()),
    ('Type the user\'s name into "Name".', ('fill "Name" with "{user_name}"',), ()),
    (
        'Fill "From" and "To" with the first day and the last day.',
        ('fill "From" with "{first_day}"', 'fill "To" with "{last_day}"'),
        (),
    ),
    ('Enter "5" into "Stars".', ('fill "Stars" with "5"',), ()),
    ('Hover over "A", then over "B", and click "C".', ('hover "A"', 'hover "B"', 'press "C"'), ()),
    ("Look at the column Orders.", ('read "Orders"',), ()),
    ('Wait until "Done" appears.', ('wait for "Done"',), ()),
    # addresses and placeholders
    ("Open /f/<forum>/new.", ("open /f/{forum}/new",), ()),
    ("Open /Ticket?id=NUMBER.", ("open /Ticket?id={number}",), ()),
    ("Open /pages/:id/ first.", ("open /pages/{id}/",), ()),
    ("Go to the issue, e.g. /issue123.", ("open /issue{number}",), ()),
    ("Open /x?issue[title]=[title].", ("open /x?issue[title]={title}",), ()),
    ("Search at /s?q=<name>. Example: goto('/s?q=emma')", ("open /s?q={name}",), ()),
    # alternatives
    ('Press "A" or open /b.', ('either press "A", or open /b',), ()),
    ('Either open /a, or press "B", then "C".', ('either open /a, or press "B", then press "C"',), ()),
    ('(a) open /a or (b) press "B" and then "C".', ('either open /a, or press "B", then press "C"',), ()),
    ('Press "A". You can also open /a.', ('either press "A", or open /a',), ()),
    ('Press "A". If it is not there, press "B".', ('either press "A", or press "B"',), ()),
    ('Open /a; alternatively press "B".', ('either open /a, or press "B"',), ()),
    # a warning is never a step
    ('Do not press "Delete".', (), ("Delete",)),
    ('Press "Save", not "Delete".', ('press "Save"',), ("Delete",)),
    ('Press "Save" instead of "Delete".', ('press "Save"',), ("Delete",)),
    ("Instead of \"A\" press \"B\".", ('press "B"',), ("A",)),
    ("Don't go through Analytics > Repository.", (), ("Analytics > Repository",)),
    ("The address /basket/?clear=1 must not be opened.", (), ("/basket/?clear=1",)),
    ('"Delete" removes the page: stay off it.', (), ("Delete",)),
    ('"Retire" next to it deletes the issue.', (), ("Retire",)),
    ('The link "Mine" shows yours only, so avoid it.', (), ("Mine",)),
    ('Press "A" (not the arrow beside it).', ('press "A"',), ("arrow",)),
    ("Do not export files, or open files.", (), ("files",)),
    ('Click "comments", **do not click the title**, it leaves the site.', ('press "comments"',), ("title",)),
    ('Press More > "Print"? No! Use "Forward".', ('press "Forward"',), ("Print",)),
    ('Fill in "Title", and leave "URL" empty.', ('fill "Title"',), ()),
    # pointing back, and other ways to say a step
    ('"Write a review" is at the bottom. Press it.', ('press "Write a review"',), ()),
    ('Press "Name" and type the title there.', ('press "Name"', 'fill "Name" with "{title}"'), ()),
    ('Replace the old text in Subject by the new title.', ('fill "Subject" with "{new_title}"',), ()),
    ('Sort with the column head "Created".', ('press "Created" heading',), ()),
    ('Close it with the cross.', ('press "cross"',), ()),
    ("The title goes into Title.", ('fill "Title" with "{title}"',), ()),
    ("Find the order by its number in \"Search\".", ('fill "Search" with "{number}"',), ()),
    ('Press "A", "B" and "C".', ('press "A"', 'press "B"', 'press "C"'), ()),
    ('Press the tab "A", then Edit.', ('press "A" tab', 'press "Edit"'), ()),
    ("Set the box Title to the new title.", ('fill "Title" field with "{new_title}"',), ()),
    ('Set Priority to 50 and Status to stalled.', ('choose "50" in "Priority"', 'choose "stalled" in "Status"'), ()),
    ("The lists stand at /lists.", ("open /lists",), ()),
    ("Posts are at /u/<name>/posts, comments at /u/<name>/comments.",
     ("either open /u/{name}/posts, or open /u/{name}/comments",), ()),
    ('In the menu press the entry "A", and in "B" type the name.',
     ('press "A" menuitem', 'fill "B" with "{name}"'), ()),
    ('Press "View" in the order\'s row.', ('press "View" in "{order}"',), ()),
    ('Once you have typed the name into "Name", press "Go".', ('fill "Name" with "{name}"', 'press "Go"'), ()),
    ('Open /a, or press "B" and type the name into C.',
     ('either open /a, or press "B", then fill "C" with "{name}"',), ()),
    ('If it is folded, press "A" and tick "B".',
     ('if it is folded: press "A"', 'if it is folded: press "B" checkbox'), ()),
    ('"Reply all" is wrong here.', (), ("Reply all",)),
    ("Lists are at /all, but /all must not be used.", (), ("/all",)),
    # what is no control
    ("Use the format ‘5km’.", (), ()),
    ("Find the order and use the calculate(expression) function.", (), ()),
    ("If the task asks you to make a copy, or follow another way, it says so.", (), ()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "lines", "never"), RULES)
def test_a_rule_of_reading(text: str, lines: tuple[str, ...], never: tuple[str, ...]):
    made = compile_text(text)
    assert made.lines == lines
    assert made.never == never


@pytest.mark.parametrize("part", ["when", "before", "why"])
def test_when_before_and_why_never_act(part: str):
    made = compile_text('Press "Save".', **{part: 'Press "Delete", then open /logout and tick "All".'})
    assert made.lines == ('press "Save"',)


def test_a_reason_names_what_is_not_acted_on_and_a_check_does_not():
    text = '"Remove" is right beside it; /logout ends the session.'
    assert compile_text('Press "Save".', why=text).never == ("Remove", "/logout")
    assert compile_text('Press "Save".', before=text).never == ()
    assert compile_text('Press "Save".', before='Do not press "Remove".').never == ("Remove",)


def test_a_tip_without_do_is_read_from_its_text_and_one_with_do_is_not():
    assert procedure_of(TipDraft(site="x", text='Press "A".')).lines == ('press "A"',)
    assert procedure_of(TipDraft(site="x", text='Press "A".', do='Press "B".')).lines == ('press "B"',)


def test_steps_of_a_person_are_kept_and_those_of_an_older_compiler_are_made_again():
    step = ProcedureStep(kind=StepKind.PRESS, target="C")
    draft = TipDraft(site="x", text='Press "A".')
    for origin, target in ((ProcedureOrigin.PERSON, "C"), (ProcedureOrigin.COMPILER, "A")):
        stored = Procedure(entries=(step,), origin=origin)
        made = procedure_of(TipDraft(site="x", text=draft.text, procedure=stored))
        assert [one.target for one in made.steps] == [target]


# readings of whole tips


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in READINGS.read_text(encoding="utf-8").splitlines()]


def plain(text: str) -> str:
    return " ".join(text.split()).strip(".:").casefold()


def made_of(entry: Entry) -> Any:
    if isinstance(entry, Choice):
        return [[made_of(step) for step in way] for way in entry.ways]
    return (entry.kind.value, plain(entry.target), plain(entry.value), plain(entry.near))


def asked(entry: dict[str, Any]) -> Any:
    if "any" in entry:
        return [[asked(step) for step in way] for way in entry["any"]]
    return (entry["kind"], *(plain(entry.get(name, "")) for name in ("target", "value", "near")))


def right(row: dict[str, Any]) -> bool:
    made = compile_text(row["do"], row["when"], row["before"], row["why"])
    return [made_of(entry) for entry in made.entries] == [asked(entry) for entry in row["reading"]["steps"]]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("open", 24),
        ("work", 36),
        ("check", 34),
        ("more", 28),
        ("aside", 30),
        ("third", 40),
        ("fourth", 40),
        ("fifth", 40),
    ],
)
def test_tips_are_read_right(name: str, least: int):
    wrong = [row["id"] for row in rows() if row["set"] == name and not right(row)]
    total = sum(row["set"] == name for row in rows())
    assert total - len(wrong) >= least, wrong


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_nothing_that_a_tip_warns_of_is_a_step(row: dict[str, Any]):
    made = compile_text(row["do"], row["when"], row["before"], row["why"])
    warned = {plain(name) for name in row["reading"]["never"]}
    assert not [step for step in made.steps if plain(step.target) in warned]


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the run collection is not beside the checkout")
def test_published_tips_give_no_step_that_is_no_control():
    steps = {tip.id: compile_text(tip.text).lines for tip in published_tips()}
    for id in (
        "gitlab-12",
        "map-01",
        "map-05",
        "reddit-05",
        "shopping-08",
        "shopping_admin-09",
        "shopping_admin-12",
    ):
        assert steps[id] == (), id
    assert steps["gitlab-02"] == (
        'press "project information"',
        'press "members" tab',
        'press "invite members" button',
    )


# hostile text, other languages


SEEDS = [
    "a ", '"', "(", "((a) ", "press ", "A > ", "the ", "in the row of ", "and ", '"A" > ', "/x", "<a>", "{a}", "1. ",
    "if ", 'Press "Save", ', "do not ", 'fill "A" and "B" with ', "right of ", "word, ", "** a ", "\ue000", "a\n",
    "hover over the x first: ", "[[", "To see ", "you can ", "then the ", 'or "x" ', "**",
]  # fmt: skip


def seconds(text: str) -> float:
    compile_text.cache_clear()
    start = time.process_time()
    compile_text(text, text, text, text)
    return time.process_time() - start


@pytest.mark.parametrize("seed", SEEDS)
def test_twice_the_text_takes_no_more_than_about_twice_the_time(seed: str):
    def shortest(
        size: int,
    ) -> float:  # of three: a collection of the whole session's garbage takes half a second
        return min(seconds(seed * (size // len(seed))) for _ in range(3))

    half, whole, most = shortest(2_500), shortest(5_000), shortest(20_000)
    assert whole < 4 * half + 0.1, (half, whole)
    assert most < 3 * whole + 0.2, (whole, most)


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_text_gives_steps_within_the_limits(seed: str):
    made = compile_text(seed * (20_000 // len(seed)))
    assert len(made.steps) <= STEP_LIMIT
    assert all("\ue000" not in f"{step}" for step in made.steps)


@pytest.mark.parametrize(
    "text",
    [
        'Drücken Sie auf "Speichern" und öffnen Sie die Seite /admin. Löschen Sie nicht "Alles".',
        'Cliquez sur "Enregistrer" puis ouvrez le menu « Pages ».',
        'Haga clic en "Guardar" y elija "Borrador".',
        "点击“保存”按钮。",
        'Нажмите кнопку "Сохранить".',
    ],
)
def test_another_language_gives_no_steps(text: str):
    made = compile_text(text)
    assert (made.lines, made.unread) == ((), ())
