"""The way to the page a task speaks of: how well the page in front fits it, and which step promises a better one.

Links, menus, the site's own search, the map and pages seen before are compared by one score
(``app.engine.agent.scout.terms``), so "arrived" means that nothing promises more (after WebNavigator, section 3.2: a
choice over the whole site and not only over the page in front).  Only what reads is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from app.engine.agent.scout.likeness import fits, holds, plain, words
from app.engine.agent.scout.link_prior import Matrix, link_features, link_priors
from app.engine.agent.scout.memory import Known, Memory, ScoutStep
from app.engine.agent.scout.ordering import is_sort_control
from app.engine.agent.scout.page_context import PageContext, is_aside, landmark_roles, page_key, segments_of
from app.engine.agent.scout.terms import (
    ABOUT,
    Evidence,
    Term,
    Terms,
    best_of,
    evidence,
    page_evidence,
    path_words,
    score,
    subject_evidence,
    weighed_evidence,
)
from app.engine.agent.write_gate.action_risk import assess_risk, press_risk
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.actions.types import Action, Click, Goto, Navigate, TypeText
from app.engine.core.addresses import split_address
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture

ARRIVED = 0.85
"""Evidence of each name from which on a page may be the page of the task."""
NAMED_LINK, LINK_PATH, LINK_ROW, OTHER_ROW = 0.95, 0.7, 0.6, 0.4
"""Weight of what a link says by where it says it; ``OTHER_ROW``: of a row of a list that has no name of the task."""
KEPT_BELOW, KEPT_BESIDE, KEPT_ELSEWHERE, KEPT_IN_FRAME = 0.9, 0.65, 0.3, 0.2
"""Share of what the page in front shows that a link keeps: into it, beside it, elsewhere, by the site's menu."""
FOUND_BY_SEARCH = 0.8
"""Evidence of a name that a search for it promises."""
BY_MAP = 0.78
MENU_CHANCE = 0.04
UNSEEN = 0.14
"""Promise of a main part of the site that nobody has looked at, while no page shows the names of the task."""
_PLACES = frozenset({"login", "cart"})
"""Senses whose words name a place of the site: ``Basket``."""
_LONGEST_COMMAND = 4
LEAST_LATE = 0.3
"""What a page must promise after many pages that fitted no better than one before."""
UNSEEN_KIND, LEAST_KIND = 0.06, 0.55
"""What it promises besides where its name says the kind of thing; evidence of such a word."""
FAR_AWAY = 0.04
"""What a page that has to be gone back to must promise more."""
_READING = frozenset({RiskClass.READS, RiskClass.EDITS})
_MOST_KNOWN, _LONGEST_QUERY, _LEAST_LABEL, _MOST_IDLE = 400, 300, 0.6, 6
_AIMLESS = frozenset(
    {"random", "logout", "signout", "download", "export", "csv", "next", "previous", "rss", "atom"}
)
_LISTING = frozenset({"list", "all", "index", "browse", "directory", "overview"})
_PEOPLE = frozenset(
    {"user", "users", "people", "persons", "members", "contacts", "accounts", "team", "staff"}
)
_FORM_VERBS = (("edit",), ("modify",), ("change",), ("manage",), ("new",), ("create",))
_FILTERING = frozenset({"search", "filter", "filters", "advanced"})
FILTER_PAGE = 0.45
"""Evidence of each word of the task that a page for searching promises."""
_STATIC = (".pdf", ".zip", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".css", ".js", ".xml", ".rss", ".atom", ".csv",
           ".ics", ".epub", ".gz", ".mbox", ".json", ".txt")  # fmt: skip


