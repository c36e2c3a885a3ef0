"""The outcome that a task expects, in words: one line a rule, for people who may see reference answers."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.evaluation.suite import Dialect, Evaluator, HtmlTarget, Oracle, SuiteTask
from app.engine.evaluation.suites.read_tasks import ALL_EVALUATORS

_LONGEST = 300


def expected_lines(task: SuiteTask, dialect: Dialect) -> tuple[str, ...]:
    """Return what has to hold, one line a rule, in the order in which it is checked; empty without an oracle."""
    if dialect is Dialect.STRICT:
        return (
            ("what WebArena-Verified expects of this task, by its own data",) if task.id.isdecimal() else ()
        )
    oracle, lines = task.oracle, list[str]()
    for evaluator in oracle.evaluators:
        match evaluator:
            case Evaluator.STRING:
                lines += _string(oracle, dialect)
            case Evaluator.URL:
                lines.append(_url(oracle, dialect))
            case Evaluator.HTML:
                lines += [_target(target, dialect) for target in oracle.html]
            case Evaluator.ANSWER:
                lines.append(_answer(oracle))
            case Evaluator.PAGE:
                lines.append(
                    f"the page in front at the end matches {_quoted(oracle.page)}"
                    if oracle.page
                    else "the page in front at the end is the one that the site's state command says"
                )
            case Evaluator.STATE:
                lines.append(
                    "the site is in the state that its state command asks for, and nothing else changed"
                )
            case _ if evaluator not in ALL_EVALUATORS:
                lines.append(f"{_short(evaluator)}: this program can't judge by it")
            case _:
                pass
    if oracle.raw_answer and lines:
        lines.append(f"in its annotator's words: {_short(oracle.raw_answer)}")
    return tuple(lines)


def _string(oracle: Oracle, dialect: Dialect) -> list[str]:
    lines: list[str] = []
    if oracle.exact_match is not None:
        lines.append(f"the answer is exactly {_quoted(oracle.exact_match)}")
    if oracle.must_include:
        share = ", each counts its share" if dialect is Dialect.WEBCHOREARENA else ""
        rule = f"has each of{share}:" if len(oracle.must_include) > 1 else "has"
        lines.append(f"the answer {rule} {_listed(oracle.must_include)}")
    if oracle.fuzzy_match:
        lines.append(f"a judge finds that the answer means {_listed(oracle.fuzzy_match)}")
    if oracle.unachievable:
        reason = f", because {_short(oracle.note)}" if oracle.note else ""
        lines.append(f"the answer says that it can't be done{reason}")
    return lines or ["the answer, but the suite has no reference answer"]


def _url(oracle: Oracle, dialect: Dialect) -> str:
    if not oracle.url:
        return "the address at the end, but the suite has no reference address"
    further = oracle.url_alternatives if dialect is Dialect.WEBCHOREARENA else ()
    several = " |OR| " in oracle.url or bool(further)
    named = _listed([*oracle.url.split(" |OR| "), *further], " or ")
    return f"the address at the end has {'one of ' if several else ''}{named}"


def _target(target: HtmlTarget, dialect: Dialect) -> str:
    page = "the page in front at the end" if target.url == "last" else f"the page {_short(target.url)}"
    place = f" at {_short(target.locator)}" if target.locator else ""
    if target.exact_match is not None:
        what = f"is exactly {_quoted(target.exact_match)}"
    elif target.must_include:
        what = f"has {_listed(target.must_include)}"
    else:
        what = "holds something that the suite does not say"
    own = f"{page}{place} {what}"
    further = [_target(one, dialect) for one in target.alternatives]
    return ", or else ".join([own, *further]) if dialect is Dialect.WEBCHOREARENA else own


def _answer(oracle: Oracle) -> str:
    kind = oracle.answer_kind or "text"
    if not oracle.accepted:
        return f"the answer ({kind}) is the one that the site's state command says"
    if kind == "list":
        return f"the answer lists {_listed(oracle.accepted)} and nothing else"
    one_of = "one of " if len(oracle.accepted) > 1 else ""
    return f"the answer ({kind}) is {one_of}{_listed(oracle.accepted)}"


def _listed(texts: Sequence[str], between: str = ", ") -> str:
    return between.join(map(_quoted, texts))


def _quoted(text: str) -> str:
    return f"“{_short(text)}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
