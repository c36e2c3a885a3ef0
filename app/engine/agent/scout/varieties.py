"""Putting a thing into the basket: what it comes in (size, colour) is chosen first, and the basket is looked at after.

A choice that the task names is taken; else what is chosen already, or the only one there is.  Where the task leaves it
open among several, or names one that there is not, the scout stops and says which there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.agent.scout.choosing import told_among
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal
from app.engine.agent.scout.tipping import advice
from app.engine.agent.scout.wording import fits, meaning, names, overlap, says
from app.engine.core.actions.types import Click, ReportInfeasible, Select, SetChecked, TypeText
from app.engine.core.page_state import Element

_CARTS = ("cart", "basket", "bag")
_UNCHOSEN = re.compile(r"^\W*$|^\W*(?:please\s+)?(?:choose|select|pick)\b|^-", re.IGNORECASE)
_FOR_ALL = re.compile(r"^(?:one|single|universal|standard|free|default)\b", re.IGNORECASE)
_PUT = re.compile(r"\badded\b|\bin (?:your|the) (?:cart|basket|bag)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variety:
    """What a thing comes in.

    Attributes:
        label: what is chosen (``size``); options: names with the element to check, or the list to choose from.
        chosen: the option that is set, or "".
    """

    label: str
    options: tuple[tuple[str, Element], ...]
    chosen: str = ""


def into_cart(place: Place) -> list[Proposal]:
    """The next deed: choose, fill in the number, press as often as pieces are wanted, see that it is in."""
    aim, memory = place.aim, place.view.memory
    if f"put:{place.number}" in memory.marks:
        return _seen_in(place)
    if not place.about(aim.subject):
        return []
    button = next(
        (one for one in _buttons(place) if any(says(one.name, f"add to {word}") for word in _CARTS)), None
    )
    if button is None:
        return []
    varieties = tuple(_varieties(place, button))
    for variety in varieties:
        if made := _choose(place, variety):
            return [made]
    put = int(memory.values.get(f"put:{place.number}", "0"))
    amount = next(
        (
            one
            for one in place.fields
            if one.form == button.form and fits("quantity", place.label_of(one)) >= 0.6
        ),
        None,
    )
    if amount is not None and aim.quantity > 1 and amount.value != str(aim.quantity):
        return [
            Proposal(
                command=TypeText(amount.index, str(aim.quantity)),
                score=LIKELY,
                reason=f"{aim.quantity} are wanted",
            )
        ]
    last = amount is not None or put + 1 >= aim.quantity
    labels = " ".join(variety.label for variety in varieties)
    return [
        Proposal(
            command=Click(button.index, label=button.name),
            score=CERTAIN,
            reason=f"puts {aim.subject} into the cart ({put + 1} of {aim.quantity})",
            key=f"put:{place.number}:{put}",
            keeps=(
                (f"put:{place.number}", str(put + 1)),
                (f"before:{place.number}", memory.values.get(f"before:{place.number}", _held(place))),
            ),
            marks=(f"put:{place.number}",) if last else (),
            followed=_advised(place, labels, button.name) if labels else (),
        )
    ]


def _buttons(place: Place) -> Iterator[Element]:
    return (one for one in place.pressed if one.role in ("button", "link") and one.name)


# what it comes in


def _varieties(place: Place, button: Element) -> Iterator[Variety]:
    """Lists and groups of radio buttons of the button's own form."""
    groups: dict[str, list[Element]] = {}
    for one in place.fields:
        if one.form != button.form or not one.form:
            continue
        if one.role == "radio":
            groups.setdefault(dict(one.attributes).get("name", ""), []).append(one)
        elif one.options and fits("quantity", place.label_of(one)) < 0.6:
            options = tuple((name, one) for name in one.options if not _UNCHOSEN.match(name))
            chosen = "" if _UNCHOSEN.match(one.value) else one.value
            yield Variety(label=place.label_of(one), options=options, chosen=chosen)
    for label, radios in groups.items():
        named = tuple((one.name or one.label or one.value, one) for one in radios)
        chosen = next((name for name, one in named if "checked" in one.states), "")
        yield Variety(label=label.replace("_", " ").replace("-", " "), options=named, chosen=chosen)