class Wayfinder:
    """Ways on from one page for the terms of one part."""

    def __init__(self, terms: Terms, context: PageContext, memory: Memory, observation: Observation) -> None:
        self.terms, self.context, self.memory, self._seen = terms, context, memory, observation
        applied = memory.applied.get(context.key, ())
        inside = self._containers()
        own = page_evidence(terms, context, memory.searched, applied)
        self.here: Evidence = _with_passed(terms, best_of(own, inside), memory)
        told = subject_evidence(terms, context, memory.searched, applied)
        self.told: Evidence = best_of(told, inside)
        self.fit = score(terms, self.here)
        key = context.key
        memory.fits[key] = max(memory.fits.get(key, 0.0), self.fit)
        memory.urls[key] = context.page.url
        memory.known.pop(key, None)

    def _containers(self) -> Evidence:
        """Evidence of what the page belongs to: pages seen before whose address its own begins with."""
        path, known = self.context.path.rstrip("/"), self.memory.containers
        if path and not self.context.is_search_result:
            said = evidence(self.terms, self.context.subject, KEPT_BELOW)
            known[path] = {
                term.text: (ABOUT if self.context.is_about(term.text) else 0.0) if term.is_name else one
                for term, one in zip(self.terms, said, strict=True)
            }
        above = [shown for at, shown in known.items() if path.startswith(f"{at}/")]
        return tuple(max((shown.get(term.text, 0.0) for shown in above), default=0.0) for term in self.terms)

    @property
    def names_shown(self) -> bool:
        """Whether the page is about every name of the task."""
        return all(one >= ARRIVED for term, one in zip(self.terms, self.here, strict=True) if term.is_name)

    @property
    def is_kind(self) -> bool:
        """Whether the page calls itself what is wanted, where the names only say whose that is."""
        if any(term.is_name and not term.is_owner for term in self.terms):
            return True
        kinds = [(term, one) for term, one in zip(self.terms, self.told, strict=True) if not term.is_name]
        told = sum(term.weight * one for term, one in kinds)
        return not kinds or told >= LEAST_TOLD * sum(term.weight for term, _ in kinds)

    @property
    def share(self) -> float:
        """Share of what the site has shown of the terms so far that the page shows: other words tell nothing."""
        known = self.memory.shown
        for shown in (self.here, *(named for named, _ in self._likeness)):
            for term, one in zip(self.terms, shown, strict=True):
                known[term.text] = max(known.get(term.text, 0.0), one)
        return self.fit / max(score(self.terms, [known[term.text] for term in self.terms]), 1e-6)

    @property
    def has_names(self) -> bool:
        """Whether the task names anything."""
        return any(term.is_name for term in self.terms)

    def steps(self, floor: float, *, within: bool = False) -> list[ScoutStep]:
        """Return steps that promise a page, the best first; of links only those that promise more than ``floor``.

        ``within`` keeps to what belongs to the page in front: its parts and what lies below it.
        """
        found = [*self._links(floor, within=within), *self._menus()]
        if not within:
            found += [*self._searches(), *self._map(), *self._known_elsewhere(floor)]
        found.sort(key=lambda one: -one.score)
        return [one for one in found if not self.memory.worn_out(one)]

    def best(self, floor: float, *, within: bool = False) -> ScoutStep | None:
        """Return the best harmless step that promises more than ``floor``."""
        if self.memory.idle_pages >= _MOST_IDLE:
            floor = max(floor, LEAST_LATE)
        for step in self.steps(floor, within=within):
            if step.score <= floor:
                return None
            if is_harmless(step.action, self._seen):
                return step
            self.memory.failed[step.key] = self.memory.failed.get(step.key, 0.0) + 2
        return None

    # links

    def _links(self, floor: float, *, within: bool) -> Iterator[ScoutStep]:
        visible = {one.index for one in self.context.shown}
        best: dict[str, tuple[float, Element]] = {}
        # The page in front fits when only what belongs to it is wanted: then nothing but fit counts.
        priors = [0.0] * len(self.context.links) if within else link_priors(self.link_features()).tolist()
        for one, like, prior in zip(self.context.links, self._likeness, priors, strict=True):
            key = page_key(one.href)
            if key in self.memory.fits or not self._may_lead(one):
                continue
            promise = self._promise(one, like) + prior
            if key not in best or promise > best[key][0]:
                best[key] = (promise, one)
        for key, (promise, one) in best.items():
            self._remember(key, one, promise)
        self.memory.forget_worst(_MOST_KNOWN)
        for key, (promise, one) in best.items():
            if promise <= floor or (within and self.kept(one) < KEPT_BESIDE):
                continue
            seen = one.index in visible
            yield ScoutStep(
                action=Click(one.index, label=one.name) if seen else Goto(one.href),
                reason=f'"{_short(one.name)}" leads on',
                key=f"link:{key}",
                score=promise,
                leads_to=key,
            )

    def _may_lead(self, one: Element) -> bool:
        if one.index in self.context.sort_controls:
            return False
        if one.name in self.memory.dead or not name_of(one) or is_sort_control(name_of(one)):
            return False
        aimless = _is_aimless(one.name, split_address(one.href).path)
        return not aimless and _is_harmless_press(one, one.name, self.context.page)

    @cached_property
    def _likeness(self) -> list[tuple[Evidence, Evidence]]:
        """Return what name and path of each link show of the terms."""
        return [
            (
                weighed_evidence(self.terms, (name_of(one),), NAMED_LINK),
                evidence(self.terms, (path_words(one.href),), LINK_PATH),
            )
            for one in self.context.links
        ]

    def link_features(self) -> Matrix:
        """Return what the prior of the page's links rests on, one row a link."""
        return link_features(self.context, self.terms, self.here, self._likeness)

    def _promise(self, one: Element, like: tuple[Evidence, Evidence]) -> float:
        name = name_of(one)
        row = self.context.row_text(one)
        named = like[0]
        said = best_of(*like, evidence(self.terms, (row,), LINK_ROW))
        same = split_address(one.href).path == self.context.path
        kept = self.kept(one) if not same or any(named) else 0.0
        said_words = words(name)
        filters = (
            FILTER_PAGE
            if _FILTERING & set(said_words) and len(said_words) < 4 and len(self.terms) > 1
            else 0.0
        )
        of_row = row and not any(
            term.is_name and mine >= LINK_ROW and here < ARRIVED
            for term, mine, here in zip(self.terms, said, self.here, strict=True)
        )
        joined = tuple(
            max(mine * (OTHER_ROW if of_row else 1.0), kept * here, 0.0 if term.is_name else filters)
            for term, mine, here in zip(self.terms, said, self.here, strict=True)
        )
        return max(score(self.terms, joined), self._chance(one, name, named))

    def _chance(self, one: Element, name: str, named: Evidence) -> float:
        """Return what a main part of the site promises while nothing shows the names; lists of things promise more."""
        said = set(words(name))
        if self.names_shown and self.has_names:
            return 0.0
        kind = max((mine for term, mine in zip(self.terms, named, strict=True) if term.is_kind), default=0.0)
        if kind >= LEAST_KIND and not self.context.row_text(one):
            return UNSEEN + UNSEEN_KIND * kind
        if not is_aside(one) or words(name)[:1] in _FORM_VERBS:
            return 0.0
        listed = _LISTING & said
        people = _PEOPLE & said and any(_is_person(term) for term in self.terms)
        return UNSEEN + (0.01 if listed else 0.0) + (0.02 if people else 0.0)

    def kept(self, one: Element) -> float:
        """Return the share of what the page in front shows that a link keeps, by its address, in [0, 1]."""
        ours, theirs = segments_of(self.context.address.path), segments_of(split_address(one.href).path)
        if ours and theirs[: len(ours)] == ours and (len(theirs) > len(ours) or not is_aside(one)):
            return KEPT_BELOW
        shared = sum(1 for a, b in zip(ours, theirs, strict=False) if a == b)
        if len(ours) > 1 and shared >= len(ours) - 1:
            return KEPT_BESIDE
        return KEPT_IN_FRAME if is_aside(one) else KEPT_ELSEWHERE

    def _remember(self, key: str, one: Element, promise: float) -> None:
        known = self.memory.known
        if key in known and known[key].score >= promise:
            return
        known[key] = Known(one.href, promise, one.name)

    def _known_elsewhere(self, floor: float) -> Iterator[ScoutStep]:
        here = {page_key(one.href) for one in self.context.links}
        for key, one in self.memory.known.items():
            if one.score - FAR_AWAY > floor and key not in here and key not in self.memory.fits:
                yield ScoutStep(
                    action=Goto(one.url),
                    reason=f'"{_short(one.name)}", seen before, leads on',
                    key=f"link:{key}",
                    score=one.score - FAR_AWAY,
                    leads_to=key,
                )

    # menus, search, map

    def _menus(self) -> Iterator[ScoutStep]:
        for one in self.context.menus:
            said = evidence(self.terms, (one.name,), NAMED_LINK)
            gain = (
                score(self.terms, tuple(max(a, b) for a, b in zip(said, self.here, strict=True))) - self.fit
            )
            yield ScoutStep(
                action=Click(one.index, label=one.name),
                reason=f'"{_short(one.name)}" may hide it',
                key=f"menu:{self.context.path}:{one.role}:{one.name}",
                score=self.fit + gain + MENU_CHANCE
                if gain > 0 or not is_aside(one)
                else self.fit * 0.5 + MENU_CHANCE,
            )

    def _searches(self) -> Iterator[ScoutStep]:
        for term in self._sought():
            field = self._field_for()
            if field is None or term.text in self.memory.searched:
                continue
            kept = KEPT_IN_FRAME if is_aside(field) else KEPT_BELOW
            joined = tuple(
                FOUND_BY_SEARCH if one is term else max(kept * here, 0.2)
                for one, here in zip(self.terms, self.here, strict=True)
            )
            yield ScoutStep(
                action=TypeText(field.index, term.text[:_LONGEST_QUERY], enter=True),
                reason=f"searches for {term.text}",
                key=f"search:{field.form or self.context.path}:{field.name}:{term.text}",
                score=score(self.terms, joined),
                marks=(f"searched:{term.text}",),
            )

    def _sought(self) -> Sequence[Term]:
        """The names that the page is not about; without names the words of the task as one query."""
        names = [
            term for term, one in zip(self.terms, self.here, strict=True) if term.is_name and one < ARRIVED
        ]
        return sorted(names, key=lambda term: -len(term.text))[:3]

    def _field_for(self) -> Element | None:
        fields = self.context.search_fields
        if not fields:
            return None
        kinds = [word.text for word in self.terms if not word.is_name]
        named = [max((fits(kind, one.label) for kind in kinds), default=0.0) for one in fields]
        best = max(range(len(fields)), key=lambda at: named[at])
        return fields[best if named[best] >= _LEAST_LABEL else 0].element

    def _map(self) -> Iterator[ScoutStep]:
        domains = self._seen.domains
        query = " ".join((*(term.text for term in self.terms),))[:_LONGEST_QUERY]
        if not domains or not query:
            return
        home = next(
            (one for one in domains if split_address(one.home).netloc == self.context.address.netloc),
            domains[0],
        )
        joined = tuple(max(BY_MAP, here * KEPT_IN_FRAME) for here in self.here)
        yield ScoutStep(
            action=Navigate(domain=home.name, query=query),
            reason=f"the map may know a page for: {query}",
            key="map",
            score=score(self.terms, joined) if not self.names_shown or self.fit < 0.5 else 0.0,
        )


