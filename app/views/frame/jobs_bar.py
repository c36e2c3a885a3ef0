"""The jobs button of the top bar, and its popup with the progress of each job and a Cancel button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.models.common.commands import CommandCenter
from app.models.common.jobs import RUNNING, JobList, progress_text
from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from app.engine.core.events import JobChanged

WIDE = 380


class JobsButton(QToolButton):
    """``jobs 2`` over a progress bar; muted when nothing runs."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._center = theme, center
        self._share: float | None = None
        self._running = 0
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIcon(theme.icon("progress-clock", "muted"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        theme.changed.connect(self._resize)
        self._resize()
        self.clicked.connect(lambda: center.trigger("app.jobs"))
        center.keys_changed.connect(self._tell)
        self._tell()

    def show_jobs(self, running: list[JobChanged]) -> None:
        """Show the number of running jobs and their joint progress."""
        self._running = len(running)
        known = [job for job in running if job.total]
        self._share = sum(job.done / (job.total or 1) for job in known) / len(known) if known else None
        self._tell()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The button, and a thin progress bar under the text."""
        super().paintEvent(event)
        if not self._running:
            return
        painter = QPainter(self)
        bar = QRect(6, self.height() - 4, self.width() - 12, 3)
        painter.fillRect(bar, self._theme.color("line"))
        share = self._share if self._share is not None else 1.0
        role = "accent" if self._share is not None else "muted"
        painter.fillRect(QRect(bar.left(), bar.top(), round(bar.width() * share), 3), self._theme.color(role))
        painter.end()

    def _resize(self) -> None:
        self.setFixedWidth(self._theme.px(88))
        self.setIconSize(QSize(self._theme.px(16), self._theme.px(16)))

    def _tell(self) -> None:
        words = self.tr("jobs {0}").format(self._running) if self._running else self.tr("no jobs")
        self.setText(f" {words}")
        self.setAccessibleName(words)
        self.setToolTip(self._center.action("app.jobs").toolTip())


class JobRow(QWidget):
    """Title, progress bar, numbers, Cancel."""

    def __init__(self, job: JobChanged, jobs: JobList, parent: QWidget) -> None:
        super().__init__(parent)
        self._jobs, self._id = jobs, job.id
        self._title, self._words = ElidedLabel(), styled(ElidedLabel(), "secondary")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._cancel = styled(QPushButton(self.tr("Cancel")), "link")
        self._cancel.clicked.connect(self._stop)
        top = hbox((self._title, 1), self._cancel)
        vbox(top, self._bar, self._words, parent=self, margins=(14, 8, 10, 8), spacing=4)
        self.show_job(job)

    def show_job(self, job: JobChanged) -> None:
        running = job.state == RUNNING
        self._title.setText(job.title)
        self._words.setText(progress_text(job))
        self._bar.setVisible(running)
        self._bar.setRange(0, job.total or 0)
        self._bar.setValue(job.done)
        self._bar.setAccessibleName(self.tr("Progress of {0}").format(job.title))
        self._cancel.setVisible(running)
        self._cancel.setAccessibleName(self.tr("Cancel {0}").format(job.title))
        kind = "fail" if job.state == "failed" else "secondary"
        restyle(self._words, kind=kind)

    def _stop(self) -> None:
        self._cancel.setEnabled(False)
        self._jobs.cancel(self._id)


class JobsPopup(QFrame):
    """Hangs under the jobs button; rows are updated in place, so nothing jumps under the pointer."""

    def __init__(self, jobs: JobList, center: CommandCenter, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setProperty("kind", "overlay")
        self._jobs, self._theme, self._host = jobs, theme, host
        self._anchor: QWidget | None = None
        self._rows: dict[str, JobRow] = {}
        title = text_label(self.tr("Jobs"), "heading")
        self._all = styled(QPushButton(self.tr("Cancel all")), "link")
        self._all.clicked.connect(lambda: center.trigger("app.cancel_jobs"))
        head = hbox((title, 1), self._all, margins=(14, 10, 10, 4))
        self._none = QLabel(self.tr("No jobs. Imports, detectors and the encoder appear here."))
        self._none.setProperty("kind", "muted")
        self._none.setWordWrap(True)
        self._none.setContentsMargins(14, 6, 14, 14)
        inside = styled(QWidget(), "raised")
        self._list = vbox(1, parent=inside, spacing=0)
        self._area = scroll_area(inside, focus=Qt.FocusPolicy.StrongFocus, sideways=True)
        vbox(head, self._none, (self._area, 1), parent=self, margins=(1, 1, 1, 9), spacing=0)
        self.setAccessibleName(self.tr("Jobs"))
        jobs.rowsInserted.connect(self._fill)
        jobs.rowsRemoved.connect(self._fill)
        jobs.dataChanged.connect(self._fill)
        host.installEventFilter(self)
        self.hide()

    def toggle(self, anchor: QWidget) -> None:
        self._anchor = anchor
        if self.isVisible():
            self.hide()
            return
        self._fill()
        self._place()
        self.show()
        self.raise_()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc while it has the focus."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the button when the window changes its size; close on a click elsewhere."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        elif event.type() is QEvent.Type.MouseButtonPress:
            self.hide()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        rows = sum(row.sizeHint().height() for row in self._rows.values())
        wide = self._theme.px(WIDE)
        return QSize(wide, self._theme.px(58) + (rows if rows else self._none.heightForWidth(wide) + 8))

    def _fill(self) -> None:
        # Sorted by state, each group newest first: a row moves once, when its job ends.
        jobs = sorted(self._jobs.rows, key=lambda job: job.state != RUNNING)
        for gone in set(self._rows) - {job.id for job in jobs}:
            self._rows.pop(gone).deleteLater()
        for number, job in enumerate(jobs):
            row = self._rows.get(job.id)
            if row is None:
                row = self._rows[job.id] = JobRow(job, self._jobs, self)
            else:
                row.show_job(job)
            if self._list.indexOf(row) != number:
                self._list.insertWidget(number, row)
        self._none.setVisible(not jobs)
        self._area.setVisible(bool(jobs))
        self._all.setVisible(len(self._jobs.running) > 1)
        if self.isVisible():
            self._place()

    def _place(self) -> None:
        if self._anchor is None:
            return
        hint = self.sizeHint()
        below = self._anchor.mapTo(self._host, self._anchor.rect().bottomRight())
        height = min(hint.height(), self._host.height() - below.y() - 16, self._theme.px(460))
        right = min(below.x(), self._host.width() - 8)
        self.setGeometry(right - hint.width(), below.y() + 6, hint.width(), height)
