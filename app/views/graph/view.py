"""The Map perspective: map and table, the open state beside them, the exploration below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.models.graph.model import MapState
from app.models.graph.node_table import COLUMNS
from app.views.graph.block_list_editor import BlockListEditor
from app.views.graph.canvas import MapCanvas
from app.views.graph.commands import MapCommands
from app.views.graph.exploration_bar import ExplorationBar
from app.views.graph.explore_form import ExploreForm
from app.views.graph.legend import MapLegend
from app.views.graph.node_panel import NodePanel
from app.views.graph.path_pane import PathPane
from app.views.graph.table import NodeTable
from app.views.graph.toolbar import MapToolbar
from app.views.graph.velocity_view import VelocityView
from app.views.widgets import EmptyState, Splitter

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.workspace import MapWorkspace
    from app.views.frame.theme import Theme

SIDE, WIDE_SIDE, WIDE = 372, 560, 1900
"""Initial width of the right column, and on windows wider than ``WIDE``."""
TABLE, PATH = 260, 236


class MapStack(QWidget):
    """The canvas with the legend in its corner."""

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__()
        self.canvas = canvas
        self.legend: MapLegend | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(canvas)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Place the legend and keep the map clear of it."""
        if self.legend is not None:
            self.legend.place()
            self.canvas.reserve_left(self.legend.width() + 10 if self.legend.isVisibleTo(self) else 0)


