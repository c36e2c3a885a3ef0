"""The models that explain the open run: its cause, answer, expected outcome, and a search on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.models.review.answer_page_model import AnswerPageModel, OpenRun
from app.models.review.cause_model import CauseModel
from app.models.review.expected import ExpectedModel
from app.models.review.page_search import PageSearch

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class RunExplanation(QObject):
    """The models that follow Review's open run and say why it failed."""

    def __init__(self, client: EngineEvents, tasks: Tasks, review: OpenRun, parent: QObject) -> None:
        super().__init__(parent)
        self.expected = ExpectedModel(client, tasks, review)
        self.cause = CauseModel(client, tasks, review, self)
        self.answer = AnswerPageModel(client, tasks, review, self.expected, self)
        self.search = PageSearch(review.before, review.after, self)
