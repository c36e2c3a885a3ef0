"""The rules by which a person reads a tip, a row or more for each; the sentences are of no tip in the readings."""

import json
import random
from pathlib import Path

import pytest

from kb.compiler import compile_text

READINGS = Path(__file__).parents[3] / "benchmarks" / "data" / "tip_readings.jsonl"

ROWS = [
    # 1. steps come from "do" only; a reason may give what is never acted on
    (("Press \"Send\".", "", "", "\"Burn\" erases the letter."), ("press \"Send\"",), ("Burn",)),
    (("Press \"Send\".", "if press \"A\"", "Press \"B\".", "Then press \"C\" too."), ("press \"Send\"",), None),
    # 2. the order of acting
    (("Press \"Bake\", but first press \"Mix\".",), ("press \"Mix\"", "press \"Bake\""), ()),
    (("Prior to pressing \"Bake\" tick \"Salt\".",), ("press \"Salt\" checkbox", "press \"Bake\""), ()),
    (("Press \"Bake\" after you have ticked \"Salt\".",), ("press \"Salt\" checkbox", "press \"Bake\""), ()),
    (("Having pressed \"Mix\", press \"Bake\".",), ("press \"Mix\"", "press \"Bake\""), ()),
    (("Press \"Bake\", but not before you have pressed \"Mix\" and ticked \"Salt\".",),
     ("press \"Mix\"", "press \"Salt\" checkbox", "press \"Bake\""), ()),
    # 3. a menu path, and where something is
    (("Kitchen > Ovens » Small",), ("press \"Kitchen\"", "press \"Ovens\"", "press \"Small\""), ()),
    (("The ovens are found under Kitchen > Ovens.",), ("press \"Kitchen\"", "press \"Ovens\""), ()),
    (("Never use Kitchen > Burn.",), (), ("Kitchen > Burn",)),
    (("Bread is at /bread.",), ("open /bread",), ()),
    (("A click on \"More\" opens the rest.",), ("press \"More\"",), ()),
    (("The letter is sent with \"Post\".",), ("press \"Post\"",), ()),
    # 4. the control's own name; keys
    (("Press the red button \"Go!\".",), ("press \"Go!\" button",), ()),
    (("Press Add to basket.",), ("press \"Add to basket\"",), ()),
    (("Type <word> into »Find« and hit Enter.",), ("fill \"Find\" with \"{word}\"", "press \"Enter\""), ()),
    # 5. roles
    (("Untick Salt and press the column head Weight.",), ("press \"Salt\" checkbox", "press \"Weight\" heading"), ()),
    (("Press the button below \"Oven\".",), ("press \"button\" button below \"Oven\"",), ()),
    # 6. landmarks
    (("Press the tiny cross to the right of \"Salt\".",), ("press \"tiny cross\" right of \"Salt\"",), ()),
    (("Press \"Eat\" in the row of the loaf.",), ("press \"Eat\" in \"{loaf}\"",), ()),
    (("Press \"Eat\" at the top right.",), ("press \"Eat\"",), ()),
    (("Below the picture press \"Share\".",), ("press \"Share\" below \"picture\"",), ()),
    # 7. choosing
    (("Choose Rye under \"Flour\".",), ("choose \"Rye\" in \"Flour\"",), ()),
    (("Press \"Flour\" and choose Rye in the menu that opens.",), ("press \"Flour\"", "press \"Rye\""), ()),
    (("Set the drop-down Flour to Rye.",), ("choose \"Rye\" in \"Flour\" select",), ()),
    # 8. values
    (("Type the baker's name into Baker.",), ("fill \"Baker\" with \"{baker_name}\"",), ()),
    (("Put WEIGHT into \"Weight\" and 'a little' into \"Salt\".",),
     ("fill \"Weight\" with \"{weight}\"", "fill \"Salt\" with \"a little\""), ()),
    (("The field \"Salt\" must be filled with the amount.",), ("fill \"Salt\" field with \"{amount}\"",), ()),
    (("Click the loaf.", "a loaf must be eaten", "", ""), ("press \"{loaf}\"",), ()),
    # 9. addresses
    (("Open /loaf/<loaf number>/eat?by=:who.",), ("open /loaf/{loaf_number}/eat?by={who}",), ()),
    (("Open the loaf by its id, e.g. /loaf/17.",), ("open /loaf/{id}",), ()),
    # 10. alternatives
    (("Either open /oven, or press \"Oven\" and then \"Door\".",),
     ("either open /oven, or press \"Oven\", then press \"Door\"",), ()),
    (("There are two ways: Kitchen > Oven, or straight to /oven.",),
     ("either press \"Kitchen\", then press \"Oven\", or open /oven",), ()),
    (("If the door is shut, press \"Open\"; otherwise press \"Eat\".",),
     ("either if the door is shut: press \"Open\", or press \"Eat\"",), ()),
    (("If the task names a day, fill \"Day\" with the day. Press \"Go\".",),
     ("if the task names a day: fill \"Day\" with \"{day}\"", "press \"Go\""), ()),
    (('If the door is shut, press "Open", else press "Eat".',),
     ('either if the door is shut: press "Open", or press "Eat"',), ()),
    (('Press "Eat" unless it is hot.',), ('if not: it is hot: press "Eat"',), ()),
    # 11. read, wait, check
    (("Look at the column Weight.",), ("read \"Weight\"",), ()),
    (("Wait until \"Done\" is shown, then press \"Eat\".",), ("wait for \"Done\"", "press \"Eat\""), ()),
    (("Make sure that the door is shut, then press \"Bake\".",), ("press \"Bake\"",), ()),
    # 12. warnings
    (("Press \"Bake\", not \"Burn\" and never \"Freeze\".",), ("press \"Bake\"",), ("Burn", "Freeze")),
    (("Press \"Bake\" rather than \"Burn\".",), ("press \"Bake\"",), ("Burn",)),
    (("\"Burn\" stands next to it: hands off.",), (), ("Burn",)),
    (("Don't press \"Burn\" and tick \"Salt\".",), (), ("Burn", "Salt")),
    (("Careful with \"Burn\".",), (), ("Burn",)),
    (('Use neither "Burn" nor "Freeze"; "Bake" is what you want.',), ('press "Bake"',), ("Burn", "Freeze")),
    (('Never "Burn", always "Bake".',), ('press "Bake"',), ("Burn",)),
    (("/oven/off is out of bounds.",), (), ("/oven/off",)),
    (("Hovering over it shows \"Burn\", which you must not press.",), (), ("Burn",)),
    (("The sugar can be left alone.",), (), ()),
    (("\"Burn\" would undo everything.",), (), ("Burn",)),
    (("Check the weights, and press \"Eat\".",), ("press \"Eat\"",), ()),
    (("Fields \"Flour\" and \"Salt\" get <flour> and <salt>.",),
     ("fill \"Flour\" field with \"{flour}\"", "fill \"Salt\" with \"{salt}\""), ()),
    (("Press \"Eat\" (in the row of <loaf>).",), ("press \"Eat\" in \"{loaf}\"",), ()),
    (("Set \"Heat\" at 4 bars.",), ("choose \"4 bars\" in \"Heat\"",), ()),
    (("For rye press \"Rye\"; for wheat press \"Wheat\".",), ("either press \"Rye\", or press \"Wheat\"",), ()),
    (("Give \"Flour\" and \"Salt\" the weight.",),
     ("fill \"Flour\" with \"{weight}\"", "fill \"Salt\" with \"{weight}\""), ()),
    (("Press everything but \"Burn\".",), (), ("Burn",)),
    (("Tick all except \"Burn\".",), (), ("Burn",)),
    (("Do not press anything except \"Bake\".",), (), ()),
    (("Never press \"Burn\" except when asked.",), (), ("Burn",)),
    (("On /oven press \"Bake\".",), ("open /oven", "press \"Bake\""), ()),
    (("On /oven never press \"Burn\".",), (), ("Burn",)),
    (("Press \"Bake\". Before you press \"Bake\", tick \"Salt\".",),
     ("press \"Salt\" checkbox", "press \"Bake\""), ()),
    (("Last comes \"Bake\": press it.",), ("press \"Bake\"",), ()),
    (("What you need is the button \"Bake\": press it.",), ("press \"Bake\" button",), ()),
    (("* press Knead\n* press Bake",), ("press \"Knead\"", "press \"Bake\""), ()),
    (("Fill **Flour** with the weight; press **Bake**.",),
     ("fill \"Flour\" with \"{weight}\"", "press \"Bake\""), ()),
    (("Choose the language \"German\".",), ("choose \"German\" in \"language\"",), ()),
    (("Loaves weigh a pound. Answer with the number.",), (), ()),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "lines", "never"), ROWS, ids=[row[0][0] for row in ROWS])
