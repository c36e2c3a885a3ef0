"""The command tree, and how errors are reported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import orjson
import typer

from app.cli import (
    agent,
    ask_again,
    desktop,
    eval,
    graph,
    kb,
    live_batch,
    live_inbox,
    live_pointing,
    model,
    opening,
    prompt_set,
    prompts,
    review,
    runs,
    schedule,
    sites,
    suite,
    tip,
)
from app.cli.common import GLOBALS, Json, print_note, print_result, table, workspace_path
from app.engine.api.engine_api import Check
from app.errors import SiteloreError, printable
from app.installation import child_command

DEMO_PORT = 7801
"""First of the three ports of the demo site; the recorded runs refer to them."""

app = typer.Typer(
    name="sitelore",
    cls=opening.CommandsOrFiles,
    help="Turn failed web-agent runs into site knowledge. Without a command, open the workbench.",
    no_args_is_help=False,
    add_completion=False,  # `sitelore completion` answers at once; typer's would start Python at each Tab
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(runs.app, name="runs")
app.add_typer(review.app, name="review")
app.add_typer(tip.app, name="tip")
app.add_typer(kb.app, name="kb")
app.add_typer(graph.app, name="graph")
app.add_typer(live_pointing.app, name="live")
live_inbox.app.add_typer(live_batch.app, name="batch")
app.add_typer(sites.app, name="sites")
app.add_typer(schedule.app, name="schedule")
app.add_typer(suite.app, name="suite")
app.add_typer(eval.app, name="eval")
app.add_typer(model.app, name="model")
app.add_typer(prompt_set.app, name="prompts")
app.command(opening.OPEN)(opening.open_)
app.command("import")(runs.import_)
app.command("detect")(review.detect)
app.command("explore")(graph.explore)
app.command("run")(agent.run)
app.command("install-desktop")(desktop.install_desktop)
app.command("man")(desktop.man)
app.command("completion")(desktop.completion)
runs.app.command("memory")(agent.memory)
runs.app.command("prompts")(prompts.prompts)
runs.app.command("ask-again")(ask_again.ask_again)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    workspace: Annotated[
        Path | None,
        typer.Option(help="Workspace folder (default: the user's data folder).", show_default=False),
    ] = None,
    safe: Annotated[
        bool, typer.Option("--safe", help="Open without the last session and without a model.")
    ] = False,
    loglevel: Annotated[
        str, typer.Option(help="Log level on standard error: debug, info, warning or error.")
    ] = "warning",
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options given before the command."""
    from app import log

    log.setup(loglevel)
    GLOBALS.workspace, GLOBALS.author = workspace, ""
    if version:
        from app.installation import version as installed

        sys.stdout.write(f"sitelore {installed()}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        opening.need_qt()
        from app.main import run_workbench

        raise typer.Exit(run_workbench(workspace_path(), safe=safe))


@app.command()
def demo(
    headless: Annotated[
        bool, typer.Option("--headless", help="Without a window: print what is done.")
    ] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Only serve the bundled site.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65533, help="First of the three ports of --serve; 0 for free ones.")
    ] = DEMO_PORT,
    out: Annotated[
        Path, typer.Option(help="Folder for screenshots, the frozen file and the demo workspace.")
    ] = Path("demo-out"),
    as_json: Json = False,
) -> None:
    """Run the whole loop on the bundled site: import, detect, judge, tip, retrieve, freeze. No model, no tokens."""
    from app.demo import tour as whole_loop

    if serve:
        _serve_demo(port)
        return
    if headless:
        report = whole_loop.run_headless(
            out, print_note if as_json else lambda line: sys.stdout.write(line + "\n") and None, live=True
        )
        pictures = _pictures(report.workspace, out)
        print_result(
            {**whole_loop.as_dict(report), "pictures": pictures},
            as_json,
            lambda: f"{len(pictures)} screenshots in {out}",
        )
        raise typer.Exit(0 if report.ok else 1)
    opening.need_qt()
    from app.main import run_workbench

    raise typer.Exit(run_workbench(whole_loop.prepare_workspace(), demo=True))


