"""``sitelore prompts``: the prompts of a model's roles, and the sets of actions."""

from __future__ import annotations

import difflib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.common import Json, print_note, print_result, table, with_engine
from app.engine.api.prompt_api import ActionSetRow, ActionSets, PromptDetail, PromptRow, PromptSaved
from app.engine.core.prompt_rules import MAX_PROMPT
from app.errors import InputError, NotFound, UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(
    help="The prompts of a model's roles in this workspace, and the sets of actions it is offered.",
    no_args_is_help=True,
)
sets_app = typer.Typer(help="Sets of actions: list, show, add, remove.", invoke_without_command=True)
app.add_typer(sets_app, name="sets")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The prompt's name (`sitelore prompts list`).")]
SetName = Annotated[str, typer.Argument(metavar="NAME", help="The set's name.")]
Version = Annotated[
    str, typer.Option(help="A version by the beginning of its hash, as `runs show` prints it.")
]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the prompts, and which of them this workspace has changed."""
    rows = with_engine(lambda engine: engine.list_prompts())
    heads = ("prompt", "version", "hash", "tokens", "about")
    print_result(rows, as_json, lambda: table([_cells(row) for row in rows], heads, widest=70))


@app.command()
def show(name: Name, version: Version = "", as_json: Json = False) -> None:
    """Print a prompt as it is in force, or one of its versions."""
    detail = with_engine(lambda engine: engine.open_prompt(name, version))
    print_result(_document(detail), as_json, lambda: detail.text)


@app.command()
def edit(
    name: Name,
    file: Annotated[Path, typer.Option(help="The new text; - reads standard input.")],
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A placeholder that is left out knowingly. May be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put a text in place of the bundled prompt. `sitelore review undo` takes it back."""
    text = _read(file)
    try:
        detail = with_engine(lambda engine: engine.save_prompt(name, text, tuple(drop or ())))
    except UsageError as error:
        raise InputError(
            str(error), path=str(file), remedy="a placeholder that is left out knowingly is named with --drop"
        ) from error
    print_result(_document(detail), as_json, lambda: _saved(detail))


@app.command()
def reset(
    name: Name,
    version: Annotated[str, typer.Option(help="Put this earlier version in force instead.")] = "",
    as_json: Json = False,
) -> None:
    """Put the bundled prompt back, or an earlier version."""

    async def resetting(engine: Engine) -> PromptDetail:
        if not version:
            return await engine.reset_prompt(name)
        earlier = await engine.open_prompt(name, version)
        return await engine.save_prompt(name, earlier.text, earlier.row.placeholders)

    detail = with_engine(resetting)
    print_result(_document(detail), as_json, lambda: _saved(detail))


@app.command()
def diff(name: Name, version: Version = "", as_json: Json = False) -> None:
    """Print how a prompt differs from the bundled one. Exit code 1: it differs."""
    detail = with_engine(lambda engine: engine.open_prompt(name, version))
    lines = prompt_diff(detail)
    print_result({"prompt": name, "diff": lines}, as_json, lambda: "\n".join(lines) or "no difference")
    if lines:
        raise typer.Exit(1)


@app.command()
def history(name: Name, as_json: Json = False) -> None:
    """List the saved versions of a prompt, latest first."""
    detail = with_engine(lambda engine: engine.open_prompt(name))
    heads = ("saved", "by", "hash")
    print_result(
        list(detail.history),
        as_json,
        lambda: table([_saved_cells(one) for one in detail.history], heads),
    )


@sets_app.callback(invoke_without_command=True)
def sets(context: typer.Context, as_json: Json = False) -> None:
    """List the sets of actions with their tokens, and the actions there are."""
    if context.invoked_subcommand is None:
        found = with_engine(lambda engine: engine.action_sets())
        print_result(found, as_json, lambda: _sets_text(found))


@sets_app.command("show")
def show_set(name: SetName, as_json: Json = False) -> None:
    """Print the actions of a set as the model is told them."""
    found = with_engine(lambda engine: engine.action_sets())
    row = _set_of(found, name)
    told = [f"{one.usage}: {one.help}" for one in found.actions if one.name in row.calls]
    print_result(row, as_json, lambda: "\n".join([_set_line(row), *told]))


@sets_app.command("add")
def add_set(
    name: SetName,
    actions: Annotated[
        list[str], typer.Argument(help="Names of actions, or of sets whose actions it takes over.")
    ],
    as_json: Json = False,
) -> None:
    """Add a set of this workspace, or change it. `sitelore review undo` takes it back."""

    async def adding(engine: Engine) -> ActionSets:
        known = {row.name: row.calls for row in (await engine.action_sets()).sets}
        calls = [call for one in actions for call in known.get(one, (one,))]
        return await engine.save_action_set(name, calls)

    found = with_engine(adding)
    row = _set_of(found, name.strip())
    print_result(row, as_json, lambda: _set_line(row))


@sets_app.command("remove")
def remove_set(name: SetName) -> None:
    """Remove a set of this workspace; runs keep the actions they had."""
    with_engine(lambda engine: engine.remove_action_set(name))
    print_note(f"the set '{name}' is removed")


def prompt_diff(detail: PromptDetail) -> list[str]:
    """Return the lines of a unified diff from the bundled prompt to the text."""
    bundled, text = detail.bundled.split("\n"), detail.text.split("\n")
    return list(difflib.unified_diff(bundled, text, "bundled", "in force", lineterm="", n=1))


def _read(file: Path) -> str:
    """Read the new text; a file that is far too long is not read to its end."""
    try:
        if str(file) == "-":
            return sys.stdin.read(MAX_PROMPT * 2)
        with file.open(encoding="utf-8") as stream:
            return stream.read(MAX_PROMPT * 2)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(why, path=str(file), remedy="give a text file with --file") from error


def _cells(row: PromptRow) -> tuple[object, ...]:
    return row.name, "own" if row.own else "bundled", row.digest[:8], row.tokens, row.about


def _saved_cells(saved: PromptSaved) -> tuple[object, ...]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.at))
    return when, saved.author, saved.digest[:8] or "bundled"


def _document(detail: PromptDetail) -> dict[str, Any]:
    return {
        "name": detail.row.name,
        "own": detail.row.own,
        "digest": detail.row.digest,
        "placeholders": list(detail.row.placeholders),
        "text": detail.text,
        "history": [{"digest": one.digest, "at": one.at, "author": one.author} for one in detail.history],
    }


def _saved(detail: PromptDetail) -> str:
    state = f"own version {detail.row.digest[:8]}" if detail.row.own else "the bundled prompt"
    return f"{detail.row.name}: {state} is in force for runs that begin from now on"


def _set_of(found: ActionSets, name: str) -> ActionSetRow:
    row = next((one for one in found.sets if one.name == name), None)
    if row is None:
        raise NotFound(
            f"there is no set of actions '{name[:80]}'; there are {', '.join(one.name for one in found.sets)}"
        )
    return row


def _set_line(row: ActionSetRow) -> str:
    return f"{row.name} ({row.digest[:8]}): {len(row.calls)} actions, operator's prompt about {row.tokens} tokens"


def _sets_text(found: ActionSets) -> str:
    lines = list[str]()
    for row in found.sets:
        lines.append(_set_line(row))
        lines += [f"  {text}" for text in (row.why, ", ".join(row.calls)) if text]
    return "\n".join([*lines, "Actions:", *(f"  {one.usage}: {one.help}" for one in found.actions)])
