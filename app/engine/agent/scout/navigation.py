"""The way to the page a task speaks of: how well the page in front fits it, and which step promises a better one.

Links, menus, the site's own search, the map and pages seen before are compared by one score
(``app.engine.agent.scout.terms``), so "arrived" means that nothing promises more (after WebNavigator, section 3.2: a
choice over the whole site and not only over the page in front).  Only what reads is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from operator import eq

from app.engine.agent.navigator import StateCandidate
from app.engine.agent.scout.likeness import holds, plain, words
from app.engine.agent.scout.link_prior import Matrix, link_features, link_priors
from app.engine.agent.scout.memory import Known, Memory, ScoutStep
from app.engine.agent.scout.ordering import is_sort_control
from app.engine.agent.scout.page_context import PageContext, is_aside, landmark_roles, page_key, segments_of
from app.engine.agent.scout.terms import (
    ABOUT,
    PATH,
    ROW,
    Evidence,
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
from app.engine.core.text import word_set

ARRIVED = 0.85
"""Evidence of each name from which on a page may be the page of the task."""
NAMED_LINK, LINK_PATH, LINK_ROW = 0.95, 0.7, 0.6
"""Weight of what a link says by where it says it."""
KEPT_BELOW, KEPT_BESIDE, KEPT_ELSEWHERE, KEPT_IN_FRAME = 0.9, 0.65, 0.3, 0.2
"""Share of what the page in front shows that a link keeps: into it, beside it, elsewhere, by the site's menu."""
FOUND_BY_SEARCH, BY_MAP, CONTROL = 0.8, 0.78, 0.4
"""Evidence of a name that a search for it promises, and the map; weight of the controls of a state of the map."""
UNSEEN, UNSEEN_KIND, UNLIKE, MENU_CHANCE = 0.14, 0.06, 0.08, 0.04
"""Promise of a main part of the site while no page shows the names of the task; what it promises besides where its
name says the kind of thing, and where no page like it was seen; promise of a menu."""
LEAST_KIND, LEAST_TOLD, LEAST_FIT, LEAST_SHOWN, LEAST_STATE = 0.55, 0.4, 0.5, 0.82, 0.2
"""Evidence of a word for the kind of thing; share of such words that the page of a thing without a name calls itself
by; score of a page that may be the one, and its share of what the site has shown; score of a state of the map."""
LEAST_LATE, FAR_AWAY = 0.3, 0.04
"""Promise asked for after many pages that fitted no better; what a page seen before must promise more."""
_READING = frozenset({RiskClass.READS, RiskClass.EDITS})
_PLACES = frozenset({"login", "cart"})
"""Senses whose words name a place of the site: ``Basket``."""
_MOST_KNOWN, _LONGEST_QUERY, _LEAST_LABEL, _LONGEST_COMMAND, _MOST_IDLE = 400, 300, 0.6, 4, 6
_AIMLESS = word_set("random logout signout download export csv next previous rss atom")
_FORM_VERBS = (("edit",), ("modify",), ("change",), ("manage",), ("new",), ("create",))
_STATIC = re.compile(
    r"\.(?:pdf|zip|png|jpe?g|gif|svg|css|js|xml|csv|ics|epub|gz|mbox|json|txt)$", re.IGNORECASE
)