class MapView(QWidget):
    """Signals:

    step_requested(run, step): Review should show this step.
    tip_requested(tip): Knowledge should show this tip.
    """

    place = "map"
    step_requested = Signal(str, object)
    tip_requested = Signal(str)

    def __init__(self, desk: MapWorkspace, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.desk, self.model, self._center, self._theme = desk, desk.map, center, theme
        model = self.model
        self.canvas = MapCanvas(model, theme)
        self.sheet = MapStack(self.canvas)
        self.legend = self.sheet.legend = MapLegend(model, center, theme, self.sheet)
        self.table = NodeTable(model, theme)
        self.head = MapToolbar(model, center, theme, self, self.take_focus)
        self.panel = NodePanel(desk.detail, center, theme)
        self.path = PathPane(model, center, theme)
        self.form = ExploreForm(desk.exploration, center)
        self.bar = ExplorationBar(desk.exploration, center, theme)
        self.block_list = BlockListEditor(desk.block_list, center, theme)
        self.velocity = VelocityView(desk.velocity, center, theme)
        self._faces()
        self._lay_out()
        self._by_hand = False
        self.keys = MapCommands(self, center)
        self._connect()
        self._show()

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        """Focus the map, or the address field where there is no map."""
        if self.model.state is MapState.NO_GRAPH:
            self.open_form()
        else:
            self.take_focus()

    def take_focus(self) -> None:
        """Focus the map, or what is shown in its place."""
        face = self.faces.currentWidget()
        if face is self.rows:
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def save_layout(self) -> dict[str, Any]:
        """Return widths and the model's state."""
        table = self.model.table
        return {
            "columns": self.columns.save(),
            "rows": self.rows.save(),
            "by_hand": self._by_hand,
            "table": self.table.isVisibleTo(self),
            "legend": self.legend.isVisibleTo(self),
            "seen": self.legend.seen_shown,
            "sort": [table.sorted_by, table.descending],
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        """Restore widths and the model's state."""
        self._by_hand = layout.get("by_hand") is True
        for name, splitter in (("columns", self.columns), ("rows", self.rows)):
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        self.table.setVisible(layout.get("table") is True)
        self.show_legend(layout.get("legend") is not False)
        self.show_seen(layout.get("seen") is not False)
        match layout.get("sort"):
            case [str(column), bool(descending)] if column in COLUMNS:
                order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
                self.model.table.sort(COLUMNS.index(column), order)
                self.table.show_sort()
            case _:
                pass
        if layout:
            self.model.restore(layout)
        if not self._by_hand:
            self._distribute()

    # ------------------------------------------------------------ layout
    def _faces(self) -> None:
        center = self._center
        self.nothing = EmptyState(
            self.tr("No map yet"),
            self.tr("Enter the address of a site and press Explore, or make a map from imported runs."),
            "map.explore",
            center,
        )
        self.bare = EmptyState(
            self.tr("This map is empty"),
            self.tr("The exploration has not found a state yet; its progress is shown below."),
            "map.explore",
            center,
        )
        self.loading = EmptyState(self.tr("Drawing the map…"), "", "", center)
        self.error = QLabel()
        self.error.setWordWrap(True)
        self.error.setProperty("kind", "fail")
        self.error.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.error.setMargin(16)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.rows = Splitter(Qt.Orientation.Vertical, (0, TABLE))
        self.rows.addWidget(self.sheet)
        self.rows.addWidget(self.table)
        self.table.hide()
        self.table.setMinimumHeight(90)
        self.faces = QStackedWidget()
        for face in (
            self.rows,
            self.nothing,
            self.bare,
            self.loading,
            self.error,
            self.block_list,
            self.velocity,
        ):
            self.faces.addWidget(face)
        self.side = QStackedWidget()
        self.beside = Splitter(Qt.Orientation.Vertical, (0, PATH))
        self.beside.addWidget(self.panel)
        self.beside.addWidget(self.path)
        self.path.setMinimumHeight(150)
        self.side.addWidget(self.beside)
        self.side.addWidget(self.form)

    def _lay_out(self) -> None:
        main = QWidget()
        over = QVBoxLayout(main)
        over.setContentsMargins(0, 0, 0, 0)
        over.setSpacing(0)
        over.addWidget(self.head)
        over.addWidget(self.faces, 1)
        self.columns = Splitter(Qt.Orientation.Horizontal, (0, SIDE))
        self.columns.addWidget(main)
        self.columns.addWidget(self.side)
        main.setMinimumWidth(420)
        self.side.setMinimumWidth(300)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.columns, 1)
        layout.addWidget(self.bar)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setTabOrder(self.head, self.canvas)
        self.setTabOrder(self.canvas, self.table)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Size the columns by the window until the person or a saved layout has."""
        super().resizeEvent(event)
        if not self._by_hand:
            self._distribute()

    def _distribute(self) -> None:
        wanted = self._theme.px(WIDE_SIDE if self.width() > WIDE else SIDE)
        side = min(wanted, int(self.width() * 0.42))
        self.columns.setSizes([max(self.width() - side, 100), side])
        high = max(self.faces.height(), 200)
        table = min(self._theme.px(TABLE), high // 2)
        self.rows.setSizes([high - table, table])

    # ------------------------------------------------------------ what the keys do to the view
    def toggle_table(self) -> None:
        """Show the table and focus it; from inside it, hide it."""
        if self.table.isHidden():
            self.table.show()
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)
            QTimer.singleShot(0, self, lambda: self.canvas.reveal(self.model.node))
        elif self.table.hasFocus():
            self.table.hide()
            self.take_focus()
        else:
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_legend(self, shown: bool) -> None:
        self.legend.setVisible(shown)
        self.sheet.arrange()

    def show_seen(self, shown: bool) -> None:
        """Set whether links that were never followed are drawn."""
        self.legend.seen_shown = shown
        self.canvas.show_untried(shown)
        self.legend.refresh()

    def open_panel(self) -> None:
        """Focus the open state's panel."""
        self.close_form()
        self.close_page()
        self.panel.focus_list()

    def open_form(self) -> None:
        """Open the form that starts an exploration."""
        self.side.setCurrentWidget(self.form)
        self.form.begin()

    def open_page(self, page: QWidget) -> None:
        """Show the block-list editor or the velocity chart in the map's place."""
        self.faces.setCurrentWidget(page)
        if page is self.block_list:
            self.block_list.begin()
        else:
            page.setFocus(Qt.FocusReason.OtherFocusReason)
        self._center.refresh()

    @property
    def page(self) -> QWidget | None:
        """The page in the map's place, ``None`` while the map is visible."""
        face = self.faces.currentWidget()
        return face if face in (self.block_list, self.velocity) else None

    # ------------------------------------------------------------ answers
    def _connect(self) -> None:
        model, center = self.model, self._center
        for splitter in (self.columns, self.rows):
            splitter.splitterMoved.connect(self._on_moved)
        self.canvas.node_opened.connect(self.open_panel)
        self.table.node_opened.connect(self.open_panel)
        self.panel.node_requested.connect(model.open)
        self.panel.step_requested.connect(self.step_requested.emit)
        self.panel.tip_requested.connect(self.tip_requested)
        self.form.closed.connect(self.close_form)
        self.block_list.closed.connect(self.close_page)
        self.velocity.closed.connect(self.close_page)
        model.changed.connect(self._show)
        for signal in (model.changed, model.node_changed, model.selection_changed, model.path.changed):
            signal.connect(center.refresh)
        model.graph_changed.connect(self.sheet.arrange)
        self.desk.exploration.changed.connect(center.refresh)

    def _on_moved(self) -> None:
        self._by_hand = True

    def close_form(self) -> None:
        """Show the open state in the form's place."""
        held = self.form.isAncestorOf(self.focusWidget() or self)
        self.side.setCurrentWidget(self.beside)
        if held:
            self.take_focus()

    def close_page(self) -> None:
        """Show the map again."""
        if self.page is not None:
            self.faces.setCurrentWidget(self.rows)
            self._show()
            self.take_focus()
            self._center.refresh()

    def _show(self) -> None:
        model = self.model
        self.error.setText(self.tr("The map can't be shown: {0}").format(model.error))
        face = {
            MapState.READY: self.rows,
            MapState.NO_GRAPH: self.nothing,
            MapState.EMPTY: self.bare,
            MapState.LOADING: self.loading,
            MapState.ERROR: self.error,
        }[model.state]
        before = self.faces.currentWidget()
        if before in (self.block_list, self.velocity) and model.state is MapState.READY:
            return
        if before is not face:
            held = self.hasFocus() or self.canvas.hasFocus()
            self.faces.setCurrentWidget(face)
            if held:
                self.take_focus()
        if model.state is MapState.NO_GRAPH:
            self.side.setCurrentWidget(self.form)
