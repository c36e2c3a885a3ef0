"""The sites panel: the sites of the workspace at the left, the chosen one as a form at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.models.common.site_form import SiteForm
from app.models.common.sites_model import NEW, LogInState
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.form_panel import FormField, FormPanel
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.engine.api.site_api import SiteRow
    from app.models.common.sites_model import SitesModel
    from app.views.frame.theme import Theme

_LIST_WIDTH = 250


class SiteFormPanel(FormPanel[SiteForm]):
    """The fields of a site, its log-in, and what can be done with it.

    Attributes:
        log_in, logged_in, cancel, forget: the steps of a log-in by hand.
    """

    def __init__(self, model: SitesModel, theme: Theme) -> None:
        super().__init__(model.form, (
            FormField(name="name", label=self.tr("Name"), placeholder="shop",
                      meaning=self.tr("short and lasting: tips, runs and maps are kept under it")),
            FormField(name="hosts", label=self.tr("Hosts"), is_long=True,
                      meaning=self.tr("one per line; * stands for any text, as in *.shop.example or *:7770")),
            FormField(name="starts", label=self.tr("Start pages"), is_long=True,
                      meaning=self.tr("one per line; the first is used when only the site is named")),
            FormField(name="login", label=self.tr("Log-in"), files=self.tr("Storage states (*.json)"),
                      meaning=self.tr("file of a recorded log-in; Sitelore keeps a copy that only you can read")),
            FormField(name="bases", label=self.tr("Bases"), is_long=True,
                      meaning=self.tr("addresses that task files name, one per line, as __SHOPPING__=http://…")),
            FormField(name="reset", label=self.tr("Reset command"),
                      meaning=self.tr("puts the site back as it was; evaluations run it, without a shell")),
            FormField(name="state", label=self.tr("State command"),
                      meaning=self.tr("prints the site's state as JSON; run with before TASK or after TASK behind it")),
            FormField(name="login_command", label=self.tr("Log-in command"),
                      meaning=self.tr("logs in and writes a storage state; run with a role and the file behind it")),
        ))  # fmt: skip
        self._model, self._theme = model, theme
        self.log_in, self.logged_in, self.cancel, self.forget = (QPushButton() for _ in range(4))
        self.log_in_words = text_label(kind="secondary", wrap=True)
        self.remove, self.discard = (
            QPushButton(self.tr("Remove site")),
            QPushButton(self.tr("Discard changes")),
        )
        self.add_fields("name", "hosts", "starts", "login")
        self.add_row(self._log_in_row())
        self.add_fields("bases", "reset", "state", "login_command")
        foot = QWidget()
        hbox(self.remove, 1, self.discard, parent=foot, spacing=6)
        self.frame(self.tr("Site"), foot)
        self.grid.setVerticalSpacing(4)
        self.start.setText(self.tr("Save   Enter"))
        self.start.setAccessibleName(self.tr("Save the site"))
        self.close_button.setAccessibleName(self.tr("Close the sites; what you typed is kept"))
        self.remove.clicked.connect(model.remove)
        self.discard.clicked.connect(model.discard)
        model.changed.connect(self.refresh)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def run_action(self) -> bool:
        return self._model.save()

    def shows_problem(self, name: str) -> bool:
        """Show a problem at once where something stands: a host is wrong before anything is saved."""
        return self._asked or bool(self.form.values[name].strip())

    def help_text(self, name: str) -> str:
        """Return the meaning of a field; of the log-in what there is of one, too."""
        text = super().help_text(name)
        learned = self.form.before.learned if self.form.before is not None else ()
        if name == "hosts" and learned:
            return self.tr("{0}. Learned from explorations or runs: {1}").format(text, ", ".join(learned))
        return text

    def refresh(self) -> None:
        super().refresh()
        model, form = self._model, self.form
        state, stored = model.log_in_state, model.row is not None
        name = self.fields["name"]
        name.setReadOnly(form.before is not None)
        self.remove.setVisible(stored)
        self.discard.setEnabled(form.is_changed)
        self.start.setEnabled(form.is_changed and not model.is_saving)
        self.log_in.setEnabled(stored and state is LogInState.NONE)
        self.log_in.setVisible(state is not LogInState.OPEN)
        self.logged_in.setVisible(state is LogInState.OPEN)
        self.cancel.setVisible(state in (LogInState.OPENING, LogInState.OPEN))
        row = model.row
        self.forget.setVisible(row is not None and row.login)
        fact = model.log_in_fact if stored else self.tr("Save the site first, then log in.")
        self.log_in_words.setText(model.log_in_words or fact)

    def _log_in_row(self) -> QWidget:
        buttons = QWidget()
        for button, text, name, slot in (
            (self.log_in, self.tr("Log in…"), self.tr("Log in by hand in a browser window"), self._model.log_in),
            (self.logged_in, self.tr("I am logged in"), self.tr("Keep the log-in of the browser window"),
             self._model.logged_in),
            (self.cancel, self.tr("Cancel"), self.tr("Close the browser window without keeping a log-in"),
             self._model.cancel_log_in),
            (self.forget, self.tr("Delete log-in"), self.tr("Delete the saved log-in; this can't be undone"),
             self._model.forget_log_in),
        ):  # fmt: skip
            button.setText(text)
            button.setAccessibleName(name)
            button.setToolTip(name)
            button.clicked.connect(slot)
        styled(self.logged_in, "primary")
        FlowLayout(self.log_in, self.logged_in, self.cancel, self.forget, parent=buttons)
        block = QWidget()
        vbox(self.log_in_words, buttons, parent=block, spacing=4)
        return block

    def _fit(self) -> None:
        for name, lines in (("hosts", 4), ("starts", 2), ("bases", 3)):
            text = self.texts[name]
            text.setFixedHeight(text.fontMetrics().lineSpacing() * lines + self._theme.px(14))


class SitesPanel(Overlay):
    """A panel over the window; Enter saves, Esc closes and keeps what was typed."""

    def __init__(self, model: SitesModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(920, 660))
        self._model = model
        self.list = RowList(theme, self._described, self.tr("Sites"), RowStyle(margins=(14, 6, 8, 6)))
        self.list.setModel(model.list)
        self.new = QPushButton(self.tr("New site"))
        self.new.setAccessibleName(self.tr("Describe a new site"))
        self.none = text_label(
            self.tr("No sites yet. Describe one on the right, or explore one and it appears here."),
            "muted",
            wrap=True,
        )
        self.form = SiteFormPanel(model, theme)
        title = text_label(self.tr("Sites"), "title")
        self.none.setAlignment(Qt.AlignmentFlag.AlignTop)
        left = vbox(title, (self.list, 1), (self.none, 1), self.new, margins=(14, 12, 10, 12), spacing=8)
        self._left = QWidget()
        self._left.setLayout(left)
        self.body.setContentsMargins(2, 6, 8, 6)  # the form's ground would cover the panel's rounded corners
        self.body.addLayout(hbox(self._left, (self.form, 1), spacing=0))
        QWidget.setTabOrder(self.list, self.new)
        QWidget.setTabOrder(self.new, self.form.fields["name"])
        self.new.clicked.connect(self._begin_new)
        self.list.selectionModel().currentChanged.connect(self._on_row)
        self.form.closed.connect(self.dismiss)
        model.changed.connect(self._show)
        model.arrived.connect(self._on_arrived)
        theme.changed.connect(self._fit)
        self._fit()
        self._show()

    def prepare(self) -> None:
        """Read the table again; what was typed stays."""
        self._model.load()

    def first(self) -> QWidget:
        """The list, or the form while there is no site."""
        return self.list if self._model.list.rows else self.form.fields["name"]

    def _on_arrived(self) -> None:
        """Go to the list: the table was read after the panel was opened."""
        if self.isVisible() and self._model.shown != NEW:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _begin_new(self) -> None:
        self._model.show(NEW)
        self.form.start_over()
        self.form.fields["name"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_row(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self._model.list.at(index.row())
        if row is not None:
            self._model.show(row.site.name)
            self.form.start_over()

    def _show(self) -> None:
        model = self._model
        there = bool(model.list.rows)
        self.list.setVisible(there)
        self.none.setVisible(not there)
        place = model.list.index(model.list.row_of(model.shown), 0)
        if self.list.currentIndex() != place:
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(place)
            self.list.viewport().update()

    def _described(self, row: SiteRow) -> RowContent:
        site = row.site
        hosts = ", ".join(site.hosts) or self.tr("no host yet")
        login = small(self.tr("log-in")) if row.login else None
        counts = self.tr("{0} runs, {1} tips").format(row.runs, row.tips) if row.runs or row.tips else ""
        lines = [line(plain(site.name), right=login), line(small(hosts, middle=True))]
        return RowContent(lines=tuple([*lines, line(small(counts))] if counts else lines))

    def _fit(self) -> None:
        self._left.setFixedWidth(self._theme.px(_LIST_WIDTH))
