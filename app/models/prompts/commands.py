"""The commands on the prompts of a step, in the perspectives that show them."""

from __future__ import annotations

from app.models.common.command import Command, commands


def prompt_commands(place: str, menu: str) -> tuple[Command, ...]:
    """Return the commands of one perspective; their ids begin with its place."""
    return commands(
        place, menu,
        (f"{place}.prompts", "Prompts of this step", "Ctrl+I", "message-cog-outline"),
        (f"{place}.prompts.next", "Next prompt", "Alt+Down", "arrow-down"),
        (f"{place}.prompts.previous", "Previous prompt", "Alt+Up", "arrow-up"),
        (f"{place}.prompts.find", "Search in the prompt", "Ctrl+Alt+F", "text-search"),
        (f"{place}.prompts.changes", "Changes since the role's last prompt", "Alt+D", "compare"),
        (f"{place}.prompts.unfold", "Unfold or fold the whole prompt", "Alt+U", "unfold-more-horizontal"),
        (f"{place}.prompts.copy", "Copy the prompt and its answer", "Alt+C", "content-copy"),
    )  # fmt: skip
