"""Faults in the rules of lint: orders to an agent, and invisible characters."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

LINT, ORDERS, INVISIBLE = "kb/lint.py", "kb/lint_orders.py", "kb/invisible.py"
_LINT = (
    "tests/unit/kb/test_lint_orders.py",
    "tests/unit/kb/test_lint_rules.py",
    "tests/unit/kb/test_lint.py",
)

FAULTS = (
    Mutation(
        "lint-hidden-text",
        LINT,
        "    yield from _hidden_text(context)\n",
        "",
        "Characters that nobody sees are a lint error.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-hidden-in-other-parts",
        LINT,
        "if (span := next(hidden(part), None)) is not None:",
        "if (span := next(hidden(part), None)) is not None and not name:",
        "They are in every part of a tip.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-orders-in-other-parts",
        LINT,
        "span = match.span() if match is not None else next(orders_in(part), None)",
        "span = match.span() if match is not None else None",
        "An order to the agent is found in every part of a tip.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-speakers",
        ORDERS,
        "for pattern in (NEW_ORDERS, ROLE, FORMULA):",
        "for pattern in (NEW_ORDERS, FORMULA):",
        "The mark of a speaker is no text of a site.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-formulas",
        ORDERS,
        "for pattern in (NEW_ORDERS, ROLE, FORMULA):",
        "for pattern in (NEW_ORDERS, ROLE):",
        "What a spreadsheet would run is a lint error.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-orders-with-hidden-signs",
        ORDERS,
        'folded = "  " + " ".join(_folded(visible(text)).split()) + " "',
        'folded = "  " + " ".join(_folded(text).split()) + " "',
        "An order is found though hidden characters part its words.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-harmless-sentences",
        ORDERS,
        " and not any(\n        stem in words for stem in order.but\n    )",
        "",
        "A sentence about resetting a password is no order.",
        _LINT,
    ),
    Mutation(
        "invisible-tags",
        INVISIBLE,
        "\\U000e0000-\\U000e0fff",
        "\\U000e0100-\\U000e0fff",
        "Tag characters are invisible, but for three flags.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "invisible-selectors",
        INVISIBLE,
        "        return keycap or _EMOJI.fullmatch(before) is not None\n",
        "        return True\n",
        "A variation selector belongs right after a sign that can be an emoji.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "invisible-joiners",
        INVISIBLE,
        "return (joined and _EMOJI.fullmatch(after) is not None) or _joins_indic(before, after)",
        "return True",
        "A joiner belongs between two emoji, or beside a virama.",
        _LINT,
        safety=True,
    ),
)
