"""Faults in the import of foreign runs: whose evaluation is the score, whose verdict is on which run."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

_OTLP = ("tests/unit/engine/test_import_otlp.py",)

FAULTS = (
    Mutation(
        "traces-judged-by-a-model",
        "app/engine/imports/otlp_evaluations.py",
        'one.kind in ("HUMAN", "CODE")',
        'one.kind in ("HUMAN", "CODE", "LLM")',
        "A model's evaluation is never the score of a run.",
        _OTLP,
    ),
    Mutation(
        "traces-judged-by-a-step",
        "app/engine/imports/otlp_evaluations.py",
        "if one.whole_run\n",
        "if True\n",
        "The evaluation of a step is never the score of the run.",
        _OTLP,
    ),
    Mutation(
        "traces-another-scale",
        "app/engine/imports/otlp_evaluations.py",
        "return self.score if 0 <= self.score <= 1 else None",
        "return self.score",
        "A score on another scale than 0 to 1 is not taken for one.",
        _OTLP,
    ),
    Mutation(
        "verdicts-of-another-agent",
        "app/engine/services/verdict_files.py",
        "if run.id.startswith(start)]",
        "if run.id]",
        "A verdict on one agent's run is never put on another's of the same task.",
        ("tests/unit/engine/test_import_agent_reward_bench.py",),
    ),
)