@lru_cache(maxsize=16_384)
def _is_aimless(name: str, path: str) -> bool:
    """Whether name or path of a link tell that it leads to no page of a thing."""
    said = (*words(name), *words(path))
    return not _AIMLESS.isdisjoint(said) or path.lower().endswith(_STATIC) or "sign out" in plain(name)


def _with_passed(terms: Terms, here: Evidence, memory: Memory) -> Evidence:
    """Return the evidence of a page, in full for places on the way that a page before it was about."""
    memory.passed |= {
        term.text for term, one in zip(terms, here, strict=True) if term.on_the_way and one >= ARRIVED
    }
    return tuple(
        max(one, ARRIVED) if term.text in memory.passed else one
        for term, one in zip(terms, here, strict=True)
    )


def is_harmless(action: Action, observation: Observation) -> bool:
    """Whether an action only looks: its risk is that of reading and its control says no verb of changing."""
    if isinstance(action, TypeText):
        return True  # a search field; what is not sent by GET is not offered
    page = observation.page
    if isinstance(action, Click):
        target = next((one for one in page.elements if one.index == action.element), None)
        if target is not None:
            return _is_harmless_press(target, action.label, page)
        if _commands_change(words(action.label)):
            return False
    return assess_risk(action, page).risk in _READING


def _is_harmless_press(one: Element, label: str, page: PageCapture) -> bool:
    """Whether pressing an element only looks; a link to a form does, nothing is written there yet."""
    said = words(label)
    opens_form = said[:1] in _FORM_VERBS and bool(one.href) and not one.submits
    return (opens_form or not _commands_change(said)) and press_risk(one, page).risk in _READING


