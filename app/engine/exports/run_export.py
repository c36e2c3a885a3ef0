"""The interface of an exporter: a run with what belongs to it, and where it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Verdict
from kb.tip import Tip

NATIVE = "native"
"""Name of the format of Sitelore's own run folders, which is no ``RunExport``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSource:
    """A stored run with everything that an export may show of it.

    Attributes:
        read_blob: returns the bytes of a content hash; raises ``SiteloreError`` where it is not there.
        flags, verdicts: those that the author of the export may see (none of a blind second opinion).
        tips: tips that were in force at its steps or were written from it, by id.
    """

    run: Run
    steps: tuple[Step, ...]
    read_blob: Callable[[str], bytes]
    flags: Sequence[Flag] = ()
    verdicts: Sequence[Verdict] = ()
    tips: Mapping[str, Tip] = field(default_factory=dict[str, Tip])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExport:
    """A format of exported runs.

    Attributes:
        name: as ``--format`` takes it.
        title: as people call it.
        suffix: of the file a run becomes, ``.html``; "" for a folder.
        write: ``write(source, path)`` writes one run to a file or folder that does not exist yet, and returns a
            sentence for everything that was left out. Raises ``InputError`` for a run that this format can't hold.
    """

    name: str
    title: str
    suffix: str
    write: Callable[[ExportSource, Path], list[str]]