def _serve_demo(port: int) -> None:
    """Serve the bundled site until it is stopped (Ctrl+C)."""
    import asyncio

    from app.demo.server import DemoServer

    async def serving() -> None:
        async with await DemoServer.start(port) as server:
            print_note(f"shop {server.shop_url}/  admin {server.admin_url}/admin  (stop with Ctrl+C)")
            await asyncio.Event().wait()

    try:
        asyncio.run(serving())
    except OSError as error:
        raise SiteloreError(
            f"the demo site can't be served on port {port}: {error.strerror} (choose another with --port)"
        ) from error


def _pictures(workspace: str, out: Path) -> list[str]:
    """Take screenshots of every view in a window process."""
    import subprocess

    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = child_command("app.take_screenshots", workspace, str(out))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        print_note(
            f"no screenshots: {(done.stderr.strip().splitlines() or ['the window did not start'])[-1]}"
        )
        print_note("see 'sitelore doctor' for what is missing")
    return sorted(path.name for path in out.glob("*.png"))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check browser, window, encoder and model, and show how to fix what does not work."""
    import asyncio

    from app.engine.services.doctor import examine

    checks = asyncio.run(examine(workspace_path()))  # without an engine: the workspace itself may be broken
    print_result(checks, as_json, lambda: _findings(checks))
    if any(check.needed and not check.ok for check in checks):
        raise typer.Exit(1)


def _findings(checks: Sequence[Check]) -> str:
    """Return a table of the checks; below it the commands to fix the failed ones, each on a whole line."""
    rows = [(_state(check), check.name, check.found) for check in checks]
    mending = [f"{check.name}: {check.remedy}" for check in checks if check.remedy and not check.ok]
    parts = [table(rows, ("", "check", "found"), widest=100)]
    if mending:
        parts += ["", "To fix it:", *mending]
    return "\n".join(parts)


def _state(check: Check) -> str:
    if check.ok:
        return "ok"
    if check.slow:
        return "slow"
    return "MISSING" if check.needed else "off"


STOPPED = "stopped; finished work is kept"
TYPER_INTERRUPTED = 130
"""Typer's exit code for Ctrl+C, without a message."""


def run(arguments: list[str]) -> int:
    """Run one command line; every expected failure is one sentence and its exit code."""
    try:
        code = app(arguments, prog_name="sitelore", standalone_mode=False)
    except SiteloreError as error:
        return _leave(arguments, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _leave(arguments, STOPPED, 1)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:
        # Depending on its version Typer bundles click or uses the installed one; both have these three.
        match _kind(error):
            case "Exit":
                return int(getattr(error, "exit_code", 0))
            case "Abort":
                return _leave(arguments, "stopped", 1)
            case "ClickException" | "TyperException":
                words = error.format_message() if hasattr(error, "format_message") else str(error)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
                words = str(words).replace(": Value error, ", ": ")  # pyright: ignore[reportUnknownArgumentType]
                named = getattr(getattr(error, "ctx", None), "command_path", "") or "sitelore"
                return _leave(
                    arguments, f"{words} (see '{named} --help')", int(getattr(error, "exit_code", 2))
                )
            case _:
                raise
    if code == TYPER_INTERRUPTED:
        resumes = "explore" in arguments and "--fresh" not in arguments
        return _leave(arguments, STOPPED + (", and the same command resumes it" if resumes else ""), 1)
    return code if isinstance(code, int) else 0


def _kind(error: Exception) -> str:
    known = ("Exit", "Abort", "ClickException", "TyperException")
    return next((base.__name__ for base in type(error).__mro__ if base.__name__ in known), "")


def _leave(arguments: list[str], words: str, code: int) -> int:
    """Print the reason on standard error, and as a JSON document where one is promised."""
    if "--json" in arguments:
        sys.stdout.write(orjson.dumps({"error": printable(words), "exit": code}).decode() + "\n")
    print_note(f"sitelore: {words}")
    return code
