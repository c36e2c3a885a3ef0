"""Changes: forms filled in by label and sent, things put into a cart or on a list, states set by the task's verb."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.agent.scout.aim_words import IN_CART
from app.engine.agent.scout.answering import kind_sought
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.narrowing import filter_steps, submit_of, wishes
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.skill import CERTAIN, DONE, LIKELY, Proposal
from app.engine.agent.scout.varieties import into_cart
from app.engine.agent.scout.wording import alike, fits, forms, meaning, names, says
from app.engine.core.actions.types import Click, Select, SetChecked, Stop, TypeText
from app.engine.core.page_state import Element

_LIST = re.compile(r"\b(?:on|onto|to|into)\s+(?:my|the|a)\s+([\w ]*?list)\b", re.IGNORECASE)
_NEW = frozenset({"add", "create", "new", "write", "leave", "post", "make", "register"})
_SWITCHED = frozenset({"yes", "no", "on", "off", "true", "false", "checked", "unchecked"})


def acts(place: Place) -> list[Proposal]:
    """The next deed towards a change."""
    aim = place.aim
    if place.done:
        return [
            Proposal(
                command=Stop(DONE), score=CERTAIN, reason="everything the task asks for is done", key="stop"
            )
        ]
    made: list[Proposal] = []
    if IN_CART.search(aim.text) and not aim.pairs:
        made += into_cart(place)
    elif (found := _LIST.search(aim.text)) and len(aim.subjects) > 1:
        made += _onto_list(place, found[1])
    else:
        made += _form(place)
        made += _towards(place)
    return made


def _closing(place: Place) -> tuple[str, ...]:
    return (f"aim:{place.number}",)


def _onto_list(place: Place, kind: str) -> list[Proposal]:
    """The entry of the list's name where it shows, else what opens the choice."""
    aim = place.aim
    thing, target = aim.subjects[0], aim.subjects[-1]
    if not place.about(thing):
        return []
    for one in place.pressed:
        if names(one.name, target) and meaning(one.name)[:1] != meaning(target)[:1]:
            return [_press(one, f"puts it on {target}", CERTAIN, _closing(place))]
    for one in place.pressed:
        if says(one.name, f"add to {kind.strip()}"):
            return [_press(one, f"offers the {kind.strip()}s", LIKELY)]
    return []


def _buttons(place: Place) -> list[Element]:
    return [one for one in place.pressed if one.role in ("button", "link") and one.name]


def _press(one: Element, why: str, score: float, marks: tuple[str, ...] = ()) -> Proposal:
    return Proposal(command=Click(one.index, label=one.name), score=score, reason=why, marks=marks)


# forms


def _form(place: Place) -> list[Proposal]:
    """Fill in one field after the other, then send the form."""
    memory = place.view.memory
    if not _right_page(place):
        return []
    pairs = place.aim.pairs
    if not pairs:
        return _by_verb(place)
    form = memory.values.get(f"form:{place.number}", "")
    found = [(n, name, value, _place_for(place, name, value, form)) for n, (name, value) in enumerate(pairs)]
    left = [one for one in found if f"set:{place.number}:{one[0]}" not in memory.marks]
    missing = [one for one in left if one[3] is None]
    if missing and len(missing) * 2 > len(pairs):
        return []
    for number, name, value, spot in left:
        if spot is None:
            continue
        return _fill(place, spot, name, value, f"set:{place.number}:{number}")
    if missing:
        return []
    return _send(place, form)


def _right_page(place: Place) -> bool:
    """A form may be filled in on the page of its thing, or where the task names none."""
    aim = place.aim
    if not aim.subjects:
        return True
    return any(place.about(name) for name in aim.subjects) or f"at:{place.number}" in place.view.memory.marks


def _place_for(place: Place, name: str, value: str, form: str) -> Element | None:
    """The field that a value goes into, in the form that was begun."""
    among = (
        [one for one in place.fields if one.form == form]
        if form
        else [one for one in place.fields if one.form.startswith("post") or not one.form]
    )
    if value.casefold() not in _SWITCHED:
        among = [one for one in among if one.role not in ("checkbox", "radio", "switch")]
    short = name.split(" ")[-1]
    field = place.field_for(name, 0.6, among)
    if field is None and name in ("name", "title", "text", "note", "code", "message", "comment"):
        texts = [one for one in among if one.role == "textbox" and not one.value]
        field = texts[0] if len(texts) == 1 else None
    if field is None and short != name:
        field = place.field_for(short, 0.75, among)
    return field or _rating(place, name)


def _fill(place: Place, field: Element, name: str, value: str, mark: str) -> list[Proposal]:
    """Put a value into a field by its kind."""
    why = f"{name} is to be {value}"
    keeps = ((f"form:{place.number}", field.form),)
    if field.options:
        option = next((one for one in field.options if plain(one) == plain(value)), "")
        option = option or next((one for one in field.options if says(one, value)), "")
        if not option:
            return []
        return [
            Proposal(
                command=Select(field.index, (option,)),
                score=LIKELY + 0.08,
                reason=why,
                marks=(mark,),
                keeps=keeps,
            )
        ]
    if field.role in ("checkbox", "switch", "radio"):
        on = value.casefold() not in ("no", "off", "false", "0", "unchecked")
        return [
            Proposal(
                command=SetChecked(field.index, on),
                score=LIKELY + 0.08,
                reason=why,
                marks=(mark,),
                keeps=keeps,
            )
        ]
    if field.role in ("combobox", "listbox") and field.tag not in ("input", "textarea"):
        # a list of the page's own making: the hand opens it and chooses
        command = Select(field.index, (value,))
        return [Proposal(command=command, score=LIKELY + 0.08, reason=why, marks=(mark,), keeps=keeps)]
    if stars := stars_of(place, field):
        if value.isdigit() and 0 < int(value) <= len(stars):
            command = Click(stars[int(value) - 1])
            return [Proposal(command=command, score=LIKELY + 0.08, reason=why, marks=(mark,), keeps=keeps)]
        return []
    return [
        Proposal(
            command=TypeText(field.index, value), score=LIKELY + 0.08, reason=why, marks=(mark,), keeps=keeps
        )
    ]


