"""The exported page of a run in a browser: opens from a file, asks for nothing, runs nothing of the run's texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from app.engine.exports import html_page
from app.engine.exports.run_export import ExportSource
from tests.support.runs import make_run, make_step

HOSTILE = "<script>document.title='run'</script><img src=http://elsewhere.example/x onerror=\"document.title='run'\">"


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    Image.new("RGB", (1280, 720), (220, 60, 60)).save(tmp_path / "p.png")
    steps = [
        make_step(number, reason=HOSTILE, title=HOSTILE, screenshot="p", target_box=(10.0, 10.0, 90.0, 40.0))
        for number in range(4)
    ]
    run = make_run(intent=HOSTILE, answer=HOSTILE)
    data = (tmp_path / "p.png").read_bytes()
    html_page.write(
        ExportSource(run=run, steps=tuple(steps), read_blob=lambda _digest: data), tmp_path / "r.html"
    )
    return tmp_path / "r.html"


@pytest.mark.parametrize("width", [400, 1280])
async def test_the_page_works_by_keyboard_and_loads_nothing(
    chromium: Any, page_file: Path, width: int
) -> None:
    context = await chromium.new_context(viewport={"width": width, "height": 800})
    try:
        page = await context.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        await page.goto(page_file.as_uri())
        for key in ("j", "j", "k", "j", "j"):
            await page.keyboard.press(key)
        assert await page.evaluate("document.activeElement.id") == "s2"
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert said == []
        assert (await page.title()).startswith("<script>")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await page.evaluate("document.querySelector('#s0 img').naturalWidth > 0")
        assert await page.evaluate("document.querySelectorAll('img:not([alt])').length") == 0
    finally:
        await context.close()
