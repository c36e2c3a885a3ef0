"""The block-list editor: rules are tested as they are typed, on the elements of a stored page."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.object_list import ObjectList
from app.models.common.page import ScreenshotStore
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.graph_api import LabReport, NodeDetail
    from app.engine.core.page_state import Element
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

CHECK_DELAY, LONGEST_DELAY = 0.3, 2.0
"""Seconds without a key press before the rules are tested: as long as the last test took, within these bounds."""
PICTURES = 32 << 20
VERDICTS = ("block", "ask", "allow")
VERDICT_WORDS = {"block": "stopped", "ask": "asked about", "allow": "allowed"}
_POSITION = re.compile(r"\bline (\d+)(?:,? column (\d+))?", re.IGNORECASE)
_RULE = re.compile(r"\brule \d+ '([^']+)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockListRow:
    """An element of the page and the rules' verdict on it; ``verdict`` is "" before it is known."""

    number: int
    element: Element
    verdict: str = ""
    rule: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """The element's name, or else what tells it from the others."""
        element = self.element
        return element.name or element.label or element.text or element.test_id or element.href or "no name"


class BlockedElementListModel(ObjectList[BlockListRow]):
    """Elements in document order; optionally only those the rules stop or ask about."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.number, parent)

    def words(self, value: BlockListRow) -> str:
        """``button 'Delete', stopped by danger.delete: the name has 'delete'``."""
        said = VERDICT_WORDS.get(value.verdict, "not checked")
        by = f" by {value.rule}" if value.rule else ""
        why = f": {value.why}" if value.why else ""
        return f"{value.element.role} '{value.name}', {said}{by}{why}"


class BlockListModel(QObject):
    """Rules of one site tested on one of its states.

    Signals:
        changed: verdicts, counts, an error, or the available actions.
        text_changed: the rules were replaced; the editor takes them.
        page_changed: another page is shown, or its picture was loaded.
        element_changed: another element is selected.
    """

    changed = Signal()
    text_changed = Signal()
    page_changed = Signal()
    element_changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.rows = BlockedElementListModel(self)
        self.pictures = ScreenshotStore(client, tasks, self, keep=PICTURES)
        self.site: str = ""
        self.node: str = ""
        self.error = self.page_error = ""
        self.detail: NodeDetail | None = None
        self.report: LabReport | None = None
        self.is_trying = self.is_saving = False
        self.only_stopped = False
        self.element = -1
        self._text: dict[str, str] = {}
        self._saved: dict[str, str] = {}
        self.page_rows: list[BlockListRow] = []
        self._delay, self._tried_at = CHECK_DELAY, 0.0

    # ------------------------------------------------------------ what is looked at
    def show(self, site: str, node: str) -> None:
        """Test the site's rules on this state; unsaved rules of a site stay until they are saved or discarded."""
        if site != self.site:
            self.site, self.node, self.report, self.error = site, "", None, ""
            self._take_page([])
            self.text_changed.emit()
            if site and site not in self._text:
                self._load(self._client.api.block_rules(site), stored=True)
        if node and node != self.node:
            self.node, self.detail, self.page_error = node, None, ""
            work = self._client.api.graph_node(site, node)
            self._tasks.start(work, self._page_came, self._page_failed, key="map-lab-page")
        self.changed.emit()

    @property
    def text(self) -> str:
        return self._text.get(self.site, "")

    @property
    def is_changed(self) -> bool:
        return self.site in self._saved and self.text != self._saved[self.site]

    @property
    def can_save(self) -> bool:
        """Whether the rules are valid and not stored yet."""
        holds = not self.error and not self.is_trying
        return bool(self.site) and self.is_changed and holds and not self.is_saving

    # ------------------------------------------------------------ typing
    def set_text(self, text: str) -> None:
        """Take the typed rules; they are tested after a short pause."""
        if text == self.text:
            return
        self._text[self.site] = text
        self._try(self._delay)

    def load_builtin(self) -> None:
        """Load the built-in rules; the editor's undo brings back what was typed."""
        self._load(asyncio.to_thread(_builtin), stored=False)

    def load_stored(self) -> None:
        if self.site in self._saved:
            self._text[self.site] = self._saved[self.site]
            self.text_changed.emit()
            self._try()

    def save(self) -> None:
        if not self.can_save:
            return
        site, text = self.site, self.text
        self.is_saving = True
        self.changed.emit()

        def saved(_nothing: None) -> None:
            self._saved[site], self.is_saving = text, False
            self.notice.emit(tr("Rules of {0} saved; they apply from the next exploration").format(site))
            self.changed.emit()

        self._tasks.start(
            self._client.api.save_block_rules(site, text), saved, self._try_failed, key="map-lab-save"
        )

    # ------------------------------------------------------------ the page
    def set_only_stopped(self, only: bool) -> None:
        """List only elements that the rules stop or ask about."""
        self.only_stopped = only
        self._list_rows()
        self.changed.emit()

    def select_element(self, number: int) -> None:
        if number != self.element:
            self.element = number
            self.element_changed.emit()

    def next_stopped(self, by: int = 1) -> None:
        """Select the next element that the rules stop or ask about, cyclically."""
        stopped = [row.number for row in self.page_rows if row.verdict in ("block", "ask")]
        if not stopped:
            return
        later = [number for number in stopped if (number > self.element if by > 0 else number < self.element)]
        self.select_element((later or stopped)[0 if by > 0 else -1])

    @property
    def counts(self) -> dict[str, int]:
        return {verdict: sum(row.verdict == verdict for row in self.page_rows) for verdict in VERDICTS}

    @property
    def error_position(self) -> tuple[int, int] | None:
        """Line and column of the error, from 1, where it names one."""
        return position_of(self.error, self.text)

    # ------------------------------------------------------------ answers
    def _load(self, work: object, *, stored: bool) -> None:
        site = self.site

        def came(text: str) -> None:
            if stored:
                self._saved[site] = text
            self._text[site] = text
            if site == self.site:
                self.text_changed.emit()
                self._try()

        self._tasks.start(work, came, self._try_failed, key="map-lab-load")  # type: ignore[arg-type]

    def _try(self, delay: float = 0.0) -> None:
        self.error = syntax_error(self.text)
        if self.error or not self.node:
            self._tasks.cancel("map-lab-try")
            self.is_trying = False
            self.changed.emit()
            return
        self.is_trying = True
        self.changed.emit()
        self._tried_at = time.monotonic() + delay
        work = self._client.api.try_rules(self.site, self.node, self.text)
        self._tasks.start(work, self._on_tested, self._try_failed, key="map-lab-try", delay=delay)

    def _on_tested(self, report: LabReport) -> None:
        self.is_trying, self.error = False, report.error
        self._delay = min(max(time.monotonic() - self._tried_at, CHECK_DELAY), LONGEST_DELAY)
        if not report.error:
            self.report = report
            self._judge()
        self.changed.emit()

    def _try_failed(self, error: Exception) -> None:
        self.is_trying = self.is_saving = False
        self.error = str(error) or type(error).__name__
        self.changed.emit()

    def _page_came(self, detail: NodeDetail) -> None:
        self.detail, self.report = detail, None
        self.element = -1
        self._take_page(
            [BlockListRow(number=number, element=one) for number, one in enumerate(detail.elements)]
        )
        self.page_changed.emit()
        if self.site in self._text:
            self._try()

    def _page_failed(self, error: Exception) -> None:
        self.page_error = str(error) or type(error).__name__
        self._take_page([])
        self.page_changed.emit()

    def _take_page(self, rows: list[BlockListRow]) -> None:
        self.page_rows = rows
        self.rows.replace([])
        self._list_rows()

    def _judge(self) -> None:
        hits = {hit.element: hit for hit in self.report.hits} if self.report is not None else {}
        judged: list[BlockListRow] = []
        for row in self.page_rows:
            hit = hits.get(row.element.index)
            judged.append(
                BlockListRow(number=row.number, element=row.element)
                if hit is None
                else BlockListRow(
                    number=row.number, element=row.element, verdict=hit.verdict, rule=hit.rule, why=hit.why
                )
            )
        self.page_rows = judged
        self._list_rows()

    def _list_rows(self) -> None:
        shown = (row for row in self.page_rows if not self.only_stopped or row.verdict in ("block", "ask"))
        self.rows.merge(list(shown))


def syntax_error(text: str) -> str:
    """Return where the text stops being JSON, as a sentence; "" for valid or empty text."""
    if not text.strip():
        return ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return tr("Line {0}, column {1}: {2}").format(error.lineno, error.colno, error.msg)
    except (RecursionError, ValueError):
        return tr("The rules are nested too deeply")
    return ""


def position_of(error: str, text: str) -> tuple[int, int] | None:
    """Return line and column (from 1) named by an error; where it names only a rule, the position of that rule."""
    found = _POSITION.search(error)
    if found is not None:
        return int(found.group(1)), int(found.group(2) or 1)
    rule = _RULE.search(error)
    if rule is None:
        return None
    named = re.search(r'"name"\s*:\s*' + re.escape(json.dumps(rule.group(1))), text)
    named = named or re.search(re.escape(json.dumps(rule.group(1), ensure_ascii=False)), text)
    if named is None:
        return None
    place = named.start()
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)


def _builtin() -> str:
    from app.engine.graph.rules.block_list import builtin_text

    return builtin_text()
