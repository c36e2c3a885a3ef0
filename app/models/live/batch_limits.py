"""The small form that changes budget and parallel runs of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.form import FormModel, Problem
from app.models.common.translate import tr
from app.models.live.batch_form import MAX_CONCURRENCY
from app.models.live.run_options import MAX_MONEY, MAX_TOKENS, dollars, number_text, plain_number

if TYPE_CHECKING:
    from app.engine.core.batch import BatchRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class BatchLimits(FormModel):
    """Limits of one batch as text; ``batch`` is "" while the form is closed.

    Signals:
        saved(BatchRow): the batch with its new limits.
    """

    saved = Signal(object)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__({"money": "", "tokens": "", "at_once": ""}, parent)
        self._client, self._tasks = client, tasks
        self.batch = ""
        self.used_up = "money"
        """The budget to change first: the one that is used up."""
        self.is_sending = False

    def show(self, row: BatchRow) -> None:
        """Open the form with a batch's limits."""
        self.batch, self.error = row.id, ""
        self.used_up = "tokens" if row.max_tokens and row.tokens >= row.max_tokens else "money"
        self.values.update(
            money=number_text(row.max_money),
            tokens=number_text(row.max_tokens),
            at_once=number_text(row.at_once),
        )
        self.changed.emit()

    def close(self) -> None:
        if self.batch:
            self.batch = ""
            self.changed.emit()

    @property
    def problems(self) -> list[Problem]:
        found: list[Problem] = []
        money, tokens = dollars(self.values["money"]), plain_number(self.values["tokens"])
        if money is None or not 0 <= money <= MAX_MONEY:
            found.append(Problem("money", tr("Enter an amount of US dollars such as 0.50, or nothing")))
        if tokens and not (tokens.isdecimal() and int(tokens) <= MAX_TOKENS):
            found.append(Problem("tokens", tr("Enter a whole number of tokens, or nothing")))
        if self.values["at_once"].strip():
            found += self._integer_problem("at_once", 1, MAX_CONCURRENCY)
        return found

    def save(self) -> bool:
        """Change the batch; False while something is wrong."""
        if self.problems or self.is_sending or not self.batch:
            self.changed.emit()
            return False

        def saved(row: BatchRow) -> None:
            self.is_sending = False
            self.close()
            self.saved.emit(row)

        def failed(error: Exception) -> None:
            self.is_sending = False
            self.fail(error)

        self.is_sending, self.error = True, ""
        work = self._client.api.set_batch_limits(
            self.batch,
            int(self.values["at_once"].strip() or 0),
            dollars(self.values["money"]) or 0.0,
            int(plain_number(self.values["tokens"]) or 0),
        )
        self._tasks.start(work, saved, failed)
        self.changed.emit()
        return True
