"""The toolbar over the map: site, search, filter, and views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy, QToolButton, QWidget

from app.views.graph.find_field import FindField
from app.views.widgets.build import ground, hbox, text_label
from app.views.widgets.filter_line import FilterLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.models.common.commands import CommandCenter
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme

BUTTONS = ("map.fit", "map.atlas", "map.table", "map.lab")


class MapToolbar(QWidget):
    """Site, search, filter, count, buttons; ``onward`` asks to focus the map."""

    def __init__(
        self, model: MapModel, center: CommandCenter, theme: Theme, host: QWidget, onward: Callable[[], None]
    ) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.site = QComboBox()
        self.site.setAccessibleName(self.tr("Site"))
        self.site.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.site.setMinimumContentsLength(6)
        self.site.setMaximumWidth(260)
        self.site.setPlaceholderText(self.tr("no site"))
        self.finder = FindField(model, theme, host)
        self.filter = FilterLine(
            "", self.tr("Filter: depth:1-2  failures  words"), self.tr("Filter states"), onward
        )
        self.filter.setToolTip(
            self.tr(
                "depth:2  depth:1-3  template:/catalogue  failures  tips  untipped  suspect  gone  waiting  runs"
                "  barred  menus  and words of title and address"
            )
        )
        self.count = text_label(kind="secondary")
        self.buttons = {command: self._button(command) for command in BUTTONS}
        hbox(
            self.site,
            (self.finder, 3),
            (self.filter, 2),
            self.count,
            hbox(*self.buttons.values(), spacing=0),
            parent=self,
            margins=(10, 6, 8, 6),
            spacing=8,
        )
        self.site.activated.connect(self._on_site)
        self.filter.textChanged.connect(model.set_filter)
        model.sites_changed.connect(self._show_sites)
        model.site_changed.connect(self._show_sites)
        model.changed.connect(self._show)
        model.graph_changed.connect(self._show)
        center.keys_changed.connect(self._update_texts)
        center.refreshed.connect(self._enable)
        theme.changed.connect(self._update_texts)
        self._update_texts()
        self._show_sites()
        self._show()

    def focus_site(self) -> None:
        """Focus the list of sites and open it."""
        self.site.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.site.showPopup()

    def _button(self, command: str) -> QToolButton:
        button = QToolButton()
        button.setIcon(self._theme.icon(self._center.command(command).icon, "muted"))
        button.setAccessibleName(self._center.title(command))
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.setCheckable(command == "map.atlas")
        button.clicked.connect(lambda: self._center.trigger(command))
        return button

    def _update_texts(self) -> None:
        side = self._theme.px(18)
        for command, button in self.buttons.items():
            button.setToolTip(self._center.action(command).toolTip())
            button.setIconSize(QSize(side, side))
        self.site.setToolTip(self._center.action("map.site").toolTip())
        self.finder.setToolTip(self._center.action("map.find").toolTip())

    def _enable(self) -> None:
        for command, button in self.buttons.items():
            button.setEnabled(self._center.action(command).isEnabled())

    def _show_sites(self, _site: str = "") -> None:
        with QSignalBlocker(self.site):
            self.site.clear()
            for row in self._model.sites:
                self.site.addItem(row.site)
                tip = self.tr("{0}: {1} states, {2} transitions").format(
                    row.home, row.states, row.transitions
                )
                self.site.setItemData(self.site.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
            self.site.setCurrentIndex(self.site.findText(self._model.site))
        self.site.setEnabled(bool(self._model.sites))

    def _on_site(self, index: int) -> None:
        self._model.choose_site(self.site.itemText(index))

    def _show(self) -> None:
        model = self._model
        self.count.setText(model.counts_text if len(model.graph) else "")
        shown = model.counts_text.replace(" / ", self.tr(" of "))
        self.count.setAccessibleName(self.tr("{0} states shown").format(shown))
        self.filter.show_words(model.table.text)
        for field in (self.finder, self.filter):
            field.setEnabled(len(model.graph) > 0)
