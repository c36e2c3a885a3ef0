"""Suites of tasks with their reference answers.  Pure data, the same for every format a suite is read from.

A task's ``oracle`` is for evaluators and for people who may see it; no run is ever given any of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from app.errors import NotFound


class Evaluator(StrEnum):
    """A kind of check; the first three are WebArena's, the others those of Sitelore's own suites."""

    STRING = "string_match"
    URL = "url_match"
    HTML = "program_html"
    ANSWER = "answer"
    PAGE = "page"
    STATE = "state"


class Dialect(StrEnum):
    """A named set of rules by which answers, addresses and pages are compared; results of two are never mixed."""

    WEBARENA = "webarena"
    WEBCHOREARENA = "webchorearena"
    STRICT = "strict"  # WebArena-Verified, in an environment of its own
    SITELORE = "sitelore"  # suites of our own form


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlTarget:
    """One page and one place in it that must hold something.

    Attributes:
        url: ``last`` for the page in front at the end, ``func:…`` for a published helper, else an address.
        locator: "" for the whole page, ``document…`` for JavaScript, ``func:…`` for a published helper.
        exact_match: the required text; ``None`` where ``must_include`` says what is required.
        prep_actions: JavaScript run before the locator; its errors are ignored.
        alternatives: targets of which one is enough (WebChoreArena's ``or``).
    """

    url: str = "last"
    locator: str = ""
    exact_match: str | None = None
    must_include: tuple[str, ...] = ()
    prep_actions: tuple[str, ...] = ()
    alternatives: tuple[HtmlTarget, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """The right outcome of a task.

    Attributes:
        evaluators: checks in the order of the suite; all of them have to hold. Unknown names stay, so that they can
            be reported; none at all: the task has no oracle.
        exact_match, must_include, fuzzy_match: reference answers; ``None`` and empty where there are none.
        unachievable: the reference answer is "N/A" (``fuzzy_match: "N/A"``).
        note: why a task can't be done, or another remark for a judge (``string_note``).
        raw_answer: the answer as its annotator wrote it; for people.
        url: reference address with its names of sites; ``url_alternatives`` are further ones (``eval.or``).
        url_note: rule of the comparison of addresses.
        html: targets of ``program_html``.
        answer_kind: of ``answer``: ``number``, ``text``, ``list`` or ``date``.
        accepted: of ``answer``: right answers, of which one is enough (of a list: its items). Empty where the site's
            state command says them.
        page: of ``page``: a regular expression for path and query of the page in front at the end; "" where the
            site's state command says it.
    """

    evaluators: tuple[str, ...] = ()
    exact_match: str | None = None
    must_include: tuple[str, ...] = ()
    fuzzy_match: tuple[str, ...] = ()
    unachievable: bool = False
    note: str = ""
    raw_answer: str = ""
    url: str = ""
    url_alternatives: tuple[str, ...] = ()
    url_note: str = ""
    html: tuple[HtmlTarget, ...] = ()
    answer_kind: str = ""
    accepted: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTask:
    """One task of a suite.

    Attributes:
        id: unique in its suite.
        sites: names of sites in the workspace's table, the first is where it starts.
        start_url: with names such as ``__SHOPPING__``; several are joined by `` |AND| ``; "" for the start page.
        template: what it shares with tasks that ask the same of other things; the unit of statistics.
        kind: type of task: ``question``, ``way``, ``change``, or the suite's own word (WebChoreArena's ``type_main``).
        subtype: the suite's second type, "" for none.
        required_obs: ``any``, ``text`` or ``image`` (WebChoreArena); "" where it is not said.
        level: difficulty in the suite's words.
        login: role to be logged in as; "" for the site's usual log-in, ``nobody`` for none.
        writes: whether doing it changes the site, so that it needs the site for itself and a reset afterwards.
        setup: a named set-up of the first page (``miniwob:SEED``), "" for none.
        max_steps: steps at most, 0 for the evaluation's.
        values: values that were put into the template; they may hold the answer.
    """

    id: str
    intent: str
    sites: tuple[str, ...] = ()
    start_url: str = ""
    template: str = ""
    kind: str = ""
    subtype: str = ""
    required_obs: str = ""
    level: str = ""
    login: str = ""
    writes: bool = False
    setup: str = ""
    max_steps: int = 0
    values: tuple[tuple[str, str], ...] = ()
    oracle: Oracle = field(default_factory=Oracle)

    @property
    def site(self) -> str:
        """The site where it starts; "" for none."""
        return self.sites[0] if self.sites else ""

    @property
    def cluster(self) -> str:
        """Its template with its site: tasks of one cluster succeed and fail together."""
        return f"{self.site}:{self.template or self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tasks in the order of their file.

    Attributes:
        form: the format it was read from.
        dialect: the dialect its reference answers are written for.
        sha256: hash of the file's bytes: two suites with the same one are the same.
        notes: what was odd in the file, one sentence each.
        subsets: named choices of its tasks, with their ids.
        file_name: the name it has where it is read from its file; runs made before it was added carry that one.
    """

    name: str
    form: str
    dialect: Dialect
    sha256: str
    tasks: tuple[SuiteTask, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    file_name: str = ""

    def task(self, id: str) -> SuiteTask:
        """Return a task.  Raises ``NotFound``."""
        for task in self.tasks:
            if task.id == id:
                return task
        raise NotFound(f"the suite '{self.name}' has no task {id[:80]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """A choice among the tasks of a suite; empty fields do not filter, and all that are given must hold.

    Attributes:
        ids: single ids and ranges of numbers (``12``, ``40-59``).
        subset: a named subset of the suite (``small``), or ``a`` or ``b`` of a split by template.
    """

    ids: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    required_obs: str = ""
    subset: str = ""
