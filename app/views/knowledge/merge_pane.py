"""The merge of another knowledge base: conflicts and changes in a list, the versions of a tip side by side."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QWidget

from app.models.knowledge.merge_model import SIDES
from app.views.knowledge.tip_rows import MERGE, merge_row
from app.views.knowledge.tip_text import DiffView
from app.views.widgets import Splitter
from app.views.widgets.build import divider, hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.merge_model import MergeModel
    from app.views.frame.theme import Theme

LIST = 400


class MergePane(QFrame):
    """Shown in place of the whole perspective while a merge is decided."""

    def __init__(self, model: MergeModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._dialog: QFileDialog | None = None
        self.setProperty("kind", "raised")
        self.title, self.summary = text_label(kind="heading"), text_label(kind="secondary", wrap=True)
        self.error = text_label(kind="fail", wrap=True)
        self.list = RowList(theme, merge_row, self.tr("Tips to merge"), MERGE)
        self.list.setModel(model.lines)
        self.heads = {name: text_label(kind="section") for name in ("before", "mine", "theirs")}
        self.views = {name: DiffView(theme) for name in self.heads}
        self.about = text_label(kind="secondary", wrap=True)
        self.decide = {side: QPushButton() for side in SIDES}
        self.base, self.apply, self.leave = QPushButton(), styled(QPushButton(), "primary"), QPushButton()
        self._lay_out()
        self._connect()
        self._bind()
        self._dress()
        self._show()

    def begin(self) -> None:
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # ------------------------------------------------------------ dialogs, none of which holds the window up
    def choose_file(self) -> None:
        """Choose the knowledge base to merge."""
        self._choose(self.tr("Merge a knowledge base")).fileSelected.connect(self._model.open)

    def choose_base(self) -> None:
        """Choose an older copy of both."""
        self._choose(self.tr("An older copy of both")).fileSelected.connect(self._model.set_base)

    def _choose(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self.window(), title)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Knowledge bases (*.akb)"), self.tr("All files (*)")])
        known = Path(self._model.path).parent if self._model.path else Path.home()
        dialog.setDirectory(str(known if known.is_dir() else Path.home()))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()
        return dialog

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        head = vbox(self.title, self.summary, self.error, margins=(14, 8, 12, 6), spacing=2)
        columns = [
            vbox(self.heads[name], self.views[name], 1, spacing=4, margins=(0, 0, 8, 0))
            for name in self.heads
        ]
        inner = styled(QWidget(), "raised")
        vbox(
            self.about,
            hbox(*((column, 1) for column in columns), spacing=12),
            1,
            parent=inner,
            margins=(14, 6, 12, 12),
            spacing=8,
        )
        self.scroller = scroll_area(inner, focus=Qt.FocusPolicy.TabFocus)
        self.scroller.setAccessibleName(self.tr("The versions side by side"))
        buttons = hbox(*self.decide.values(), 1, margins=(12, 6, 12, 6), spacing=8)
        right = QWidget()
        vbox((self.scroller, 1), divider(), buttons, parent=right, spacing=0)
        self.columns = Splitter(Qt.Orientation.Horizontal, (LIST, 0))
        self.columns.addWidget(self.list)
        self.columns.addWidget(right)
        self.list.setMinimumWidth(220)
        right.setMinimumWidth(360)
        self.columns.setSizes([LIST, 2 * LIST])
        foot = hbox(self.apply, self.base, 1, self.leave, margins=(12, 6, 12, 8), spacing=8)
        vbox(head, divider(), (self.columns, 1), divider(), foot, parent=self, spacing=0)
        order: list[QWidget] = [
            self.list,
            self.scroller,
            *self.decide.values(),
            self.apply,
            self.base,
            self.leave,
        ]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        model, trigger = self._model, self._center.trigger
        buttons = {f"merge.{side}": button for side, button in self.decide.items()}
        buttons |= {"merge.apply": self.apply, "merge.base": self.base, "merge.leave": self.leave}
        for command, button in buttons.items():
            button.clicked.connect(lambda _checked=False, command=command: trigger(command))
        self.list.selectionModel().currentChanged.connect(self._on_current)
        model.changed.connect(self._show)
        model.current_changed.connect(self._show_row)
        self._theme.changed.connect(self._dress)
        self._center.keys_changed.connect(self._dress)

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind
        for side in SIDES:
            bind(f"merge.{side}", lambda side=side: model.decide(side), lambda: model.can_decide)
        bind("merge.next", lambda: model.step(1))
        bind("merge.previous", lambda: model.step(-1))
        bind("merge.apply", model.apply, lambda: model.can_apply)
        bind("merge.base", self.choose_base, lambda: not model.is_busy)
        bind("merge.leave", model.close)
        bind("kb.merge", self.choose_file)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        self.title.setText(self.tr("Merge {0}").format(model.name))
        self.summary.setText(model.summary)
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        left = model.undecided
        word = self.tr("Apply · {0} to decide").format(left) if left else self.tr("Apply")
        show_command(self.apply, self._center, "merge.apply", word)
        self.apply.setEnabled(model.can_apply)
        self._center.refresh()
        self._show_row()

    def _show_row(self) -> None:
        model = self._model
        row = next((at for at, line in enumerate(model.lines.rows) if line.tip == model.current), -1)
        if row >= 0 and self.list.currentIndex().row() != row:
            self.list.setCurrentIndex(model.lines.index(row, 0))
        sides = model.sides
        self.scroller.setVisible(sides is not None)
        if sides is None:
            return
        rival = self.tr("Here: {0}").format(sides.rival) if sides.rival else self.tr("Here")
        there = self.tr("There, by {0}").format(sides.by) if sides.by else self.tr("There")
        for name, word, parts in (
            ("before", self.tr("Before"), sides.before),
            ("mine", rival, sides.mine),
            ("theirs", there, sides.theirs),
        ):
            self.heads[name].setText(word)
            self.views[name].setAccessibleName(word)
            empty = self.tr("not there") if name != "before" else self.tr("no common past")
            self.views[name].show_changes(parts, empty)
        line = model.lines.at(row)
        decided = line.decided if line is not None else ""
        said = [model.current, line.word if line is not None else "", line.about if line is not None else ""]
        said += [self.tr("decided: {0}").format(decided)] if decided else []
        self.about.setText(" · ".join(part for part in said if part))
        for side, button in self.decide.items():
            button.setEnabled(model.can_decide)
            restyle(button, kind="primary" if side == decided else "")
        self._center.refresh()

    def _on_current(self, index: QModelIndex) -> None:
        line = self._model.lines.at(index.row())
        if line is not None:
            self._model.look_at(line.tip)

    def _dress(self) -> None:
        words = {
            "mine": self.tr("Keep mine"),
            "theirs": self.tr("Take theirs"),
            "both": self.tr("Keep both"),
        }
        for side, button in self.decide.items():
            show_command(button, self._center, f"merge.{side}", words[side])
        show_command(self.base, self._center, "merge.base", self.tr("An older copy of both…"))
        show_command(self.leave, self._center, "merge.leave", self.tr("Leave"))