def test_a_tip_is_read_as_the_rules_say(
    parts: tuple[str, ...], lines: tuple[str, ...], never: tuple[str, ...] | None
):
    made = compile_text(*parts)
    assert made.lines == lines
    assert never is None or made.never == never


@pytest.mark.parametrize(
    ("text", "lines", "never"),
    [
        (
            "Press Save. /reviews/7/del is a click away and must be avoided.",
            ('press "Save"',),
            "/reviews/7/del",
        ),
        ('"Delete all" is to be avoided.', (), "Delete all"),
        ("The button Purge should be avoided.", (), "Purge"),
        ('Press "Save", "Delete" must be avoided.', ('press "Save"',), "Delete"),
        ('Read the column Total. Mind "Reorder" in the same row.', ('read "Total"',), "Reorder"),
    ],
)
def test_what_is_to_be_avoided_is_no_step(text: str, lines: tuple[str, ...], never: str):
    made = compile_text(text)
    assert made.lines == lines
    assert never in made.never


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("No menu leads to these texts: go to /about directly.", ("open /about",)),
        ("The list reloads by itself, there is no button.", ()),
        ('Nothing here opens "Reports".', ()),
        (
            'Browse store > Offers. Press "First".',
            ('press "Browse store"', 'press "Offers"', 'press "First"'),
        ),
        ('In the "Catalog" menu press "Ranges".', ('press "Catalog" menu', 'press "Ranges"')),
        ("Choose Statistics from the menu Fulfilment.", ('press "Fulfilment" menu', 'press "Statistics"')),
        ('Choose ORDER in the "Sort by" list.', ('choose "{order}" in "Sort by" select',)),
    ],
)
def test_what_is_not_there_is_no_step_and_a_menus_entry_is_reached_through_its_menu(
    text: str, lines: tuple[str, ...]
):
    assert compile_text(text).lines == lines


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ('Frobnicate the "Save" button.', "frobnicate the Save button"),
        ("Archive it.", "archive it"),
        ("Press it.", "it"),
        ("Close the dialog.", "close the dialog"),
    ],
)
def test_an_instruction_that_gives_no_step_is_kept_as_unread(text: str, unread: str):
    made = compile_text(text)
    assert (made.lines, made.unread) == ((), (unread,))


