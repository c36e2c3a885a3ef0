"""Masking of secrets in a look at a page, before a policy, a model, a step or a ledger gets any of it.

A page echoes what was typed: a field that shows its password, a greeting, a title, an address, a dialog.  Texts get a
mark in its place.  In the screenshot the fields and controls are painted over; where a value is in the page's running
text, whose place is unknown, the screenshot is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.engine.agent.secrets import FieldKey, Secrets
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.redaction import MARK, names_a_secret
from app.engine.core.trajectory import Tab

NO_PICTURE = "no picture: it would show a secret"

SECRET_HINTS = frozenset({"current-password", "new-password", "cc-number", "cc-csc", "one-time-code"})
"""Values of ``autocomplete`` that declare a field's content a secret."""
_FIELDS = ("input", "textarea")
_VALUE = re.compile(
    r"""(?m)^(\t*\[(\d+)\] [a-z]+ (?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"), value=)"""
    r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
)
"""A line of a tree up to the value of its field, the number of the element, and the value."""


def mask_secrets(page: PageCapture, secrets: Secrets) -> PageCapture:
    """Return the look without secrets: without values of this run, and without pixels of fields that hold any."""
    note = ""
    if page.picture:
        if secrets.occurs_in(page.text):
            page, note = replace(page, picture=b""), NO_PICTURE
        elif (picture := picture_without_secrets(page, secrets)) is not page.picture:
            page = replace(page, picture=picture)
    page = _without_values(page, secrets)
    if not secrets.has_values:
        return page
    mask = secrets.mask
    return replace(
        page,
        url=mask(page.url),
        title=mask(page.title),
        elements=tuple(_masked(element, secrets) for element in page.elements),
        headings=tuple(map(mask, page.headings)),
        text=mask(page.text),
        tree=mask(page.tree),
        alerts=tuple(map(mask, page.alerts)),
        popups=tuple(map(mask, page.popups)),
        downloads=tuple(map(mask, page.downloads)),
        notes=(*map(mask, page.notes), *((note,) if note else ())),
    )


def mask_tabs(tabs: Sequence[Tab], secrets: Secrets) -> tuple[Tab, ...]:
    """Return tabs whose addresses and titles hold no value of this run."""
    return tuple(Tab(url=secrets.mask(tab.url), title=secrets.mask(tab.title)) for tab in tabs)


def picture_without_secrets(page: PageCapture, secrets: Secrets | None = None) -> bytes:
    """Return the screenshot with every password field, filled secret field and visible secret painted over.

    The same bytes where there is none.
    """
    boxes = [
        element.rect
        for element in page.elements
        if element.rect is not None
        and (
            _is_filled_secret(element)
            or (secrets is not None and (_shows(element, secrets) or secrets.is_hidden(field_key(element))))
        )
    ]
    return paint_over(page.picture, boxes) if boxes and page.picture else page.picture


def field_key(element: Element) -> FieldKey:
    """Return the identity of a field from one look to the next."""
    return element.frame, element.css


def is_secret_field(element: Element) -> bool:
    """Whether input of this field is a secret: a password, a card's number, a one-time code.

    A password shown in plain is in a text field; its name is still that of a password.
    """
    if element.type == "password":
        return True
    return is_declared_secret(element) or (
        element.tag in _FIELDS and names_a_secret(f"{element.name} {element.label}")
    )


def paint_over(picture: bytes, boxes: Sequence[Rect]) -> bytes:
    """Return a JPEG with grey boxes; pixels and boxes have the same scale."""
    import io

    from PIL import Image, ImageDraw

    with Image.open(io.BytesIO(picture)) as opened:
        image: Any = opened.convert("RGB")
    draw = ImageDraw.Draw(image)
    for left, top, width, height in boxes:
        draw.rectangle((left, top, left + width, top + height), fill=(128, 128, 128))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return out.getvalue()


def is_declared_secret(element: Element) -> bool:
    """Whether its ``autocomplete`` declares a secret; the attribute may name a section and a way of contact
    besides.
    """
    return any(
        name == "autocomplete" and not SECRET_HINTS.isdisjoint(value.lower().split())
        for name, value in element.attributes
    )


def _without_values(page: PageCapture, secrets: Secrets) -> PageCapture:
    """Mask fields that are declared secret, or where a person typed a secret."""
    hidden = {
        element.index
        for element in page.elements
        if element.value and (is_declared_secret(element) or secrets.is_hidden(field_key(element)))
    }
    if not hidden:
        return page

    def line(match: re.Match[str]) -> str:
        return f"{match[1]}{MARK!r}" if int(match[2]) in hidden else match[0]

    return replace(
        page,
        elements=tuple(
            replace(element, value=MARK) if element.index in hidden else element for element in page.elements
        ),
        tree=_VALUE.sub(line, page.tree),
    )


def _is_filled_secret(element: Element) -> bool:
    """Whether a field may show a secret: a password field may be filled without a value, and its dots show the
    length.
    """
    return element.type == "password" or (bool(element.value) and is_secret_field(element))


def _shows(element: Element, secrets: Secrets) -> bool:
    return secrets.has_values and any(map(secrets.occurs_in, (element.value, element.name, element.text)))


def _masked(element: Element, secrets: Secrets) -> Element:
    """Return the masked element; the same object where it holds no value."""
    texts = (
        element.name, element.value, element.label, element.text, element.href, element.form, element.css,
        *element.options, *(value for _, value in element.attributes),
    )  # fmt: skip
    if not any(map(secrets.occurs_in, texts)):
        return element
    mask: Callable[[str], str] = secrets.mask
    return replace(
        element,
        name=mask(element.name),
        value=mask(element.value),
        label=mask(element.label),
        text=mask(element.text),
        href=mask(element.href),
        form=mask(element.form),
        css=mask(element.css),
        options=tuple(map(mask, element.options)),
        attributes=tuple((name, mask(value)) for name, value in element.attributes),
    )
