"""Pages of the bundled demo site as captures in files, so that golden prompts need no browser.

``python -m tests.support.golden_pages`` takes them anew with a browser; addresses are those of ``http://shop.example``.
"""

from __future__ import annotations

import asyncio
import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from app.engine.core.page_state import PageCapture

FOLDER = Path(__file__).parents[1] / "golden" / "pages"
PAGES = {"home": "/", "shelf": "/department/Kitchen", "product": "/product/enamel-mug"}
"""Names of the files and paths of the pages."""
HOST = "http://shop.example"
_ADAPTER = TypeAdapter(PageCapture)


def golden_page(name: str) -> PageCapture:
    """Return a captured page with a grey picture of its size, which is the same on every machine."""
    found = _ADAPTER.validate_json((FOLDER / f"{name}.json").read_bytes())
    return replace(found, picture=grey_picture(*found.viewport))


def grey_picture(width: int, height: int) -> bytes:
    """Return a PNG of one colour."""
    out = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    out.seek(0, io.SEEK_END)
    rows = zlib.compress((b"\0" + b"\xdd" * width) * height, 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")):
        check = struct.pack(">I", zlib.crc32(kind + data))
        out.write(struct.pack(">I", len(data)) + kind + data + check)
    return out.getvalue()


async def _take() -> None:
    from app import settings
    from app.demo.server import DemoServer
    from app.engine.browser.capture.snapshot import capture
    from app.engine.browser.live_browser import LiveBrowser

    server = await DemoServer.start()
    browser = await LiveBrowser.open(
        settings.load().browser, headed=False, storage_state="", size=(1280, 800)
    )
    try:
        for name, path in PAGES.items():
            await browser.session.page.goto(f"{server.shop_url}{path}")
            seen = await capture(browser.session, picture=False, thorough=True)
            kept = replace(seen, seconds=0.0, served="")
            text = (
                _ADAPTER.dump_json(kept, indent=1, exclude_defaults=True)
                .decode()
                .replace(server.shop_url, HOST)
            )
            (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    finally:
        await browser.aclose()
        await server.stop()


if __name__ == "__main__":
    asyncio.run(_take())
