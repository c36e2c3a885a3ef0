"""The guide in the window; an installed program has no pictures of it, and shows their words."""

from __future__ import annotations

import shutil
from pathlib import Path

from app.views.frame.guide_panel import GuidePanel

ROOT = Path(__file__).parents[2]


def test_the_words_of_a_picture_stand_in_for_one_that_is_not_installed(
    theme, qtbot, tmp_path: Path, monkeypatch
) -> None:
    shutil.copy(ROOT / "docs" / "guide" / "index.md", tmp_path)
    monkeypatch.setattr("app.views.frame.guide_panel.guide", lambda page="index.md": tmp_path / page)
    from PySide6.QtWidgets import QWidget

    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1000, 800)
    host.show()
    panel = GuidePanel(theme, host)
    panel.present()
    text = panel.page.toPlainText()
    assert "￼" not in text  # the letter of a picture
    assert "Review" in text
    (tmp_path / "pictures").mkdir()
    for picture in (ROOT / "docs" / "guide" / "pictures").iterdir():
        shutil.copy(picture, tmp_path / "pictures")
    panel.page.reload()
    assert "￼" in panel.page.toPlainText()