class Wayfinder:
    """Ways on from one page for the terms of one part."""

    def __init__(self, terms: Terms, context: PageContext, memory: Memory, observation: Observation) -> None:
        self.terms, self.context, self.memory, self._seen = terms, context, memory, observation
        applied = memory.applied.get(context.key, ())
        inside = self._containers()
        subject = subject_evidence(terms, context, memory.searched, applied)
        here = best_of(page_evidence(terms, context, subject), inside)
        memory.marks |= {
            f"passed:{a.text}" for a, b in zip(terms, here, strict=True) if a.on_the_way and b >= ARRIVED
        }
        passed = tuple(ARRIVED * (f"passed:{term.text}" in memory.marks) for term in terms)
        self.here: Evidence = best_of(here, passed)
        self.subject: Evidence = best_of(subject, inside)
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

    @cached_property
    def known(self) -> tuple[float, ...]:
        """Best evidence of each term in any page or link so far; the more were looked at, the less an unsaid word."""
        known, unsaid = self.memory.shown, min(1.0, 4 / max(len(self.memory.fits), 1) ** 2)
        for shown in (self.here, *(named for named, _ in self._likeness)):
            for term, one in zip(self.terms, shown, strict=True):
                known[term.text] = max(known.get(term.text, 0.0), one)
        return tuple(max(known[term.text], unsaid) for term in self.terms)

    @property
    def is_kind(self) -> bool:
        """Whether the page calls itself what is wanted, or by a name, as far as the site has words for it."""
        if not self.calls_kind or any(one.is_name and self.context.is_about(one.text) for one in self.terms):
            return self.calls_kind
        kinds = [not term.is_name for term in self.terms]
        said, most = (
            score(self.terms, [a * b for a, b in zip(kinds, one, strict=True)])
            for one in (self.subject, self.known)
        )
        return said >= LEAST_TOLD * most

    @property
    def calls_kind(self) -> bool:
        """Whether the page calls itself by a word for the very thing that is wanted, where the task has one."""
        heads = [one for term, one in zip(self.terms, self.subject, strict=True) if term.is_head]
        return max(heads, default=1.0) >= LEAST_KIND

    @property
    def is_state_for_task(self) -> bool:
        """Whether the map has no better page for the task, and the page calls itself by a word of it."""
        return self.calls_kind and f"map:{self.context.key}" in self.memory.marks

    @property
    def has_names(self) -> bool:
        """Whether the task names anything."""
        return any(term.is_name for term in self.terms)

    def best(self, floor: float, *, within: bool = False) -> ScoutStep | None:
        """Return the best harmless step that promises more than ``floor``.

        ``within`` keeps to what belongs to the page in front: its parts and what lies below it.
        """
        floor = max(floor, LEAST_LATE if self.memory.idle_pages >= _MOST_IDLE else 0.0)
        found = [*self._links(within=within), *self._menus()]
        if not within:
            found += [*self._searches(), *self._map()]
        for step in sorted(found, key=lambda one: -one.score):
            if step.score > floor and not self.memory.worn_out(step):
                if is_harmless(step.action, self._seen):
                    return step
                self.memory.failed[step.key] = self.memory.failed.get(step.key, 0.0) + 2
        return None

    def _links(self, *, within: bool) -> Iterator[ScoutStep]:
        """Steps to the pages that links of this page lead to, and of pages before it."""
        shown, known = {one.index for one in self.context.shown}, self.memory.known
        best = self._promises(within=within)
        for key, (promise, one) in best.items():
            if key not in known or known[key].score < promise:
                known[key] = Known(one.href, promise, one.name)
            if not within or self.kept(one) >= KEPT_BESIDE:
                pressed = one.index in shown and f"link:{key}" not in self.memory.failed  # it may be covered
                action = Click(one.index, label=one.name) if pressed else Goto(one.href)
                yield _step_to(key, action, f'"{_short(one.name)}" leads on', promise)
        self.memory.forget_worst(_MOST_KNOWN)
        for key, other in known.items():
            if not within and key not in best and key not in self.memory.fits:
                told = f'"{_short(other.name)}", seen before, leads on'
                yield _step_to(key, Goto(other.url), told, other.score - FAR_AWAY)

    def _promises(self, *, within: bool) -> dict[str, tuple[float, Element]]:
        """Return what the best link to each page promises, by the page's key."""
        best: dict[str, tuple[float, Element]] = {}
        # The page in front fits when only what belongs to it is wanted: then nothing but fit counts.
        priors = [0.0] * len(self.context.links) if within else link_priors(self.link_features()).tolist()
        for one, like, prior in zip(self.context.links, self._likeness, priors, strict=True):
            key = page_key(one.href)
            if key not in self.memory.fits and self._may_lead(one):
                promise = self._promise(one, like) + prior
                best[key] = max(best.get(key, (promise, one)), (promise, one), key=lambda found: found[0])
        return best

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
        said = best_of(*like, evidence(self.terms, (self.context.row_text(one),), LINK_ROW))
        same = split_address(one.href).path == self.context.path
        kept = self.kept(one) if not same or any(like[0]) else 0.0
        joined = [max(mine, kept * here) for mine, here in zip(said, self.here, strict=True)]
        return max(score(self.terms, joined), self._chance(one, like[0]))

    def _chance(self, one: Element, named: Evidence) -> float:
        """Return what a main part of the site promises while nothing shows the names; the more, the less is known."""
        if self.names_shown and self.has_names:
            return 0.0
        kind = max((mine for term, mine in zip(self.terms, named, strict=True) if term.is_kind), default=0.0)
        if kind >= LEAST_KIND and not self.context.row_text(one):
            return UNSEEN + UNLIKE + UNSEEN_KIND * kind
        if not is_aside(one) or words(name_of(one))[:1] in _FORM_VERBS:
            return 0.0
        return UNSEEN + UNLIKE / (1 + self._alike(split_address(one.href).path))

    def _alike(self, path: str) -> int:
        """Return how many pages were seen whose path shares at least half with one."""
        theirs = segments_of(path)
        shared = (sum(map(eq, theirs, ours)) for ours in self._seen_paths)
        return sum(2 * most >= len(theirs) for most in shared)

    @cached_property
    def _seen_paths(self) -> list[tuple[str, ...]]:
        return [segments_of(split_address(url).path) for url in self.memory.urls.values()]

    def kept(self, one: Element) -> float:
        """Return the share of what the page in front shows that a link keeps, by its address, in [0, 1]."""
        ours, theirs = segments_of(self.context.address.path), segments_of(split_address(one.href).path)
        if ours and theirs[: len(ours)] == ours and (len(theirs) > len(ours) or not is_aside(one)):
            return KEPT_BELOW
        shared = sum(1 for a, b in zip(ours, theirs, strict=False) if a == b)
        if len(ours) > 1 and shared >= len(ours) - 1:
            return KEPT_BESIDE
        return KEPT_IN_FRAME if is_aside(one) else KEPT_ELSEWHERE

    def _menus(self) -> Iterator[ScoutStep]:
        for one in self.context.menus:
            said = evidence(self.terms, (one.name,), NAMED_LINK)
            promise = score(self.terms, best_of(said, self.here))
            own = promise > self.fit or not is_aside(one)
            yield ScoutStep(
                action=Click(one.index, label=one.name),
                reason=f'"{_short(one.name)}" may hide it',
                key=f"menu:{self.context.path}:{one.role}:{one.name}",
                score=(promise if own else self.fit * 0.5) + MENU_CHANCE,
            )

    def _searches(self) -> Iterator[ScoutStep]:
        """Searches for the names that the page is not about, the longest first."""
        names = [
            term for term, one in zip(self.terms, self.here, strict=True) if term.is_name and one < ARRIVED
        ]
        field = next((one.element for one in self.context.search_fields), None)
        for term in sorted(names, key=lambda one: -len(one.text))[:3]:
            if field is None or term.text in self.memory.searched:
                continue
            kept = KEPT_IN_FRAME if is_aside(field) else KEPT_BELOW
            joined = [max(kept * here, 0.2) for here in self.here]
            joined[self.terms.index(term)] = FOUND_BY_SEARCH
            yield ScoutStep(
                action=TypeText(field.index, term.text[:_LONGEST_QUERY], enter=True),
                reason=f"searches for {term.text}",
                key=f"search:{field.form or self.context.path}:{field.name}:{term.text}",
                score=score(self.terms, joined),
                marks=(f"searched:{term.text}",),
            )

    def _map(self) -> Iterator[ScoutStep]:
        query = " ".join(term.text for term in self.terms)[:_LONGEST_QUERY]
        at = self.context.address.netloc
        home = min(self._seen.domains, key=lambda one: split_address(one.home).netloc != at, default=None)
        if home is None or not query or (self.names_shown and self.fit >= LEAST_FIT):
            return
        joined = [max(BY_MAP, here * KEPT_IN_FRAME) for here in self.here]
        yield ScoutStep(
            action=Navigate(domain=home.name, query=query),
            reason=f"the map may know a page for: {query}",
            key="map",
            score=score(self.terms, joined),
        )


