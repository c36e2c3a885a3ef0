"""``sitelore eval strict-setup``: install WebArena-Verified for the strict dialect, in an environment of its own."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli.common import Json, print_note, print_result


def strict_setup(
    again: Annotated[bool, typer.Option("--again", help="Install it anew although it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Install WebArena-Verified, which scores the dialect strict, into the user's cache folder (90 MB)."""
    import asyncio

    from app import settings
    from app.engine.evaluation.strict.environment import PACKAGE, VERSION, StrictEnvironment

    environment = StrictEnvironment.in_cache(settings.cache_dir())
    made = again or not environment.is_ready
    if made:
        print_note(f"installing {PACKAGE} {VERSION} into {environment.folder}")
        asyncio.run(environment.set_up())
    told: dict[str, Any] = {
        "package": PACKAGE,
        "version": VERSION,
        "folder": str(environment.folder),
        "tasks": len(environment.tasks()),
        "installed_now": made,
    }
    print_result(
        told, as_json, lambda: f"{PACKAGE} {VERSION} is ready: {told['tasks']} tasks, in {environment.folder}"
    )
