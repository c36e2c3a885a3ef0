"""Pages to try the executor on (``tests/support/pages/executor``): covers, frames, shadow roots, fields,
sliders.
"""

from __future__ import annotations

from pathlib import Path

from app.demo.server import Request, Response

FOLDER = Path(__file__).parent / "pages" / "executor"
SAME = {"/effects/pushed": "/effects"}


class ExecutorSite:
    """Serves the pages; ``other`` is the address of a second such site; ``asked`` counts by path."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.other = ""

    def __call__(self, request: Request) -> Response:
        path = SAME.get(request.path, request.path)
        self.asked[path] = self.asked.get(path, 0) + 1
        if path == "/account":
            return Response(status="302 Found", location="/login")
        if path == "/away":
            return Response(status="302 Found", location=f"{self.other}/plain")
        if path == "/fault":
            return Response(status="500 Oh", body=b"<title>Fault</title><h1>Server error</h1>")
        if path == "/file":
            return Response(content_type="application/zip", body=b"PK")
        if path == "/slow":
            return Response(body=b"{}")
        page = FOLDER / f"{path[1:]}.html"
        if page.is_file():
            return Response(body=page.read_text("utf-8").replace("{other}", self.other).encode())
        return Response(status="404 Not Found", body=b"<title>Not here</title><h1>Not here</h1>")
