"""The block list: which elements an exploration may try, which it skips, and why.

A rule file, in ten lines::

    {"format": "sitelore-rules", "version": 1, "rules": [
      {"name": "vendor-pages",                      # unique; shown wherever the rule blocks something
       "scope": {"host": "*.shop.example", "path": "/admin/*"},         # globs on the page; omitted: every page
       "when": {"all": [{"attr": "role", "op": "equals", "value": "link"},        # any, all, not may be nested
                        {"attr": "path", "op": "regex", "value": "/vendors?/", "flags": "i"}]},
       "verdict": "block",                          # block, ask (skipped: exploring asks nobody) or allow
       "severity": "high",                          # low, medium, high: the risk stored with an allowed transition
       "reason": "their stock is live"}]}           # for the reader

Rules are checked in order, the user's before the built-in ones; the first match decides.  Built in are: verbs that
destroy, end the session, pay or send (``danger``), forms, which are never sent, and addresses that are no page of the
site.  Behind the guard (``BlockList.guarded``) a form that reads is submitted with the page's own values.  A rule with
``allow`` lifts the latter; it lifts a danger verb only with ``"lifts_danger": true``.
``conditions`` documents the facts and operators of matchers; lists in WebNavigator's format can be loaded too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from urllib.parse import urlparse

from app.assets import resource
from app.engine.api.graph_api import LabHit, LabReport
from app.engine.core.page_state import Element
from app.engine.core.transition import SkipReason
from app.engine.graph.rules.conditions import (
    AllOf,
    AnyOf,
    BadExpression,
    Condition,
    NotOf,
    Subject,
    make_matcher,
)
from app.engine.graph.rules.danger import (
    Danger,
    danger_at_one_press,
    danger_of,
    form_danger_of,
    is_reading_form,
    off_site_reason,
)
from app.engine.graph.rules.rule_file import (
    RISK,
    BlockRule,
    RuleScope,
    VerdictWord,
    parsed,
    read_rules,
    text_of,
)
from app.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """The rules' verdict on an element.

    ``reason`` is ``None`` if the element may be tried; ``risk`` in [0, 1] is the rule's estimate for doing it anyway.
    """

    verdict: VerdictWord = "allow"
    rule: str = ""
    why: str = ""
    reason: SkipReason | None = None
    risk: float = 0.0

    @property
    def allows(self) -> bool:
        """Whether the element may be tried."""
        return self.verdict == "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockList:
    """Rules in the order they are checked.  ``notes`` list oddities of a loaded list.

    With ``built_in`` off only the given rules decide (to test a rule file by itself).  ``guarded``: the elements are
    used behind the guard that lets only reads out of the browser, so forms that read are submitted as they are, and a
    verb that asks first stops nothing.
    """

    rules: tuple[BlockRule, ...] = ()
    notes: tuple[str, ...] = ()
    built_in: bool = True
    language: str = ""
    guarded: bool = False

    @classmethod
    def builtin(cls, language: str = "") -> BlockList:
        """Return the built-in rules alone.  ``language`` is the site's, for pages that declare none."""
        return cls(language=language)

    @classmethod
    def load(cls, source: str | Path, *, language: str = "") -> BlockList:
        """Read a rule file, or its text; its rules go before the built-in ones.

        Raises:
            InputError: it can't be read or has a mistake; the message names the rule and the position.
        """
        if isinstance(source, Path):
            return cls.load_text(text_of(source), path=str(source), language=language)
        return cls.load_text(source, language=language)

    @classmethod
    def load_text(cls, text: str, *, path: str = "", language: str = "") -> BlockList:
        """Read the text of a rule file; ``path`` is named in errors.

        Raises:
            InputError: as in ``load``.
        """
        if not text.strip():
            return cls(language=language)
        raw = parsed(text, path)
        if is_webnavigator(raw):
            rules, notes = read_webnavigator(raw, path)
            return cls(rules=rules, notes=notes, language=language)
        return cls(rules=read_rules(raw, text, path), language=language)

    def before(self, other: BlockList) -> BlockList:
        """Return this list with another's rules appended."""
        return replace(self, rules=(*self.rules, *other.rules), notes=(*self.notes, *other.notes))

    def verdict(self, element: Element, page_url: str, language: str = "") -> RuleResult:
        """Return the rules' verdict on an element of a page whose ``lang`` is ``language``."""
        subject = Subject(element=element, page_url=page_url)
        rule = next((rule for rule in self.rules if rule.holds(subject)), None)
        if rule is not None and rule.verdict != "allow":
            why = rule.reason or f"rule '{rule.name}' matches"
            return RuleResult(
                verdict=rule.verdict,
                rule=rule.name,
                why=why,
                reason=SkipReason.BLOCKED,
                risk=RISK[rule.severity],
            )
        if self.built_in and (found := self._built_in(element, page_url, language, rule)) is not None:
            return found
        if rule is None:
            return RuleResult()
        return RuleResult(
            rule=rule.name, why=rule.reason, risk=RISK[rule.severity] if element.submits else 0.0
        )

    def _built_in(
        self, element: Element, page_url: str, language: str, rule: BlockRule | None
    ) -> RuleResult | None:
        if rule is not None and rule.lifts_danger:
            return None
        danger = danger_of(element, page_url, language or self.language)
        if danger is not None and danger.strong:
            return _ruling(danger, rule)
        held = off_site_reason(element, page_url) or form_danger_of(element)
        if self.guarded and danger is None:
            danger = danger_at_one_press(element, page_url)
        reads = self.guarded and danger is None and is_reading_form(element)
        if held is not None and not reads:
            return None if rule is not None else _ruling(held, None)
        if danger is not None and self.guarded and danger.asks_first:
            return RuleResult(rule=danger.rule, why=danger.why, risk=danger.risk)
        return _ruling(danger, rule) if danger is not None else None


