"""Checks a tip while it is typed.

A tip is site logic: true for every task on the site, silent about the benchmark (ColorBrowserAgent, appendix C).
Each rule is a small function in ``RULES``; its findings name characters of the text where possible.  Word rules check
English, injected instructions fifteen languages (``kb.lint_orders``); a tip in another language passes the other word
rules without a notice.

Word rules check the text, when, do, before, why and the keywords; those for values of a task, for secrets and for
injected instructions also check the scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kb import lint_steps
from kb.invisible import hidden
from kb.lint_orders import orders_in
from kb.lint_patterns import (
    ACCOUNT_FACT,
    ANSWER_FORMAT,
    BENCHMARK,
    DO,
    INJECTION,
    ONE_MACHINE,
    PAGE_DUMP,
    PAGE_NAMED,
    RULED,
    SCORE,
    SECRET,
    TASK_WORDS,
    WHEN,
    WHY,
)
from kb.retrieval.url import is_site_wide, matches_everything
from kb.similar import CONTRADICTION, DUPLICATE, find_similar
from kb.task_values import LONGEST_READ, is_common, occurrences, task_values
from kb.tip import Kind, LintFinding, LintSeverity, Tip, TipDraft

__all__ = ["RULES", "LintRule", "lint", "task_values"]

LONG, TOO_LONG = 600, 2_000
SHORTEST_ANSWER = 4

ERROR, WARNING, HINT = LintSeverity.ERROR, LintSeverity.WARNING, LintSeverity.HINT


@dataclass(frozen=True, slots=True)
class Context:
    """Input of a rule: the draft, its text (cut at twice the length allowed), values of the task, similar tips.

    ``answers`` are reference answers with the names of their tasks.
    """

    draft: TipDraft
    text: str
    values: tuple[str, ...]
    neighbours: tuple[Tip, ...]
    answers: tuple[tuple[str, str], ...] = ()


RuleMatch = Iterator[tuple[str, int, int]]
"""Message, start, end; -1, -1 if the whole tip is meant."""


@dataclass(frozen=True, slots=True)
class LintRule:
    """One check of a tip."""

    name: str
    severity: LintSeverity
    find: Callable[[Context], RuleMatch]


def lint(
    draft: TipDraft,
    *,
    intent: str = "",
    task_values: Sequence[str] = (),
    neighbours: Sequence[Tip] = (),
    answers: Sequence[tuple[str, str]] = (),
) -> list[LintFinding]:
    """Return all findings, errors first, then by position.

    Args:
        draft: the tip.
        intent: the goal of the task its author was looking at; its values must not be in the tip.
        task_values: further such values.
        neighbours: tips to compare with for duplicates and contradictions (without the tip itself).
        answers: reference answers of tasks on the tip's site, each with the name of its task.
    """
    values = dict.fromkeys((*_values_of(intent), *(value for value in task_values if value.strip())))
    context = Context(draft, draft.text[:LONGEST_READ], tuple(values), tuple(neighbours), tuple(answers))
    findings = [
        LintFinding(rule=rule.name, severity=rule.severity, message=message, start=start, end=end)
        for rule in RULES
        for message, start, end in rule.find(context)
    ]
    order = {ERROR: 0, WARNING: 1, HINT: 2}
    return sorted(findings, key=lambda finding: (order[finding.severity], finding.start, finding.rule))


_values_of = task_values


def _task_values(context: Context) -> RuleMatch:
    parts = {word for value in context.values for word in value.split() if word != value}
    taken: list[tuple[int, int]] = []
    for value in context.values:
        for start, end in occurrences(value, context.text, value in parts):
            if not any(start < other_end and other_start < end for other_start, other_end in taken):
                taken.append((start, end))
                message = f"'{value}' belongs to this one task; word it so that it holds for every task"
                yield message, start, end
    for name, part in _all_other_parts(context.draft):
        found = (value for value in context.values if occurrences(value, part, value in parts))
        if (value := next(found, None)) is not None:
            yield f"'{value}' in \"{name}\" belongs to this one task", -1, -1


def _answer_leak(context: Context) -> RuleMatch:
    """A reference answer as whole words; short ones, common words, years and counts stand in any text."""
    if not context.answers:
        return
    parts = [("", context.text), *_other_parts(context.draft)]
    folded = " ".join(" ".join(part.casefold().split()) for _, part in parts)
    tasks: dict[str, list[str]] = {}
    for answer, task in context.answers:
        if answer.casefold() in folded and len(answer) >= SHORTEST_ANSWER and not is_common(answer):
            tasks.setdefault(answer, []).append(task)
    for answer, named in tasks.items():
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        message = f"'{_short(answer)}' is the reference answer of task {named[0]}{more}"
        for name, part in parts:
            for start, end in occurrences(answer, part):
                yield (message, start, end) if not name else (f'{message} (in "{name}")', -1, -1)


def _other_parts(draft: TipDraft) -> list[tuple[str, str]]:
    parts = [("when", draft.when), ("do", draft.do), ("before", draft.before), ("why", draft.why)]
    parts.append(("keywords", " ".join(draft.keywords)))
    return [(name, part[:LONGEST_READ]) for name, part in parts if part]


def _all_other_parts(draft: TipDraft) -> list[tuple[str, str]]:
    """All parts including the scope: nobody reads it as words, but it can leak a value or carry an instruction."""
    scope = str(draft.scope)[:LONGEST_READ]
    return [*_other_parts(draft), *([("scope", scope)] if scope else [])]


def _matches(pattern: re.Pattern[str], message: str, scope: bool = False) -> Callable[[Context], RuleMatch]:
    """A rule that finds a pattern: in the text with its position, in the other parts, maybe the scope, by their
    name.
    """
    parts = _all_other_parts if scope else _other_parts

    def find(context: Context) -> RuleMatch:
        for match in pattern.finditer(context.text):
            yield message.format(_short(match.group())), *match.span()
        for name, part in parts(context.draft):
            if (match := pattern.search(part)) is not None:
                yield message.format(_short(match.group())) + f' (in "{name}")', -1, -1

    return find


def _instruction(context: Context) -> RuleMatch:
    message = "'{}' reads like an instruction to the agent, or a formula"
    taken: list[tuple[int, int]] = []
    spans = [match.span() for match in INJECTION.finditer(context.text)]
    for start, end in [*spans, *orders_in(context.text)]:
        if not any(start < other_end and other_start < end for other_start, other_end in taken):
            taken.append((start, end))
            yield message.format(_short(context.text[start:end])), start, end
    for name, part in _all_other_parts(context.draft):
        match = INJECTION.search(part)
        span = match.span() if match is not None else next(orders_in(part), None)
        if span is not None:
            yield message.format(_short(part[span[0] : span[1]])) + f' (in "{name}")', -1, -1
    yield from _hidden_text(context)


def _hidden_text(context: Context) -> RuleMatch:
    message = "{} can't be seen and may hide text; remove it"
    for start, end in hidden(context.text):
        yield message.format(_code_points(context.text[start:end])), start, end
    for name, part in _all_other_parts(context.draft):
        if (span := next(hidden(part), None)) is not None:
            yield message.format(_code_points(part[span[0] : span[1]])) + f' (in "{name}")', -1, -1


def _code_points(signs: str) -> str:
    first = f"U+{ord(signs[0]):04X}"
    return first if len(signs) == 1 else f"{first} and {len(signs) - 1} more"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"


def _answer_format(context: Context) -> RuleMatch:
    if context.draft.kind is Kind.ANSWER_FORMAT:
        return
    match = ANSWER_FORMAT.search(context.text)
    if match is not None:
        message = f"'{_short(match.group())}' is about how to answer, not how the site works; file it as answer-format"
        yield message, *match.span()


def _length(least: int, most: int | None, message: str) -> Callable[[Context], RuleMatch]:
    def find(context: Context) -> RuleMatch:
        length = len(context.draft.text)
        if length > least and (most is None or length <= most):
            yield message.format(length=f"{length:,}", least=f"{least:,}"), least, length

    return find


def _empty(context: Context) -> RuleMatch:
    if not context.draft.text.strip():
        yield "the tip has no text", -1, -1


def _missing(part: str, cue: re.Pattern[str], message: str) -> Callable[[Context], RuleMatch]:
    def find(context: Context) -> RuleMatch:
        if context.text.strip() and not getattr(context.draft, part).strip() and not cue.search(context.text):
            yield message, -1, -1

    return find


def _no_do(context: Context) -> RuleMatch:
    if not lint_steps.has_steps(context.draft):
        yield from _missing("do", DO, "does not say what to do")(context)


def _no_why(context: Context) -> RuleMatch:
    """A rule (never, always, first, instead) needs its reason; how something is reached does not."""
    if RULED.search(f"{context.text} {context.draft.do[:LONGEST_READ]}"):
        yield from _missing("why", WHY, "does not say why; a rule is kept by those who know its reason")(
            context
        )


def _steps(find: Callable[[TipDraft], Iterator[str]]) -> Callable[[Context], RuleMatch]:
    """A rule on the steps; it concerns the whole tip."""
    return lambda context: ((message, -1, -1) for message in find(context.draft))


def _everything(context: Context) -> RuleMatch:
    if matches_everything(context.draft.scope):
        yield f"the scope {context.draft.scope} matches every address; name the site's host or a path", -1, -1


def _site_wide(context: Context) -> RuleMatch:
    scope = context.draft.scope
    page = PAGE_NAMED.search(f"{context.draft.when[:LONGEST_READ]}. {context.text}")
    if page is not None and is_site_wide(scope) and not matches_everything(scope):
        yield (
            f"speaks of '{_short(page.group())}' but holds for the whole site; a path would find it by its page",
            -1,
            -1,
        )


def _duplicate(context: Context) -> RuleMatch:
    yield from _near(context, DUPLICATE, "says nearly the same as")


def _contradiction(context: Context) -> RuleMatch:
    yield from _near(context, CONTRADICTION, "seems to say the opposite of")


def _near(context: Context, relation: str, verb: str) -> RuleMatch:
    if not context.neighbours:
        return
    for similar in find_similar(context.draft, context.neighbours):
        if similar.relation == relation:
            yield f"{verb} tip {similar.tip.id}: “{_short(similar.tip.text)}”", -1, -1


RULES: tuple[LintRule, ...] = (
    LintRule("empty", ERROR, _empty),
    LintRule("task-value", ERROR, _task_values),
    LintRule("answer-leak", ERROR, _answer_leak),
    LintRule("benchmark-words", ERROR, _matches(BENCHMARK, "'{}' is about the benchmark, not the site")),
    LintRule(
        "secret",
        ERROR,
        _matches(SECRET, "'{}' looks like a secret or a person's address; leave it out", True),
    ),
    LintRule("instruction", ERROR, _instruction),
    LintRule("too-long", ERROR, _length(TOO_LONG, None, "{length} characters; at most {least}: split it")),
    LintRule("answer-format", WARNING, _answer_format),
    LintRule(
        "page-text",
        WARNING,
        _matches(PAGE_DUMP, "'{}' is pasted page text or an element number that changes"),
    ),
    LintRule("task-words", WARNING, _matches(TASK_WORDS, "'{}' mentions tasks; say what holds on the site")),
    LintRule(
        "account-fact",
        WARNING,
        _matches(ACCOUNT_FACT, "'{}' is true of one account or one copy of the site only"),
    ),
    LintRule("scope-everything", WARNING, _everything),
    LintRule(
        "long",
        WARNING,
        _length(LONG, TOO_LONG, "{length} characters; one idea seldom needs more than {least}"),
    ),
    LintRule("step-warned-of", WARNING, _steps(lint_steps.warned_of)),
    LintRule("step-without-name", WARNING, _steps(lint_steps.nameless)),
    LintRule("duplicate", WARNING, _duplicate),
    LintRule("contradiction", WARNING, _contradiction),
    LintRule(
        "one-machine", HINT, _matches(ONE_MACHINE, "'{}' is an address; a placeholder holds on any machine")
    ),
    LintRule("score-word", HINT, _matches(SCORE, "'{}': is the page's own number meant, or a grade?")),
    LintRule(
        "no-when",
        HINT,
        _missing("when", WHEN, "does not say when it applies (on which page, for which goal)"),
    ),
    LintRule("no-do", HINT, _no_do),
    LintRule("no-why", HINT, _no_why),
    LintRule("unread", HINT, _steps(lint_steps.unread)),
    LintRule("placeholder", HINT, _steps(lint_steps.unexplained)),
    LintRule("site-wide", HINT, _site_wide),
)
"""All rules; an ``error`` keeps a tip from being frozen."""