def stars_of(place: Place, field: Element) -> tuple[int, ...]:
    """The stars of a rating that a field stands for, from the lowest; empty for any other field."""
    return next((ids for _, ids in place.facts.ratings if field.index in ids), ())


def _rating(place: Place, name: str) -> Element | None:
    """The first star of the rating that is called like this."""
    for label, ids in place.facts.ratings:
        if fits(name, label) >= 0.6:
            return place.view.page.elements[ids[0]]
    return None


def _send(place: Place, form: str) -> list[Proposal]:
    """Press the button that sends what was filled in."""
    aim = place.aim
    said = [aim.verb, *meaning(aim.things), *(word for name, _ in aim.pairs for word in meaning(name))]
    button = submit_of(place, form, ["save", *said], avoid=("search",))
    if button is None:
        return []
    return [
        Proposal(
            command=Click(button.index, label=button.name),
            score=LIKELY + 0.07,
            reason="everything is filled in",
            key=f"send:{place.number}",
            marks=_closing(place),
        )
    ]


def _by_verb(place: Place) -> list[Proposal]:
    """``Approve`` sets the option ``Approved``; else a button of that name."""
    aim, memory = place.aim, place.view.memory
    mark = f"set:{place.number}:verb"
    form = memory.values.get(f"form:{place.number}", "")
    if mark in memory.marks:
        return _send(place, form)
    for field in place.fields:
        for option in field.options:
            if any(forms(word) & forms(aim.verb) for word in meaning(option)) and field.form.startswith(
                "post"
            ):
                if plain(field.value) == plain(option):
                    continue
                return [
                    Proposal(
                        command=Select(field.index, (option,)),
                        score=LIKELY + 0.08,
                        reason=f"{aim.verb} is to set it to {option}",
                        marks=(mark,),
                        keeps=((f"form:{place.number}", field.form),),
                    )
                ]
    done = f"{aim.verb}d" if aim.verb.endswith("e") else f"{aim.verb}ed"
    for field in place.fields:
        made_up = field.role == "combobox" and not field.options and field.form.startswith("post")
        if made_up and fits("status", place.label_of(field)) >= 0.7 and plain(field.value) != done:
            return [
                Proposal(
                    command=Select(field.index, (done.capitalize(),)),
                    score=LIKELY + 0.08,
                    reason=f"{aim.verb} is to set it to {done}",
                    marks=(mark,),
                    keeps=((f"form:{place.number}", field.form),),
                )
            ]
    for one in _buttons(place):
        said = meaning(one.name)
        if said and forms(said[0]) & forms(aim.verb) and fits(aim.things, one.name) > 0.3:
            return [_press(one, f"{aim.verb}s it", LIKELY, _closing(place))]
    return []


def _towards(place: Place) -> list[Proposal]:
    """On the page of the thing: the tab or link that promises the form; with no thing: what makes a new one."""
    aim = place.aim
    made: list[Proposal] = []
    at_thing = any(place.about(name) for name in aim.subjects)
    if aim.subjects and not at_thing:
        return _narrowing(place)
    wanted = " ".join(dict.fromkeys([aim.things, *(name for name, _ in aim.pairs)])).strip()
    for one in place.pressed:
        if not one.name or one.submits or len(meaning(one.name)) > 6:
            continue
        if any(mark.split(":")[0] == "toolbar" for mark in one.landmarks):
            continue
        said = meaning(one.name)
        promise = max(
            (fits(name, one.name) for name in (aim.things, *(name for name, _ in aim.pairs)) if name),
            default=0.0,
        )
        new = any(alike(word, verb) == 1.0 for word in said for verb in _NEW)
        if aim.verb in _NEW and new and aim.things and fits(aim.things, one.name) >= 0.7:
            promise = 1.2
        elif aim.verb in ("change", "edit", "update", "rename", "set") and any(
            alike(word, "edit") for word in said
        ):
            promise = max(promise, 0.4) + 0.3
        if one in place.sections and at_thing:
            promise += 0.3 if promise >= 0.3 else 0.0
        if promise >= 0.4 and (at_thing or promise >= 0.7):
            score = 0.5 + 0.25 * min(1.2, promise)
            key = f"towards:{place.path}:{one.name}"
            if place.view.memory.done.get(key, 0) == 0 and not (one.href and one.href == place.view.page.url):
                made.append(
                    Proposal(
                        command=Click(one.index, label=one.name),
                        score=score,
                        reason=f'"{one.name}" may lead to {wanted}',
                        key=key,
                    )
                )
    made.sort(key=lambda one: -one.score)
    return made[:4]


def _narrowing(place: Place) -> list[Proposal]:
    """A list with several things of a name is narrowed by the conditions first."""
    mark = f"filtered:{place.number}"
    if mark in place.view.memory.marks or not wishes(place) or not place.facts.grids:
        return []
    kinds: Sequence[str] = [kind_sought(place.aim, name) for name in place.aim.subjects]
    if not any(fits(kind, head) >= 0.7 for kind in kinds if kind for head in place.heads):
        return []
    return filter_steps(place, wishes(place), mark)
