"""Forms that are sent by GET: which of them store something although such a request should only ask.  Pure.

The network guard lets every GET out, so what such a form does is told here, from its button and its fields.
"""

from __future__ import annotations

from itertools import pairwise

from app.engine.agent.write_gate.page_scope import plain_words
from app.engine.agent.write_gate.vocabulary import senses_of, stem_of, word_set
from app.engine.core.addresses import split_address
from app.engine.core.page_state import Element, PageCapture
from app.engine.graph.rules.danger import danger_at_one_press

_TEXTS = frozenset({"textbox", "searchbox"})
_BOXES = frozenset({"checkbox", "switch"})
_GOING = frozenset({"go", "apply", "display", "list"})
"""Words of a query form's button that do not say a search, and are known to only show its results."""


def why_it_stores(sender: Element, page: PageCapture, filled: Element | None = None) -> str:
    """Return why sending a form by GET would store something; "" where nothing says so.

    Args:
        sender: the control that sends the form, or a field in which Enter is pressed.
        filled: a field that the same action may fill in first.
    """
    if (danger := danger_at_one_press(sender, page.url)) is not None:
        return danger.why
    if sender.submits and word_set("stores").intersection(plain_words(sender.name)):
        return f"it sends the form {sender.form.partition(':')[2]} by '{sender.name.strip()[:40]}'"
    for field in page.elements:
        if (field.form, field.frame) != (sender.form, sender.frame):
            continue
        is_set = bool(field.value.strip()) if field.role in _TEXTS else "checked" in field.states
        if (is_set or field == filled) and saves_a_view(field, page):
            return f"it saves the query under '{_label(field).strip()[:40]}'"
    return ""


def saves_a_view(field: Element, page: PageCapture) -> bool:
    """Whether a field of a query form makes the site keep the query: ``Query name``, ``Save as``, ``Save this search``.

    On a page about queries ``Query name`` is only a property to search by.
    """
    if field.role not in _TEXTS | _BOXES:
        return False
    words = plain_words(_label(field))
    if word_set("stores").intersection(words[:1]):
        return True
    if field.role in _BOXES:
        return False
    about = {
        stem_of(word) for text in (*page.headings, split_address(page.url).path) for word in plain_words(text)
    }
    return any(
        noun in word_set("kept views") and name in word_set("naming") and stem_of(noun) not in about
        for noun, name in pairwise(words)
    )


def says_it_reads(sender: Element, page: PageCapture) -> bool:
    """Whether the button that sends a form says that it only searches or shows; a form without a button does."""
    button = sender if sender.submits else _button_of(sender, page)
    if button is None:
        return True
    words = [word for word in plain_words(button.name) if word not in word_set("stop")]
    known = word_set("searches") | _GOING
    others = [word for word in words if word not in known and word.removeprefix("re") not in known]
    return not words or (len(others) < len(words) and not senses_of(others))


def _button_of(field: Element, page: PageCapture) -> Element | None:
    """Return the first button of a field's form, which the Enter key presses."""
    same = (
        one for one in page.elements if one.submits and (one.form, one.frame) == (field.form, field.frame)
    )
    return next(same, None)


def _label(field: Element) -> str:
    """Return the words that say what a field is for: its own, else those beside it, else its name in the source."""
    attributes = dict(field.attributes)
    said = (field.name, field.label, *map(attributes.get, ("near", "placeholder", "hint", "name")))
    return next((text for text in said if text), "")
