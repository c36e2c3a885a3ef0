"""Decide which elements of newly found states are tried, in which order, and why the others are not.

Adaptive breadth-first exploration (WebNavigator, algorithm 1): only elements that are new compared with the preceding
pages are tried.  Beyond the paper: a link to a known address is not followed again, one row stands for a repeated
list's controls, a few pages of one kind stand for the controls of all, and one page for doing the same to alike things
(each post's like, flag and quote page) stands for all.

A plan depends only on the states of one depth in their order, so two explorations of the same site make the same
plan, whatever the timing of their pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urljoin, urlsplit

from app.engine.api.graph_api import ExploreOptions
from app.engine.core import identity
from app.engine.core.page_state import Element, Mode, PageState
from app.engine.core.redaction import MARK
from app.engine.core.transition import FrontierItem, FrontierStatus, Locator, Operation, SkipReason
from app.engine.graph.rules.block_list import BlockList, RuleResult

ALIKE = 3
"""Pages of one kind on which a control is tried; its effect there stands for all of them."""
MOST_CONTROLS = 120
"""Maximum number of controls tried on one page; a page with more of them is generated."""

_FILE = re.compile(
    r"\.(?:pdf|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|msi|dmg|deb|rpm|apk|iso|csv|tsv|xlsx?|docx?|pptx?|od[tsp]|ics|vcf"
    r"|png|jpe?g|gif|webp|svg|ico|bmp|tiff?|mp[34]|m4[av]|ogg|wav|flac|avi|mov|mkv|webm|css|js|mjs|woff2?|ttf|eot"
    r"|xml|rss|atom|json)$",
    re.IGNORECASE,
)
_INERT_SCRIPT = re.compile(
    r"javascript:\s*(?:void\s*\(?\s*0?\s*\)?|undefined|false|0)?\s*;?\s*", re.IGNORECASE
)
_ACTIONS = frozenset(
    {
        "bookmark", "clone", "comment", "copy", "downvote", "duplicate", "edit", "email", "favorite", "favourite",
        "flag", "follow", "fork", "invite", "like", "mail", "modify", "move", "permalink", "pin", "print", "quote",
        "rate", "rename", "reply", "report", "retweet", "share", "star", "subscribe", "tag", "unwatch", "update",
        "upvote", "vote", "watch",
    }
)  # fmt: skip
"""Last words of addresses that act on the one thing named before them (``/posts/{n}/flag``)."""
_ACTIONS_FIRST = frozenset({"edit", "flag", "like", "modify", "quote", "reply", "update", "upvote"})
"""Of these, the words that are also such before the thing (``/reply/{n}``); others may be things themselves."""
_OPENS = frozenset({"haspopup", "expanded", "collapsed", "selected"})
_FILLED_IN = frozenset(
    {"combobox", "listbox", "option", "checkbox", "radio", "switch", "slider", "spinbutton"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateContext:
    """A state to expand: its elements, and the keys of those that were on the pages before it."""

    state: PageState
    elements: tuple[Element, ...]
    inherited: frozenset[str] = frozenset()
    language: str = ""


@dataclass(frozen=True, slots=True)
class PlannedElement:
    """The decision on one element: ``item`` is waiting, or skipped for the reason in it."""

    item: FrontierItem
    element: Element


class FrontierPlanner:
    """Decides about the elements of one depth after the other.

    Attributes:
        addresses: keys of all addresses that were opened or are about to be.
        risks: of elements that a rule allows but considers risky, by state and element.
    """

    def __init__(
        self,
        home: str,
        options: ExploreOptions,
        rules: BlockList,
        *,
        allowed: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._home, self._options, self._rules, self._allowed = home, options, rules, allowed
        self._host = urlsplit(home).netloc
        self.addresses: set[str] = set()
        self.risks: dict[tuple[str, str], float] = {}
        self._templates: Counter[str] = Counter()
        self._controls: Counter[tuple[str, str]] = Counter()
        self._order = 0

    def know(self, url: str) -> None:
        """Register an address that needs no opening any more."""
        key = identity.url_key(url, self._home)
        if key not in self.addresses:
            self.addresses.add(key)
            self._templates[identity.url_template(url, self._home)] += 1

    def remember(self, items: Sequence[FrontierItem], templates: dict[str, str]) -> None:
        """Resume from an interrupted exploration; ``templates`` are those of the items' pages."""
        for item in items:
            self._order = max(self._order, item.order + 1)
            if item.status is FrontierStatus.SKIPPED:
                continue
            if item.value and item.operation is not Operation.SELECT:
                self.know(item.value)
            elif item.page in templates and item.locator is not None:
                self._controls[templates[item.page], _kind_of_control(item.locator)] += 1

    def judge(self, context: StateContext, *, last: bool = False) -> list[PlannedElement]:
        """Decide about the visible elements of a state, in the order in which they are to be tried.

        States of one depth are judged in their order.  With ``last`` nothing is tried, because the targets lie deeper
        than allowed.
        """
        verdicts: list[PlannedElement] = []
        kinds: set[str] = set()
        controls = 0
        for key, element in self._distinct(context):
            if element.visible or not self._is_link(element, context):
                verdict = self._judge(context, element, key, kinds, controls, last=last)
                controls += verdict.item.status is FrontierStatus.WAITING and not verdict.item.value
                verdicts.append(self._numbered(verdict))
        return verdicts

    def has_hidden_links(self, context: StateContext) -> bool:
        """Whether ``judge_hidden`` has anything to decide for a state."""
        return any(not element.visible and self._is_link(element, context) for element in context.elements)

    def judge_hidden(self, context: StateContext, *, last: bool = False) -> list[PlannedElement]:
        """Decide about its invisible links: they are opened by their address, because nobody could click them.

        They come after everything else of their depth, which may show the same links.
        """
        verdicts: list[PlannedElement] = []
        for key, element in self._distinct(context):
            if not element.visible and self._is_link(element, context):
                verdict = self._judge(context, element, key, set(), 0, last=last)
                item = verdict.item
                if item.status is FrontierStatus.WAITING:
                    item = replace(item, operation=Operation.OPEN)
                    if not item.value:
                        item = replace(item, status=FrontierStatus.SKIPPED, reason=SkipReason.HIDDEN)
                verdicts.append(self._numbered(PlannedElement(item, element)))
        return verdicts

    def _distinct(self, context: StateContext) -> Iterator[tuple[str, Element]]:
        """Candidates by key; of several with one key the first visible one."""
        found: dict[str, Element] = {}
        for element in context.elements:
            if self._is_tried(element):
                key = identity.element_key(element, self._home)
                if key not in found or (element.visible and not found[key].visible):
                    found[key] = element
        return iter(found.items())

    def _numbered(self, verdict: PlannedElement) -> PlannedElement:
        self._order += 1
        return PlannedElement(replace(verdict.item, order=self._order), verdict.element)

    def _is_tried(self, element: Element) -> bool:
        if element.in_live:
            return False
        role = element.role if element.role in identity.INTERACTIVE or not element.listens else "button"
        return role in self._options.roles

    def _is_link(self, element: Element, context: StateContext) -> bool:
        """Whether its address alone leads to another page."""
        if not element.href.startswith(("http://", "https://")):
            return False
        if urlsplit(element.href).netloc != self._host:
            return True
        return identity.url_key(element.href, self._home) != context.state.keys.url

    def _judge(
        self, context: StateContext, element: Element, key: str, kinds: set[str], controls: int, *, last: bool
    ) -> PlannedElement:
        item = FrontierItem(
            page=context.state.id, element=key, operation=Operation.CLICK, depth=context.state.depth
        )

        link = self._is_link(element, context)
        skipped = self._not_offered(element, key, context, link=link) or self._not_followable(
            element, context, link=link
        )
        result = (
            self._rules.verdict(element, context.state.url, context.language)
            if skipped is None
            else RuleResult()
        )
        if not result.allows:
            why = ": ".join(part for part in (result.rule, result.why) if part)
            skipped = (result.reason or SkipReason.BLOCKED, why)
        if skipped is None and not self._options.naive:
            skipped = (
                self._known_link(element) if link else self._known_control(context, element, kinds, controls)
            )
        if skipped is None and last:
            skipped = (SkipReason.DEPTH, "")
        if skipped is not None:
            reason, detail = skipped
            item = replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=detail)
            return PlannedElement(item, element)
        if result.risk:
            self.risks[context.state.id, key] = result.risk
        if link:
            self.know(element.href)
            # The secret in an address is not stored, so such a link is clicked on its page.
            value = "" if MARK in element.href else element.href
            return PlannedElement(replace(item, value=value), element)
        self._controls[context.state.keys.template, _kind_of_control(element)] += 1
        kinds.add(identity.kind_key(element))
        return PlannedElement(_with_operation(item, element), element)

    def _not_offered(
        self, element: Element, key: str, context: StateContext, *, link: bool
    ) -> tuple[SkipReason, str] | None:
        """Why the page doesn't offer it, or offered it before."""
        if element.in_advert:
            return SkipReason.ADVERT, ""
        if key in context.inherited and not self._options.naive:
            return SkipReason.INHERITED, ""
        if "disabled" in element.states:
            return SkipReason.DISABLED, ""
        return None if element.visible or link else (SkipReason.HIDDEN, "")

    def _not_followable(
        self, element: Element, context: StateContext, *, link: bool
    ) -> tuple[SkipReason, str] | None:
        """Why nobody could follow it, whatever the rules say."""
        scheme = element.href.partition(":")[0].lower() if element.href else ""
        if scheme == "javascript" and not _INERT_SCRIPT.fullmatch(element.href):
            return SkipReason.SCHEME, "a script"
        if scheme and scheme not in ("http", "https", "javascript"):
            return SkipReason.SCHEME, scheme
        if link:
            parts = urlsplit(element.href)
            if parts.netloc != self._host:
                return SkipReason.EXTERNAL, parts.netloc
            if _FILE.search(parts.path) or any(name == "download" for name, _ in element.attributes):
                return SkipReason.DOWNLOAD, parts.path
        elif scheme.startswith("http") and "#" not in element.href and not _OPENS & set(element.states):
            return SkipReason.KNOWN, context.state.keys.url
        elif _is_filled_in(element) and element.form.startswith("post:"):
            return SkipReason.FORM, f"a field of {element.form}"
        elif element.submits and any(
            one.type == "password" and one.form == element.form for one in context.elements
        ):
            return SkipReason.FORM, "it submits a password"
        return None

    def _known_link(self, element: Element) -> tuple[SkipReason, str] | None:
        key = identity.url_key(element.href, self._home)
        if key in self.addresses:
            return SkipReason.KNOWN, key
        if self._options.obey_robots and not self._allowed(element.href):
            return SkipReason.ROBOTS, key
        template = identity.url_template(element.href, self._home)
        if self._templates[template] and (self._options.mode is Mode.SKELETON or is_action_page(template)):
            return SkipReason.TEMPLATE, template
        return None

    def _known_control(
        self, context: StateContext, element: Element, kinds: set[str], controls: int
    ) -> tuple[SkipReason, str] | None:
        if element.submits and self._options.obey_robots:
            address = _submitted_address(element, context)
            if not self._allowed(address):
                return SkipReason.ROBOTS, identity.url_key(address, self._home)
        if element.repeat and identity.kind_key(element) in kinds:
            return SkipReason.REPEATED, "the first of them represents all"
        if controls >= MOST_CONTROLS:
            return SkipReason.REPEATED, f"more than {MOST_CONTROLS} controls on this page"
        most = 1 if self._options.mode is Mode.SKELETON else ALIKE
        if self._controls[context.state.keys.template, _kind_of_control(element)] >= most:
            return SkipReason.TEMPLATE, f"tried on {most} pages of this kind"
        return None


