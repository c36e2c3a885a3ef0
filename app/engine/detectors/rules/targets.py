"""Targets of actions: not on the page as the agent saw it, or another control than its reason names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.engine.core.text import quoted
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    SINCE,
    Detector,
    Prior,
    ResultDetector,
    action_text,
    is_worth_flagging,
)


class TargetNotOnPage(ResultDetector):
    """An element that the agent guessed or took from the picture; told once the page shows that nothing came of it."""

    name = "target-not-on-page"
    severity = Severity.HINT
    summary = "The action's element was not on the page as the agent was shown it, and it changed nothing."
    prior = Prior(0.0, often=0.6)

    def compare(self, step: Step | None, after: Step) -> Iterable[Flag]:
        bid = step.action.bid if step is not None and step.action is not None else None
        if step is None or not bid or step.error_class is ErrorClass.HARNESS:
            return
        same = bool(step.state) and step.state == after.state and step.url == after.url
        if not same and step.error_class is not ErrorClass.HARD:
            return
        tree = self.context.pages.text(step.tree)
        if "[" not in tree or f"[{bid}] " in tree:
            return
        self.count(step.index)
        if is_worth_flagging(self.times, 1):
            yield self.flag(
                step.index,
                min(0.85, 0.65 + 0.05 * self.times),
                f"Acted in vain on element {bid}, which is not on the page that the agent was shown{self.again}",
                {"times": self.times, SINCE: self.since, "bid": bid},
                Severity.WARNING if self.times > 1 else None,
            )


_PRESSES = frozenset({"click", "dblclick"})
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECISION = re.compile(
    r"\b(?:click|press|select|choos|tap|open|us|hit)(?:e|ing|s|es)?\b"
    r"(?:\s+(?:on|the|a|this|that|link|button|tab|option|control|menu|item|labeled|labelled|named|called))*\s*"
    r"(?:\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”|'([^'\n]{2,60})'(?!\w))",
    re.IGNORECASE,
)
_CONTROL = r"\[([^\]\s]+)\] (?:link|button|tab|menuitem|option|checkbox|radio|combobox) "


class OtherTarget(Detector):
    name = "other-target"
    severity = Severity.WARNING
    summary = "The reason names one control, the action went to another, and the page has the one named."
    prior = Prior(0.0)

    def see(self, step: Step) -> Iterable[Flag]:
        action = step.action
        if action is None or action.kind not in _PRESSES or not action.bid or not step.executed:
            return
        hit = step.target.name if step.target is not None else ""
        if _speaks_of(step.reason, action.bid, hit):
            return
        named = named_control(step.reason)
        if not named or _same(named, hit):
            return
        tree = self.context.pages.text(step.tree)
        wanted = _find_control(tree, named)
        if not wanted or wanted == action.bid or _belongs_to(tree, action.bid, named):
            return
        self.count(step.index)
        if is_worth_flagging(self.times, 1):
            yield self.flag(
                step.index,
                min(0.8, 0.55 + 0.1 * self.times),
                f"The reason names {quoted(named)}, which is element {wanted}; the action was:"
                f" {action_text(step)} (element {action.bid}){self.again}",
                {"times": self.times, SINCE: self.since, "named": named, "bid": action.bid, "wanted": wanted},
            )


def named_control(reason: str) -> str:
    """Return the control that the last sentence with a decision names; "" for none or several."""
    for sentence in reversed(_SENTENCE.split(reason[-2000:])):
        found = list(_DECISION.finditer(sentence))
        if not found:
            continue
        if len(found) > 1:
            return ""  # several controls in turn
        return next(filter(None, found[0].groups()), "").strip()
    return ""


def _same(one: str, other: str) -> bool:
    a, b = (" ".join(re.sub(r"[^\w]+", " ", text).casefold().split()) for text in (one, other))
    return bool(a) and bool(b) and (a in b or b in a)


def _speaks_of(reason: str, bid: str, name: str) -> bool:
    """Whether a reason gives the element's id, or its name: then the other control was only mentioned."""
    at = reason.find(bid)
    while at != -1:
        around = reason[max(0, at - 1) : at] + reason[at + len(bid) : at + len(bid) + 1]
        if not any(char.isalnum() for char in around):
            return True
        at = reason.find(bid, at + 1)
    words = " ".join(name.split())
    return len(words) > 1 and (words in reason or words.casefold() in " ".join(reason.split()).casefold())


def _find_control(tree: str, name: str) -> str:
    """Return the id of the only control with exactly this name; "" for none or several."""
    if name not in tree:
        return ""
    pattern = re.compile(_CONTROL + r"(['\"])" + re.escape(name) + r"\2(?:,|\n|$)")
    found = {match.group(1) for match in pattern.finditer(tree)}
    return found.pop() if len(found) == 1 else ""


def _belongs_to(tree: str, bid: str, name: str) -> bool:
    """Whether the element stands within, or right around, a control of this name."""
    at = tree.find(f"[{bid}] ")
    if at == -1:
        return False
    lines = tree[max(0, at - 4000) : at].split("\n")
    depth = len(lines[-1])
    for line in reversed(lines[:-1]):
        own = len(line) - len(line.lstrip("\t"))
        if own < depth:
            if name in line:
                return True
            depth = own
    below = tree[at : at + 4000].split("\n")
    start = len(lines[-1])
    for line in below[1:]:
        if len(line) - len(line.lstrip("\t")) <= start:
            break
        if name in line:
            return True
    return False
