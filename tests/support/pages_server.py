"""Serve the pages of ``tests/support/pages`` on this machine, under two names that are two sites to a
browser.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(__file__).parent / "pages"


class _Handler(BaseHTTPRequestHandler):
    """``{other}`` in a page is the same server under its other name."""

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].strip("/")
        here = self.headers.get("Host", "")
        port = here.rpartition(":")[2]
        other = "localhost" if here.startswith("127.") else "127.0.0.1"
        if name.startswith("file/"):
            self._send(b"name,price\n", "text/csv", disposition="attachment")
            return
        path = FOLDER / name
        if name and path.is_file():
            text = path.read_text(encoding="utf-8").replace("{other}", f"http://{other}:{port}")
            self._send(text.encode(), "text/html; charset=utf-8")
        else:
            self._send(b"<title>Not here</title>", "text/html", status=404)

    def _send(self, body: bytes, kind: str, *, status: int = 200, disposition: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if disposition:
            self.send_header("Content-Disposition", disposition)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving() -> Iterator[str]:
    """Address of the pages, without a final slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
