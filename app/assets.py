"""Paths of the files in ``resources/``: in a checkout, in an installed wheel, in a bundle."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path


def resource(*parts: str) -> Path:
    """Return the path of ``resources/<parts>``; it need not exist, so that a caller can name what is missing.

    Raises ``FileNotFoundError`` when the installation has no resources at all.
    """
    return resources_root().joinpath(*parts)


def guide(page: str = "index.md") -> Path:
    """Return the path of a page of the user's guide: a wheel and a bundle keep it among the resources."""
    shipped = resource("guide", page)
    return shipped if shipped.exists() else Path(__file__).resolve().parent.parent / "docs" / "guide" / page


@cache
def resources_root() -> Path:
    """The folder that holds ``prompts``, ``icons``, ``styles`` and the demo."""
    tried = _candidates()
    for folder in tried:
        if folder.is_dir():
            return folder
    places = ", ".join(str(folder) for folder in tried)
    raise FileNotFoundError(
        f"this installation of sitelore has no resources folder (looked in {places}); reinstall it"
    )


def _candidates() -> list[Path]:
    """A bundle unpacks into a folder of its own, so it comes first; a wheel's copy wins over an unrelated
    ``resources``.
    """
    package = Path(__file__).resolve().parent
    bundle = getattr(sys, "_MEIPASS", None)
    in_bundle = [Path(bundle) / "app" / "_resources", Path(bundle) / "resources"] if bundle else []
    return [*in_bundle, package / "_resources", package.parent / "resources"]