def _commands_change(said: Sequence[str]) -> bool:
    """Whether a label of few words commands a change: it begins with the bare form of a verb, not with a plural.

    ``Orders`` and ``Bookings`` name a list, ``Basket`` a place, ``Order`` may be a command.
    """
    if not said or len(said) > _LONGEST_COMMAND:
        return False
    is_bare = said[0].endswith("ss") or not said[0].endswith(("s", "ing"))
    return is_bare and not senses_of(said[:1]) <= _PLACES


def arrived(finder: Wayfinder) -> str:
    """Return the evidence that the page in front is the one that is wanted, "" where it is not enough."""
    shown = [term.text for term, one in zip(finder.terms, finder.here, strict=True) if one >= 0.6]
    if not (finder.names_shown and finder.is_kind and finder.fit >= LEAST_FIT and finder.share >= LEAST_SHOWN):
        return ""
    title = next((text for text in finder.context.subject if text), finder.context.path)
    return f'"{_short(title)}" shows {", ".join(shown[:6])}'


LEAST_SHOWN = 0.85
"""Share of what the site has shown of the terms so far from which on a page may be the one that is wanted."""
LEAST_TOLD = 0.4
"""Share of the words of a task that the page of a thing without a name calls itself by."""
LEAST_FIT = 0.5
"""Score from which on a page may be the one that is wanted."""


def turn_page(context: PageContext) -> ScoutStep | None:
    """Return the step to the next page of a list."""
    one = context.next_page
    if one is None:
        return None
    return ScoutStep(
        action=Click(one.index, label=one.name),
        reason="the list goes on",
        key=f"page:{context.key}",
        score=1.0,
    )


def link_to(context: PageContext, name: str) -> Element | None:
    """Return the link called like a thing: exactly, else holding its name; links of the site's frame last."""
    best: tuple[int, Element] | None = None
    for one in context.links:
        exact = plain(one.name) == plain(name)
        if not exact and not holds(one.name, name):
            continue
        rank = (0 if exact else 2) + (1 if is_aside(one) or "dialog" in landmark_roles(one) else 0)
        if best is None or rank < best[0]:
            best = (rank, one)
    return best[1] if best else None


def _is_person(term: Term) -> bool:
    said = term.text.split()
    return term.is_name and 1 < len(said) < 4 and all(one[:1].isupper() and one.isalpha() for one in said)


def name_of(one: Element) -> str:
    """Return the name of a link, else its title."""
    return one.name or dict(one.attributes).get("title", "")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
