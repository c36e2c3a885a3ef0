"""The guide's examples against the real packages, each in an environment of its own (``make test-adapters``).

The answers of a model are scripted: what is tested is that an agent's model is sent the tips, not that they help it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.demo.server import DemoServer
from kb import KnowledgeBase, Scope, Status, TipDraft
from kb.freeze import freeze
from tests.support.demo_site_thread import demo_site
from tests.support.program import CHECKOUT
from tests.support.protocol_server import Answer, ProtocolServer, Request

PLACE = os.environ.get("SITELORE_ADAPTERS", "")
EXAMPLES = CHECKOUT / "docs" / "guide" / "examples"
PACKAGES = {
    "browser_use": "browser-use==0.13.14",
    "browsergym": "browsergym-core==0.13.3",
    "openai": "openai>=2,<4",
    "langchain": "langchain-core>=1,<2",
}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
TIP = "The departments are in the menu at the top; hover it, a click leaves the page."
GOAL = "How many things are in the Kitchen department?"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not PLACE, reason="needs packages of others, each in an environment: make test-adapters"
    ),
]


def environment(name: str) -> Path:
    """The interpreter of a package's environment, made at first use, without the program's own needs."""
    place = Path(PLACE) / name
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", PACKAGES[name], "numpy", "rapidfuzz"], check=True
        )
        (place / "ready").touch()
    return python


def played(name: str, example: str, *arguments: str, folder: Path, **more: str) -> str:
    found = subprocess.run(
        [str(environment(name)), str(EXAMPLES / example), *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "NO_SANDBOX": "1",
            "ANONYMIZED_TELEMETRY": "false",
            **more,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, (found.stdout + found.stderr)[-4000:]
    return found.stdout


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoServer]:
    with demo_site() as server:
        yield server


@pytest.fixture
def frozen(tmp_path: Path, shop: DemoServer) -> Path:
    host = shop.shop_url.split("/")[2]
    with KnowledgeBase.open(tmp_path / "live.akb", author="ada") as kb:
        kb.set_hosts("shop", [host])
        tip = kb.add(
            TipDraft(site="shop", text=TIP, scope=Scope(host=host), keywords=("kitchen", "department"))
        )
        kb.set_status([tip.id], Status.ACTIVE)
        freeze(kb, tmp_path / "shop.akb")
    return tmp_path / "shop.akb"


def test_langchain_gets_tips_as_documents(frozen: Path, shop: DemoServer, tmp_path: Path):
    said = played("langchain", "langchain_tips.py", str(frozen), GOAL, shop.shop_url, folder=tmp_path)
    assert TIP in said


def test_a_model_calls_the_tool_and_is_sent_the_tips(frozen: Path, shop: DemoServer, tmp_path: Path):
    sent: list[str] = []

    def brain(request: Request) -> str | Answer:
        sent.append(json.dumps(request))
        if len(sent) > 1:
            return "done"
        call = {"url": shop.shop_url, "goal": GOAL, "page": None}
        return Answer(calls=(("retrieve_tips", call),))

    with ProtocolServer(brain=brain) as server:
        said = played(
            "openai", "openai_tips.py", str(frozen), GOAL, shop.shop_url,
            folder=tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k",
        )  # fmt: skip
    assert "answer: done" in said
    assert TIP in sent[-1]
    assert TIP not in sent[0]


def test_browsergyms_observation_has_the_tips(frozen: Path, shop: DemoServer, tmp_path: Path):
    # BrowserGym opens a second browser for its chat, which takes Playwright's own path only.
    browsers = tmp_path / "browsers"
    ask = "from playwright.sync_api import sync_playwright as p\nwith p() as one: print(one.chromium.executable_path)"
    asked = subprocess.run(
        [str(environment("browsergym")), "-c", ask],
        env={**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(browsers)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    own = Path(asked.stdout.strip())
    revision = own.relative_to(browsers).parts[0].rpartition("-")[2]
    shell = (
        browsers
        / f"chromium_headless_shell-{revision}"
        / "chrome-headless-shell-linux64"
        / "chrome-headless-shell"
    )
    for place in (own, shell):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(CHROMIUM)
    said = played(
        "browsergym",
        "browsergym_tips.py",
        str(frozen),
        GOAL,
        shop.shop_url,
        folder=tmp_path,
        CHROMIUM=CHROMIUM,
        PLAYWRIGHT_BROWSERS_PATH=str(browsers),
    )
    assert said.count(TIP) == 1
    assert "step 0: shop-" in said


def test_browser_use_sends_the_tips_of_each_page_to_its_model(frozen: Path, shop: DemoServer, tmp_path: Path):
    sent: list[str] = []

    def brain(request: Request) -> str:
        sent.append(json.dumps(request))
        done = {"done": {"text": "5", "success": True, "files_to_display": []}}
        return json.dumps(
            {"evaluation_previous_goal": "", "memory": "", "next_goal": "", "thinking": "", "action": [done]}
        )

    with ProtocolServer(brain=brain) as server:
        said = played(
            "browser_use", "browser_use_tips.py", str(frozen), GOAL, shop.shop_url,
            folder=tmp_path, CHROMIUM=CHROMIUM, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k",
        )  # fmt: skip
    assert "answer: 5" in said
    asked = [one for one in sent if "<browser_state>" in one]  # the others are its judge's
    assert asked
    assert all(TIP in one for one in asked)
    assert (tmp_path / "history.json").exists(), "for: sitelore import history.json"
