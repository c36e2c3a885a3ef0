"""The Knowledge perspective: tip table, open tip, and the retrieval tester."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.knowledge.tip_table import COLUMNS
from app.views.knowledge.freeze_pane import FreezePane
from app.views.knowledge.merge_pane import MergePane
from app.views.knowledge.retrieval_tester import RetrievalTester
from app.views.knowledge.tip_detail import STATUS_COMMANDS, TipDetail
from app.views.knowledge.tip_table_pane import TipTablePane
from app.views.widgets import Splitter
from app.views.widgets.build import vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.knowledge_model import KnowledgeModel
    from app.views.frame.theme import Theme

DETAIL, WIDE_DETAIL, WIDE = 452, 640, 1900
"""Initial width of the open tip, and on windows wider than ``WIDE``."""
TESTER_HEIGHT = 264


class KnowledgeView(QWidget):
    """Table over tester at the left, tip or freeze pane at the right; the perspective's commands are bound here.

    ``step_requested(run, step)`` asks the frame to show a step in Review.
    """

    place = "knowledge"
    step_requested = Signal(str, object)

    def __init__(
        self,
        model: KnowledgeModel,
        center: CommandCenter,
        theme: Theme,
        detail: TipDetail | None = None,
    ) -> None:
        super().__init__()
        self.model, self._center, self._theme = model, center, theme
        self.tips = TipTablePane(model, center, theme)
        self.tester = RetrievalTester(model.trying, center, theme)
        self.detail = detail or TipDetail(model, center, theme)
        self.freeze = FreezePane(model.freezing, center, theme)
        self.side = QStackedWidget()
        self.side.addWidget(self.detail)
        self.side.addWidget(self.freeze)
        self.rows = Splitter(Qt.Orientation.Vertical, (0, TESTER_HEIGHT))
        self.rows.addWidget(self.tips)
        self.rows.addWidget(self.tester)
        self.columns = Splitter(Qt.Orientation.Horizontal, (0, DETAIL))
        self.columns.addWidget(self.rows)
        self.columns.addWidget(self.side)
        self.tips.setMinimumHeight(140)
        self.tester.setMinimumHeight(120)
        self.rows.setMinimumWidth(360)
        self.side.setMinimumWidth(300)
        self.merging = MergePane(model.merging, center, theme)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.columns)
        self.pages.addWidget(self.merging)
        vbox(self.pages, parent=self)
        self._by_hand = False
        for splitter in (self.rows, self.columns):
            splitter.splitterMoved.connect(self._on_moved)
        self._bind()
        model.changed.connect(center.refresh)
        model.selection_changed.connect(center.refresh)
        model.freezing_changed.connect(self._on_freezing)
        model.merging.opened.connect(self._on_merging)
        model.waiver_changed.connect(self._on_waiver)
        model.step_requested.connect(self.step_requested)
        model.editor.opened.connect(self._on_opened)
        model.editor.editing_changed.connect(self._on_editing)
        self.detail.step_wanted.connect(model.step_requested)
        for part in (self.detail, self.tester, self.freeze):
            part.tip_wanted.connect(model.open_tip)

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        if self.model.merging.is_open:
            self._center.set_place("merge")
            self.merging.begin()
        else:
            self.tips.take_focus()

    def save_layout(self) -> dict[str, Any]:
        """Column widths, and the model's session."""
        return {
            "columns": self.columns.save(),
            "rows": self.rows.save(),
            "table": self.tips.save(),
            "by_hand": self._by_hand,
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        self._by_hand = layout.get("by_hand") is True
        for name, splitter in (("columns", self.columns), ("rows", self.rows)):
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        self.tips.restore(layout["table"] if isinstance(layout.get("table"), dict) else {})
        match layout.get("sort"):
            case [str(column), bool(descending)] if column in COLUMNS:
                order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
                self.model.table.sort(COLUMNS.index(column), order)
                self.tips.show_sort()
            case _:
                pass
        if layout:
            self.model.restore(layout)
        if not self._by_hand:
            self._share_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the columns' widths from the window's size until the user or an earlier session has."""
        super().resizeEvent(event)
        if not self._by_hand:
            self._share_out()

    def _on_moved(self) -> None:
        self._by_hand = True

    def _share_out(self) -> None:
        wanted = self._theme.px(WIDE_DETAIL if self.width() > WIDE else DETAIL)
        detail = min(wanted, int(self.width() * 0.45))
        self.columns.setSizes([max(self.width() - detail, 100), detail])
        height = TESTER_HEIGHT if self.height() < 1000 else 420
        self.rows.setSizes([max(self.height() - height, 100), height])

    # ------------------------------------------------------------ commands
    def _bind(self) -> None:
        model, bind, tips, freezing = self.model, self._center.bind, self.tips, self.model.freezing
        editor = model.editor

        def there() -> bool:
            return editor.tip is not None

        def reading() -> bool:
            return editor.tip is not None and not editor.is_editing

        def editing() -> bool:
            return editor.is_editing

        bind("knowledge.next", lambda: tips.step(1))
        bind("knowledge.previous", lambda: tips.step(-1))
        bind("knowledge.extend.next", lambda: tips.step(1, extend=True))
        bind("knowledge.extend.previous", lambda: tips.step(-1, extend=True))
        bind("knowledge.filter", tips.focus_filter)
        bind("knowledge.sort", tips.sort_next)
        bind("knowledge.sort.turn", tips.turn_sort)
        bind("knowledge.columns", tips.choose_columns)
        bind("knowledge.back", self._back)
        bind("tip.edit", self._edit, reading)
        bind("tip.save", editor.save, editing)
        bind("tip.discard", editor.discard, editing)
        bind("tip.copy", self._copy, there)
        bind("tip.history", self.detail.focus_history, there)
        bind("tip.restore_revision", editor.restore, lambda: editor.can_restore)
        for command, status in STATUS_COMMANDS.items():
            bind(
                command,
                lambda status=status: model.set_status(status),
                lambda status=status: model.can_become(status),
            )
        bind("tip.evidence", model.open_evidence, lambda: model.has_evidence)
        bind("knowledge.try", self.tester.begin)
        bind("knowledge.try.evidence", model.try_evidence_now, lambda: model.has_evidence)
        bind("kb.freeze", self._open_files)
        bind("kb.verify", self._verify)
        bind("kb.choose", self.freeze.choose_target)
        bind("kb.copy_hash", freezing.copy_hash, lambda: bool(freezing.report or freezing.verified))
        bind("kb.release", self.freeze.choose_page, lambda: bool(freezing.page_source))
        bind("kb.import", self.freeze.choose_import)
        bind("kb.export", self.freeze.choose_export, lambda: model.table.total > 0)
        freezing.changed.connect(self._center.refresh)

    def _edit(self) -> None:
        self.model.close_files()
        self.model.editor.edit()

    def _copy(self) -> None:
        tip = self.model.editor.tip
        if tip is not None:
            QGuiApplication.clipboard().setText(tip.text or tip.do)
            self.model.notice.emit(self.tr("Text of {0} copied").format(tip.id))

    def _open_files(self) -> None:
        self.model.open_files()
        self.freeze.begin()

    def _verify(self) -> None:
        self.model.open_files()
        self.freeze.choose_verify()

    def _back(self) -> None:
        """Go back one level: the edit, the filter, the freeze pane, the multiple selection; then nothing."""
        if self.model.dismiss_waiver():
            return
        if self.model.editor.is_editing:
            self.model.editor.leave()
        elif self.tips.leave_filter():
            return
        elif self.tester.has_keys():
            self.tips.take_focus()
        elif self.model.freezing.is_open:
            self.model.close_files()
        elif not self.tips.clear_selection():
            self.tips.take_focus()

    # ------------------------------------------------------------ answers
    def _on_freezing(self, is_open: bool) -> None:
        self.side.setCurrentWidget(self.freeze if is_open else self.detail)
        if not is_open:
            self.tips.take_focus()
        self._center.refresh()

    def _on_merging(self, is_open: bool) -> None:
        self.pages.setCurrentWidget(self.merging if is_open else self.columns)
        if self._center.place in ("knowledge", "merge"):
            self._center.set_place("merge" if is_open else "knowledge")
            self.focus_first()

    def _on_waiver(self) -> None:
        if not self.model.refused:  # its line is hidden, and Qt would focus the next field
            self.tips.take_focus()

    def _on_editing(self, is_editing: bool) -> None:
        if not is_editing:
            self.tips.take_focus()

    def _on_opened(self) -> None:
        self.model.try_evidence()
        self.tester.own.setVisible(self.model.has_evidence)
        self._center.refresh()
