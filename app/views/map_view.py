"""The Map perspective: the site as a map with its table, the open state beside it, the exploration below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.models.map_model import MapState
from app.models.node_table import COLUMNS
from app.views.block_lab import BlockLab
from app.views.exploration_bar import ExplorationBar
from app.views.explore_form import ExploreForm
from app.views.map_canvas import MapCanvas
from app.views.map_head import MapHead
from app.views.map_legend import MapLegend
from app.views.map_table import NodeTable
from app.views.node_panel import NodePanel
from app.views.path_pane import PathPane
from app.views.velocity_view import VelocityView
from app.views.widgets import EmptyState, Splitter

if TYPE_CHECKING:
    from app.models.commands import CommandCenter
    from app.models.map_desk import MapDesk
    from app.views.theme import Theme

SIDE, WIDE_SIDE, WIDE = 372, 560, 1900
"""Width of the right column at the start, and on windows wider than ``WIDE``."""
TABLE, PATH = 260, 236


class Sheet(QWidget):
    """The canvas with the legend in its corner."""

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__()
        self.canvas = canvas
        self.legend: MapLegend | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(canvas)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The legend keeps to its corner."""
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Put the legend into its corner; the map shown whole stays clear of it."""
        if self.legend is not None:
            self.legend.place()
            self.canvas.keep_clear(self.legend.width() + 10 if self.legend.isVisibleTo(self) else 0)


class MapView(QWidget):
    """Signals:

    step_requested(run, step): a run that passed a state is to be shown in Review.
    tip_requested(tip): a tip is to be shown in Knowledge.
    """

    place = "map"
    step_requested = Signal(str, object)
    tip_requested = Signal(str)

    def __init__(self, desk: MapDesk, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.desk, self.model, self._center, self._theme = desk, desk.map, center, theme
        model = self.model
        self.canvas = MapCanvas(model, theme)
        self.sheet = Sheet(self.canvas)
        self.legend = self.sheet.legend = MapLegend(model, center, theme, self.sheet)
        self.table = NodeTable(model, theme)
        self.head = MapHead(model, center, theme, self, self.take_keys)
        self.panel = NodePanel(desk.detail, center, theme)
        self.path = PathPane(model, center, theme)
        self.form = ExploreForm(desk.exploration, center, theme)
        self.bar = ExplorationBar(desk.exploration, center, theme)
        self.lab = BlockLab(desk.lab, center, theme)
        self.velocity = VelocityView(desk.velocity, center, theme)
        self._faces()
        self._lay_out()
        self._by_hand = False
        self._bind()
        self._connect()
        self._show()

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        """Put the hand where the work begins: the map, or the address where there is no map."""
        if self.model.state is MapState.NO_GRAPH:
            self._explore()
        else:
            self.take_keys()

    def take_keys(self) -> None:
        """Give the keys to the map, or to what stands in its place."""
        face = self.faces.currentWidget()
        if face is self.rows:
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def save_layout(self) -> dict[str, Any]:
        """Widths, and where the person is."""
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
        """Take saved widths and go where the person was."""
        self._by_hand = layout.get("by_hand") is True
        for name, splitter in (("columns", self.columns), ("rows", self.rows)):
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        self.table.setVisible(layout.get("table") is True)
        self._show_legend(layout.get("legend") is not False)
        self._show_seen(layout.get("seen") is not False)
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
            self._share_out()

    # ------------------------------------------------------------ layout
    def _faces(self) -> None:
        center = self._center
        self.nothing = EmptyState(
            self.tr("No map yet"),
            self.tr("Type the address of a site and press Explore, or map what imported runs passed."),
            "map.explore",
            center,
        )
        self.bare = EmptyState(
            self.tr("Nothing is on this map yet"),
            self.tr("The exploration has not found a state so far; it goes on below."),
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
        for face in (self.rows, self.nothing, self.bare, self.loading, self.error, self.lab, self.velocity):
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
        """The window's size sets the widths until a hand or an earlier session has."""
        super().resizeEvent(event)
        if not self._by_hand:
            self._share_out()

    def _share_out(self) -> None:
        wanted = self._theme.px(WIDE_SIDE if self.width() > WIDE else SIDE)
        side = min(wanted, int(self.width() * 0.42))
        self.columns.setSizes([max(self.width() - side, 100), side])
        high = max(self.faces.height(), 200)
        table = min(self._theme.px(TABLE), high // 2)
        self.rows.setSizes([high - table, table])

    # ------------------------------------------------------------ commands
    def _bind(self) -> None:
        model, bind, canvas = self.model, self._center.bind, self.canvas

        def mapped() -> bool:
            return model.state is MapState.READY and self.faces.currentWidget() is self.rows

        def chosen() -> bool:
            return model.state is MapState.READY and bool(model.node)

        def sited() -> bool:
            return bool(model.site)

        bind("map.find", self.head.finder.take_keys, lambda: model.state is MapState.READY)
        bind("map.filter", self.head.filter.take_keys, lambda: model.state is MapState.READY)
        bind("map.site", self.head.focus_site, lambda: bool(model.sites))
        bind("map.table", self._table, mapped)
        bind("map.next", lambda: self._step(1), mapped)
        bind("map.previous", lambda: self._step(-1), mapped)
        bind("map.fit", canvas.fit, mapped)
        bind("map.zoom.in", lambda: canvas.camera.zoom_by(1.4), mapped)
        bind("map.zoom.out", lambda: canvas.camera.zoom_by(1 / 1.4), mapped)
        bind("map.center", lambda: canvas.show_node(model.node), lambda: mapped() and chosen())
        bind("map.legend", lambda: self._show_legend(self.legend.isHidden()), mapped)
        bind("map.links", lambda: self._show_seen(not self.legend.seen_shown), mapped)
        bind("map.tidy", model.tidy, mapped)
        bind("map.open", self._open, chosen)
        bind("map.path", lambda: model.path_from(model.node), chosen)
        bind("map.path.home", self._from_home, chosen)
        bind("map.go", self._go, lambda: chosen() or bool(model.path.to))
        bind("map.close_browser", model.path.close_browser, lambda: bool(model.path.live))
        bind("map.merge", model.merge, lambda: model.can_merge)
        bind("map.split", model.split, lambda: model.can_split)
        bind("map.copy_address", self._copy, chosen)
        bind("map.explore", self._explore)
        bind("map.verify", self.desk.verify, sited)
        bind("map.update", self.desk.update, sited)
        bind("map.from_runs", self.desk.map_runs)
        bind("map.lab", self._lab, sited)
        bind("map.velocity", self._velocity, sited)
        bind("map.back", self._back)

    def _step(self, by: int) -> None:
        node = self.model.neighbour(by)
        if node:
            self.model.select(node)
            if not self.table.hasFocus():
                self.canvas.reveal(node)

    def _table(self) -> None:
        """Show the table and go to it; from inside of it, back to the map alone."""
        if self.table.isHidden():
            self.table.show()
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)
            QTimer.singleShot(0, self, lambda: self.canvas.reveal(self.model.node))
        elif self.table.hasFocus():
            self.table.hide()
            self.take_keys()
        else:
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_legend(self, shown: bool) -> None:
        self.legend.setVisible(shown)
        self.sheet.arrange()

    def _show_seen(self, shown: bool) -> None:
        self.legend.seen_shown = shown
        self.canvas.set_seen(shown)
        self.legend.refresh()

    def _open(self) -> None:
        self._close_form()
        self._close_page()
        self.panel.focus_list()

    def _from_home(self) -> None:
        self.model.path.clear()
        self.model.path_to(self.model.node)

    def _go(self) -> None:
        path = self.model.path
        to = path.to if path.is_shown and path.to in self.model.graph.number else self.model.node
        if to:
            self.model.go_to(to)

    def _copy(self) -> None:
        row = self.model.current
        if row is not None:
            QGuiApplication.clipboard().setText(row.url)
            self.model.notice.emit(self.tr("Address of '{0}' copied").format(row.title or row.url))

    def _explore(self) -> None:
        self.side.setCurrentWidget(self.form)
        self.form.begin()

    def _lab(self) -> None:
        if self.faces.currentWidget() is self.lab:
            self._close_page()
            return
        self.desk.open_lab()
        self.faces.setCurrentWidget(self.lab)
        self.lab.begin()
        self._center.refresh()

    def _velocity(self) -> None:
        if self.faces.currentWidget() is self.velocity:
            self._close_page()
            return
        self.desk.velocity.show(self.model.site)
        self.faces.setCurrentWidget(self.velocity)
        self.velocity.setFocus(Qt.FocusReason.OtherFocusReason)
        self._center.refresh()

    def _back(self) -> None:
        """One level back: the field, the form, the page over the map, the path, the selection, the filter."""
        model = self.model
        if self.head.finder.leave() or self.head.filter.leave():
            return
        if self.side.currentWidget() is self.form and model.state is not MapState.NO_GRAPH:
            self._close_form()
        elif self.faces.currentWidget() in (self.lab, self.velocity):
            self._close_page()
        elif self.panel.isAncestorOf(self.focusWidget() or self) or self.path.list.hasFocus():
            self.take_keys()
        elif model.path.is_shown:
            model.path.clear()
        elif len(model.selected) > 1:
            model.select(model.node)
        elif self.table.hasFocus():
            self.take_keys()
        elif model.table.is_filtered:
            model.set_filter("")
        else:
            self.take_keys()

    # ------------------------------------------------------------ answers
    def _connect(self) -> None:
        model, center = self.model, self._center
        for splitter in (self.columns, self.rows):
            splitter.splitterMoved.connect(self._on_moved)
        self.canvas.node_opened.connect(self._open)
        self.table.node_opened.connect(self._open)
        self.panel.node_requested.connect(model.open)
        self.panel.step_requested.connect(self.step_requested.emit)
        self.panel.tip_requested.connect(self.tip_requested)
        self.form.closed.connect(self._close_form)
        self.lab.closed.connect(self._close_page)
        self.velocity.closed.connect(self._close_page)
        model.changed.connect(self._show)
        for signal in (model.changed, model.node_changed, model.selection_changed, model.path.changed):
            signal.connect(center.refresh)
        model.graph_changed.connect(self.sheet.arrange)
        self.desk.exploration.changed.connect(center.refresh)

    def _on_moved(self) -> None:
        self._by_hand = True

    def _close_form(self) -> None:
        held = self.form.isAncestorOf(self.focusWidget() or self)
        self.side.setCurrentWidget(self.beside)
        if held:
            self.take_keys()

    def _close_page(self) -> None:
        """From the laboratory or the velocity back to the map."""
        if self.faces.currentWidget() in (self.lab, self.velocity):
            self.faces.setCurrentWidget(self.rows)
            self._show()
            self.take_keys()
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
        if before in (self.lab, self.velocity) and model.state is MapState.READY:
            return
        if before is not face:
            held = self.hasFocus() or self.canvas.hasFocus()
            self.faces.setCurrentWidget(face)
            if held:
                self.take_keys()
        if model.state is MapState.NO_GRAPH:
            self.side.setCurrentWidget(self.form)
