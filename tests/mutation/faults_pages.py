"""Faults in the rules about pages: equal states, finding elements again, and routes."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

IDENTITY, LOCATORS = "app/engine/core/identity.py", "app/engine/browser/locators.py"
PATHS, ARRIVAL = "app/engine/graph/paths.py", "app/engine/graph/replay/replay_check.py"
BLOCKLIST = "app/engine/graph/rules/block_list.py"
_IDENTITY = ("tests/unit/engine/test_identity_rules.py", "tests/unit/engine/test_identity.py")
_LOCATORS = ("tests/unit/engine/test_rules_of_locators.py", "tests/unit/engine/test_locators.py")
_PATHS = ("tests/unit/engine/test_path_rules.py", "tests/unit/engine/test_graph.py")
_ARRIVAL = ("tests/unit/engine/test_replay_check.py",)
_BLOCKLIST = ("tests/unit/engine/test_block_list.py", "tests/unit/engine/test_danger.py")

FAULTS = (
    Mutation(
        "identity-menus-in-lists",  # house 8
        IDENTITY,
        'name = "*" if element.repeat and not chrome else _name(element)',
        'name = "*" if element.repeat else _name(element)',
        "Rows of repeated lists count once, entries of menus by their names.",
        _IDENTITY,
    ),
    Mutation(
        "identity-alerts",
        IDENTITY,
        "        and not element.in_live\n",
        "",
        "An alert makes no new state.",
        _IDENTITY,
    ),
    Mutation(
        "identity-adverts",
        IDENTITY,
        "        and not element.in_advert\n",
        "",
        "An advert makes no new state.",
        _IDENTITY,
    ),
    Mutation(
        "identity-pressed",
        IDENTITY,
        '"selected", "pressed"})',
        '"selected"})',
        "What is pressed, checked, selected or expanded makes another state.",
        _IDENTITY,
    ),
    Mutation(
        "identity-focus",
        IDENTITY,
        '"selected", "pressed"})',
        '"selected", "pressed", "focused"})',
        "The focus makes no new state.",
        _IDENTITY,
    ),
    Mutation(
        "identity-heading",
        IDENTITY,
        'name = name.replace(title, "{title}")',
        "name = str(name)",
        "The skeleton leaves out the page's own heading.",
        _IDENTITY,
    ),
    Mutation(
        "identity-frames",
        IDENTITY,
        '_SEPARATOR.join((element.role, ">".join(landmarks), ">".join(element.frame), name, words))',
        '_SEPARATOR.join((element.role, ">".join(landmarks), name, words))',
        "A control in a frame is another one than its like in the page.",
        _IDENTITY,
    ),
    Mutation(
        "locator-two-candidates",
        LOCATORS,
        "    if len(best) > 1:\n        return f",
        "    if len(best) > 9:\n        return f",
        "Two candidates are an error and never a guess.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-none-where-it-stood",  # house 14
        LOCATORS,
        "    if alike and chosen not in alike:\n",
        "    if alike and chosen not in pool:\n",
        "Where several were alike, one that was none of them is not taken.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-name-moved-on",
        LOCATORS,
        "        if _by_role_and_name(locator, pool, index):\n",
        "        if not _by_role_and_name(locator, pool, index) and not locator.role:\n",
        "Attributes that another name carries now give way to the element that has the name.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-weak-attributes",
        LOCATORS,
        "        if weak and not same_address and not _words_alike(chosen.name, locator.name):\n",
        "        if weak and same_address and not _words_alike(chosen.name, locator.name):\n",
        "Attributes that say only what kind of thing it is do not bear a new name.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-another-in-its-place",
        LOCATORS,
        "    if by_place and not same_name and not same_address and not",
        "    if by_place and not same_name and same_address and not",
        "Another element that stands where it stood is not taken for it.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-row-gone",
        LOCATORS,
        "if locator.near and not same_row and (by_place or locator.of > 1):",
        "if locator.near and not same_row and by_place:",
        "A button of a row is not looked for in another row.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "locator-number-changed",
        LOCATORS,
        "and len(index.alike(chosen)) != locator.of:",
        "and len(index.alike(chosen)) > locator.of:",
        "One of several alike is not taken once their number has changed.",
        _LOCATORS,
        safety=True,
    ),
    Mutation(
        "path-risk-costs",  # house 9
        PATHS,
        "return expected + RISK * transition.risk +",
        "return expected +",
        "A risky transition costs more.",
        _PATHS,
        safety=True,
    ),
    Mutation(
        "path-gone-not-opened",  # house 10
        PATHS,
        "if self._pages[page].direct is None and not self._pages[page].gone_at:",
        "if self._pages[page].direct is None:",
        "A page that is gone is never opened by its address.",
        _PATHS,
    ),
    Mutation(
        "path-gone-no-shortcut",
        PATHS,
        "if page.direct and not page.gone_at]",
        "if page.direct]",
        "A page that is gone is no stop on a way, though its address led there once.",
        _PATHS,
    ),
    Mutation(
        "path-gone-transition",
        PATHS,
        "standing = [found for found in transitions if not found.gone_at]",
        "standing = list(transitions)",
        "A transition that is gone is on no way.",
        _PATHS,
    ),
    Mutation(
        "path-untried",
        PATHS,
        "(0.0 if transition.attempts else UNTRIED)",
        "(UNTRIED if transition.attempts else 0.0)",
        "A link that was seen and not followed costs more.",
        _PATHS,
    ),
    Mutation(
        "path-failed-lately",
        PATHS,
        "        expected *= RECENT_FAILURE\n",
        "        expected *= 1\n",
        "What failed when it was last tried costs twice the time.",
        _PATHS,
    ),
    Mutation(
        "arrival-menu-stayed-shut",
        ARRIVAL,
        "identity.similarity(present, rival.element_keys) > alike",
        "identity.similarity(present, rival.element_keys) > 2 * alike",
        "A page more like another known state of its address is that other state.",
        _ARRIVAL,
    ),
    Mutation(
        "arrival-expected-login",
        ARRIVAL,
        "if page.challenge is Challenge.LOGIN and expected.challenge is not Challenge.LOGIN:",
        "if page.challenge is Challenge.LOGIN:",
        "A log-in that was expected does not block.",
        _ARRIVAL,
    ),
    Mutation(
        "arrival-refused",
        ARRIVAL,
        "    if answer in _REFUSED:",
        "    if answer in _REFUSED and answer != 429:",
        "A refusal (401, 403, 407, 429) ends the way as blocked.",
        _ARRIVAL,
    ),
    Mutation(
        "blocklist-strong-danger",
        BLOCKLIST,
        "if danger is not None and danger.strong:",
        "if danger is not None and danger.strong and rule is None:",
        "A rule of a site does not lift a strong danger unless it says so.",
        _BLOCKLIST,
        safety=True,
    ),
    Mutation(
        "blocklist-forms",
        BLOCKLIST,
        "held = off_site_reason(element, page_url) or form_danger_of(element)",
        "held = off_site_reason(element, page_url)",
        "Forms are never sent by an exploration.",
        _BLOCKLIST,
        safety=True,
    ),
)
