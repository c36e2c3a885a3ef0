"""Options of a run that both forms have: policy, model, tips, graph, log-in, hosts, and its budget."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from app import settings
from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, LlmRunOptions
from app.engine.core.risk_class import RiskClass
from app.models.common.form import FormModel, Problem
from app.models.common.tasks import ignore
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphRow
    from app.engine.api.prompt_api import ActionSetRow, ActionSets
    from app.engine.api.run_api import RunRequest
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.settings import Settings

POLICIES = ("scout", "llm")
MAX_STEPS = 1000
MAX_TOKENS, MAX_SECONDS, MAX_MONEY = 1_000_000_000, 1_000_000, 1_000_000
RISKS = tuple(risk.value for risk in RiskClass if risk not in (RiskClass.READS, RiskClass.EDITS))
"""Classes of actions that a run may be allowed beyond its task."""

USUAL = {
    "max_steps": "30",
    "kb": LIVE_KNOWLEDGE,
    "storage_state": "",
    "model": "",
    "max_tokens": "",
    "max_money": "",
    "max_seconds": "",
    "domains": "",
}
"""The typed options of a new form."""


class RunOptionsModel(FormModel):
    """Options of the runs that a form starts.

    Signals:
        model_wanted: the person wants to set up a model.
    """

    model_wanted = Signal()

    def __init__(
        self, values: dict[str, str], client: EngineEvents, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(values | USUAL, parent)
        self._client, self._tasks = client, tasks
        self.policy = POLICIES[0]
        self.graph = ""
        self.graphs: tuple[str, ...] = ()
        self.llm = LlmRunOptions()
        self.action_sets: tuple[ActionSetRow, ...] = ()
        self.allow: frozenset[str] = frozenset()
        self.headed = self.vision = self.is_sending = False
        self.has_model = True
        self.usual_model = ""
        """Name of the model in the settings."""
        client.graph_changed.connect(self._on_graph)
        client.prompts_changed.connect(self._on_prompts)

    # ------------------------------------------------------------ what there is to choose from
    def load(self) -> None:
        """Look up graphs, sets of actions, and the model."""

        def loaded(rows: list[GraphRow]) -> None:
            self.graphs = tuple(row.site for row in rows)
            if self.graph not in self.graphs:
                self.graph = ""
            self.changed.emit()

        self._tasks.start(self._client.api.graphs(), loaded, key=f"run-form-graphs-{id(self)}")
        self._on_prompts()
        self.look_up_model()

    def look_up_model(self, _saved: object = None) -> None:
        """Find out whether a model is set, and which."""

        def found(missing: str) -> None:
            self.has_model = not missing
            self.changed.emit()

        def read(chosen: Settings) -> None:
            self.usual_model = chosen.model_name
            self.changed.emit()

        self._tasks.start(self._client.api.model_missing(), found, ignore, key=f"run-form-model-{id(self)}")
        self._tasks.start(asyncio.to_thread(settings.load), read, ignore, key=f"run-form-settings-{id(self)}")

    def _on_graph(self, _event: object) -> None:
        self.load()

    def _on_prompts(self, _event: object = None) -> None:
        def loaded(found: ActionSets) -> None:
            self.action_sets = found.sets
            self.changed.emit()

        self._tasks.start(self._client.api.action_sets(), loaded, key=f"run-form-actions-{id(self)}")

    # ------------------------------------------------------------ choices
    def choose(self, name: str, value: str | bool) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.changed.emit()

    def choose_option(self, **options: Any) -> None:
        """Change options of the llm policy (``LlmRunOptions``)."""
        changed = replace(self.llm, **options)
        if changed != self.llm:
            self.llm = changed
            self.changed.emit()

    def choose_risk(self, risk: str, on: bool) -> None:
        """Allow a class of actions although the task does not ask for it, or not."""
        allow = self.allow | {risk} if on else self.allow - {risk}
        if allow != self.allow:
            self.allow = allow
            self.changed.emit()

    @property
    def marks(self) -> str:
        """When a vision model is asked for marks: ``auto``, ``always``; ``off`` without one."""
        return self.llm.marks if self.vision else "off"

    def choose_marks(self, when: Literal["off", "auto", "always"]) -> None:
        """Choose when a vision model is asked for marks."""
        if when != "off":
            self.choose_option(marks=when)
        self.choose("vision", when != "off")

    @property
    def actions_meaning(self) -> str:
        """The purpose of the chosen set of actions, and what it costs."""
        row = next((row for row in self.action_sets if row.name == self.llm.actions), None)
        if row is None:
            return ""
        return tr("{0} actions, about {1} tokens at each step. {2}").format(
            len(row.calls), row.tokens, row.why
        )

    @property
    def policy_words(self) -> str:
        """The policy with its model: ``llm with gpt-x``."""
        model = self.values["model"].strip() or self.usual_model
        return tr("llm with {0}").format(model) if self.policy == "llm" and model else self.policy

    # ------------------------------------------------------------ what was typed
    def option_problems(self) -> list[Problem]:
        """Return the problems of the fields that both forms have."""
        found = self._integer_problem("max_steps", 1, MAX_STEPS)
        for name, most in (("max_tokens", MAX_TOKENS), ("max_seconds", MAX_SECONDS)):
            found += self.count_problem(name, most)
        return found + self.money_problem("max_money")

    def count_problem(self, name: str, most: int) -> list[Problem]:
        """Return the problem of a whole number that may be left empty."""
        text = plain_number(self.values[name])
        if not text or (text.isdecimal() and 1 <= int(text) <= most):
            return []
        message = tr("Enter a whole number from {0} to {1}, or nothing")
        return [Problem(name, message.format(1, f"{most:,}"))]

    def money_problem(self, name: str) -> list[Problem]:
        """Return the problem of an amount of dollars that may be left empty."""
        money = dollars(self.values[name])
        if money is not None and 0 <= money <= MAX_MONEY:
            return []
        return [Problem(name, tr("Enter an amount of US dollars such as 0.50, or nothing"))]

    def options(self) -> dict[str, Any]:
        """Return the options as fields of a ``RunRequest``; call it only without problems."""
        values: dict[str, str] = {name: self.values[name].strip() for name in USUAL}
        return {
            "policy": self.policy,
            "model": values["model"] if self.policy == "llm" else "",
            "kb": values["kb"] or WITHOUT_KNOWLEDGE,
            "graph": (self.graph,) if self.graph else (),
            "max_steps": int(values["max_steps"]),
            "storage_state": values["storage_state"],
            "domains": tuple(dict.fromkeys(values["domains"].replace(",", " ").split())),
            "allow": tuple(risk for risk in RISKS if risk in self.allow),
            "max_tokens": int(plain_number(values["max_tokens"]) or 0),
            "max_seconds": float(plain_number(values["max_seconds"]) or 0),
            "max_money": dollars(values["max_money"]) or 0.0,
            "headed": self.headed,
            "vision": self.vision,
            "llm": self.llm,
        }

    def take_options(self, request: RunRequest) -> None:
        """Show the options of a run."""
        self.values.update({
            "max_steps": str(request.max_steps),
            "storage_state": request.storage_state,
            "model": request.model,
            "max_tokens": number_text(request.max_tokens),
            "max_seconds": number_text(request.max_seconds),
            "max_money": number_text(request.max_money),
            "domains": " ".join(request.domains),
        })  # fmt: skip
        self.policy, self.headed, self.vision, self.llm = (
            request.policy, request.headed, request.vision, request.llm,
        )  # fmt: skip
        self.allow = frozenset(risk.replace("-", " ") for risk in request.allow)
        self.graph = next(iter(request.graph), "")


def plain_number(text: str) -> str:
    """Return a typed number without spaces and thousands separators."""
    return "".join(text.split()).replace(",", "")


def dollars(text: str) -> float | None:
    """Return a typed amount of dollars, 0 for nothing; ``None`` where it is none."""
    text = plain_number(text).removeprefix("$")
    try:
        found = float(text or 0)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def number_text(number: float) -> str:
    """Return a number as a person would type it; "" for 0, which stands for none."""
    return f"{number:g}" if number and number % 1 else f"{number:.0f}" if number else ""
