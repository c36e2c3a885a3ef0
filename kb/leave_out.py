"""A frozen knowledge base without one of its tips, to measure what that tip is worth."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from kb.errors import BadFile
from kb.freeze import freeze
from kb.frozen import FrozenKnowledgeBase
from kb.manifest import read_manifest
from kb.tip import FreezeReport


def leave_out(path: Path | str, tip: str, out: Path | str) -> FreezeReport:
    """Write the frozen file ``path`` without one tip to ``out``, with a manifest.

    The other tips are frozen as they are there, whatever their statuses are: the new file has the bytes that freezing
    them alone would have given.  Lint is not asked again.

    Raises:
        BadFile: ``path`` is no frozen file, or ``out`` is the same file or another kind of file.
        NoSuchTip: the tip is not in it.
    """
    path, out = Path(path), Path(out)
    if out.exists() and path.exists() and out.samefile(path):
        raise BadFile(f"{out}: this is the file that the tip is left out of; choose another name")
    with FrozenKnowledgeBase.open(path) as frozen:
        frozen.get(tip)
        kept = {one.id for one in frozen.tips()} - {tip}
        return freeze(frozen, out, only=kept, encoder=_encoder(path))


def leave_each_out(path: Path | str, tips: Sequence[str], folder: Path | str) -> dict[str, FreezeReport]:
    """Write the frozen file ``path`` without each of these tips into ``folder``: one file a tip, named after it.

    Raises what ``leave_out`` does.
    """
    path, folder = Path(path), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return {tip: leave_out(path, tip, folder / _file_name(path, tip)) for tip in dict.fromkeys(tips)}


def _file_name(path: Path, tip: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tip)
    if plain != tip:  # two ids may differ in what was replaced
        plain = f"{plain[:40]}-{hashlib.sha256(tip.encode()).hexdigest()[:8]}"
    return f"{path.stem}-without-{plain}{path.suffix}"


def _encoder(path: Path) -> tuple[str, str] | None:
    found = read_manifest(path).data.get("encoder")
    if not isinstance(found, dict):
        return None
    known = cast("dict[str, Any]", found)
    return str(known.get("id", "")), str(known.get("sha256", ""))
