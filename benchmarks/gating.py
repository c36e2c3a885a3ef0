"""Number of vision model calls: before every action, against only where the page has drifted.

A form of twenty actions (fields, radio buttons, checkboxes, a row with a small arrow, three stages) is filled in in a
real Chromium, by pointing at marks alone.  The vision model is scripted: it sees everything, with the latency of a
small model.  Both ways have to send the same.  ``naive`` looks before every action, then thinks, and caches nothing;
``gated`` follows ``app.engine.agent.vision.freshness`` and looks in the background while the agent thinks.
"""

from __future__ import annotations

import asyncio

from app.engine.browser.session import open_browser, open_session
from tests.support.booking_form import PLAN, SENT, Filled, fill_in
from tests.support.pages_server import serving

LATENCY, THINKING = 0.9, 1.0
"""Seconds that the scripted vision model takes for a look, and that the agent takes to think."""
MOST = 7
TIMES = (1, 2, 3)


async def _measure() -> list[tuple[int, Filled, Filled]]:
    found: list[tuple[int, Filled, Filled]] = []
    with serving() as address:
        async with open_browser() as browser:
            for times in TIMES:
                filled: list[Filled] = []
                for gated in (False, True):
                    async with open_session(browser) as tab:
                        page = f"{address}/booking.html"
                        filled.append(
                            await fill_in(
                                tab, page, gated=gated, latency=LATENCY, thinking=THINKING, times=times
                            )
                        )
                found.append((times, filled[0], filled[1]))
    return found


def main() -> None:
    print(f"{'actions':>8} {'way':>6} {'looks':>6} {'tokens':>7} {'seconds':>8} {'sent as meant':>14}")
    for times, naive, gated in asyncio.run(_measure()):
        for name, filled in (("naive", naive), ("gated", gated)):
            ok = "yes" if filled.sent == SENT and not filled.refusals else f"no: {filled.refusals}"
            print(
                f"{times * len(PLAN):>8} {name:>6} {filled.perceptions:>6} {filled.tokens:>7} "
                f"{filled.seconds:>8.1f} {ok:>14}"
            )
        print(
            f"{'':>8} {gated.perceptions / naive.perceptions:.0%} of the looks, "
            f"{gated.seconds / naive.seconds:.0%} of the time"
            + (f"; at most {MOST}: {'yes' if gated.perceptions <= MOST else 'NO'}" if times == 1 else "")
        )


if __name__ == "__main__":
    main()
