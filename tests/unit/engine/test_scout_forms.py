"""Filling in forms: which value of a task goes into which field, in which form of words, and what sends the form."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.agent.scout.field_values import in_format_of, same_value, tokens_of
from app.engine.agent.scout.forms import FormStep, next_form_step
from app.engine.agent.scout.task import TaskMode, TaskPart, read_task
from app.engine.agent.scout.value_matching import FormPlan, read_changes
from app.engine.browser.actions.field_formats import read_date
from app.engine.core.actions.types import Click, Select, SetChecked, TypeText
from app.engine.core.page_state import PageCapture
from tests.support.html_page import html_page, with_values

SEARCH = "<form action=/search><input name=q placeholder=Search><button>Search</button></form>"
NEWSLETTER = (
    "<form method=post action=/newsletter><label>Your e-mail <input type=email name=mail></label>"
    "<button>Subscribe</button></form>"
)
TABLE_FORM = (
    SEARCH + "<title>Issue 12: Crash</title><h1>Issue 12: Crash</h1><form method=post action=/issue12><table>"
    "<tr><th>Title</th><td><input name=title value=Crash></td><th>Priority</th><td><select name=priority>"
    "<option>- no selection -<option>urgent<option selected>low</select></td></tr>"
    "<tr><th>Status<td><select name=status><option selected>open<option>in-progress<option>resolved<option>closed"
    "</select><th>Assigned To<td><select name=assignedto><option>nobody<option>mia<option>Anna Smith</select>"
    "<tr><th>Nosy List<td><input name=nosy value='admin, mia'><th>Due date<td><input name=due value=01.03.2024>"
    "<tr><th>Change Note<td><textarea name=note></textarea></table>"
    "<input type=submit value='Submit Changes'></form>" + NEWSLETTER
)
DJANGO = (
    "<title>Add book | Site admin</title><h1>Add book</h1><form method=post action=/admin/book/add/>"
    "<div><label for=t>Title:</label><input id=t name=title required></div>"
    "<div><label for=p>Pages:</label><input id=p type=number name=pages></div>"
    "<div><label for=d>Published on:</label><input id=d type=date name=day></div>"
    "<div><label for=g>Genres:</label><select id=g name=genres multiple><option>Crime<option>Poetry<option>Travel"
    "</select></div><div><label for=a>Author:</label><input id=a role=combobox name=author></div>"
    "<div><input id=v type=checkbox name=visible><label for=v>Visible to readers</label></div>"
    "<div><label for=s>Synopsis:</label><textarea id=s name=synopsis></textarea></div>"
    "<div><label for=f>Cover:</label><input id=f type=file name=cover></div>"
    "<input type=submit name=_addanother value='Save and add another'>"
    "<input type=submit name=_continue value='Save and continue editing'><input type=submit name=_save value=Save>"
    "<a href=/admin/book/1/delete/>Delete</a></form>" + SEARCH
)
BOOTSTRAP = (
    "<title>Edit ticket T-7</title><h1>Ticket T-7</h1>"
    "<form method=post action=/tickets/7><fieldset><legend>Urgency</legend>"
    "<label><input type=radio name=u checked> Normal</label><label><input type=radio name=u> High</label></fieldset>"
    "<label for=x>Seats</label><input id=x type=number name=seats value=10>"
    "<label for=c>Country</label><span id=c role=combobox aria-haspopup=listbox>France</span>"
    "<label for=w>Starts on</label><input id=w name=start placeholder=mm/dd/yyyy value=03/30/2024>"
    "<label for=m>Contact</label><input id=m type=email name=contact value=a@b.example>"
    "<label><input type=checkbox name=r checked> Reminders</label>"
    "<label><input type=checkbox name=pub> Published</label>"
    "<label for=tags>Tags</label><select id=tags multiple><option selected>red<option>green<option>blue</select>"
    "<span>Body</span><div contenteditable role=textbox></div>"
    "<button>Save</button><button>Save and publish</button><button>Delete</button><button>Preview</button>"
    "<button type=reset>Reset</button></form><form method=post action=/tickets/7/delete><button>Delete</button></form>"
)
PAGES = {name: html_page(html) for name, html in
         {"table": TABLE_FORM, "django": DJANGO, "bootstrap": BOOTSTRAP}.items()}  # fmt: skip

CASES = [
    ("table", 'Set the status of the issue "Crash" to resolved', {"Status": ("resolved",)}),
    ("table", "Resolve the issue", {"Status": ("resolved",)}),
    ("table", "Close issue 12", {"Status": ("closed",)}),
    ("table", "Change the status from open to in-progress", {"Status": ("in-progress",)}),
    ("table", "Mark it as urgent", {"Priority": ("urgent",)}),
    ("table", "Make it urgent", {"Priority": ("urgent",)}),
    ("table", "Assign it to Anna Smith", {"Assigned To": ("Anna Smith",)}),
    ("table", "Assign the issue to mia", {"Assigned To": ("mia",)}),
    ("table", 'Rename the issue "Crash" to "Crash on start"', {"Title": ("Crash on start",)}),
    ("table", 'Change the title from "Crash" to "Freeze"', {"Title": ("Freeze",)}),
    ("table", "Add anna to the nosy list", {"Nosy List": ("admin, mia, anna",)}),
    ("table", 'Add the note "Seen again"', {"Change Note": ("Seen again",)}),
    ("table", 'Comment on the issue saying "Seen again"', {"Change Note": ("Seen again",)}),
    ("table", "Set the due date to March 9, 2024", {"Due date": ("09.03.2024",)}),
    ("table", "Set priority urgent, status closed", {"Priority": ("urgent",), "Status": ("closed",)}),
    ("django", 'Add a book titled "Low Road"', {"Title": ("Low Road",)}),
    ("django", 'Create the book "Low Road" with 320 pages', {"Title": ("Low Road",), "Pages": ("320",)}),
    ("django", 'Add a book called "A", published on 4 May 2023', {"Title": ("A",), "Published on": ("2023-05-04",)}),
    ("django", 'Add a book named "A" in the genres Crime and Travel', {"Title": ("A",), "Genres": ("Crime", "Travel")}),
    ("django", 'Add a book with title "A" and author "Mia Holm"', {"Title": ("A",), "Author": ("Mia Holm",)}),
    ("django", 'Add a book "A" with the synopsis "Two friends"', {"Title": ("A",), "Synopsis": ("Two friends",)}),
    ("django", 'Add a book "A" that is visible to readers', {"Title": ("A",), "Visible to readers": ()}),
    ("bootstrap", "Set the urgency to high", {"Urgency": ()}),
    ("bootstrap", "Change the number of seats to 12", {"Seats": ("12",)}),
    ("bootstrap", "Change the country to Norway", {"Country": ("Norway",)}),
    ("bootstrap", "Set the start date to 2024-04-02", {"Starts on": ("04/02/2024",)}),
    ("bootstrap", "Change the contact to mia@holm.example", {"Contact": ("mia@holm.example",)}),
    ("bootstrap", "Turn the reminders off", {"Reminders": ()}),
    ("bootstrap", "Publish the ticket", {"Published": ()}),
    ("bootstrap", "Add the tag green", {"Tags": ("red", "green")}),
    ("bootstrap", "Set the tags to blue", {"Tags": ("blue",)}),
    ("bootstrap", 'Change the body to "New text"', {"Body": ("New text",)}),
]  # fmt: skip


def part_of(text: str) -> TaskPart:
    """The task as one part, as the scout reads it."""
    return read_task(text).parts[-1]


def filled(task: str, page: PageCapture) -> tuple[FormPlan, list[FormStep]]:
    """The plan for a page, and every step that follows when each one is done."""
    part, done, steps = part_of(task), set[str](), list[FormStep]()
    plan = read_changes(part, page)
    while (step := next_form_step(plan, part, page, done)) is not None and len(steps) < 20:
        steps.append(step)
        done.add(step.key)
    return plan, steps


@pytest.mark.parametrize(("name", "task", "expected"), CASES, ids=[case[1] for case in CASES])
def test_each_value_of_a_task_goes_into_the_field_it_belongs_to_and_no_other(
    name: str, task: str, expected: dict[str, tuple[str, ...]]
) -> None:
    plan = read_changes(part_of(task), PAGES[name])
    assert {one.label: one.values for one in plan.assignments} == expected
    assert plan.missing == ()


@pytest.mark.parametrize(
    ("name", "task", "sent_by"),
    [
        ("table", "Close issue 12", "Submit Changes"),
        ("django", 'Add a book titled "Low Road"', "Save"),
        ("bootstrap", "Set the urgency to high", "Save"),
        ("bootstrap", "Set the seats to 3 and save and publish", "Save and publish"),
    ],
)
def test_a_form_is_sent_once_by_the_control_that_says_no_more_than_the_task(
    name: str, task: str, sent_by: str
) -> None:
    page = PAGES[name]
    _, steps = filled(task, page)
    pressed = [page.elements[one.action.element].name for one in steps if isinstance(one.action, Click)]
    assert pressed == [sent_by]
    assert isinstance(steps[-1].action, Click)


@pytest.mark.parametrize(
    "task",
    [
        'Set the colour to "pink"',
        "Move it by 3 days",
        "Raise the seats by 5",
        'Set the mileage to "12 km" and the owner to "Mia"',
    ],
)
def test_values_without_a_field_are_told_and_nothing_is_sent(task: str) -> None:
    page = html_page(
        "<h1>F-1</h1><form method=post action=/f><label>Title <input name=t></label><button>Save</button></form>"
    )
    plan, steps = filled(task, page)
    assert plan.missing
    assert steps == []


def test_a_value_that_two_fields_would_take_alike_goes_into_neither() -> None:
    rows = "".join(f"<label>Stock limit {side}<input name=s{side}></label>" for side in ("low", "high"))
    page = html_page(f"<h1>F-1</h1><form method=post action=/f>{rows}<button>Save</button></form>")
    plan, steps = filled('Set the stock to "12 boxes"', page)
    assert (plan.assignments, plan.missing, steps) == ((), ("12 boxes",), [])


def test_a_label_that_lacks_a_word_of_the_task_is_that_of_another_field() -> None:
    form = (
        "<form method=post action=/l><label>{} <input name=n value=Old></label><button>Save</button></form>"
    )
    task = 'Change my first name to "Mia"'
    assert filled(task, html_page(f"<h1>Birthday ideas</h1>{form.format('Name')}"))[1] == []
    assert len(filled(task, html_page(f"<h1>Profile</h1>{form.format('First name')}"))[1]) == 2


def test_what_stands_there_already_is_neither_typed_nor_sent() -> None:
    plan, steps = filled('Set the status to open and the title to "Crash"', PAGES["table"])
    assert [one.held for one in plan.assignments] == [True, True]
    assert steps == []


@pytest.mark.parametrize(
    "html", [SEARCH, SEARCH.replace("<form", "<form method=get"), SEARCH.replace("form", "div role=search")]
)
def test_a_search_takes_no_value_of_a_change(html: str) -> None:
    plan, steps = filled('Add the note "Seen again"', html_page(html))
    assert (plan.assignments, steps) == ((), [])


def test_a_file_field_is_never_filled_in() -> None:
    plan, _ = filled('Set the cover to "cover.png"', PAGES["django"])
    assert plan.assignments == ()
    assert plan.missing == ("cover.png",)


def test_a_field_that_holds_its_value_keeps_it_when_the_page_is_read_again() -> None:
    for name, task, _ in CASES:
        part, page = part_of(task), PAGES[name]
        plan = read_changes(part, page)
        typed = [
            one for one in plan.assignments if one.how == "type" and page.elements[one.element].tag == "input"
        ]
        filled_in = with_values(page, {one.element: one.values[0] for one in typed})
        again = read_changes(part, filled_in, {one.key for one in plan.assignments})
        assert [one.label for one in again.assignments if one.held] >= [one.label for one in typed], task


def test_what_a_form_holds_is_not_replaced_by_a_name_that_the_task_does_not_set() -> None:
    plan = read_changes(part_of('Save a search under the title "Mine"'), PAGES["table"])
    assert plan.assignments == ()


def test_actions_are_those_of_the_kind_of_field() -> None:
    _, steps = filled(
        "Set the urgency to high, the seats to 12, the country to Norway and publish it", PAGES["bootstrap"]
    )
    kinds = [type(one.action) for one in steps]
    assert kinds == [SetChecked, TypeText, Select, Click] or kinds[-1] is Click


def test_a_suggestion_is_picked_once_it_is_offered() -> None:
    task = part_of('Add a book with title "A" and author "Mia Holm"')
    html = DJANGO.replace("name=author>", "name=author value='Mia Holm'>")
    page = html_page(
        html + "<ul role=listbox><li role=option>Max Holm</li><li role=option>Mia Holm</li></ul>"
    )
    plan = read_changes(task, page)
    done = {one.key for one in plan.assignments}
    step = next_form_step(plan, task, page, done)
    assert step is not None
    assert isinstance(step.action, Click)
    assert page.elements[step.action.element].name == "Mia Holm"
    after = next_form_step(plan, task, page, {*done, step.key})
    assert after is not None
    assert isinstance(after.action, Click)
    assert after.action.label == "Save"


@pytest.mark.parametrize(
    ("like", "expected"),
    [
        ("dd.mm.yyyy", "04.03.2025"),
        ("03/30/2024", "03/04/2025"),
        ("30/03/2024", "04/03/2025"),
        ("", "2025-03-04"),
    ],
)
def test_a_date_takes_the_form_of_the_field(like: str, expected: str) -> None:
    day = read_date("March 4, 2025")
    assert day is not None
    assert in_format_of(day, like) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("March 4, 2025", "2025-03-04", True),
        ("12.50", "12.5", True),
        ("Open", "open", True),
        ("12", "120", False),
        ("a", "", False),
        ("2025-03-04", "2025-03-05", False),
    ],
)
def test_values_are_compared_by_what_they_say(one: str, other: str, same: bool) -> None:
    assert same_value(one, other) is same


texts = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["set", "the", "title", "to", '"', "by", "3", "days", "from", ":", "and", "2024-02-31", "'", "é"]
    ),
    max_size=40,
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(texts, st.sampled_from(sorted(PAGES)), texts)
def test_no_task_and_no_page_raises(task: str, name: str, value: str) -> None:
    part = TaskPart(mode=TaskMode.CHANGE, text=task, verb=task.split(" ")[0].casefold())
    page = PAGES[name]
    hostile = html_page(
        f"<h1>{value}</h1><form method=post action=/x><label>{value}<input value='{value}'></label></form>"
    )
    for one in (page, hostile, PageCapture(url=value)):
        plan = read_changes(part, one)
        next_form_step(plan, part, one, set())
    assert all(token.text == token.text.strip() for token in tokens_of(task))


@pytest.mark.parametrize(("count", "most"), [(500, 0.015), (2000, 0.09)])
def test_a_look_takes_little_time(count: int, most: float) -> None:
    rows = "".join(
        f"<label>Field {n} of the list<input name=f{n} value=v{n}></label><a href=/x/{n}>Thing {n}</a>"
        for n in range(count // 2)
    )
    page = html_page(f"<h1>Long</h1><form method=post action=/f>{rows}<button>Save</button></form>")
    part = part_of('Set the state of "Thing 7" to closed and add the note "A long remark" to it')
    best = min(_seconds(part, page) for _ in range(3))
    assert best < most


def _seconds(part: TaskPart, page: PageCapture) -> float:
    began = time.process_time()
    plan = read_changes(part, page)
    next_form_step(plan, part, page, set())
    return time.process_time() - began