def builtin_text() -> str:
    """Return a template for the user's rule file: disabled examples, and the built-in rules in words."""
    return resource("rules", "example.json").read_text(encoding="utf-8")


def _ruling(danger: Danger, rule: BlockRule | None) -> RuleResult:
    why = danger.why
    if rule is not None:
        why += f"; rule '{rule.name}' would lift this only with \"lifts_danger\": true"
    return RuleResult(verdict="block", rule=danger.rule, why=why, reason=danger.reason, risk=danger.risk)


def preview_rules(
    rules: BlockList,
    page_url: str,
    elements: Sequence[Element],
    stored: Iterable[tuple[str, Sequence[Element]]] = (),
    language: str = "",
) -> LabReport:
    """Apply the rules to a page's elements, and count what they block on stored pages.

    Args:
        elements: of the page shown; the hits name them by ``Element.index``.
        stored: address and elements of every stored page, including this one.
        language: the pages' ``lang``, if known.
    """
    hits = tuple(_hit(rules, element, page_url, language) for element in elements)
    stopped, total = 0, 0
    for url, others in stored:
        total += len(others)
        stopped += sum(not rules.verdict(element, url, language).allows for element in others)
    return LabReport(
        hits=hits,
        stopped_here=sum(hit.verdict != "allow" for hit in hits),
        stopped_everywhere=stopped,
        elements_everywhere=total,
        notes=rules.notes,
    )


def try_rules(
    text: str,
    page_url: str,
    elements: Sequence[Element],
    stored: Iterable[tuple[str, Sequence[Element]]] = (),
    language: str = "",
) -> LabReport:
    """Apply rules that are being edited: a mistake in them becomes the report's ``error``."""
    try:
        rules = BlockList.load(text, language=language)
    except InputError as error:
        return LabReport(hits=(), error=str(error))
    return preview_rules(rules, page_url, elements, stored, language)


def _hit(rules: BlockList, element: Element, page_url: str, language: str) -> LabHit:
    ruling = rules.verdict(element, page_url, language)
    return LabHit(element=element.index, verdict=ruling.verdict, rule=ruling.rule, why=ruling.why)


_THEIRS = frozenset({"xpath", "href", "role", "text", "name", "tag"})
"""Attributes that are facts here; any other is an HTML attribute."""


def is_webnavigator(raw: object) -> bool:
    """Whether JSON values look like such a list."""
    return isinstance(raw, list) and all(
        isinstance(entry, dict) and "block_elements" in entry for entry in cast("list[object]", raw)
    )


