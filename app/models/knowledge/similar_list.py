"""Stored tips similar to the one being written, and stored steps in which it would be retrieved."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject

from app.models.common.object_list import ObjectList
from kb.tip import Preflight, PreflightExample, Similar

_RANK = {"contradiction": 0, "duplicate": 1}


class SimilarListModel(ObjectList[Similar]):
    """Contradictions first, then duplicates, then merely similar tips."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda similar: similar.tip.id, parent)

    def words(self, value: Similar) -> str:
        """``duplicate 0.93: gitlab-003, the text``."""
        return f"{value.relation} {value.score:.2f}: {value.tip.id}, {value.tip.text}"

    def show(self, similar: Iterable[Similar]) -> None:
        once = {one.tip.id: one for one in similar}
        self.merge(sorted(once.values(), key=lambda one: (_RANK.get(one.relation, 2), -one.score)))


class ExampleListModel(ObjectList[PreflightExample]):
    """Stored steps in which the tip would be retrieved."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda example: (example.run, example.step), parent)

    def words(self, value: PreflightExample) -> str:
        """``failed run webarena-415, step 4, by url: address``."""
        ended = {True: self.tr("failed"), False: self.tr("passed"), None: self.tr("unscored")}[value.failed]
        return self.tr("{0} run {1}, step {2}, by {3}: {4}").format(
            ended, value.run, value.step, value.route, value.url
        )

    def show(self, examples: Iterable[PreflightExample]) -> None:
        """Show these examples, those of passed runs first: there the tip could do harm."""
        once = {(example.run, example.step): example for example in examples}
        self.merge([one for failed in (False, True, None) for one in once.values() if one.failed is failed])


_ROUTES = {"url": "address", "keyword": "words", "embedding": "meaning", "anchor": "region"}


def preflight_text(preflight: Preflight) -> str:
    """Return ``61 stored steps (38 in failed runs, 23 in passed)``, or that it would be retrieved nowhere.

    Where there are steps of runs that nobody scored: ``(0 in failed, 0 in passed, 9 in unscored runs)``.
    """
    if not preflight.steps:
        if preflight.in_scope:
            return f"no stored step would retrieve it, though {preflight.in_scope} lie in its scope"
        return "no stored step would retrieve it"
    steps = "1 stored step" if preflight.steps == 1 else f"{preflight.steps} stored steps"
    failed, passed = preflight.steps_in_failed, preflight.steps_in_passed
    unscored = preflight.steps - failed - passed
    told = f"{steps} ({failed} in failed runs, {passed} in passed)"
    if unscored > 0:
        told = f"{steps} ({failed} in failed, {passed} in passed, {unscored} in unscored runs)"
    routes = [f"{_ROUTES.get(route, route)} {count}" for route, count in preflight.by_route.items()]
    return f"{told}; by {', '.join(routes)}" if routes else told
