"""The next step of a tip that applies here, ahead of everything but a person's hint."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.scout.skill import CERTAIN, Proposal, View


class ByProcedure:
    """Does the next step of the first tip whose steps can be followed on this page."""

    name = "tip"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The next step of each tip, the best tip first."""
        return [
            Proposal(
                command=one.action,
                score=CERTAIN - 0.01 * rank,
                reason=f"step {one.number} of {one.steps}: {one.line}",
                key=f"{one.tip}:{one.number}",
                followed=((one.tip, True),),
                again=True,
            )
            for rank, one in enumerate(view.sight.procedures)
            if one.action is not None
        ]
