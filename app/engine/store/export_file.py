"""Files written for the user, outside the workspace."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path

from app.errors import InputError


def write_export(out: str, data: bytes) -> Path:
    """Write a file, all of it or nothing, replacing an older one; return its path.

    Raises:
        InputError: it can't be written.
    """
    path = Path(out).expanduser()
    if not path.name or path.is_dir():
        raise InputError("this is a folder", path=out, remedy="name a file")
    draft = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex[:8]}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            draft.unlink(missing_ok=True)
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(
            f"it can't be written: {reason}", path=out, remedy="check the folder and the free space"
        ) from error
    return path