def read_webnavigator(raw: object, path: str = "") -> tuple[tuple[BlockRule, ...], tuple[str, ...]]:
    """Return the list's rules, and notes on entries whose effect differs from their apparent meaning.

    The meaning is that of WebNavigator's own matcher, oddities included: a pattern after a ``NOT`` is never checked.
    The format is ``[{block_domain, block_elements: [{name, patterns: [{attribute: expression, ..., logic}]}]}]``.

    Raises:
        InputError: the list has another shape; names the entry.
    """
    rules: list[BlockRule] = []
    notes: list[str] = []
    for entry in cast("list[Mapping[str, object]]", raw):
        domain, elements = entry.get("block_domain", ""), entry.get("block_elements")
        if not isinstance(domain, str) or not isinstance(elements, list):
            raise InputError("an entry needs block_domain and a list block_elements", path=path)
        host = _netloc(domain)
        if domain and not host:
            notes.append(f"'{domain}' is read as a scheme and not as a host: its rules never apply")
            continue
        for element in cast("list[object]", elements):
            rules.append(_rule(element, host, len(rules), notes, path))
    return tuple(rules), tuple(notes)


def _netloc(domain: str) -> str:
    """Host and port as their code finds them: ``localhost:80`` parses as a scheme and yields nothing."""
    try:
        parsed = urlparse(domain)
        if not parsed.netloc and not parsed.scheme:
            parsed = urlparse(f"//{domain}")
    except ValueError:
        return ""
    return parsed.netloc


def _rule(raw: object, host: str, number: int, notes: list[str], path: str) -> BlockRule:
    entry = cast("Mapping[str, object]", raw if isinstance(raw, dict) else {})
    name, patterns = entry.get("name"), entry.get("patterns")
    if not isinstance(name, str) or not isinstance(patterns, list):
        raise InputError(f"element {number + 1} needs a name and a list of patterns", path=path)
    label = f"{host}: {name}" if host else name
    if not patterns:
        notes.append(f"'{label}' has no patterns and therefore blocks every element")
    try:
        when = _combined(cast("list[object]", patterns), label, notes)
    except BadExpression as error:
        raise InputError(f"element '{name}', {error.place}: {error.why}", path=path) from error
    return BlockRule(
        name=label,
        when=when,
        scope=RuleScope(host=host, exact=bool(host)),
        reason="imported WebNavigator rule",
    )


def _combined(patterns: Sequence[object], label: str, notes: list[str]) -> Condition:
    """The chain their matcher builds: each pattern is joined by the logic of the one *before* it."""
    result: Condition | None = None
    before = "AND"
    for number, raw in enumerate(patterns):
        if not isinstance(raw, dict):
            raise BadExpression(
                f"patterns[{number}]", "a pattern must be an object of attributes and expressions"
            )
        pattern = {str(key): value for key, value in cast("Mapping[object, object]", raw).items()}
        logic = str(pattern.pop("logic", "AND"))
        own = _pattern(pattern, number, label, notes)
        if logic == "NOT":
            own = NotOf(own)
        if result is None:
            result = own
        elif before == "AND":
            result = AllOf((result, own))
        elif before == "OR":
            result = AnyOf((result, own))
        else:
            notes.append(
                f"'{label}': pattern {number + 1} is never checked, because the one before has {before}"
            )
        before = logic
    if len(patterns) > 1 and before == "OR":
        notes.append(f"'{label}': the last pattern's OR joins nothing; patterns are joined by the one before")
    return result if result is not None else AllOf(())


def _pattern(pattern: Mapping[str, object], number: int, label: str, notes: list[str]) -> Condition:
    parts: list[Condition] = []
    for attribute, expression in pattern.items():
        place = f"patterns[{number}].{attribute}"
        if not isinstance(expression, str):
            raise BadExpression(place, "an expression must be a text")
        if not attribute:
            raise BadExpression(place, "no attribute has this name")
        attr = attribute if attribute in _THEIRS else f"@{attribute}"
        if not _compiles(expression):
            notes.append(
                f"'{label}': {place} is not a regular expression; it blocks only elements with exactly this text"
            )
        parts.append(_expression(attr, expression, place))
    return AllOf(tuple(parts))


def _expression(attr: str, expression: str, place: str) -> Condition:
    if not expression:  # matches only an empty or missing attribute
        return make_matcher(attr, "equals", "", place=place)
    if not _compiles(expression):  # their matcher falls back to comparing the texts
        return make_matcher(attr, "equals", expression, place=place)
    return make_matcher(attr, "regex", expression, place=place)


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
