"""The language model in the settings: its key in the keyring, and the test of what stands in the fields."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import model_keys
from app.engine.api.model_test_api import ModelReport, ModelTestRequest
from app.models.common.form import complete_url
from app.models.common.jobs import RUNNING
from app.models.common.tasks import ignore
from app.models.common.translate import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.core.events import JobChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.settings_form import SettingsForm
    from app.models.common.tasks import Tasks

TEST_TITLE = "Test of the model"
"""Title of the test's job."""
TYPING_SECONDS = 0.3
"""Pause in typing after which the key and report of another address are looked up."""


class ModelSetup(QObject):
    """``changed``: another key, its place, report, line of progress or error.  ``kept`` says what became of the key.

    Attributes:
        key: as typed; it is kept by ``save`` and shown nowhere.
        key_place: where the key for the address in the form comes from.
        report: on the last test of the address and model in the form.
        progress: lines of the running test.
    """

    changed = Signal()
    kept = Signal(str)

    def __init__(
        self, form: SettingsForm, client: EngineEvents, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._form, self._client, self._tasks = form, client, tasks
        self.key, self.key_place, self.error = "", "", ""
        self.report: ModelReport | None = None
        self.progress: list[str] = []
        self.is_testing = self.is_keeping = False
        self._job = ""
        self._shown: tuple[str, str] | None = None
        form.changed.connect(self._follow)
        client.job_changed.connect(self._on_job)

    @property
    def url(self) -> str:
        """The address in the form, with its scheme."""
        return complete_url(self._form.value("model_url"))

    @property
    def server(self) -> str:
        """Host and port that the key is sent to."""
        return model_keys.server_of(self.url).partition("://")[2]

    @property
    def can_clear(self) -> bool:
        return self.key_place == "keyring" and not self.is_keeping

    @property
    def is_changed(self) -> bool:
        """Whether a key was typed that is not kept yet."""
        return bool(self.key) and not self.is_keeping

    @property
    def models(self) -> tuple[str, ...]:
        """Names that the address lists, as far as a test has asked for them."""
        return self.report.models if self.report is not None else ()

    def begin(self) -> None:
        """Forget a typed key; look up where the key comes from, and the last report."""
        self.key, self.error, self._shown = "", "", None
        self._follow()
        self.changed.emit()

    def set_key(self, key: str) -> None:
        self.key, self.error = key.strip(), ""
        self.changed.emit()

    def save(self) -> None:
        """Keep a typed key in the keyring, then save the form: both touch the keyring, and one waits for the other."""
        self._form.set("model_url", self.url)
        if self.is_changed:
            self._keep(self.key, self._form.save)
        elif not self.is_keeping:
            self._form.save()

    def clear_key(self) -> None:
        """Remove the key of the address from the keyring."""
        if self.can_clear:
            self._keep("")

    def test(self) -> None:
        """Test what stands in the fields, saved or not."""
        if self.is_testing:
            return
        value = self._form.value
        request = ModelTestRequest(
            url=self.url,
            model=value("model_name"),
            effort=value("model_effort"),
            price=value("model_price"),
            key=self.key,
            headers=value("model_headers"),
            api_version=value("model_api_version"),
            as_given=True,
        )
        self.is_testing, self.error, self.progress, self._job = True, "", [], ""
        self._tasks.start(self._client.api.test_model(request), self._tested, self._failed, key="model-test")
        self.changed.emit()

    def cancel(self) -> None:
        """Stop the test; its report is dropped."""
        if self.is_testing:
            if self._job:
                self._tasks.start(self._client.api.cancel_job(self._job), failed=ignore)
            self._tasks.cancel("model-test")
            self.is_testing, self._job, self.progress = False, "", []
            self.changed.emit()

    def _follow(self) -> None:
        """Look up key and report when the form shows another address or model."""
        now = (self.url, self._form.value("model_name"))
        if now == self._shown:
            return
        delay = TYPING_SECONDS if self._shown is not None else 0.0
        self._shown = now
        self._look_up_key(delay)
        self._tasks.start(
            self._client.api.model_report(*now), self._reported, ignore, key="model-report", delay=delay
        )

    def _look_up_key(self, delay: float = 0.0) -> None:
        place = asyncio.to_thread(model_keys.key_place, self.url)
        self._tasks.start(place, self._placed, self._failed, key="model-key", delay=delay)

    def _placed(self, place: str) -> None:
        self.key_place = place
        self.changed.emit()

    def _reported(self, report: ModelReport | None) -> None:
        if not self.is_testing:
            self.report = report
            self.changed.emit()

    def _keep(self, key: str, then: Callable[[], None] = lambda: None) -> None:
        def kept(_nothing: None) -> None:
            words = (
                tr("The key is kept in the keyring.") if key else tr("The key is removed from the keyring.")
            )
            self.kept.emit(words)
            self.is_keeping, self.key = False, ""
            self._look_up_key()
            self.changed.emit()
            then()

        self.is_keeping, self.error = True, ""
        keeping = asyncio.to_thread(model_keys.keep_model_key, key, self.url)
        self._tasks.start(keeping, kept, self._failed)
        self.changed.emit()

    def _tested(self, report: ModelReport) -> None:
        self.is_testing, self._job, self.progress = False, "", []
        self.report = report
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_testing = self.is_keeping = False
        self.progress, self._job = [], ""
        self.error = str(error) or type(error).__name__
        self.changed.emit()

    def _on_job(self, job: JobChanged) -> None:
        if not self.is_testing or job.title != TEST_TITLE or self._job not in ("", job.id):
            return
        if job.state == RUNNING:
            self._job = job.id
            if job.detail and job.detail not in self.progress:
                self.progress.append(job.detail)
        elif job.state == "cancelled":  # from the list of jobs
            self._tasks.cancel("model-test")
            self.is_testing, self._job, self.progress = False, "", []
        self.changed.emit()
