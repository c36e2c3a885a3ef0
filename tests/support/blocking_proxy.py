"""A real shop seen through a door that closes: a captcha before some pages, a modal over everything, or no answer.

Everything else passes as it is.  The captcha opens for a visit once its button is pressed, the modal goes away by a
double click (it has no button, so nothing an agent clicks gets past it).
"""

from __future__ import annotations

import http.client
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPTCHA = b"""<!doctype html><html lang="en"><head><title>Are you a robot?</title></head><body>
<h1>Verify you are human</h1><p>Please complete the captcha to go on.</p>
<div class="g-recaptcha" data-sitekey="k"><iframe title="reCAPTCHA" srcdoc="<p>I am not a robot</p>" width="300"
height="78"></iframe></div>
<button id="human" onclick="document.cookie='human=1;path=/';location.reload()">I am human</button></body></html>"""

MODAL = b"""<div role="dialog" aria-modal="true" aria-label="Please wait" style="position:fixed;inset:0;z-index:99999;
background:#fff;display:flex;align-items:center;justify-content:center"><p>Your session is being checked. Double-click
here to go on.</p></div><script>(() => { const modal = document.currentScript.previousElementSibling;
if (document.cookie.includes('waited=1')) modal.remove();
modal.addEventListener('dblclick', () => { document.cookie = 'waited=1;path=/'; modal.remove(); });
})()</script>"""


@dataclass(frozen=True, slots=True)
class Door:
    """Paths behind a captcha, paths on which a modal covers everything, and paths whose answer is held back.

    Regular expressions, "" for none; what is held back is answered when the door goes away.
    """

    captcha: str = ""
    modal: str = ""
    held: str = ""


class BlockingProxy:
    """``with BlockingProxy("127.0.0.1", 8101, Door(captcha="/basket/")) as address: ...``"""

    def __init__(self, host: str, port: int, door: Door) -> None:
        outer = (host, port)
        self.passed = 0
        """Requests of a page behind the captcha by a visit whose person has pressed its button."""
        self._gone = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._pass()

            def do_POST(self) -> None:
                self._pass()

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _pass(self) -> None:
                path = self.path.partition("?")[0]
                cookies = self.headers.get("Cookie", "")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if door.captcha and re.search(door.captcha, path):
                    if "human=1" not in cookies:
                        self._send(200, [("Content-Type", "text/html; charset=utf-8")], CAPTCHA)
                        return
                    proxy.passed += 1
                if door.held and re.search(door.held, path):
                    proxy._gone.wait()
                there = http.client.HTTPConnection(*outer, timeout=60)
                try:
                    headers = {
                        name: value
                        for name, value in self.headers.items()
                        if name.lower() != "accept-encoding"
                    }
                    there.request(self.command, self.path, body or None, headers)
                    answer = there.getresponse()
                    content = answer.read()
                except OSError:
                    self._send(502, [("Content-Type", "text/plain")], b"the shop is not there")
                    return
                finally:
                    there.close()
                kind = answer.getheader("Content-Type", "")
                if door.modal and "text/html" in kind and re.search(door.modal, path):
                    content = content.replace(b"</body>", MODAL + b"</body>")
                kept = [
                    (name, value)
                    for name, value in answer.getheaders()
                    if name.lower() not in ("content-length", "transfer-encoding", "connection")
                ]
                self._send(answer.status, kept, content)

            def _send(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        """Where the shop is seen."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> str:
        self._thread.start()
        return self.address

    def __exit__(self, *_: object) -> None:
        self._gone.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
