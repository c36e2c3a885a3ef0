"""Changes of a site's map since the exploration before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.graph.state_titles import path_of

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphDiff
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class MapChange:
    """One line of the comparison.

    Attributes:
        number: its place in the list.
        kind: ``new``, ``gone`` or ``changed``.
        node: the state, "" for a transition.
        detail: its address, or the elements that came and went.
    """

    number: int
    kind: str
    words: str
    detail: str = ""
    node: str = ""


class MapChangeList(ObjectList[MapChange]):
    """States that are new, gone or changed, then transitions."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.number, parent)

    def words(self, value: MapChange) -> str:
        parts = (tr(value.kind), value.words, value.detail)
        return ", ".join(part for part in parts if part)

    def tip(self, value: MapChange) -> str:
        """The whole line."""
        return "\n".join(part for part in (value.words, value.detail) if part)


class MapChangesModel(QObject):
    """Compares a site's last two explorations.

    Signals:
        changed: another comparison, or the reason why there is none.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list = MapChangeList(self)
        self.site = self.summary = self.error = ""
        self.is_loading = False

    def show(self, site: str) -> None:
        """Compare the last two explorations of a site."""
        self.site, self.summary, self.error, self.is_loading = site, "", "", True
        self.list.replace([])
        self.changed.emit()

        def came(found: GraphDiff) -> None:
            self.is_loading = False
            self.list.replace(change_rows(found))
            self.summary = tr("{0} new · {1} gone · {2} changed · {3} as before").format(
                len(found.added), len(found.removed), len(found.changed), found.same
            )
            self.changed.emit()

        def failed(error: BaseException) -> None:
            self.is_loading, self.error = False, str(error)
            self.changed.emit()

        self._tasks.start(self._client.api.graph_diff(site), came, failed, key="map-changes")


def change_rows(found: GraphDiff) -> list[MapChange]:
    """Return the lines of a comparison: states first, then transitions."""
    states = [("new", node, title, url) for node, title, url in found.added]
    states += [("gone", node, title, url) for node, title, url in found.removed]
    lines = [(kind, title or path_of(url), path_of(url), node) for kind, node, title, url in states]
    lines += [
        ("changed", one.title or path_of(one.url), _elements(one.come, one.gone), one.id)
        for one in found.changed
    ]
    lines += [("new", words, "", "") for words in found.added_transitions]
    lines += [("gone", words, "", "") for words in found.removed_transitions]
    return [
        MapChange(number=number, kind=kind, words=words, detail=detail, node=node)
        for number, (kind, words, detail, node) in enumerate(lines)
    ]


def _elements(come: tuple[str, ...], gone: tuple[str, ...]) -> str:
    parts = [tr("new: {0}").format(", ".join(come)) if come else ""]
    parts.append(tr("gone: {0}").format(", ".join(gone)) if gone else "")
    return "; ".join(part for part in parts if part)
