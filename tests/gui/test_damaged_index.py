"""A damaged search index in the real window, over a real engine: it offers to rebuild, and the run opens afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.engine.api.run_rows import RunRow
from app.engine.engine import Engine
from app.engine.imports.importer import import_paths
from app.engine.store.database import INDEX_FILE
from app.engine.store.workspace import Workspace
from app.models.common.commands import CommandCenter
from app.models.common.engine_client import LocalClient
from app.models.review.run_queue import RunQueueModel
from app.views.frame.main_window import MainWindow
from app.views.frame.theme import Theme
from app.workbench import Workbench
from tests.support.runs import summary, write_run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace whose index opens but can't be used."""
    for number in range(8):
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 16))
    with Workspace.open(tmp_path / "workspace") as workspace:
        import_paths(workspace, [tmp_path / "root"])
    index = tmp_path / "workspace" / INDEX_FILE
    data = index.read_bytes()
    index.write_bytes(data[: 6 * 4096] + b"\xa5" * (len(data) - 6 * 4096))
    return tmp_path / "workspace"


@pytest.fixture
def bench(run: Callable[..., Any], settle: Any, theme: Theme, place: Path) -> Iterator[Workbench]:
    engine = run(Engine.open(place, author="mina"))
    window = MainWindow(CommandCenter(), theme)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    bench = Workbench(window, LocalClient(engine, engine.bus))
    run(bench.build())
    run(bench.start(restore=True))
    yield bench
    run(bench.stop(save=False))
    run(engine.aclose())
    window.finish_closing()
    window.deleteLater()
    settle()


def test_a_damaged_index_offers_to_rebuild_itself_and_the_run_opens_afterwards(
    bench: Workbench, place: Path, qtbot: Any, pictures: Path | None
) -> None:
    window, runs = bench._window, place / "runs"
    wanted = sorted(path.name for path in runs.iterdir() if not path.name.startswith("."))[0]
    bench.review.open_run(wanted)
    banner = window.banner
    qtbot.waitUntil(lambda: banner.isVisible() and banner.button.isVisible())
    assert "search index is damaged" in banner.text
    assert banner.button.text() == "Rebuild"
    if pictures is not None:
        window.grab().save(str(pictures / "damaged-index.png"))

    banner.button.setFocus()
    QTest.keyClick(banner.button, Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: "Search index rebuilt: 8 runs" in window.toast.text)
    qtbot.waitUntil(lambda: bench.review.detail is not None and bench.review.run == wanted)
    assert bench.review.error == ""
    assert not banner.isVisible()
    qtbot.waitUntil(lambda: bench.review.queue.model.rowCount() == 8)
    assert list(place.glob(f"{INDEX_FILE}.damaged-*"))
    if pictures is not None:
        window.grab().save(str(pictures / "rebuilt-index.png"))


def test_a_run_the_detectors_have_not_looked_at_shows_no_risk_of_nought(qapp: Any) -> None:
    row = RunRow(
        id="r", source="", suite="", task_id="7", site="map", intent="Find it", score=0.0, outcome="answered",
        steps=2, risk=0.0, suspect_step=0, flags=(), looked_at=False,
    )  # fmt: skip
    words = RunQueueModel().words(row)
    assert "not checked yet" in words
    assert "risk" not in words
