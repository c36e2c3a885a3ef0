"""The menus, built from the command table."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu, QMenuBar

from app.models.common.command import PERSPECTIVES
from app.models.common.commands import MENUS, CommandCenter
from app.views.frame.theme import Theme

BREAKS = {
    "app.jobs",
    "app.quit",
    "app.search",
    "app.keys",
    "tip.compose",
    "review.filter",
    "app.about",
    "kb.freeze",
    "map.next",
    "map.links",
    "map.merge",
    "map.verify",
    "live.next",
    "live.policy",
    "live.stop",
    "live.edit",
}
"""Commands that begin a new group in their menu."""


def build_menus(bar: QMenuBar, center: CommandCenter, theme: Theme) -> dict[str, QMenu]:
    """Fill ``bar``; returns the menus by path (``View/Colours``)."""
    menus: dict[str, QMenu] = {title: bar.addMenu(center.tr(title)) for title in MENUS}
    for command in center.commands:
        if not command.menu:
            continue
        menu = menus.get(command.menu)
        if menu is None:
            parent, _, title = command.menu.partition("/")
            menu = menus[command.menu] = menus[parent].addMenu(center.tr(title))
        action = center.action(command.id)
        if command.id in BREAKS and not menu.isEmpty():
            menu.addSeparator()
        if command.icon:
            action.setIcon(theme.icon(command.icon, "muted"))
        menu.addAction(action)
    for menu in menus.values():
        menu.setToolTipsVisible(False)
        menu.aboutToShow.connect(center.refresh)

    def show_only_here(place: str) -> None:
        """Show only the perspective's own menu."""
        for view in PERSPECTIVES:
            menus[view.title].menuAction().setVisible(place in view.places)

    center.place_changed.connect(show_only_here)
    show_only_here(center.place)
    return menus
