"""The region of a tip: cut out of its screenshot, what it is found by, and the commands to choose another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.views.knowledge.region_chooser import RegionChooser
from app.views.widgets.build import text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.region_model import RegionModel
    from app.views.frame.theme import Theme

WIDEST, HIGHEST = 320, 96
"""Size of the cut-out at 100 % text; a larger one is scaled down."""


class RegionCutout(QWidget):
    """A part of a screenshot, never larger than it was."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image: QImage | None = None
        self.setAccessibleName(self.tr("Picture of the region"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_image(self, image: QImage | None) -> None:
        self._image = image
        self.setVisible(image is not None)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        size = self._fitted(self._theme.px(WIDEST))
        return QSize(self._theme.px(80), size.height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._image is None:
            return
        size = self._fitted(min(self.width() - 2, self._theme.px(WIDEST)))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        box = QRect(1, 1, size.width(), size.height())
        painter.drawImage(box, self._image)
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.drawRect(QRectF(box).adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.end()

    def _fitted(self, width: int) -> QSize:
        if self._image is None:
            return QSize(0, 0)
        whole = self._image.size()
        room = QSize(min(width, whole.width()), min(self._theme.px(HIGHEST), whole.height()))
        return whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


class RegionPane(QWidget):
    """The region and its commands ``PREFIX.region*``; hidden where there is none and none can be chosen."""

    def __init__(self, model: RegionModel, center: CommandCenter, theme: Theme, prefix: str) -> None:
        super().__init__()
        self._model, self._center, self._theme, self._prefix = model, center, theme, f"{prefix}.region"
        self._chooser: RegionChooser | None = None
        self.setAccessibleName(self.tr("Region of the tip"))
        self.head = text_label(self.tr("Region of the page"), kind="section")
        self.words = text_label(kind="secondary", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.cutout = RegionCutout(theme)
        self.buttons = {
            name: command_link(center, name)
            for name in (self._prefix, f"{self._prefix}.clear", f"{self._prefix}.undo")
        }
        self.links = QWidget()
        self.links.setLayout(FlowLayout(*self.buttons.values(), gap=2))
        vbox(self.head, self.cutout, self.words, self.links, parent=self, spacing=4)
        center.bind(self._prefix, model.begin, lambda: model.can_choose)
        center.bind(f"{self._prefix}.clear", model.clear, lambda: model.can_clear)
        center.bind(f"{self._prefix}.undo", model.undo, lambda: model.can_undo)
        model.changed.connect(self._show)
        model.choosing.connect(self._open)
        center.keys_changed.connect(self._dress)
        center.refreshed.connect(self._enable)
        self._dress()
        self._show()

    @property
    def tab_order(self) -> list[QWidget]:
        """Widgets in the order of the Tab key."""
        return list(self.buttons.values())

    @property
    def chooser(self) -> RegionChooser:
        """The chooser, over the whole window; made when it is first needed."""
        if self._chooser is None:
            self._chooser = RegionChooser(self._model, self._theme, self.window())
        return self._chooser

    def _open(self) -> None:
        self.chooser.present()

    def _show(self) -> None:
        model = self._model
        if model.anchor is not None:
            text = model.words
        elif model.can_choose:
            text = self.tr("None. With one, the tip is found on every page that shows the same place.")
        else:
            text = self.tr(
                "None. This tip does not come from a step of a run, so there is no page to choose on."
            )
        self.words.setText(text)
        self.cutout.show_image(model.picture)
        self.links.setVisible(model.can_edit)
        self.setVisible(model.can_edit or model.anchor is not None)
        self._center.refresh()

    def _enable(self) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(self._center.action(name).isEnabled())

    def _dress(self) -> None:
        words = (self.tr("Choose region…"), self.tr("Clear"), self.tr("Undo"))
        for (name, button), word in zip(self.buttons.items(), words, strict=True):
            show_command(button, self._center, name, word)
        self._enable()
