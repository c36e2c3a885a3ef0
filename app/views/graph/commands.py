"""The actions behind the Map's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.models.graph.model import MapState

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.graph.view import MapView


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
        bind("map.tidy", model.lay_out_again, mapped)
        bind("map.open", view.open_panel, chosen)
        bind("map.path", lambda: model.path_from(model.node), chosen)
        bind("map.path.home", self._from_home, chosen)
        bind("map.go", self._go, lambda: chosen() or bool(model.path.to))
        bind("map.close_browser", model.path.close_browser, lambda: bool(model.path.live))
        bind("map.merge", model.merge, lambda: model.can_merge)
        bind("map.split", model.split, lambda: model.can_split)
        bind("map.copy_address", self._copy, chosen)
        bind("map.explore", view.open_form)
        bind("map.verify", self._view.desk.verify, sited)
        bind("map.update", self._view.desk.update, sited)
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
        if view.side.currentWidget() is view.form and model.state is not MapState.NO_GRAPH:
            view.close_form()
        elif view.page is not None:
            view.close_page()
        elif view.panel.isAncestorOf(held) or view.path.list.hasFocus():
            view.take_focus()
        elif model.path.is_shown:
            model.path.clear()
        elif len(model.selected) > 1:
            model.select(model.node)
        elif view.table.hasFocus():
            view.take_focus()
        elif model.table.is_filtered:
            model.set_filter("")
        else:
            view.take_focus()
