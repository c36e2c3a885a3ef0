"""The options of supervised runs that `live start` and `live batch start` share.

``takes_run_options`` adds them to a command, which is given them as its argument ``options``.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.common import (
    ACTIONS,
    JUDGE,
    JUDGE_CALLS,
    JUDGE_EVERY,
    LOCALE,
    PICTURES,
    TIME_ZONE,
    Graphs,
    Headed,
    JudgeAsked,
    ModelName,
    PicturesSent,
    PolicyName,
    StorageState,
    TipBudget,
    full_path,
    knowledge_base,
)
from app.engine.api.run_api import RunRequest
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options given on the command line; those that were not leave a task as its file has it."""

    start_url: Annotated[str, typer.Option(help="Start address for tasks without one.")] = ""
    only: Annotated[
        str, typer.Option(help="Only these tasks of the file, by their numbers: 1-5,8 (default: all).")
    ] = ""
    policy: Annotated[
        PolicyName | None, typer.Option(help="What decides the actions: scout (no model, no tokens) or llm.")
    ] = None
    model: ModelName = ""
    kb: Annotated[str, typer.Option(help="'live', 'none', or a frozen file.")] = ""
    graph: Graphs = None
    site: Annotated[
        str, typer.Option(help="Site of the tasks: its start page for those without one, its log-in.")
    ] = ""
    storage_state: StorageState = None
    max_steps: Annotated[
        int, typer.Option(min=0, max=1000, help="Maximum number of steps of a run (0: as in the file).")
    ] = 0
    run_tokens: Annotated[int, typer.Option(min=0, help="Model token limit of each run (0: no limit).")] = 0
    run_money: Annotated[
        float, typer.Option(min=0, help="Model cost limit of each run in US dollars (0: no limit).")
    ] = 0.0
    run_seconds: Annotated[
        float, typer.Option(min=0, help="Model time limit of each run in seconds (0: no limit).")
    ] = 0.0
    tip_budget: TipBudget = 0
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Another host the agent may visit ('*' for any); may be repeated."),
    ] = None
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Actions allowed without asking, such as sends,buys; separated by commas."),
    ] = None
    vision: Annotated[bool, typer.Option("--vision", help="Also ask a vision model to locate elements.")] = (
        False
    )
    headed: Headed = False
    actions: Annotated[str | None, ACTIONS] = None
    judge: Annotated[JudgeAsked | None, JUDGE] = None
    judge_every: Annotated[int | None, JUDGE_EVERY] = None
    judge_calls: Annotated[int | None, JUDGE_CALLS] = None
    pictures: Annotated[PicturesSent | None, PICTURES] = None
    timezone: Annotated[str | None, TIME_ZONE] = None
    locale: Annotated[str | None, LOCALE] = None

    async def requests(self, engine: Engine, tasks: str) -> list[RunRequest]:
        """Return the tasks of a file, or the one task given as text, with these options.

        Raises:
            UsageError: where it starts is not known, or ``only`` names no tasks of the file.
        """
        found = await self._tasks(engine, tasks)
        if self.only:
            found = [found[number - 1] for number in chosen_numbers(self.only, len(found))]
        changes: dict[str, Any] = {name: value for name, value in self._given().items() if value}
        llm: dict[str, Any] = {name: value for name in _OF_LLM if (value := getattr(self, name)) is not None}
        return [replace(request, **changes, llm=replace(request.llm, **llm)) for request in found]

    def _given(self) -> dict[str, object]:
        return {
            "policy": self.policy,
            "model": self.model,
            "kb": self.kb and knowledge_base(self.kb),
            "graph": tuple(self.graph or ()),
            "site": self.site,
            "storage_state": full_path(self.storage_state),
            "max_steps": self.max_steps,
            "max_tokens": self.run_tokens,
            "max_money": self.run_money,
            "max_seconds": self.run_seconds,
            "tip_budget": self.tip_budget,
            "domains": tuple(self.domain or ()),
            "allow": tuple(part for one in self.allow or () for part in one.split(",") if part.strip()),
            "vision": self.vision,
            "headed": self.headed,
        }

    async def _tasks(self, engine: Engine, tasks: str) -> list[RunRequest]:
        is_file = tasks.endswith((".txt", ".json", ".jsonl")) and " " not in Path(tasks).name
        if is_file or (len(tasks) < 200 and Path(tasks).is_file()):
            start = self.start_url or (await engine.site_start(self.site) if self.site else "")
            return await engine.read_tasks(full_path(Path(tasks)), start)
        if not self.start_url and not self.site:
            raise UsageError("the start address is not known", remedy="give --start-url, or --site")
        return [RunRequest(intent=tasks, start_url=self.start_url, site=self.site)]


_OF_LLM = ("actions", "judge", "judge_every", "judge_calls", "pictures", "timezone", "locale")


def takes_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of ``RunOptions`` to a command, before its last parameter ``as_json``."""
    hints = typing.get_type_hints(RunOptions, include_extras=True)
    own = typing.get_type_hints(command, include_extras=True)
    before = inspect.signature(command)
    added = [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
        )
        for one in fields(RunOptions)
    ]
    kept = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=own[one.name])
        for one in before.parameters.values()
        if one.name != "options"
    ]
    names = {one.name for one in added}

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        options = RunOptions(**{name: given.pop(name) for name in names})
        command(**given, options=options)

    signature = before.replace(parameters=[*kept[:-1], *added, kept[-1]])
    with_options.__signature__ = signature  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return with_options


def chosen_numbers(text: str, count: int) -> Sequence[int]:
    """Return the numbers that ``1-5,8`` names, in order, each once.

    Raises:
        UsageError: it names no number, or one that is not from 1 to ``count``.
    """
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"{part.strip()[:40]!r} is no task number", remedy="write --only 1-5,8")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers or not 1 <= numbers[0] <= numbers[-1] <= count:
            raise UsageError(f"there is no task {part.strip()[:40]}: the file has {count}")
        found |= dict.fromkeys(numbers)
    return tuple(found)
