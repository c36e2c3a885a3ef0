"""Suite files for tests: the published ones beside the checkout, and small ones of each format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.runs import SHARED

WEBARENA = SHARED / "data" / "webarena" / "config_files" / "test.raw.json"
WEBNAVIGATOR = SHARED / "data" / "webnavigator" / "config_files" / "webarena" / "test.raw.json"
WEBCHOREARENA = SHARED / "data" / "webchorearena" / "BrowserGym" / "config_files" / "test_webchore.raw.json"
MIND2WEB = SHARED / "data" / "webnavigator" / "config_files" / "online_mind2web" / "all_tasks.json"
needs_suites = pytest.mark.skipif(not WEBARENA.is_file(), reason="the task files are not beside the checkout")


def write_json(path: Path, value: Any) -> Path:
    """Write a value as a JSON file."""
    path.write_bytes(orjson.dumps(value))
    return path


def webarena_task(id: object = 1, **more: Any) -> dict[str, Any]:
    """One task in WebArena's fields: a question on the shop."""
    evaluation = {
        "eval_types": ["string_match"],
        "reference_answers": {"exact_match": "Zora Quill"},
        "reference_url": "",
        "program_html": [],
    }
    task = {
        "sites": ["shopping"],
        "task_id": id,
        "require_login": True,
        "storage_state": "./.auth/shopping_state.json",
        "start_url": "__SHOPPING__",
        "intent_template": "Who wrote {{what}}?",
        "instantiation_dict": {"what": "the review"},
        "intent": "Who wrote the review?",
        "require_reset": False,
        "eval": {**evaluation, **more.pop("eval", {})},
        "intent_template_id": 12,
    }
    return {**task, **more}


def own_suite(*tasks: dict[str, Any], **head: Any) -> dict[str, Any]:
    """A document of Sitelore's own form; without tasks it has one."""
    listed = list(tasks) or [{"id": "t1", "intent": "Count the orders"}]
    return {"format": "sitelore-suite", "version": 1, "title": "Shop", "tasks": listed, **head}
