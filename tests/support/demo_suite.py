"""A small suite on the demo site's shop, and a workspace whose table of sites knows it.

The scout solves some of its tasks and fails at others, the same ones each time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.engine.core.sites import Site
from app.engine.store.workspace import Workspace

SUITE = "demo-shop"
READING = (
    ("pots", "Open the department garden.", {"page": r"/department/Garden"}),
    ("basket", "Open the basket.", {"page": r"/basket"}),
    ("kitchen", "Open the department kitchen.", {"page": r"/department/Kitchen"}),
    ("moon", "Open the page of the moon rocket.", {"page": r"/product/moon-rocket"}),
)


def demo_tasks(copies: int = 1) -> list[dict[str, Any]]:
    """Return the tasks; several copies of them have ids of their own and share a template."""
    return [
        {
            "id": f"{name}-{number}" if copies > 1 else name,
            "intent": intent,
            "site": "demo",
            "start_url": "__DEMO__",
            "template": name,
            "kind": "way",
            "max_steps": 4,
            "oracle": oracle,
        }
        for number in range(copies)
        for name, intent, oracle in READING
    ]


def write_suite(path: Path, tasks: list[dict[str, Any]]) -> Path:
    """Write a suite's file."""
    document = {"format": "sitelore-suite", "version": 1, "title": "Demo shop", "tasks": tasks}
    path.write_text(json.dumps(document))
    return path


def demo_row(shop_url: str, **commands: str) -> Site:
    """Return the row of the demo shop in a table of sites."""
    host = shop_url.removeprefix("http://")
    return Site(name="demo", hosts=(host,), starts=(shop_url,), bases={"__DEMO__": shop_url}, **commands)


def demo_workspace(folder: Path, shop_url: str, **commands: str) -> Path:
    """Create a workspace whose table has the demo shop alone."""
    with Workspace.open(folder) as workspace:
        workspace.change_site(None, demo_row(shop_url, **commands))
    return folder
