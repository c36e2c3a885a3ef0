"""The user's guide in the window: its pages, with links between them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPixmap, QTextDocument
from PySide6.QtWidgets import QPushButton, QTextBrowser, QWidget

from app.assets import guide
from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, text_label
from app.views.widgets.overlay import Overlay


class GuidePage(QTextBrowser):
    """A Markdown page; links to other pages open here, links to the web in the browser, pictures fit its width."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._follow)

    def show_page(self, page: str) -> None:
        self.setSource(QUrl.fromLocalFile(str(guide(page))))

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """Load a part of the page; a picture that is wider than the page is scaled down, sharp on every screen."""
        found: Any = super().loadResource(type, name)
        if type == QTextDocument.ResourceType.MarkdownResource.value and found is not None:
            page = Path(self.source().resolved(QUrl(name)).toLocalFile())
            return QByteArray(_without_lost_pictures(bytes(found.data()), page))
        picture = QPixmap(self.source().resolved(QUrl(name)).toLocalFile())
        bar = self.verticalScrollBar().sizeHint().width()
        room = self.contentsRect().width() - bar - 2 * int(self.document().documentMargin())
        if type != QTextDocument.ResourceType.ImageResource.value or picture.width() <= room:
            return found
        scale = self.devicePixelRatioF()
        fitted = picture.scaledToWidth(int(room * scale), Qt.TransformationMode.SmoothTransformation)
        fitted.setDevicePixelRatio(scale)
        return fitted

    def _follow(self, link: QUrl) -> None:
        target = self.source().resolved(link)
        if target.isLocalFile():
            self.setSource(target)
        else:
            QDesktopServices.openUrl(target)


def _without_lost_pictures(text: bytes, page: Path) -> bytes:
    """Return a page with the words of each picture that is not there: an installed program has none of them."""

    def shown(picture: re.Match[bytes]) -> bytes:
        return picture[0] if (page.parent / picture[2].decode()).is_file() else b"*" + picture[1] + b"*"

    return re.sub(rb"!\[([^\]]*)\]\(([^)\s]+)\)", shown, text)


class GuidePanel(Overlay):
    """The guide over the window; Esc closes it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(860, 660))
        self.page = GuidePage()
        self.page.setAccessibleName(self.tr("User guide"))
        self.back = QPushButton(self.tr("Back"))
        self.home = QPushButton(self.tr("Contents"))
        close = QPushButton(self.tr("Close  Esc"))
        title = text_label(self.tr("User guide"), "title")
        head = hbox((title, 1), self.back, self.home, close)
        self.body.setContentsMargins(20, 14, 14, 14)
        self.body.setSpacing(10)
        self.body.addLayout(head)
        self.body.addWidget(self.page, 1)
        self.back.clicked.connect(self.page.backward)
        self.home.clicked.connect(lambda: self.page.show_page("index.md"))
        close.clicked.connect(self.dismiss)
        self.page.backwardAvailable.connect(self.back.setEnabled)
        self.back.setEnabled(False)

    def prepare(self) -> None:
        """Show the contents, or the page that was open."""
        if self.page.source().isEmpty():
            self.page.show_page("index.md")

    def first(self) -> QWidget:
        """The page itself, so that the arrow keys scroll it."""
        return self.page
