"""Tokens by role over a scripted run on the demo shop: text only, and with pictures when changed or always.

    python -m benchmarks.model_tokens [--steps 30]

A scripted answer is no model: it presses links, types into the search field and reckons, so that the prompts are those
of a real run.  Tokens are four bytes of text each, and 1,105 for a picture of 1280 x 800 (OpenAI's tiles, high detail).
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.demo_site_thread import demo_site
from tests.support.program import Sitelore
from tests.support.protocol_server import ProtocolServer, Request, text_of
from tests.support.shop_brain import plan, role_of

PICTURE_TOKENS = 1_105
MODES = ("off", "changed", "always")


class Walker:
    """Of four steps two press a link, one reckons and one notes: half of them change nothing on the page."""

    def __init__(self) -> None:
        self.step = 0

    def __call__(self, request: Request) -> str:
        match role_of(request):
            case "planner":
                return plan()
            case "operator":
                self.step += 1
                return f"<think>On to the next page of it.</think><action>{self._call(text_of(request))}</action>"
            case _:
                return json.dumps({"summary": "walked through the shop", "tips": [], "guidance": ""})

    def _call(self, text: str) -> str:
        if self.step % 4 == 2:
            return f'calculate("{self.step} * 21")'
        if self.step % 4 == 3:
            return f'take_note("page {self.step} has nothing of it")'
        links = re.findall(r"\[(\d+)\] link '(?!Skip)\w", text)
        return f'click("{links[self.step % 7]}")'


def measure(mode: str, steps: int, url: str) -> dict[str, object]:
    """Run once; return tokens by role, pictures sent and bytes stored."""
    with tempfile.TemporaryDirectory() as folder, ProtocolServer(brain=Walker()) as endpoint:
        sitelore = Sitelore(
            Path(folder) / "workspace",
            SITELORE_MODEL_URL=endpoint.url,
            SITELORE_MODEL_NAME="scripted",
            OPENAI_API_KEY="sk-test-key-that-nobody-may-keep",
        )
        options = ("--pictures", mode) if mode else ()
        done = sitelore(
            "run", "Walk through the shop", "--start-url", url, "--policy", "llm", "--kb", "none",
            "--max-steps", str(steps), *options, code=1,
        )  # fmt: skip
        stored = sum(
            file.stat().st_size for file in (Path(folder) / "workspace").rglob("*") if file.is_file()
        )
        bodies = endpoint.bodies
    text, pictures, contents = Counter[str](), Counter[str](), dict[str, int]()
    for body in bodies:
        role, dumped = role_of(body), json.dumps(body)
        urls = re.findall(r'"url": "data:image/jpeg;base64,([^"]+)"', dumped)
        text[role] += (len(dumped) - sum(map(len, urls))) // 4
        pictures[role] += len(urls)
        contents |= {one: len(base64.b64decode(one)) for one in urls}
    return {
        "mode": mode or "default",
        "steps": done["steps"],
        "calls": dict(Counter(map(role_of, bodies))),
        "text_tokens": dict(text),
        "pictures": dict(pictures),
        "tokens": {role: text[role] + PICTURE_TOKENS * pictures[role] for role in text},
        "different_pictures": len(contents),
        "picture_bytes": sum(contents.values()),
        "workspace_bytes": stored,
    }


def main() -> None:
    """Measure each way of sending pictures and print one JSON document a line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--modes", default=",".join(MODES), help="comma-separated; empty for the default")
    chosen = parser.parse_args()
    with demo_site() as server:
        for mode in chosen.modes.split(","):
            sys.stdout.write(json.dumps(measure(mode, chosen.steps, server.shop_url)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
