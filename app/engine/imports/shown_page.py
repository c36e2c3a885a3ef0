"""The page in front, as far as the results of tools have shown it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.engine.imports.tool_calls import LOOKING, base_name
from app.engine.imports.tool_results import ToolResult

_STAYS = frozenset(
    {
        "fill",
        "hover",
        "scroll",
        "noop",
        "select_option",
        "check",
        "uncheck",
        "clear",
        "keyboard_type",
        "upload_file",
    }
)
"""Actions that leave the address as it is, where the result does not say otherwise."""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page as far as it is known.

    Attributes:
        stored: digest of a picture that is stored already, in place of ``picture``.
    """

    url: str = ""
    title: str = ""
    tree: str = ""
    html: str = ""
    picture: bytes = b""
    stored: str = ""

    @property
    def is_known(self) -> bool:
        """Whether anything of it is known."""
        return bool(self.url or self.tree or self.html or self.picture or self.stored)


def page_after(
    page: ShownPage,
    result: ToolResult,
    kind: str,
    args: Mapping[str, object],
    *,
    failed: bool,
    stored: str = "",
) -> ShownPage:
    """Return the page after an action as far as it is known: by its result, or because the action can't change it."""
    if result.shows_page or stored:
        same = not result.url or result.url == page.url
        return ShownPage(
            url=result.url or page.url,
            title=result.title or (page.title if same else ""),
            tree=result.tree,
            html=result.html,
            picture=result.picture,
            stored=stored,
        )
    if failed or kind in _STAYS or base_name(kind) in LOOKING:
        return ShownPage(url=page.url, title=page.title)
    url = args.get("url")
    return ShownPage(url=url) if kind in ("goto", "new_tab") and isinstance(url, str) else ShownPage()
