"""Operator control of a page: address line, back and forward, and the ways to hand the page back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.page_input import NavigationKind
from app.engine.core.supervision import MAX_HINT_CHARS, Need, TakeoverSummary
from app.models.common.translate import tr
from app.models.live.run_list import can_end_by_hand, has_control

if TYPE_CHECKING:
    from app.models.live.model import LiveModel

MAX_ADDRESS_LENGTH, MAX_ANSWER_LENGTH = 2_000, MAX_HINT_CHARS
"""Characters that can be typed."""

_MOVES = {
    "live.page.back": NavigationKind.BACK,
    "live.page.forward": NavigationKind.FORWARD,
    "live.page.reload": NavigationKind.RELOAD,
    "live.page.start": NavigationKind.START,
}
PAGE_COMMANDS = tuple(_MOVES)
"""Ids of the navigation commands."""


class TakeoverModel(QObject):
    """Signals:

    said(text): why a navigation failed or left the run's sites; "" to clear the message.
    """

    said = Signal(str)

    def __init__(self, live: LiveModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live = live

    # ------------------------------------------------------------ what can be done
    @property
    def has_page(self) -> bool:
        """Whether the operator has control of the open run's page."""
        row = self._live.row_of(self._live.run)
        return row is not None and has_control(row) and not self._live.lost

    @property
    def can_end(self) -> bool:
        """Whether the current run is held, so that the operator can say how it ends."""
        row = self._live.row
        return row is not None and can_end_by_hand(row) and not self._live.lost

    @property
    def is_blocked(self) -> bool:
        """Whether the open run is blocked by a supposed log-in or captcha."""
        row = self._live.row_of(self._live.run)
        waits = row is not None and row.state.held and any(need.need is Need.WALL for need in row.needs)
        return waits and not self._live.lost

    @property
    def can_deny_block(self) -> bool:
        """Whether the operator can say that nothing blocks it: with control of the page, or through the request
        card.
        """
        return self.is_blocked and (self.has_page or self._live.open_run.requests.can("live.no_wall"))

    # ------------------------------------------------------------ doing it
    def move(self, command: str) -> None:
        """Go back, forward, reload or open the start page, by the command's name."""
        self._move(_MOVES[command])

    def open(self, address: str) -> None:
        self._move(NavigationKind.OPEN, address.strip())

    def finish(self) -> None:
        """End the run as done by hand, unless that is undone."""
        self._end(HandBack(how=HandBackKind.FINISHED))

    def answer(self, text: str) -> bool:
        """End the run with this answer, unless that is undone; False where the text is empty."""
        if not text.strip():
            self.said.emit(tr("Type the answer first."))
            return False
        self._end(HandBack(how=HandBackKind.ANSWER, answer=text.strip()))
        return True

    def no_wall(self) -> None:
        """Tell the run that nothing blocks it: it resumes and does not ask about this page again."""
        if self.has_page and self.is_blocked:
            self._live.release(HandBack(how=HandBackKind.NO_WALL))
        else:
            self._live.open_run.requests.no_wall()

    def _move(self, move: NavigationKind, address: str = "") -> None:
        if self.has_page:
            work = self._live.api.move_page(self._live.run, move, address)
            self._live.tasks.start(work, self.said.emit, lambda error: self.said.emit(str(error)))

    def _end(self, back: HandBack) -> None:
        live, row = self._live, self._live.row
        if row is None or not self.can_end:
            return
        run = row.run

        def sent(account: TakeoverSummary) -> None:
            if live.run == run and account.words:
                live.takeover = account
                live.takeover_changed.emit()

        live.delayed_stops.hold(run, lambda: live.api.release(run, back), sent=sent)
