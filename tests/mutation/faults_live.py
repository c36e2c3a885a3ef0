"""Faults in the rules of live runs while a person acts, and of explorations that have to end."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

CONTROL, HOLDING = "app/engine/agent/run_control.py", "app/engine/agent/pause_control.py"
WALLS, LOOP, HANDING = (
    "app/engine/agent/walls.py",
    "app/engine/agent/loop.py",
    "app/engine/services/supervision/takeover_service.py",
)
EXPLORER, EXPLORING = "app/engine/graph/explore/explorer.py", "app/engine/services/exploration.py"
_HANDED = ("tests/unit/engine/test_rules_of_approvals.py", "tests/unit/engine/test_hand_back.py")
APPROVALS, SUPERVISED = (
    "app/engine/services/supervision/approvals.py",
    "app/engine/services/supervision/supervised_run.py",
)
_OPEN = ("tests/unit/engine/test_open_requests.py",)
WHEN_TO_ASK, LIVE_JUDGE = "app/engine/agent/judging/when_to_ask.py", "app/engine/agent/judging/live_judge.py"
_JUDGED = ("tests/unit/engine/test_rules_of_when_to_ask.py", "tests/unit/engine/test_live_judge.py")
_TIME = ("tests/unit/engine/test_explorer_time.py",)

FAULTS = (
    Mutation(
        "judge-asked-twice",
        WHEN_TO_ASK,
        "question_key(step, asked.acted) in asked.keys",
        "question_key(step, asked.acted) in ()",
        "A model is not asked twice about the same action on the same page.",
        _JUDGED,
    ),
    Mutation(
        "judge-half-of-the-questions",
        WHEN_TO_ASK,
        "kept = max(1, limits.calls // 2)",
        "kept = 1",
        "Ordinary steps may use up no more than half of the questions.",
        _JUDGED,
    ),
    Mutation(
        "judge-person",
        WHEN_TO_ASK,
        "    if step.by == BY_PERSON:\n        return None\n",
        "",
        "A person's steps are never asked about.",
        _JUDGED,
    ),
    Mutation(
        "judge-budget-of-a-resumed-run",
        LIVE_JUDGE,
        "calls=opinion.asked,",
        "calls=0,",
        "A resumed run continues its budget of questions.",
        _JUDGED,
    ),
    Mutation(
        "judge-write-waits",
        "app/engine/agent/flag_review.py",
        "                    await judge.settle()\n",
        "                    pass\n",
        "Where a person watches, a write waits for the open question.",
        _JUDGED,
        safety=True,
    ),
    Mutation(
        "second-map-asked",
        EXPLORING,
        "asked not in maps if asked else",
        "False if asked else",
        "A name that is none of a host's maps begins a second map only where somebody wants one.",
        ("tests/unit/engine/test_map_to_extend.py",),
    ),
    Mutation(
        "wall-of-another-kind",
        CONTROL,
        "        return one.wall == other.wall\n",
        "        return True\n",
        "What was decided of one wall holds for no other.",
        _HANDED,
        safety=True,
    ),
    Mutation(
        "wall-that-is-none",
        WALLS,
        "none = wall_key(page) in self._control.no_walls or (",
        "none = bool(self._control.no_walls) or (",
        "What was said to be no wall is that one, and every other is asked about.",
        _HANDED,
        safety=True,
    ),
    Mutation(
        "handed-back-first-word",
        HOLDING,
        '        if self._stopping:\n            raise Conflict("the run is already ending")\n',
        "",
        "The first word that ended a run counts.",
        _HANDED,
    ),
    Mutation(
        "handed-back-by-hand",
        LOOP,
        "return LoopEnding(Outcome.DONE_BY_HAND, by=end.author)",
        "return LoopEnding(Outcome.ANSWERED, by=end.author)",
        "A task that a person finished is no answer of the agent's.",
        _HANDED,
    ),
    Mutation(
        "handed-back-held-runs-only",
        HANDING,
        "        if not state.held:\n",
        "        if not state.held and not state.alive:\n",
        "A run that nobody holds is not ended by hand.",
        _HANDED,
        safety=True,
    ),
    Mutation(
        "handed-back-row-first",
        HANDING,
        "        await self._approvals.note("
        "found.run, step, ENDING_ACTIONS[back.how], back.answer, author=back.author)\n"
        "        found.control.finish_by_hand(back)\n",
        "        found.control.finish_by_hand(back)\n",
        "What a person said of a run's end is a row before it counts.",
        _HANDED,
        safety=True,
    ),
    Mutation(
        "handed-back-no-ending",
        "app/engine/detectors/runner.py",
        "    if run.ended_by or run.outcome in _NO_ENDING:\n",
        "    if run.outcome in _NO_ENDING:\n",
        "No detector takes an end that a person gave a run for the agent's.",
        _HANDED,
    ),
    Mutation(
        "request-of-a-broken-off-run",
        SUPERVISED,
        "        self.update(state=RunState.INTERRUPTED, why=why, stage=Stage.IDLE)\n",
        "        self.update(state=RunState.INTERRUPTED, why=why, stage=Stage.IDLE, needs=())\n",
        "A run that breaks off while it waits still shows its request.",
        _OPEN,
    ),
    Mutation(
        "request-the-disk-refused",
        APPROVALS,
        '        return [*rows, *(held for held in self._held.values() if run in ("", held.run))]\n',
        "        return rows\n",
        "A request that the disk did not take is listed like any other.",
        _OPEN,
        safety=True,
    ),
    Mutation(
        "request-the-disk-refused-twice",
        APPROVALS,
        "            check_decision(held, decision)\n",
        "",
        "Of a request that the disk did not take the first decision counts, if it fits.",
        _OPEN,
        safety=True,
    ),
    Mutation(
        "takeover-at-the-start",
        LOOP,
        "            await control.wait_until_released(pass_takeover=True)\n",
        "            await control.wait_until_released()\n",
        "A takeover at the start opens the start page.",
        ("tests/unit/engine/test_agent_run_control.py",),
    ),
    Mutation(
        "exploration-counts-the-start",
        EXPLORER,
        "return self._options.max_seconds - self._spent - self._progress.seconds_now",
        "return self._options.max_seconds - self._progress.seconds_now",
        "The start of the browser counts to the time of an exploration.",
        _TIME,
    ),
    Mutation(
        "exploration-ends-in-a-wait",
        EXPLORER,
        "            left=self._left,\n",
        "",
        "A wait without end ends with the time of the exploration.",
        _TIME,
    ),
    Mutation(
        "exploration-slow-browsers",
        EXPLORER,
        "                    if not lost.slow:\n                        return\n",
        "                    if lost:\n                        return\n",
        "Browsers that are slow do not end an exploration while time is left.",
        _TIME,
    ),
    Mutation(
        "public-suffix-companies",
        "app/engine/core/public_suffixes.py",
        "    return PublicSuffixList(only_icann=True)\n",
        "    return PublicSuffixList()\n",
        "A company's suffix is not one that anybody may register under.",
        ("tests/unit/engine/test_public_suffixes.py",),
    ),
    Mutation(
        "robots-part-of-our-name",
        "app/engine/graph/explore/robots.py",
        "known.get(name, 'another')",
        "known.get(name, name)",
        "A group of robots.txt for a part of our name is not ours.",
        ("tests/unit/engine/test_robots.py",),
    ),
    Mutation(
        "exploration-dripping-robots",
        EXPLORING,
        "        if time.monotonic() > deadline:\n",
        "        if time.monotonic() > 2 * deadline:\n",
        "A robots.txt that drips is broken off.",
        ("tests/unit/engine/test_robots.py",),
    ),
)