def test_an_unknown_verb_gives_a_step_where_its_control_is_named():
    assert compile_text('Archive the letter with "Put away".').lines == ('press "Put away"',)


def test_a_tip_cut_and_mixed_at_random_is_read_without_an_error():
    dice = random.Random(5)
    tips = [json.loads(line)["do"].split() for line in READINGS.read_text(encoding="utf-8").splitlines()]
    pieces = [word for tip in tips for word in tip] + [
        "and",
        "or",
        "not",
        "in",
        "the",
        "(",
        ")",
        ",",
        ">",
        '"A"',
        "<x>",
    ] * 40
    for _ in range(1_500):
        words = list(dice.choice(tips))
        for _ in range(3):
            place = dice.randrange(len(words))
            words[place : place + dice.randint(0, 2)] = dice.choices(pieces, k=dice.randint(0, 2))
            words = words or ["x"]
        text = " ".join(words)
        made = compile_text(text, text, text, text)
        assert all(step.target for step in made.steps), text


@pytest.mark.parametrize(
    ("do", "pressed"),
    [
        ('Find {user} in the list, click its name and press "Save"', "{user}"),
        ('Type {title} into "Search" and press "Go"; click the title in the results', "{title}"),
        ('Choose {state} in "State", if need be {kind} in "Kind", and press "Filter"', "Filter"),
    ],
)
def test_a_press_means_the_placeholder_it_points_back_to_and_an_idiom_is_no_condition(do: str, pressed: str):
    assert f'press "{pressed}"' in compile_text(do).lines
