"""The head of a state: title, address, template, depth, badges, and its full identity as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.models.graph.node_detail import Challenge
from app.models.knowledge.tip_table import exact_time
from app.views.widgets import Badge, ElidedLabel
from app.views.widgets.build import styled, vbox
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeDetail
    from app.views.frame.theme import Theme


class NodeHead(QWidget):
    """Three lines and a row of badges."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.title, self.url = styled(ElidedLabel(), "heading"), ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.template = styled(ElidedLabel(Qt.TextElideMode.ElideMiddle), "secondary")
        self.badges = {
            name: Badge("", "muted", theme) for name in ("depth", "gone", "challenge", "pages", "way")
        }
        self.url.setProperty("kind", "secondary")
        self._place = QWidget()
        row = FlowLayout(*self.badges.values(), parent=self._place, gap=4)
        row.setContentsMargins(0, 4, 0, 0)
        vbox(self.title, self.url, self.template, self._place, parent=self, margins=(12, 8, 10, 6), spacing=2)

    def show_state(self, detail: NodeDetail) -> None:
        row = detail.row
        self.title.setText(row.title or self.tr("no title"))
        self.url.setText(row.url)
        self.template.setText(self.tr("template {0}").format(detail.keys.template))
        challenges = {
            Challenge.LOGIN: self.tr("asks for a log-in"),
            Challenge.CAPTCHA: self.tr("asks for a captcha"),
        }
        challenge = challenges.get(row.challenge, "")
        for name, text, role, shown in (
            ("depth", self.tr("depth {0}").format(row.depth), "muted", True),
            ("gone", self.tr("gone"), "fail", row.gone),
            ("challenge", challenge, "warn", bool(challenge)),
            ("pages", self.tr("{0} pages").format(row.pages), "muted", row.pages > 1),
            ("way", self.tr("no address of its own"), "live", row.direct is False),
        ):
            self.badges[name].set(text, role)
            self.badges[name].setVisible(shown)
        self._place.updateGeometry()


def about_words(detail: NodeDetail) -> str:
    """Return identity, addresses and notes of a state, to read and to copy."""
    keys, row = detail.keys, detail.row
    lines = [f"! {note}" for note in detail.notes]
    lines += [
        f"state {row.id}",
        f"address key {keys.url}",
        f"template {keys.template}",
        f"structure {keys.structure}",
        f"skeleton {keys.skeleton}",
    ]
    if keys.content:
        lines.append(f"content {keys.content}")
    if row.direct is not None:
        opened = "leads here" if row.direct else "does not lead here"
        lines.append(f"opening its address alone {opened}")
    if row.last_seen:
        lines.append(f"last seen {exact_time(row.last_seen)}")
    if len(detail.pages) > 1:
        lines += ["", f"merges {row.pages} pages:", *detail.pages]
    return "\n".join(lines)