def _choose(place: Place, variety: Variety) -> Proposal | None:
    """The deed that sets a variety as the task wants it; ``None`` where it is set so."""
    offered = [name for name, _ in variety.options]
    if not offered:
        return None
    asked = next(
        (value for kind, value in place.aim.conditions if kind and fits(kind, variety.label) >= 0.7), ""
    )
    wanted = next((name for name in offered if asked and plain(name) == plain(asked)), "")
    wanted = wanted or next(iter(told_among(place.aim.text, offered)), "")
    wanted = wanted or next((name for name in offered if asked and says(name, asked)), "")
    if not wanted and len(offered) == 1 and (not asked or _FOR_ALL.match(offered[0])):
        wanted = offered[0]
    if not wanted and not asked and variety.chosen:
        return None
    if not wanted:
        label = variety.label or "kind"
        what = f"there is no {label} {asked}" if asked else f"the task names no {label}"
        why = f"{what}: {place.aim.subject} comes in {', '.join(offered)}"
        return Proposal(command=ReportInfeasible(reason=why), score=LIKELY, reason=why, key=f"none:{label}")
    if plain(variety.chosen) == plain(wanted):
        return None
    element = next(one for name, one in variety.options if name == wanted)
    command = SetChecked(element.index) if element.role == "radio" else Select(element.index, (wanted,))
    only = " (there is no other)" if len(offered) == 1 else ""
    return Proposal(
        command=command,
        score=CERTAIN,
        key=f"choose:{place.number}:{place.view.memory.values.get(f'put:{place.number}', '0')}:{variety.label}",
        reason=f"{variety.label or 'what it comes in'} is to be {wanted}{only}",
        followed=_advised(place, variety.label, wanted),
    )


def _advised(place: Place, label: str, name: str) -> tuple[tuple[str, bool], ...]:
    """Tips that say to choose this, or name what is pressed together with it."""
    found: list[tuple[str, bool]] = []
    for tip in place.view.sight.tips:
        said = advice(f"{tip.text} {tip.do} {tip.before}")
        choosing = overlap(frozenset({"choose", "select", "pick", "chosen", "selected"}), said)
        if (choosing and overlap(frozenset(meaning(label)), said)) or (
            len(name) > 3 and name.casefold() in said.casefold()
        ):
            found.append((tip.tip, True))
    return tuple(found)


# whether it is in


def _carts(place: Place) -> list[Element]:
    """Links to the basket: ``Basket (1)``, ``View cart``."""
    return [
        one
        for one in _buttons(place)
        if one.role == "link" and set(_CARTS) & set(meaning(one.name)) and len(meaning(one.name)) <= 3
    ]


def _held(place: Place) -> str:
    """The number that the link to the basket tells; "" without one."""
    counts = (_AMOUNT.search(one.name) for one in _carts(place))
    return next((found[0] for found in counts if found), "")


def _seen_in(place: Place) -> list[Proposal]:
    """The part is closed when the page says that it was added, the count went up, or the basket lists it."""
    aim, memory = place.aim, place.view.memory
    before, now = memory.values.get(f"before:{place.number}", ""), _held(place)
    said = [*place.facts.said, *place.view.page.text.splitlines()]
    at_cart = any(set(_CARTS) & set(meaning(head)) for head in place.heads)
    seen = bool(now) and now != before
    seen = seen or any(len(text) < 160 and _PUT.search(text) for text in said)
    seen = seen or (at_cart and any(names(text, aim.subject) for text in said))
    seen = seen or (at_cart and any(names(one.name, aim.subject) for one in place.pressed))
    if seen:
        return [
            Proposal(
                score=CERTAIN,
                reason=f"{aim.subject} is in the basket",
                marks=(f"aim:{place.number}",),
                key="in",
            )
        ]
    cart = next(iter(_carts(place)), None)
    if cart is not None and not at_cart:
        return [
            Proposal(
                command=Click(cart.index, label=cart.name),
                score=CERTAIN,
                reason="looks whether it is in the basket",
                key=f"look:{place.number}",
            )
        ]
    why = f"{aim.subject} was added, but the basket does not show it"
    return [Proposal(command=ReportInfeasible(reason=why), score=LIKELY, reason=why, key="not in")]