def _submitted_address(element: Element, context: StateContext) -> str:
    """The address that submitting a form by GET opens, as far as its visible fields tell."""
    fields = {
        name: one.value
        for one in context.elements
        if one.form == element.form and not one.submits and (name := dict(one.attributes).get("name", ""))
    }
    address = urljoin(context.state.url, element.form.partition(":")[2])
    return f"{address}?{urlencode(fields)}" if fields else address


def is_action_page(template: str) -> bool:
    """Whether pages of this address do the same to one thing each (``/posts/{n}/flag``, ``/reply/{n}``)."""
    path, _, query = template.partition("?")
    segments = [segment for segment in path.split("/") if segment]
    last = len(segments)
    while last and "{" in segments[last - 1]:
        last -= 1
    if not last:
        return False
    word = segments[last - 1].partition(".")[0].lower()
    if last < len(segments):
        return word in _ACTIONS_FIRST
    return word in _ACTIONS and (bool(query) or any("{" in segment for segment in segments))


def _kind_of_control(element: Element | Locator) -> str:
    """Key of a control wherever it is on pages of one kind; its form's and its row's subject are left out."""
    return "\x1f".join((element.role, ">".join(element.landmarks), identity.normal_name(element.name)))


def _is_filled_in(element: Element) -> bool:
    """Whether using it fills in a form (including the stars of a rating) rather than showing something."""
    return element.role in _FILLED_IN or (element.listens and element.role not in identity.INTERACTIVE)


def _with_operation(item: FrontierItem, element: Element) -> FrontierItem:
    """A native select is set to another of its options; everything else is clicked."""
    if element.tag != "select":
        return item
    other = next((option for option in element.options if option.strip() and option != element.value), "")
    return replace(item, operation=Operation.SELECT, value=other) if other else item