def _step_to(key: str, action: Action, reason: str, promise: float) -> ScoutStep:
    return ScoutStep(action=action, reason=reason, key=f"link:{key}", score=promise, leads_to=key)


@lru_cache(maxsize=16_384)
def _is_aimless(name: str, path: str) -> bool:
    """Whether name or path of a link tell that it leads to no page of a thing."""
    said = (*words(name), *words(path))
    return not _AIMLESS.isdisjoint(said) or bool(_STATIC.search(path)) or "sign out" in plain(name)


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
    """Whether pressing an element only looks; a link to a form or to a list (``/orders``) does."""
    said = words(label)
    listed = bool(said) and f"{said[0]}s" in words(split_address(one.href).path)
    looks = bool(one.href) and not one.submits and (listed or said[:1] in _FORM_VERBS)
    return (looks or not _commands_change(said)) and press_risk(one, page).risk in _READING


def _commands_change(said: Sequence[str]) -> bool:
    """Whether a label of few words commands a change: it begins with the bare form of a verb.

    ``Orders`` and ``Bookings`` name a list, ``Basket`` a place, ``Archived`` a state, ``Order`` may be a command.
    """
    if not said or len(said) > _LONGEST_COMMAND:
        return False
    is_bare = said[0].endswith(("ss", "eed")) or not said[0].endswith(("s", "ing", "ed"))
    return is_bare and not senses_of(said[:1]) <= _PLACES


