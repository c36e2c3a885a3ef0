"""Finding the way on a site: what tips name, what links and menus promise, a search box, the graph of the site.

Information scent: a link is worth following when its words are those of the task, or ones that sites use for them.
"""

from __future__ import annotations

from urllib.parse import unquote_plus, urlsplit

from app.engine.agent.scout.aim_words import IDLE
from app.engine.agent.scout.aims import Aim, Goal, goal_words
from app.engine.agent.scout.allowed import refusal
from app.engine.agent.scout.answering import kind_sought, sought
from app.engine.agent.scout.grounding import plain
from app.engine.agent.scout.place import Place, opener
from app.engine.agent.scout.skill import LIKELY, Proposal
from app.engine.agent.scout.wording import alike, fits, meaning
from app.engine.core.actions.types import Click, GoBack, Goto, Navigate, TypeText
from app.engine.core.page_state import Element

_NAVIGATE, _SCENT, _EXPLORE = 0.6, 0.3, 0.16
MOST_PARTS = 14
NAMELESS = "product"
"""What a thing is taken for that the task names without its kind: it is what most sites list."""
_MENU = frozenset({"haspopup", "collapsed"})


def ways(place: Place) -> list[Proposal]:
    """Ways on, the likeliest first."""
    return [
        *to_the_thing(place),
        *_within(place),
        *by_scope(place),
        *_the_only_row(place),
        *by_graph(place),
        *by_scent(place),
        *_around(place),
        *_back(place),
    ]


def to_the_thing(place: Place) -> list[Proposal]:
    """The link or row of the thing that is sought; else a search for it."""
    name = sought(place)
    if not name or place.about(name):
        return []
    made: list[Proposal] = []
    link = place.link_to(name)
    if link is not None and not refusal(link, place.view):
        made.append(_follow(place, link, f"leads to {name}", 0.86, times=2))
    else:
        made += _only_result(place, name)
    made += by_search(place, name, kind_sought(place.aim, name))
    return made


def _only_result(place: Place, name: str) -> list[Proposal]:
    """A search that finds one thing by a number of it does not repeat the number: that thing is looked at."""
    rows = [row for grid in place.facts.grids for row in grid.rows]
    if (
        f"searched:{name}" not in place.view.memory.marks
        or len(rows) != 1
        or name not in unquote_plus(place.view.page.url)
    ):
        return []
    link = next((one for one in rows[0].controls if one.role == "link" and one.name), None)
    if link is None:
        return []
    return [_follow(place, place.view.page.elements[link.index], f"is all that is found for {name}", 0.84)]


def _the_only_row(place: Place) -> list[Proposal]:
    """Where the page lists one thing of the kind asked about and does not tell the value: the thing itself."""
    aim = place.aim
    if aim.goal is not Goal.VALUE or aim.subjects or not aim.things:
        return []
    if not any(fits(aim.things, head) >= 0.7 for head in place.heads):
        return []
    for grid in place.facts.grids:
        opened = opener(grid.rows[0], "") if len(grid.rows) == 1 else None
        if opened is not None:
            link = place.view.page.elements[opened]
            return [_follow(place, link, f"opens the only {aim.things} there is", 0.7)]
    return []


def _within(place: Place) -> list[Proposal]:
    """On the page of the thing: the part of it that promises what is asked."""
    name = sought(place)
    if not name or not place.about(name):
        return []
    found = [(scent(place, one), one) for one in place.sections]
    return [
        _follow(place, one, f'"{one.name}" is a part of this page', 0.7 + 0.2 * promise)
        for promise, one in found
        if promise > 0.2
    ]


def by_scope(place: Place) -> list[Proposal]:
    """The part of the site that the task names."""
    kind, name = place.aim.scope
    if not name:
        return []
    if kind == "search":
        return by_search(place, name, "")
    made: list[Proposal] = []
    for one in place.pressed:
        if plain(one.name) == plain(name):
            made.append(_follow(place, one, f"is the {kind} {name}", LIKELY))
            break
    return made


