"""Colours, fonts, icons and style sheet of the window; follows the system's light or dark scheme while it runs."""

from __future__ import annotations

from collections.abc import Callable
from string import Template
from typing import cast

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import QApplication

from app.assets import resource
from app.views.frame.color_roles import derived


class IconFont:
    """The set's font and its table of names, once loaded."""

    def __init__(self) -> None:
        self._font: QFont | None = None
        self._chars: dict[str, str] = {}

    @property
    def is_loaded(self) -> bool:
        return self._font is not None

    def load(self) -> bool:
        if self._font is not None:
            return False
        import qtawesome

        self._font = qtawesome.font("mdi6", 16)
        return True

    def glyph(self, name: str) -> tuple[QFont, str] | None:
        """Return the font and the character of an icon; ``None`` before loading."""
        if self._font is None:
            return None
        if name not in self._chars:
            import qtawesome

            self._chars[name] = cast("str", qtawesome.charmap(f"mdi6.{name}"))
        return self._font, self._chars[name]


class RoleIcon(QIconEngine):
    """An icon that looks up its colour whenever it is painted, so a change of theme needs no new icon."""

    def __init__(
        self, font: IconFont, name: str, color: Callable[[], QColor], disabled: Callable[[], QColor]
    ) -> None:
        super().__init__()
        self._font, self._name, self._color, self._disabled = font, name, color, disabled

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the character at the rectangle's size."""
        found = self._font.glyph(self._name)
        if found is None:
            return
        font, char = QFont(found[0]), found[1]
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(font)
        painter.setPen(self._disabled() if mode is QIcon.Mode.Disabled else self._color())
        if mode is QIcon.Mode.Disabled:
            painter.setOpacity(0.6)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, char)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return RoleIcon(self._font, self._name, self._color, self._disabled)


MODES = ("system", "light", "dark", "contrast")
SIZES = {"base": 13, "secondary": 11, "title": 16}
"""Text sizes in pixels at 100 %."""
ZOOMS = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