def arrived(finder: Wayfinder) -> str:
    """Return the evidence that the page in front is the one that is wanted, "" where it is not enough."""
    shown = [term.text for term, one in zip(finder.terms, finder.here, strict=True) if one >= 0.6]
    fits_task = (
        finder.is_kind
        and finder.fit >= LEAST_FIT
        and finder.fit >= LEAST_SHOWN * score(finder.terms, finder.known)
    )
    if not finder.names_shown or not (fits_task or finder.is_state_for_task):
        return ""
    title = next((text for text in finder.context.subject if text), finder.context.path)
    return f'"{_short(title)}" shows {", ".join(shown[:6])}'


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


def name_of(one: Element) -> str:
    """Return the name of a link, else its title."""
    return one.name or dict(one.attributes).get("title", "")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def choose_state(
    terms: Terms,
    candidates: Sequence[StateCandidate],
    *,
    fit: float = 0.0,
    seen: Collection[str] = (),
    start: str = "",
) -> int | None:
    """Return the number of the state of a map that shows most of the terms; ``None`` where none beats ``fit``.

    ``fit`` is how well the page in front fits, in [0, 1]; ``seen`` are keys of pages that were in front.  States of
    another part of the site than ``start``, the address that the task begins at, and without a name of a task that has
    some are passed over.
    """
    best, chosen = max(fit, LEAST_STATE), None
    begun = segments_of(split_address(start).path)[:1]
    for number, one in enumerate(candidates):
        if page_key(one.url) in seen or segments_of(split_address(one.url).path)[: len(begun)] != begun:
            continue
        shown = best_of(
            evidence(terms, (one.title, *one.headings), NAMED_LINK),
            evidence(terms, (path_words(one.url),), PATH),
            evidence(terms, one.controls, CONTROL),
            evidence(terms, (" ".join(one.matched),), ROW),
        )
        names = [found for term, found in zip(terms, shown, strict=True) if term.is_name]
        if (mine := score(terms, shown)) > best and (not names or max(names) >= LEAST_STATE):
            best, chosen = mine, number
    return chosen