def by_search(place: Place, name: str, kind: str) -> list[Proposal]:
    """Type the name of a thing into the field made for it, and send it off."""
    best: Element | None = None
    score = 0.0
    for one in place.fields:
        if (
            one.role not in ("textbox", "searchbox")
            or one.form.startswith("post")
            or one.type in ("date", "password")
        ):
            continue
        label = place.label_of(one)
        found = _search_fit(label, name, kind, one)
        if found > score:
            best, score = one, found
    if best is None:
        return []
    key = f"search:{best.form or place.path}:{best.name}:{name}"
    if place.view.memory.done.get(key, 0):
        return []
    return [
        Proposal(
            command=TypeText(best.index, name, enter=True),
            score=0.55 + 0.2 * score,
            reason=f"searches for {name}",
            key=key,
            marks=(f"searched:{name}",),
        )
    ]


def _search_fit(label: str, name: str, kind: str, field: Element) -> float:
    said = meaning(label)
    if not said:
        return 0.3 if field.role == "searchbox" else 0.0
    numeric = name.replace("-", "").isdigit()
    if kind and fits(kind, label) >= 0.65:
        # "order number" for an order, "customer name" for a customer
        return 0.95 if numeric == any(word in ("number", "no", "id", "upc", "sku") for word in said) else 0.6
    if "search" in said or "keyword" in said or field.role == "searchbox":
        return 0.35 if numeric and kind else 0.7  # a search of everything seldom finds the number of a thing
    if not numeric and any(word in ("title", "name") for word in said) and len(said) <= 2:
        return 0.75 if "email" not in said else 0.0
    if numeric and any(word in ("number", "id", "upc", "sku", "code") for word in said):
        return 0.35
    return 0.0


def by_graph(place: Place) -> list[Proposal]:
    """Be taken to the page that the task speaks of, where the site has a graph."""
    if not place.view.sight.domains:
        return []
    query = page_query(place.aim)
    key = f"navigate:{query}"
    if not query or place.view.memory.done.get(key) or place.view.memory.failed.get(key):
        return []
    here = urlsplit(place.view.page.url).netloc
    domains = place.view.sight.domains
    domain = next((one for one in domains if urlsplit(one.home).netloc == here), domains[0])
    return [
        Proposal(
            command=Navigate(domain=domain.name, query=query),
            score=_NAVIGATE,
            reason=f"the graph may know a page for: {query}",
            key=key,
        )
    ]


def page_query(aim: Aim) -> str:
    """What the page is for, in words without the names of things."""
    text = aim.text
    for name in (
        *aim.subjects,
        *(value for _, value in aim.pairs),
        *(value for kind, value in aim.conditions if kind),
    ):
        text = text.replace(f'"{name}"', " ").replace(name, " ")
    said = [word for word in meaning(text) if word not in IDLE and not word.isdigit()]
    if aim.scope[1] and aim.scope[0] != "search":
        said.append(aim.scope[1])
    return " ".join(said[:12])


def scent(place: Place, element: Element) -> float:
    """How much the name of a link or menu promises, in [0, 1]."""
    said = meaning(element.name)
    if not said or len(said) > 7:
        return 0.0
    weights = _weights(place)
    total = 0.0
    for word in said:
        total += max((alike(word, wanted) * weight for wanted, weight in weights.items()), default=0.0)
    return min(1.0, total / max(1.0, len(said) ** 0.5) / 1.4)


def _weights(place: Place) -> dict[str, float]:
    """Words of the task by how much they tell of where it may be met."""
    aim = place.aim
    weights: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for word in meaning(text):
            weights[word] = max(weights.get(word, 0.0), weight)

    for word in goal_words(aim):
        add(word, 0.5)
    for other in place.aims:
        for word in goal_words(other):
            add(word, 0.5)
    add(aim.field, 0.8)
    add(aim.things, 1.0)
    for name in aim.subjects:
        add(kind_sought(aim, name) or NAMELESS, 0.9 if kind_sought(aim, name) else 0.6)
    for name, _ in aim.pairs:
        add(name, 0.8)
    if aim.goal is Goal.CHANGE:
        add(aim.verb, 0.7)
    if aim.mine:
        add("account", 0.7)
    return weights


