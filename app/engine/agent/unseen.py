"""Takes what nobody is to read out of a look at a page, before a policy, a model, a step or a ledger gets any of it.

A page gives back what was typed: a field that shows its password, a greeting, a title, an address, a dialog.  Texts get
a mark in its place.  In the picture the fields and controls are painted over; where a value stands in the page's
running text, whose place is not known, there is no picture at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.engine.agent.secrets import Secrets
from app.engine.page_state import Element, PageCapture, Rect
from app.engine.redaction import names_a_secret
from app.engine.trajectory import Tab

NO_PICTURE = "no picture: it would show a secret"

_SECRET_FIELDS = ("current-password", "new-password", "cc-number", "cc-csc", "one-time-code")
_FIELDS = ("input", "textarea")


def unseen(page: PageCapture, secrets: Secrets) -> PageCapture:
    """The look without secrets: the values of this run wherever they stand, and pixels of fields that hold any."""
    note = ""
    if page.picture:
        if secrets.shown_in(page.text):
            page, note = replace(page, picture=b""), NO_PICTURE
        elif (picture := without_secret_fields(page, secrets)) is not page.picture:
            page = replace(page, picture=picture)
    if not secrets.any:
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


def unseen_tabs(tabs: Sequence[Tab], secrets: Secrets) -> tuple[Tab, ...]:
    """Addresses and titles of tabs without the values of this run."""
    return tuple(Tab(url=secrets.mask(tab.url), title=secrets.mask(tab.title)) for tab in tabs)


def without_secret_fields(page: PageCapture, secrets: Secrets | None = None) -> bytes:
    """The picture with every password's and every filled secret field, and what shows a secret, painted over.

    The same bytes where there is none.
    """
    boxes = [
        element.rect
        for element in page.elements
        if element.rect is not None
        and (_is_filled_secret(element) or (secrets is not None and _shows(element, secrets)))
    ]
    return painted_over(page.picture, boxes) if boxes and page.picture else page.picture


def is_secret_field(element: Element) -> bool:
    """Whether what is typed here is nobody's business: a password, a card's number, a one-time code.

    A password that a button shows in plain is in a field of text; its name is still that of a password.
    """
    if element.type == "password":
        return True
    if any(name == "autocomplete" and value in _SECRET_FIELDS for name, value in element.attributes):
        return True
    return element.tag in _FIELDS and names_a_secret(f"{element.name} {element.label}")


def painted_over(picture: bytes, boxes: Sequence[Rect]) -> bytes:
    """A JPEG with grey boxes in place of what is there; pixels and boxes have the same scale."""
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


def _is_filled_secret(element: Element) -> bool:
    """A look tells nothing of a password's field, so that one may be filled; its dots tell how long it is."""
    return element.type == "password" or (bool(element.value) and is_secret_field(element))


def _shows(element: Element, secrets: Secrets) -> bool:
    return secrets.any and any(map(secrets.shown_in, (element.value, element.name, element.text)))


def _masked(element: Element, secrets: Secrets) -> Element:
    """The element itself where it holds none of the values."""
    texts = (
        element.name, element.value, element.label, element.text, element.href, element.form, element.css,
        *element.options, *(value for _, value in element.attributes),
    )  # fmt: skip
    if not any(map(secrets.shown_in, texts)):
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
