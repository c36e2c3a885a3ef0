"""The demo site with pages that can be changed while it runs, and a record of everything that was sent to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from app.demo.server import DemoServer, Request, Response


class ChangingShop(DemoServer):
    """The demo site.

    Attributes:
        changes: texts of its pages and what stands there instead.
        sent: requests that are not read-only, as ``POST /basket/add``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.changes: dict[str, str] = {}
        self.sent: list[str] = []

    def shop(self, request: Request) -> Response:
        """The shop as it is now."""
        return self._now(request, super().shop(request))

    def admin(self, request: Request) -> Response:
        """The admin part as it is now."""
        return self._now(request, super().admin(request))

    def sign_in(self, path: Path) -> None:
        """Write a log-in to the admin part as a browser's storage state."""
        self._signed_in.add("by-the-test")
        host = urlsplit(self.admin_url).hostname
        cookie = {
            "name": "admin_session", "value": "by-the-test", "domain": host, "path": "/", "expires": -1,
            "httpOnly": False, "secure": False, "sameSite": "Lax",
        }  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cookies": [cookie], "origins": []}), "utf-8")

    def _now(self, request: Request, response: Response) -> Response:
        if request.method != "GET":
            self.sent.append(f"{request.method} {request.path}")
        body = response.body
        for text, instead in self.changes.items():
            body = body.replace(text.encode(), instead.encode())
        return replace(response, body=body)