def by_scent(place: Place) -> list[Proposal]:
    """Links whose names promise it, menus that may hide one that does, and what has not been looked into."""
    made: list[Proposal] = []
    inside = _row_controls(place)
    for one in place.pressed:
        if (
            one.submits
            or one.type == "submit"
            or one.index in inside
            or not one.name
            or refusal(one, place.view)
        ):
            continue
        if (
            not one.href
            and one.role == "link"
            and place.about(sought(place)) is False
            and not _MENU & set(one.states)
        ):
            promise = scent(place, one) * 0.8
        else:
            promise = scent(place, one)
        opens = bool(_MENU & set(one.states))
        if one.role == "button" and not opens and (promise < 0.25 or one.form.startswith("post")):
            continue
        score = (
            _SCENT + 0.34 * promise if promise > 0.2 else (_EXPLORE if opens and _in_navigation(one) else 0.0)
        )
        if not score:
            continue
        if promise <= 0.2:
            # a menu that promises nothing is looked into once, wherever it stands
            key = f"open:{one.role}:{one.name}"
            if not place.view.memory.done.get(key):
                why = f'"{one.name}" may hide it'
                made.append(
                    Proposal(command=Click(one.index, label=one.name), score=score, reason=why, key=key)
                )
            continue
        made.append(_follow(place, one, f'"{one.name}" may lead there', score))
    made.sort(key=lambda one: -one.score)
    return made[:12]


def _row_controls(place: Place) -> set[int]:
    """Links of rows: each leads to one thing of many, so only its name counts."""
    return {
        control.index
        for grid in place.facts.grids
        for row in grid.rows
        for control in row.controls
        if len(grid.rows) > 1
    }


def _in_navigation(one: Element) -> bool:
    return any(mark.split(":")[0] in ("navigation", "banner", "menubar") for mark in one.landmarks)


def _follow(
    place: Place,
    element: Element,
    why: str,
    score: float,
    *,
    followed: tuple[tuple[str, bool], ...] = (),
    times: int = 1,
    marks: tuple[str, ...] = (),
) -> Proposal:
    """Press a link or menu, not more than so many times; a menu again on each page."""
    address = urlsplit(element.href)
    where = (
        address._replace(scheme="", netloc="").geturl()
        if element.href and not element.href.endswith("#")
        else ""
    )
    key = f"go:{where}" if where else f"press:{place.path}:{element.role}:{element.name}"
    worn = place.view.memory.done.get(key, 0) >= times or (
        where and address.path == place.path and not address.query and not address.fragment
    )
    return Proposal(
        command=Click(element.index, label=element.name),
        score=0.0 if worn else score,
        reason=why,
        key=key,
        marks=marks,
        followed=followed,
    )


def _around(place: Place) -> list[Proposal]:
    """Where nothing promises anything: the few main parts of the site, each once, and out of a dialog."""
    made: list[Proposal] = []
    if len(place.shown) < len(place.view.shown):
        shut = next(
            (one for one in place.pressed if one.name.casefold() in ("close", "×", "x", "cancel")), None
        )
        if shut is not None:
            made.append(_follow(place, shut, "nothing in the dialog helps", 0.15))
    parts = [
        one for one in place.pressed if one.role == "link" and one.href and _in_navigation(one) and one.name
    ]
    here = urlsplit(place.view.page.url).netloc
    for one in parts if len(parts) <= MOST_PARTS else ():
        if urlsplit(one.href).netloc == here and not refusal(one, place.view):
            made.append(_follow(place, one, f'"{one.name}" is a main part of the site', 0.13))
    return made


def _back(place: Place) -> list[Proposal]:
    """Where nothing promises anything: where the run began, then back."""
    view = place.view
    start = view.sight.history[0].url if view.sight.history else view.sight.start_url
    if (
        urlsplit(start).path.rstrip("/") != place.path.rstrip("/")
        and view.memory.done.get("goto:start", 0) < 1
    ):
        return [
            Proposal(
                command=Goto(start), score=0.12, reason="nothing here promises anything", key="goto:start"
            )
        ]
    if len(view.sight.history) > 1 and view.memory.done.get("back", 0) < 1:
        return [Proposal(command=GoBack(), score=0.05, reason="nothing here promises anything", key="back")]
    return []
