"""Tests of tips on a real shop: each tip's outcome beside the one its author saw by hand.

    python -m benchmarks.shop_tip_tests --url http://127.0.0.1:8101/ [--column changed] [--steps written]

Needs a running django-oscar shop (with the administrator's log-in of its README).  The tips are
``benchmarks/data/shop_tips.jsonl``, written from the shop alone by somebody who had not seen the program.  ``--column``
names the expectations: of the shop as it is, or after a redesign that breaks three tips.  ``--steps written`` takes the
steps that the author gave instead of those read from the text.  Printed is each outcome that differs, and how many
agree.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from app import settings
from app.engine.browser.session import open_browser
from app.engine.engine import Engine
from app.engine.services.graph_navigation import login_path
from kb.procedure import Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.tip import Scope, Status, TipDraft
from tests.support.shop import ADMIN, record_login

DATA = Path(__file__).parent / "data"
SITE, BACK_OFFICE = "northgate", "northgate-office"
OUTCOMES = {"holds": "holds", "stops before a write": "stopped before a write", "broke": "broke"}
"""Outcomes in the author's words, and as a test names them."""


def expectation(tip: dict[str, Any], column: str) -> tuple[str, int]:
    """Outcome and step of a tip in one column."""
    told = tip["expected"]
    if column == "changed":
        return OUTCOMES[told["changed"]["outcome"]], told["changed"]["step"]
    return OUTCOMES[told["now"]], told["step"]


def draft(tip: dict[str, Any], host: str, written: bool) -> TipDraft:
    """A tip as an expert would save it."""
    steps = tuple(
        ProcedureStep(
            kind=StepKind(one["kind"]),
            target=one["target"],
            role=one.get("role", ""),
            value=one.get("value", ""),
            near=one.get("near", ""),
        )
        for one in tip["expected"]["steps"]
    )
    return TipDraft(
        site=BACK_OFFICE if tip["login"] else SITE,
        scope=Scope(host=host, path=tip["path"]),
        text=tip["do"],
        when=tip["when"],
        do=tip["do"],
        before=tip["before"],
        why=tip["why"],
        procedure=Procedure(entries=steps, origin=ProcedureOrigin.PERSON) if written else None,
    )


async def measure(url: str, path: Path, column: str, written: bool) -> int:
    """Test every tip; return how many differ from the expectation."""
    tips = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        settings.logins_dir = lambda: Path(folder) / "logins"
        login_path(BACK_OFFICE).parent.mkdir(parents=True)
        async with open_browser() as browser:
            await record_login(browser, url, ADMIN, login_path(BACK_OFFICE))
        engine = await Engine.open(Path(folder) / "workspace", author="benchmark")
        try:
            for tip in tips:
                saved = await engine.save_tip(draft(tip, urlsplit(url).netloc, written))
                await engine.set_status([saved.id], Status.REVIEWED)
                test = await engine.test_tip(saved.id, urljoin(url, tip["start"]), tip["values"])
                wanted = expectation(tip, column)
                got = (str(test.outcome), 0 if test.outcome == "holds" else test.step)
                differing += got != wanted
                if got != wanted:
                    print(f"{tip['id']}: {got}, expected {wanted}: {test.message}")
        finally:
            await engine.aclose()
    print(
        f"{len(tips) - differing} of {len(tips)} tips as their author saw them ({column}, steps {written=})"
    )
    return differing


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Tests of tips on a real shop.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--tips", type=Path, default=DATA / "shop_tips.jsonl")
    parser.add_argument("--column", choices=("now", "changed"), default="now")
    parser.add_argument("--steps", choices=("read", "written"), default="read")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.url, arguments.tips, arguments.column, arguments.steps == "written"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
