"""The form of a new evaluation, and the plan of what it would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal

from app.engine.api.evaluation_api import (
    EngineKind,
    EvaluationPlan,
    EvaluationRequest,
    EvaluationRow,
    OnTaint,
    SuiteRow,
    WithMaps,
)
from app.engine.core.evaluation.suite import Dialect, TaskFilter
from app.models.common.form import FormModel, Problem
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.evaluate.suites_model import SuitesModel

PLAN_DELAY = 0.3
"""Seconds without a change before the plan is made again."""
NO_KNOWLEDGE = "none"
DIALECTS = ("", *(dialect.value for dialect in Dialect))
WHOLE = {
    "repeats": (1, 100),
    "workers": (1, 256),
    "max_steps": (1, 1000),
    "max_tokens": (0, 1_000_000_000),
    "seed": (0, 2_000_000_000),
}
AMOUNTS_OF_A_RUN = ("max_seconds", "max_money")
VALUES = {
    "ids": "",
    "kb": NO_KNOWLEDGE,
    "against": NO_KNOWLEDGE,
    "repeats": "1",
    "workers": "1",
    "max_steps": "30",
    "max_seconds": "0",
    "max_tokens": "0",
    "max_money": "0",
    "address": "",
    "name": "",
    "seed": "7",
}
CHOICES = {
    "suite": "",
    "subset": "",
    "policy": "scout",
    "maps": "no",
    "tainted": "refuse",
    "dialect": "",
    "engine": "local",
}


class EvaluationFormModel(FormModel):
    """Signals:

    planned: the plan, or why there is none, changed.
    started(folder): the evaluation has begun.
    """

    planned = Signal()
    started = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, suites: SuitesModel, parent: QObject | None = None
    ) -> None:
        super().__init__(dict(VALUES), parent)
        self._client, self._tasks, self._suites = client, tasks, suites
        self.choices = dict(CHOICES)
        self.sites: set[str] = set()
        self.kinds: set[str] = set()
        self.rules: set[str] = set()
        """Chosen of BrowserGym's two rules: ``infeasible_is_na``, ``off_site_is_zero``."""
        self.last_freeze = ""
        self.plan: EvaluationPlan | None = None
        self.plan_error = ""
        self.is_open = self.is_planning = self.is_sending = False
        self._asked: EvaluationRequest | None = None
        self.changed.connect(self._plan_soon)
        suites.changed.connect(self._on_suites)

    # ------------------------------------------------------------ the form
    @property
    def suite(self) -> SuiteRow | None:
        """The chosen suite."""
        return self._suites.list.at(self._suites.list.row_of(self.choices["suite"]))

    @property
    def suites(self) -> list[str]:
        return [row.name for row in self._suites.list.rows]

    @property
    def subsets(self) -> tuple[str, ...]:
        """Named subsets of the suite, and its halves by template."""
        row = self.suite
        return ("", *row.subsets, "a", "b") if row is not None else ("",)

    def open(self, suite: str = "") -> None:
        """Begin to plan; with a suite, for that one."""
        self.is_open = True
        if suite:
            self.choices["suite"] = suite
        self._on_suites()
        self._asked = None
        self.changed.emit()

    def close(self) -> None:
        """Stop planning; what was typed stays."""
        self.is_open = False
        self._tasks.cancel("evaluate-plan")

    def choose(self, name: str, value: str) -> None:
        if self.choices[name] != value:
            self.choices[name], self.error = value, ""
            if name == "suite":
                self.sites, self.kinds, self.choices["subset"] = set(), set(), ""
            self.changed.emit()

    def turn(self, group: str, value: str, *, on: bool) -> None:
        """Choose a site, a type or a rule (``sites``, ``kinds``, ``rules``), or no longer."""
        chosen = cast("set[str]", getattr(self, group))
        if (value in chosen) != on:
            (chosen.add if on else chosen.discard)(value)
            self.error = ""
            self.changed.emit()

    def offer(self, path: str) -> None:
        """Offer the last frozen file of this workspace for the arm."""
        if path != self.last_freeze:
            self.last_freeze = path
            self.changed.emit()

    def take_freeze(self) -> None:
        """Evaluate the last frozen file."""
        if self.last_freeze:
            self.set("kb", self.last_freeze)

    @property
    def problems(self) -> list[Problem]:
        found = [
            problem for name, limits in WHOLE.items() for problem in self._integer_problem(name, *limits)
        ]
        for name in AMOUNTS_OF_A_RUN:
            if _amount(self.values[name]) is None:
                found.append(Problem(name, tr("Enter a number, 0 for no limit")))
        if self.choices["engine"] == "ray" and not self.values["address"].strip():
            found.append(Problem("address", tr("Enter the address of the cluster, or auto")))
        return sorted(found, key=lambda one: list(self.values).index(one.field))

    def request(self) -> EvaluationRequest:
        """Return what the form says; call it only without problems."""
        values = {name: text.strip() for name, text in self.values.items()}
        chosen = self.choices
        return EvaluationRequest(
            suite=chosen["suite"],
            tasks=TaskFilter(
                ids=tuple(values["ids"].replace(",", " ").split()),
                sites=tuple(sorted(self.sites)),
                kinds=tuple(sorted(self.kinds)),
                subset=chosen["subset"],
            ),
            kb=values["kb"] or NO_KNOWLEDGE,
            against=values["against"] or NO_KNOWLEDGE,
            maps=cast("WithMaps", chosen["maps"]),
            policy=chosen["policy"],
            repeats=int(values["repeats"]),
            workers=int(values["workers"]),
            engine=cast("EngineKind", chosen["engine"]),
            address=values["address"] if chosen["engine"] == "ray" else "",
            max_steps=int(values["max_steps"]),
            max_seconds=_amount(values["max_seconds"]) or 0.0,
            max_tokens=int(values["max_tokens"]),
            max_money=_amount(values["max_money"]) or 0.0,
            dialect=chosen["dialect"],
            infeasible_is_na="infeasible_is_na" in self.rules,
            off_site_is_zero="off_site_is_zero" in self.rules,
            tainted=cast("OnTaint", chosen["tainted"]),
            seed=int(values["seed"]),
            name=values["name"],
        )

    # ------------------------------------------------------------ the plan
    @property
    def is_stale(self) -> bool:
        """Whether the plan shown is of another request."""
        return self.is_planning or bool(self.problems)

    def _plan_soon(self) -> None:
        if not self.is_open or self.suite is None or self.problems:
            self._asked = None
            self._tasks.cancel("evaluate-plan")
            self.is_planning = False
            self.planned.emit()
            return
        request = self.request()
        if request == self._asked:
            return
        self._asked, self.is_planning = request, True
        self.planned.emit()

        def came(plan: EvaluationPlan) -> None:
            self.plan, self.plan_error, self.is_planning = plan, "", False
            self.planned.emit()

        def failed(error: Exception) -> None:
            self.plan, self.plan_error = None, str(error) or type(error).__name__
            self.is_planning = False
            self.planned.emit()

        self._tasks.start(
            self._client.api.plan_evaluation(request), came, failed, key="evaluate-plan", delay=PLAN_DELAY
        )

    # ------------------------------------------------------------ starting
    def start(self) -> bool:
        """Start the evaluation; False while something is wrong."""
        if self.suite is None:
            self.fail(ValueError(tr("Add a suite first")))
            return False
        if self.problems or self.is_sending:
            self.changed.emit()
            return False
        if self.plan is not None and self.plan.problems and not self.is_stale:
            self.fail(ValueError(self.plan.problems[0]))
            return False
        self.error, self.is_sending = "", True
        request = self.request()
        self._tasks.start(self._client.api.run_evaluation(request), self._ended, self._refused)
        self.changed.emit()
        return True

    def begun(self, folder: str) -> None:
        """Follow the first news of the evaluation; the answer comes only when it is over."""
        if self.is_sending:
            self.is_sending = False
            self.changed.emit()
            self.started.emit(folder)

    def _ended(self, row: EvaluationRow) -> None:
        self.begun(row.folder)

    def _refused(self, error: Exception) -> None:
        if self.is_sending:
            self.is_sending = False
            self.fail(error)
        else:
            self._tasks.error.emit(str(error) or type(error).__name__)

    def _on_suites(self) -> None:
        names = self.suites
        if self.choices["suite"] not in names and names:
            self.choices["suite"] = names[0]
            self.sites, self.kinds, self.choices["subset"] = set(), set(), ""
        if self.is_open:
            self.changed.emit()


def _amount(text: str) -> float | None:
    """Return a typed amount of at least 0, ``None`` for anything else."""
    try:
        value = float(text.strip().replace(",", ".") or "0")
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None
