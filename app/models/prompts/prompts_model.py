"""The prompts of a step: its exchanges, the one that is read, and the sums of the run."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.exchange_api import AskedAgain, AskedAnswer, Exchange, ExchangeRow
from app.models.common.decoder import Decoder
from app.models.common.object_list import ObjectList
from app.models.common.page import ScreenshotStore
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from app.models.common.usage_words import money_words, totals_words
from app.models.prompts.prompt_text import (
    PromptPage,
    PromptSection,
    asked_sections,
    changes_of,
    find_all,
    page_of,
    request_text,
    sections_of,
    unfolded_at_first,
)

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

KEEP = 12
"""Exchanges kept, so that going back and forth does not load them again."""
PICTURES = 48 << 20
FIRST_ROLE = "operator"


class PromptList(ObjectList[ExchangeRow]):
    """The exchanges of a step, then those of the whole run."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.digest, parent)

    def words(self, value: ExchangeRow) -> str:
        """``operator, gpt, 5,200 tokens in, 140 out, 2.4 s, $0.0123``."""
        parts = [value.role or tr("exchange"), value.model, *figures(value)]
        return ", ".join(part for part in (*parts, remark(value)) if part)


class PromptsModel(QObject):
    """Follows a step of a run while it is watched.

    Attributes:
        rows: exchanges of the step.  exchange: the one that is read, ``None`` while it loads.
        newest: the step is the newest of a run that goes on, which is followed.
        sections, unfolded: of ``exchange``, or its changes while ``compares``.
        asked: what came of asking it again, oldest first.
        missing: why there is nothing to show.

    Signals:
        changed: other rows, another step, or a reason why there are none.
        shown: another exchange or other sections are shown.
    """

    changed = Signal()
    shown = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._decoder = Decoder(self)
        self.rows = PromptList(self)
        self.pictures = ScreenshotStore(client, tasks, self, keep=PICTURES)
        self.run, self.step = "", -1
        self.watched = self.newest = self.compares = self.loading = False
        self.missing = self.error = self.current = ""
        self.exchange: Exchange | None = None
        self.sections: tuple[PromptSection, ...] = ()
        self.unfolded: set[int] = set()
        self.asked: tuple[AskedAgain, ...] = ()
        self._all: tuple[ExchangeRow, ...] = ()
        self._kept: OrderedDict[str, Exchange] = OrderedDict()
        self._role = FIRST_ROLE
        self._filling = False
        self._key = f"prompts-{id(self)}"

    # ------------------------------------------------------------ what is followed
    def watch(self, on: bool) -> None:
        """Load exchanges only while somebody looks."""
        self.watched = on
        if on:
            self._load()

    def show(self, run: str, step: int, *, newest: bool = False) -> None:
        """Show a step; of the same run only what is not known yet is loaded."""
        if (run, step, newest) == (self.run, self.step, self.newest):
            return
        if run != self.run:
            self._all, self.current, self.exchange, self.error = (), "", None, ""
            self._kept.clear()
        self.run, self.step, self.newest = run, step, newest
        if self.watched:
            known = any(row.step == step for row in self._all)
            self._fill() if known else self._load()

    def refresh(self) -> None:
        """Load the rows again: the run has changed."""
        if self.watched:
            self._load()

    @property
    def totals(self) -> str:
        """The run's tokens and cost, then by role."""
        return totals_words(self._all)

    # ------------------------------------------------------------ the exchange that is read
    def choose(self, digest: str) -> None:
        """Read another exchange."""
        row = self.rows.at(self.rows.row_of(digest))
        if row is None or digest == self.current or self._filling:
            return
        self._role = row.role
        self._open(digest)

    def neighbour(self, offset: int) -> str:
        """The digest of the next or previous row, "" beyond the ends."""
        row = self.rows.at(max(self.rows.row_of(self.current) + offset, 0))
        return row.digest if row is not None else ""

    @property
    def page(self) -> PromptPage:
        return page_of(self.sections, self.unfolded)

    def toggle(self, section: int) -> None:
        """Fold or unfold a section."""
        self.unfolded ^= {section}

    def toggle_all(self) -> None:
        """Unfold everything; fold the long parts again where nothing is folded."""
        every = set(range(len(self.sections)))
        self.unfolded = unfolded_at_first(self.sections) if self.unfolded >= every else every
        self.shown.emit()

    def set_compares(self, on: bool) -> None:
        """Show what changed against the same role's previous request, or the whole prompt again."""
        if on != self.compares:
            self.compares = on
            self._show_sections()

    def find(self, words: str) -> list[tuple[int, int, int]]:
        """Return where words stand in what is shown, folded parts included."""
        return find_all(self.sections, words) if words.strip() else []

    @property
    def text(self) -> str:
        """The whole prompt and its answer, to be copied."""
        return request_text(self.exchange) if self.exchange is not None else ""

    def close(self) -> None:
        """Wait for work on other threads."""
        self._decoder.close()
        self.pictures.close()

    # ------------------------------------------------------------ inside
    def _load(self) -> None:
        if not self.run:
            return
        run = self.run
        self.loading = not self._all

        def came(rows: tuple[ExchangeRow, ...]) -> None:
            if run == self.run:
                self._all, self.loading = rows, False
                self._fill()

        def failed(error: BaseException) -> None:
            self.loading = False
            self._none(str(error))

        self._tasks.start(self._client.api.exchanges(run), came, failed, key=self._key, delay=0.05)

    def _fill(self) -> None:
        rows = [row for row in self._all if row.step in (self.step, None)]
        self._filling = True  # a view moves its current row meanwhile, which nobody chose
        self.rows.merge(rows)
        self._filling = False
        if not rows:
            self._none(self._why_none())
            return
        self.missing = ""
        if self.rows.row_of(self.current) < 0:
            alike = next((row for row in rows if row.role == self._role), rows[0])
            self._open(alike.digest)
        self.changed.emit()

    def _why_none(self) -> str:
        if self._all:
            return tr("No model was asked at this step.")
        if self.newest:
            return tr("No prompts so far. Those of a step appear when the step is over.")
        return tr("No model was asked in this run: it was imported, or the scout decided it.")

    def _none(self, why: str) -> None:
        self.rows.replace([])
        self.missing, self.current, self.exchange, self.sections = why, "", None, ()
        self.changed.emit()
        self.shown.emit()

    def _open(self, digest: str) -> None:
        self.current, self.error = digest, ""
        known = self._kept.get(digest)
        if known is not None:
            self._came(known)
            return
        self.exchange, self.sections = None, ()

        def failed(error: BaseException) -> None:
            if digest == self.current:
                self.error = str(error)
                self.shown.emit()

        self._tasks.start(
            self._client.api.exchange(self.run, digest), self._came, failed, key=f"{self._key}-one"
        )
        self.changed.emit()

    def _came(self, exchange: Exchange) -> None:
        self._kept[exchange.row.digest] = exchange
        self._kept.move_to_end(exchange.row.digest)
        while len(self._kept) > KEEP:
            self._kept.popitem(last=False)
        if exchange.row.digest == self.current:
            self.exchange, self.asked = exchange, ()
            self._show_sections()
            self.changed.emit()
            self.load_asked()

    def load_asked(self) -> None:
        """Load what came of asking the exchange again."""
        digest = self.current

        def came(asked: tuple[AskedAgain, ...]) -> None:
            if digest == self.current and asked != self.asked:
                self.asked = asked
                self._show_sections()

        self._tasks.start(
            self._client.api.asked_again(self.run, digest), came, ignore, key=f"{self._key}-asked"
        )

    def _show_sections(self) -> None:
        exchange = self.exchange
        if exchange is None:
            return
        if self.compares:
            self._compare(exchange)
            return
        self._show((*sections_of(exchange), *asked_sections(self.asked)))

    def _compare(self, exchange: Exchange) -> None:
        if not exchange.previous:
            self._show((PromptSection(title=tr("This is the role's first prompt in this run"), level=0),))
            return

        def came(previous: Exchange) -> None:
            self._decoder.start(lambda: changes_of(previous, exchange), compared)

        def compared(sections: tuple[PromptSection, ...]) -> None:
            if self.compares and exchange is self.exchange:
                self._show(sections, every=True)

        def failed(error: BaseException) -> None:
            if exchange is self.exchange:
                self._show((PromptSection(title=str(error), level=0),))

        known = self._kept.get(exchange.previous)
        if known is not None:
            came(known)
            return
        self._tasks.start(
            self._client.api.exchange(self.run, exchange.previous), came, failed, key=f"{self._key}-previous"
        )

    def _show(self, sections: tuple[PromptSection, ...], *, every: bool = False) -> None:
        self.sections = sections
        self.unfolded = set(range(len(sections))) if every else unfolded_at_first(sections)
        self.shown.emit()


def figures(row: ExchangeRow) -> tuple[str, ...]:
    """Return tokens, seconds and cost of an exchange in words."""
    tokens = tr("{0} tokens in").format(f"{row.tokens_in:,}")
    if row.cached:
        tokens = tr("{0} ({1} cached)").format(tokens, f"{row.cached:,}")
    out = tr("{0} out").format(f"{row.tokens_out:,}")
    return tokens, out, f"{row.seconds:.1f} s", money_words(row.money)


def answer_figures(answer: AskedAnswer) -> str:
    """Return model, tokens, seconds and cost of an answer in words."""
    tokens = tr("{0} tokens in").format(f"{answer.tokens[0]:,}")
    out = tr("{0} out").format(f"{answer.tokens[1]:,}")
    return " · ".join((answer.model, tokens, out, f"{answer.seconds:.1f} s", money_words(answer.money)))


def remark(row: ExchangeRow) -> str:
    """Return what is wrong with an exchange, "" for nothing."""
    return row.error or (tr("answer cut off at the token limit") if row.truncated else "")