class Theme(QObject):
    """The single source of colours and sizes; widgets ask for roles and listen to ``changed``."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mode, self.zoom = "system", 1.0
        self._calm = False
        self._roles = derived("light")
        self.scheme = "light"
        self._family = ""
        self._applied = False
        self._font = IconFont()
        self._template = ""
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)
        hints.accessibility().contrastPreferenceChanged.connect(self._system_changed)

    # ------------------------------------------------------------ what widgets ask
    @property
    def is_dark(self) -> bool:
        """Whether the text is light on a dark ground."""
        return self.scheme.endswith("dark")

    @property
    def motion(self) -> bool:
        """Whether animations are allowed; False when the system or the user asks for reduced motion."""
        return not self._calm and QApplication.isEffectEnabled(Qt.UIEffect.UI_General)

    def set_reduced_motion(self, calm: bool) -> None:
        """Turn animations off, whatever the system says."""
        self._calm = calm

    def color(self, role: str) -> QColor:
        """Return the colour of a role: the ten of UI roles, ``tint_*``, ``hover``, ``selected``, ``edge``,
        ``on_accent``.
        """
        return QColor(self._roles[role])

    def icon(self, name: str, role: str = "text") -> QIcon:
        """Return a Material Design icon (``magnify``) in a role's colour; it follows the theme and appears when
        loaded.
        """
        return QIcon(RoleIcon(self._font, name, lambda: self.color(role), lambda: self.color("muted")))

    def px(self, pixels: float) -> int:
        """Return a length that scales with the text size."""
        return round(pixels * self.zoom)

    def font(self, size: str = "base", *, bold: bool = False) -> QFont:
        """Return the system's font in one of ``SIZES``."""
        font = QFont(self._family) if self._family else QFont()
        font.setPixelSize(self.px(SIZES[size]))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        return font

    def mono(self, size: str = "base") -> QFont:
        """Return the system's monospace font, for trees and actions."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(self.px(SIZES[size] - (1 if size == "base" else 0)))
        return font

    # ------------------------------------------------------------ what the frame does
    def set_mode(self, mode: str) -> None:
        """Use the system's scheme, or always light, dark or high contrast."""
        if mode in MODES and mode != self.mode:
            self.mode = mode
            hints = QGuiApplication.styleHints()
            match mode:
                case "light":
                    hints.setColorScheme(Qt.ColorScheme.Light)
                case "dark":
                    hints.setColorScheme(Qt.ColorScheme.Dark)
                case _:
                    hints.unsetColorScheme()
            self._refresh()

    def set_zoom(self, zoom: float) -> None:
        zoom = min(max(zoom, ZOOMS[0]), ZOOMS[-1])
        if zoom != self.zoom:
            self.zoom = zoom
            self._refresh()

    def step_zoom(self, by: int) -> None:
        """Set the next larger (1) or smaller (-1) text size."""
        nearest = min(range(len(ZOOMS)), key=lambda number: abs(ZOOMS[number] - self.zoom))
        self.set_zoom(ZOOMS[min(max(nearest + by, 0), len(ZOOMS) - 1)])

    def apply(self, app: QApplication) -> None:
        """Apply the theme to the application and follow the system from now on."""
        if not self._family:
            self._family = app.font().family()
        self._applied = True
        if app.style().name() != "fusion":
            app.setStyle("Fusion")
        self._refresh()

    @property
    def has_icons(self) -> bool:
        """Whether icons appear yet."""
        return self._font.is_loaded

    def load_icons(self) -> None:
        """Load the icon font: 170 ms that the first paint does not wait for."""
        if self._font.load():
            for window in QApplication.topLevelWidgets():
                for widget in window.findChildren(QObject):
                    update = getattr(widget, "update", None)
                    if widget.isWidgetType() and update is not None:
                        update()

    # ------------------------------------------------------------ inside
    def _system_changed(self) -> None:
        # The hint arrives while Qt is still spreading its own palette; ours goes on top afterwards.
        QTimer.singleShot(0, self, self._refresh)

    def _refresh(self) -> None:
        self.scheme = self._wanted_scheme()
        self._roles = derived(self.scheme)
        app = QApplication.instance()
        if self._applied and isinstance(app, QApplication):
            if app.font() != self.font():  # each of the three restyles every widget
                app.setFont(self.font())
            app.setPalette(self._palette())
            app.setStyleSheet(self.style_sheet())
        self.changed.emit()

    def _wanted_scheme(self) -> str:
        system_dark, system_strong = self._system()
        dark = self.mode == "dark" or (self.mode in ("system", "contrast") and system_dark)
        strong = self.mode == "contrast" or (self.mode == "system" and system_strong)
        return f"{'contrast_' if strong else ''}{'dark' if dark else 'light'}"

    def _system(self) -> tuple[bool, bool]:
        """Return whether the system uses a dark scheme, and high contrast."""
        hints = QGuiApplication.styleHints()
        contrast = hints.accessibility().contrastPreference()
        return hints.colorScheme() == Qt.ColorScheme.Dark, contrast == Qt.ContrastPreference.HighContrast

    def style_sheet(self) -> str:
        """``resources/styles/*.qss`` with roles and sizes filled in."""
        if not self._template:
            files = sorted(resource("styles").glob("*.qss"))
            self._template = "\n".join(file.read_text("utf-8") for file in files)
        sizes = {f"size_{name}": f"{self.px(pixels)}px" for name, pixels in SIZES.items()}
        lengths = {
            f"px{pixels}": f"{self.px(pixels)}px" for pixels in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32)
        }
        tick = f"tick_{'dark' if QColor(self._roles['on_accent']).lightness() < 128 else 'light'}.svg"
        images = {"tick": _icon_path(tick), "chevron": _icon_path("chevron.svg")}
        return Template(self._template).substitute(self._roles, **sizes, **lengths, **images)

    def _palette(self) -> QPalette:
        role, palette = QPalette.ColorRole, QPalette()
        for target, name in {
            role.Window: "surface",
            role.WindowText: "text",
            role.Base: "raised",
            role.AlternateBase: "surface",
            role.Text: "text",
            role.PlaceholderText: "muted",
            role.Button: "raised",
            role.ButtonText: "text",
            role.BrightText: "fail",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.Highlight: "selected",
            role.HighlightedText: "text",
            role.Link: "accent",
            role.LinkVisited: "accent",
            role.Accent: "accent",
            role.Light: "raised",
            role.Midlight: "line",
            role.Mid: "line",
            role.Dark: "edge",
            role.Shadow: "edge",
        }.items():
            palette.setColor(target, self.color(name))
        for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, self.color("muted"))
        return palette


def _icon_path(name: str) -> str:
    """Return a path in the form that style sheets take on every system."""
    return resource("icons", name).as_posix()
