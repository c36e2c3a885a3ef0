"""The form that asks one exchange again with another model or other tips, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.exchange_api import MOST_TIMES, AskAgainEstimate, AskAgainRequest, AskedAgain, Exchange
from app.engine.core.events import JobChanged
from app.models.common.form import FormModel, Problem
from app.models.common.translate import tr
from app.models.common.usage_words import money_words

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.prompts.prompts_model import PromptsModel

ASKED_ROLES = ("operator", "planner")
ESTIMATE_DELAY = 0.3


class AskAgainModel(FormModel):
    """Changes to the exchange that is read.

    Attributes:
        tips: the tips of its prompt, by id; ``without`` are those that are left out.
        estimate: what asking will take, in words.

    Signals:
        answered(outcome): the model has answered.
        tips_changed: the tips of another prompt.
    """

    answered = Signal(object)
    tips_changed = Signal()

    def __init__(
        self, client: EngineEvents, tasks: Tasks, prompts: PromptsModel, parent: QObject | None = None
    ) -> None:
        super().__init__({"model": "", "effort": "", "text": "", "tips": "", "times": "1"}, parent)
        self._client, self._tasks, self._prompts = client, tasks, prompts
        self.tips: dict[str, str] = {}
        self.without: set[str] = set()
        self.estimate = ""
        self.is_asking = False
        self._job = ""
        self._digest = ""
        prompts.shown.connect(self._on_shown)
        client.job_changed.connect(self._on_job)

    @property
    def can_ask(self) -> bool:
        """Whether the exchange that is read can be asked again."""
        exchange = self._prompts.exchange
        return exchange is not None and exchange.row.role in ASKED_ROLES

    @property
    def title(self) -> str:
        """Whose prompt it is."""
        exchange = self._prompts.exchange
        return tr("Ask the {0} again").format(exchange.row.role if exchange is not None else "")

    def keep_tip(self, tip: str, kept: bool) -> None:
        """Leave a tip of the prompt in, or out."""
        self.without.discard(tip) if kept else self.without.add(tip)
        self._ask_estimate()
        self.changed.emit()

    @property
    def problems(self) -> list[Problem]:
        if not self.can_ask:
            return [Problem("model", tr("Choose a prompt of the operator or the planner"))]
        return self._integer_problem("times", 1, MOST_TIMES)

    def request(self) -> AskAgainRequest:
        """Return the form as a request; call it only without problems."""
        values = {name: text.strip() for name, text in self.values.items()}
        return AskAgainRequest(
            run=self._prompts.run,
            digest=self._prompts.current,
            model=values["model"],
            effort=values["effort"].lower(),
            without=tuple(sorted(self.without)),
            tips=tuple(tip.strip() for tip in values["tips"].split(",") if tip.strip()),
            texts=(values["text"],) if values["text"] else (),
            times=int(values["times"]),
        )

    def load(self) -> None:
        """Ask for the estimate."""
        self._ask_estimate()

    def ask(self) -> bool:
        """Send it; False while something is wrong or an answer is awaited."""
        if self.problems or self.is_asking:
            return False
        self.is_asking, self.error = True, ""

        def came(outcome: AskedAgain) -> None:
            self.is_asking, self._job = False, ""
            self.answered.emit(outcome)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_asking, self._job = False, ""
            self.fail(error)

        self._tasks.start(self._client.api.ask_again(self.request()), came, failed)
        self.changed.emit()
        return True

    def stop(self) -> None:
        """Stop asking; what was answered is kept."""
        if self._job:
            self._tasks.start(self._client.api.cancel_job(self._job))

    def _on_set(self, name: str) -> None:
        self._ask_estimate()

    def _on_job(self, event: JobChanged) -> None:
        if self.is_asking and event.title.startswith("Ask the "):
            self._job = event.id
            if event.state == "cancelled":
                self.is_asking, self._job = False, ""
                self.error = tr("Stopped. What was answered is kept.")
            self.changed.emit()

    def _on_shown(self) -> None:
        exchange = self._prompts.exchange
        if exchange is None or exchange.row.digest == self._digest:
            return
        self._digest, self.tips, self.without = exchange.row.digest, _tips_of(exchange), set()
        self.error = ""
        self.tips_changed.emit()
        self._ask_estimate()
        self.changed.emit()

    def _ask_estimate(self) -> None:
        if self.problems:
            self.estimate = ""
            return

        def came(found: AskAgainEstimate) -> None:
            cost = (
                tr("at most {0}").format(money_words(found.money))
                if found.money is not None
                else tr("cost unknown")
            )
            words = tr("{0}: about {1} tokens in, at most {2} out, {3}").format(
                found.model or tr("the endpoint's model"),
                f"{found.tokens_in:,}",
                f"{found.tokens_out:,}",
                cost,
            )
            self.estimate = "\n".join([words, *found.notes])
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.estimate = str(error)
            self.changed.emit()

        self._tasks.start(
            self._client.api.ask_again_estimate(self.request()), came, failed,
            key=f"ask-again-estimate-{id(self)}", delay=ESTIMATE_DELAY,
        )  # fmt: skip


def _tips_of(exchange: Exchange) -> dict[str, str]:
    """Return the tips of a prompt in its order."""
    parts = (part for message in exchange.messages for part in message.parts)
    return {part.tip: part.text for part in parts if part.tip}
