"""Changes by a control, ways to a form, confirmations, and the evidence that a change was saved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.agent.scout.change_subject import is_about, makes_here, place_names, thing_names
from app.engine.agent.scout.changes import confirm_step, control_step, opens_form
from app.engine.agent.scout.forms import FormStep
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.saved_evidence import (
    form_errors,
    reopened_evidence,
    saved_evidence,
    what_is_missing,
)
from app.engine.agent.scout.task import TaskMode, TaskPart, read_task
from app.engine.agent.scout.value_matching import FormPlan, read_changes
from app.engine.core.page_state import PageCapture
from tests.support.html_page import html_page

NAV = "<nav><a href=/>Home</a><a href=/new>New here</a><a href=/logout>Log out</a></nav>"
ROWS = (("F-11", "Acme", "open"), ("F-12", "Beta", "open"), ("F-13", "Acme", "paid"))


def listing(*rows: tuple[str, str, str]) -> PageCapture:
    """A list of invoices with controls in each row."""
    lines = "".join(
        f"<tr><td><a href=/i/{name}>{name}</a><td>{customer}<td>{state}<td>"
        f"<form method=post action=/i/{name}/archive><button>Archive</button></form>"
        f"<form method=post action=/i/{name}/paid><button>Mark as paid</button></form>"
        f"<a href=/i/{name}/edit>Edit</a><a href=/i/{name}/delete>Delete</a></tr>"
        for name, customer, state in rows
    )
    head = f"<title>Invoices</title>{NAV}<h1>Invoices</h1><a href=/invoices/create>New invoice</a>"
    return html_page(f"{head}<table><tr><th>Number<th>Customer<th>State<th></tr>{lines}</table>")


LIST = listing(*ROWS)
CARDS = html_page(
    "<h1>People</h1>"
    + "".join(
        f"<h3>{name}</h3><form method=post action=/p/{n}><button>Follow</button></form>"
        for n, name in enumerate(("Ann Lee", "Bo Berg", "Cy Dahl"))
    )
)
ONE = html_page(
    f"<title>F-12 | Invoices</title>{NAV}<h1>Invoice F-12</h1><a href=/i/F-12/edit>Edit</a>"
    "<form method=post action=/i/F-12/archive><button>Archive</button></form>"
    "<form method=post action=/watch><button>Watch</button></form>"
    "<form method=post action=/pay><button>Paid</button></form>"
    "<button aria-haspopup=menu aria-expanded=false>More</button><a href=/i/F-12/delete>Delete</a>"
)
MENUS = html_page(
    "<title>Invoices</title><h1>Invoices</h1><table>"
    + "".join(f"<tr><td>{name}<td><button aria-haspopup=menu>Actions</button></tr>" for name, _, _ in ROWS)
    + "</table>"
)
ASKING = html_page(
    "<title>Delete</title><h1>Delete invoice F-12</h1><p>Are you sure?</p><form method=post action=/i/F-12/delete>"
    "<button>Yes, delete</button><button>Cancel</button></form>"
)
LISTS = html_page("<h1>Invoice F-12</h1><form method=post action=/l><button>Add to list</button></form>")
PAGES = {"lists": LISTS, "list": LIST, "cards": CARDS, "one": ONE, "menus": MENUS, "asking": ASKING}


def part_of(text: str) -> TaskPart:
    """The task as one part, as the scout reads it."""
    return read_task(text).parts[-1]


def pressed(step: FormStep | None, page: PageCapture) -> str:
    """The control of a step with the form or address it belongs to, "" for no step."""
    if step is None:
        return ""
    element = page.elements[getattr(step.action, "element", -1)]
    where = element.href.removeprefix("http://site.test") or element.form.removeprefix("post:")
    return f"{element.name} {where}".strip()


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        ("list", "Archive the invoice F-12", "Archive /i/F-12/archive"),
        ("list", 'Mark invoice "F-11" as paid', "Mark as paid /i/F-11/paid"),
        ("list", "Delete the invoice F-13", "Delete /i/F-13/delete"),
        ("list", "Archive the invoice of Beta", "Archive /i/F-12/archive"),
        ("list", "Archive the paid invoice of Acme", "Archive /i/F-13/archive"),
        ("list", "Archive the invoice of Acme", ""),
        ("list", "Archive the invoice F-77", ""),
        ("list", "Archive the invoice", ""),
        ("list", "Split the invoice F-12", ""),
        ("cards", "Follow Bo Berg", "Follow /p/1"),
        ("cards", "Follow Dan Egan", ""),
        ("one", "Archive the invoice F-12", "Archive /i/F-12/archive"),
        ("one", "Subscribe to the invoice F-12", "Watch /watch"),
        ("one", "Mark the invoice F-12 as paid", "Paid /pay"),
        ("one", "Archive the invoice F-13", ""),
        ("one", "Split the invoice F-12", "More"),
        ("lists", "Add the tag Red to the invoice F-12", ""),
        ("menus", "Archive the invoice F-12", "Actions"),
    ],
)
def test_only_a_control_of_the_named_thing_that_says_the_change_is_pressed(
    name: str, task: str, expected: str
) -> None:
    page = PAGES[name]
    step = control_step(part_of(task), page, set())
    assert pressed(step, page) == expected
    if name == "menus" and step is not None:
        assert page.elements[1].index == getattr(step.action, "element", -1)


SHELVES = (
    "<h1>Low Road</h1><div role=group><button aria-haspopup=menu aria-expanded=true>Add to shelf</button>"
    "<ul><li><a{}>Later</a></li><li><a>Soon</a></li></ul></div>"
)


def test_an_entry_of_the_open_menu_is_pressed_by_its_name_and_a_link_of_that_name_is_not() -> None:
    part = part_of('Put "Low Road" on the shelf "Later"')
    entry = html_page(SHELVES.format(" role=button"))
    link = html_page(SHELVES.format(" href=/shelf/1"))
    assert pressed(control_step(part, entry, {"menu:add to shelf"}), entry) == "Later"
    assert control_step(part, entry, set()) is None
    assert control_step(part, link, {"menu:add to shelf"}) is None


PRODUCT = (
    "<title>Oak Tray</title><nav><a href=/basket>Basket (0)</a></nav><h1>Oak Tray</h1>"
    "<form method=post action=/basket/add>{sizes}<button>Add to basket</button></form>"
)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ("", ["press:add to basket"]),
        (
            "<fieldset><legend>Size</legend><label><input type=radio name=size> One size</label></fieldset>",
            ["set:size:only", "press:add to basket"],
        ),
        (
            "<label>Size <select required><option value=''></option><option>One size</option></select></label>",
            ["set:size:only", "press:add to basket"],
        ),
        (
            "<label>Gift <select><option value=''></option><option>Wrapped</option></select></label>",
            ["press:add to basket"],
        ),
        (
            "<fieldset><legend>Size</legend><label><input type=radio name=size> Small</label>"
            "<label><input type=radio name=size> Large</label></fieldset>",
            ["press:add to basket"],
        ),
    ],
)
def test_a_thing_is_put_into_the_basket_by_its_button_and_a_field_with_one_option_is_set_before(
    sizes: str, expected: list[str]
) -> None:
    page, task = html_page(PRODUCT.format(sizes=sizes)), part_of("Put the Oak Tray into the basket")
    done: list[str] = []
    while (step := control_step(task, page, frozenset(done))) is not None:
        done.append(step.key)
    assert done == expected


def test_a_control_is_pressed_once() -> None:
    part = part_of("Archive the invoice F-12")
    step = control_step(part, LIST, set())
    assert step is not None
    assert control_step(part, LIST, {step.key}) is None


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        ("list", 'Create an invoice for "Gamma"', "New invoice /invoices/create"),
        ("list", "Add a new invoice", "New invoice /invoices/create"),
        ("list", "Change the date of the invoice F-13 to 2024-01-01", "Edit /i/F-13/edit"),
        ("list", "Change the date of the invoice F-77 to 2024-01-01", ""),
        ("list", "Create a customer", ""),
        ("one", 'Rename invoice F-12 to "X"', "Edit /i/F-12/edit"),
        ("one", 'Rename invoice F-13 to "X"', ""),
        ("one", "Add the tag Red to the invoice F-12", "Edit /i/F-12/edit"),
    ],
)
def test_the_way_to_a_form_is_a_link_that_sends_nothing(name: str, task: str, expected: str) -> None:
    assert pressed(opens_form(part_of(task), PAGES[name]), PAGES[name]) == expected


def test_a_confirmation_is_given_only_after_a_press_and_never_by_cancelling() -> None:
    part = part_of("Delete the invoice F-12")
    assert confirm_step(part, ASKING, set()) is None
    step = confirm_step(part, ASKING, {"press:delete"})
    assert pressed(step, ASKING) == "Yes, delete /i/F-12/delete"
    assert confirm_step(part, LIST, {"press:delete"}) is None
    assert confirm_step(part_of("Archive the invoice F-12"), ASKING, {"press:archive"}) is None


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ('Rename the invoice "F-12" to "Winter"', ["F-12"]),
        ("Set the state of the invoice F-12 to Paid", ["F-12"]),
        ('Add the note "Thanks" to F-12', ["F-12"]),
        ("Cancel the order F-12 of the Winter Fair", ["F-12"]),
        ('Put "Low Road" on the shelf "Later"', ["Low Road", "Later"]),
    ],
)
def test_the_thing_is_the_name_that_is_no_value(task: str, names: list[str]) -> None:
    assert [one.text for one in thing_names(part_of(task))] == names


@pytest.mark.parametrize(
    ("task", "heading", "path", "found"),
    [
        ('Create a partner named "Harbor"', "Create partner", "/partners/new", True),
        ('Create a partner named "Harbor"', "Update category Books", "/categories/2", False),
        ('Change my first name to "Mia"', "Create a wish list", "/lists/create", False),
        ('Change my first name to "Mia"', "Edit profile", "/profile/edit", True),
    ],
)
def test_a_form_for_another_kind_of_thing_is_left_alone(
    task: str, heading: str, path: str, found: bool
) -> None:
    page = html_page(f"<h1>{heading}</h1>", url=f"http://site.test{path}")
    assert makes_here(part_of(task), PageContext(page)) is found


def test_a_page_is_about_what_it_calls_itself() -> None:
    assert is_about(part_of("Archive the invoice F-12"), PageContext(ONE))
    assert not is_about(part_of("Archive the invoice F-12"), PageContext(LIST))
    assert is_about(part_of("Archive it"), PageContext(LIST))


def test_a_page_of_results_is_not_that_of_the_thing_it_was_searched_for() -> None:
    form = "<form method=post action=/all><button>Archive</button></form>"
    page = html_page(
        f"<title>Search results</title><h1>Results for F-12</h1>{form}", url="http://site.test/search?q=F-12"
    )
    part = part_of("Archive the invoice F-12")
    assert not is_about(part, PageContext(page))
    assert control_step(part, page, set()) is None


FORM = "<label>Title <input name=t value='{}'></label><button>Save</button>"
BEFORE = html_page(
    f"<h1>F-12</h1><form method=post action=/f>{FORM.format('Old')}</form>", url="http://site.test/f/edit"
)
FILLED_IN = f"<h1>F-12</h1><form method=post action=/f>{FORM.format('Winter')}</form>"
AFTER = "http://site.test/f"


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        ("<p>The invoice F-12 was changed.</p>", AFTER, "the page says 'The invoice F-12 was changed.'"),
        ("<h1>F-12</h1><p role=alert>The invoice was changed.</p>", "", "the page says 'The invoice was changed.'"),
        ("<h1>F-12</h1><p>An invoice of Acme was changed.</p>", AFTER, ""),
        ("<h1>F-12</h1><p role=status>Saved</p>", "", "the page says 'Saved'"),
        ("<h1>F-12</h1><dl><dt>Title<dd>Winter</dl>", AFTER, "the page now shows Title 'Winter'"),
        (FILLED_IN, AFTER, "the page now shows Title 'Winter'"),
        (FILLED_IN, "", ""),
        ("<h1>F-12</h1><dl><dt>Title<dd>Old</dl>", AFTER, ""),
        ("<h1>F-12</h1><p role=alert>Title is required</p><p>Winter</p>", AFTER, ""),
        ("<h1>F-12</h1><p>Please correct the errors below. Winter was changed.</p>", AFTER, ""),
        ("<h1>F-12</h1><p>The invoice was not changed.</p>", AFTER, ""),
        ("<h1>F-12</h1><p>Successful payments</p><p>Last changed 3 minutes ago</p>", AFTER, ""),
        ("<h1>F-12</h1><p>Your changes have been saved.</p>", AFTER, "the page says 'Your changes have been saved.'"),
    ],
)  # fmt: skip
def test_a_change_is_saved_only_if_the_page_shows_it(html: str, url: str, expected: str) -> None:
    part = part_of('Change the title of the invoice "F-12" to "Winter"')
    plan = read_changes(part, BEFORE)
    assert [one.value for one in plan.assignments] == ["Winter"]
    assert saved_evidence(part, plan, BEFORE, html_page(html, url=url or BEFORE.url)) == expected


@pytest.mark.parametrize(("held", "found"), [("Winter", True), ("Old", False), ("", False)])
def test_a_form_that_is_loaded_again_shows_what_was_saved(held: str, found: bool) -> None:
    plan = read_changes(part_of('Change the title of the invoice "F-12" to "Winter"'), BEFORE)
    page = html_page(f"<h1>F-12</h1><form method=post action=/f>{FORM.format(held)}</form>", url=BEFORE.url)
    assert bool(reopened_evidence(plan, page)) is found
    assert not reopened_evidence(plan, replace(page, status=500))
    assert not reopened_evidence(FormPlan(), page)


@pytest.mark.parametrize(
    ("task", "after", "found"),
    [
        ("Delete the invoice F-12", listing(ROWS[0], ROWS[2]), True),
        ("Delete the invoice F-12", LIST, False),
        ("Delete the invoice F-12", replace(listing(), status=500), False),
    ],
)
def test_a_thing_was_deleted_once_it_no_longer_stands_there(
    task: str, after: PageCapture, found: bool
) -> None:
    assert bool(saved_evidence(part_of(task), FormPlan(), LIST, after)) is found


def test_a_press_shows_by_the_control_that_takes_its_place() -> None:
    part = part_of("Watch the invoice F-12")
    after = html_page(
        "<title>F-12</title><h1>Invoice F-12</h1><form method=post action=/w><button>Unwatch</button></form>"
    )
    assert saved_evidence(part, FormPlan(), ONE, after) == "'watch' has given way to 'unwatch'"
    assert saved_evidence(part, FormPlan(), ONE, ONE) == ""


def test_a_thing_was_put_into_another_once_that_one_stands_on_its_page() -> None:
    part = part_of('Put "Low Road" on the shelf "Later"')
    before = html_page(SHELVES.format(" role=button"))
    after = html_page(
        "<h1>Low Road</h1><a href=/shelf/1>Later</a><button aria-haspopup=menu>Add to shelf</button>"
    )
    assert saved_evidence(part, FormPlan(), before, after) == "'Later' now stands on the page"
    assert saved_evidence(part, FormPlan(), before, before) == ""


def test_complaints_of_a_form_are_told() -> None:
    after = html_page(
        f"<h1>F-12</h1><p>This field is required.</p><form method=post action=/f>{FORM.format('')}</form>"
    )
    assert form_errors(after, BEFORE) == ("This field is required.",)
    assert form_errors(BEFORE) == ()
    told = html_page("<h1>F-12</h1><p role=alert>Title must not be empty</p>")
    assert form_errors(told) == ("Title must not be empty",)


@pytest.mark.parametrize(
    ("page", "task", "said"),
    [
        (ONE, "Split the invoice F-12", "found the invoice 'F-12', no control in view to split"),
        (ONE, "Split the invoice F-13", "did not find the invoice 'F-13'"),
        (
            BEFORE,
            'Set the colour of the invoice F-12 to "blue"',
            "found the invoice 'F-12', no field in view for 'blue'",
        ),
    ],
)
def test_the_sentence_for_an_expert_says_what_was_found_and_what_is_missing(
    page: PageCapture, task: str, said: str
) -> None:
    part = part_of(task)
    assert what_is_missing(part, read_changes(part, page), page).startswith(said)


def test_the_name_of_a_secret_says_no_place() -> None:
    part = part_of('Enter the username "emma" and the password "{secret:WRITTEN_1}" into the text fields')
    assert [name.text for name in part.names] == ["emma", ""]
    assert place_names(part) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120), st.sampled_from(sorted(PAGES)), st.text(max_size=60))
def test_no_task_and_no_page_raises(task: str, name: str, told: str) -> None:
    part = TaskPart(mode=TaskMode.CHANGE, text=task, verb=task.split(" ")[0].casefold())
    hostile = html_page(f"<h1>{told}</h1><ul><li>{told}<button>{told}</button></ul>")
    for page in (PAGES[name], hostile, PageCapture(url=told)):
        control_step(part, page, {"menu:x"})
        opens_form(part, page)
        confirm_step(part, page, {"press:x"})
        plan = read_changes(part, page)
        assert isinstance(saved_evidence(part, plan, PAGES[name], page), str)
        assert what_is_missing(part, plan, page)
