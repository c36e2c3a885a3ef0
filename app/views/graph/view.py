"""The Map perspective: map and table, the open state beside them, the exploration below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from app.models.graph.model import MapState
from app.models.graph.node_table import COLUMNS
from app.views.graph.block_list_editor import BlockListEditor
from app.views.graph.canvas import MapCanvas
from app.views.graph.changes_pane import ChangesPane
from app.views.graph.exploration_bar import ExplorationBar
from app.views.graph.explore_form import ExploreForm
from app.views.graph.legend import MapLegend, MapStack
from app.views.graph.node_panel import NodePanel
from app.views.graph.path_pane import PathPane
from app.views.graph.table import NodeTable
from app.views.graph.toolbar import MapToolbar
from app.views.graph.velocity_view import VelocityView
from app.views.widgets import EmptyState, Splitter
from app.views.widgets.build import text_label, vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.workspace import MapWorkspace
    from app.views.frame.theme import Theme

SIDE, WIDE_SIDE, WIDE = 372, 560, 1900
"""Initial width of the right column, and on windows wider than ``WIDE``."""
TABLE, PATH = 260, 236


class MapView(QWidget):
    """Signals:

    step_requested(run, step): Review should show this step.
    tip_requested(tip): Knowledge should show this tip.
    review_requested(words): Review should show the runs that pass this filter.
    """

    place = "map"
    step_requested = Signal(str, object)
    tip_requested = Signal(str)
    review_requested = Signal(str)

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
        self.changes = ChangesPane(desk.changes, model, theme)
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
            "atlas": self.canvas.painter.atlas,
            "sort": [table.sorted_by, table.descending],
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        self._by_hand = layout.get("by_hand") is True
        for name, splitter in (("columns", self.columns), ("rows", self.rows)):
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        self.table.setVisible(layout.get("table") is True)
        self.show_legend(layout.get("legend") is not False)
        self.show_seen(layout.get("seen") is not False)
        self.show_failures_only(layout.get("atlas") is True)
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
        self.error = text_label(kind="fail", wrap=True)
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
        self.side.addWidget(self.changes)

    def _lay_out(self) -> None:
        main = QWidget()
        vbox(self.head, (self.faces, 1), parent=main, spacing=0)
        self.columns = Splitter(Qt.Orientation.Horizontal, (0, SIDE))
        self.columns.addWidget(main)
        self.columns.addWidget(self.side)
        main.setMinimumWidth(420)
        self.side.setMinimumWidth(300)
        vbox((self.columns, 1), self.bar, parent=self, spacing=0)
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

    def show_failures_only(self, shown: bool) -> None:
        """Set whether failures and tips stand out and are counted at each state."""
        self.canvas.show_failures_only(shown)
        self.head.buttons["map.atlas"].setChecked(shown)

    def open_panel(self) -> None:
        self.close_form()
        self.close_page()
        self.panel.focus_list()

    def open_form(self) -> None:
        self.side.setCurrentWidget(self.form)
        self.form.begin()

    def show_changes(self) -> None:
        """Show what changed since the exploration before; again hides it."""
        if self.side.currentWidget() is self.changes:
            self.close_form()
            return
        self.desk.changes.show(self.model.site)
        self.side.setCurrentWidget(self.changes)
        self.changes.begin()

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
        for pane in (self.form, self.changes):
            pane.closed.connect(self.close_form)
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
        """Show the open state in the place of the form or the changes."""
        held = (self.side.currentWidget() or self.form).isAncestorOf(self.focusWidget() or self)
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


class MapCommands(QObject):
    """Binds every command of the place "map" that no panel binds itself."""

    def __init__(self, view: MapView, center: CommandCenter) -> None:
        super().__init__(view)
        self._view, self._model, self._center = view, view.model, center
        view.desk.run_sites.connect(self._choose_run_site)
        self._bind()

    def _bind(self) -> None:
        view, model, bind, canvas = self._view, self._model, self._center.bind, self._view.canvas

        def mapped() -> bool:
            return model.state is MapState.READY and view.page is None

        def chosen() -> bool:
            return model.state is MapState.READY and bool(model.node)

        def sited() -> bool:
            return bool(model.site)

        bind("map.find", view.head.finder.take_focus, lambda: model.state is MapState.READY)
        bind("map.filter", view.head.filter.take_focus, lambda: model.state is MapState.READY)
        bind("map.site", view.head.focus_site, lambda: bool(model.sites))
        bind("map.table", view.toggle_table, mapped)
        bind("map.next", lambda: self._step(1), mapped)
        bind("map.previous", lambda: self._step(-1), mapped)
        bind("map.fit", canvas.fit, mapped)
        bind("map.zoom.in", lambda: canvas.camera.zoom_by(1.4), mapped)
        bind("map.zoom.out", lambda: canvas.camera.zoom_by(1 / 1.4), mapped)
        bind("map.center", lambda: canvas.show_node(model.node), lambda: mapped() and chosen())
        bind("map.legend", lambda: view.show_legend(view.legend.isHidden()), mapped)
        bind("map.links", lambda: view.show_seen(not view.legend.seen_shown), mapped)
        bind("map.atlas", lambda: view.show_failures_only(not canvas.painter.atlas), mapped)
        bind("map.tidy", model.lay_out_again, mapped)
        bind("map.open", view.open_panel, chosen)
        bind("map.path", lambda: model.path_from(model.node), chosen)
        bind("map.path.home", self._from_home, chosen)
        bind("map.go", self._go, lambda: chosen() or bool(model.path.to))
        bind("map.close_browser", model.path.close_browser, lambda: bool(model.path.live))
        bind("map.merge", model.merge, lambda: model.can_merge)
        bind("map.split", model.split, lambda: model.can_split)
        bind("map.failures", self._failures, lambda: chosen() and bool(model.failures_filter))
        bind("map.copy_address", self._copy, chosen)
        bind("map.explore", view.open_form)
        bind("map.verify", self._view.desk.verify, sited)
        bind("map.update", self._view.desk.update, sited)
        bind("map.changes", view.show_changes, sited)
        bind("map.from_runs", self._view.desk.ask_run_sites)
        bind("map.lab", self._block_list, sited)
        bind("map.velocity", self._velocity, sited)
        bind("map.back", self._back)

    def _step(self, by: int) -> None:
        node = self._model.neighbour(by)
        if node:
            self._model.select(node)
            if not self._view.table.hasFocus():
                self._view.canvas.reveal(node)

    def _from_home(self) -> None:
        self._model.path.clear()
        self._model.path_to(self._model.node)

    def _go(self) -> None:
        path = self._model.path
        to = path.to if path.is_shown and path.to in self._model.graph.number else self._model.node
        if to:
            self._model.navigate_to(to)

    def _failures(self) -> None:
        self._view.review_requested.emit(self._model.failures_filter)

    def _copy(self) -> None:
        row = self._model.current
        if row is not None:
            QGuiApplication.clipboard().setText(row.url)
            self._model.notice.emit(self.tr("Address of '{0}' copied").format(row.title or row.url))

    def _block_list(self) -> None:
        view = self._view
        if view.page is view.block_list:
            view.close_page()
        else:
            view.desk.open_block_list()
            view.open_page(view.block_list)

    def _velocity(self) -> None:
        view = self._view
        if view.page is view.velocity:
            view.close_page()
        else:
            view.desk.velocity.show(self._model.site)
            view.open_page(view.velocity)

    def _choose_run_site(self, sites: list[str]) -> None:
        """Take a single site; of several let the person choose."""
        if len(sites) == 1:
            self._view.desk.map_from_runs(sites[0])
        elif sites:
            menu = QMenu(self._view)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.setAccessibleName(self.tr("Sites that runs visited"))
            for site in sites:
                menu.addAction(site, lambda site=site: self._view.desk.map_from_runs(site))
            menu.setActiveAction(menu.actions()[0])
            menu.popup(self._view.head.site.mapToGlobal(self._view.head.site.rect().bottomLeft()))

    def _back(self) -> None:
        """Go back one level: the field, the form, the page over the map, the path, the selection, the filter."""
        view, model = self._view, self._model
        if view.head.finder.leave() or view.head.filter.leave():
            return
        held = view.focusWidget() or view
        open_form = view.side.currentWidget() is view.form and model.state is not MapState.NO_GRAPH
        if open_form or view.side.currentWidget() is view.changes:
            view.close_form()
        elif view.page is not None:
            view.close_page()
        elif view.panel.isAncestorOf(held) or view.path.list.hasFocus():
            view.take_focus()
        elif model.path.is_shown:
            model.path.clear()
        elif model.run_paths.is_shown:
            model.run_paths.clear()
        elif len(model.selected) > 1:
            model.select(model.node)
        elif view.table.hasFocus():
            view.take_focus()
        elif model.table.is_filtered:
            model.set_filter("")
        else:
            view.take_focus()
