"""``sitelore model``: test an endpoint, and keep its key."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from app.cli.common import Json, print_note, print_result, terminal_safe
from app.engine.api.model_test_api import ModelCheck, ModelTestRequest
from app.engine.core.model_api import AgentRole

app = typer.Typer(help="Set up and test the language model.", no_args_is_help=True)


@app.command("test")
def try_out(
    url: Annotated[str, typer.Option(help="Address to test (default: the one in the settings).")] = "",
    model: Annotated[str, typer.Option(help="Model to test (default: the one in the settings).")] = "",
    effort: Annotated[str, typer.Option(help="Reasoning effort to try.")] = "",
    role: Annotated[
        AgentRole | None, typer.Option(help="Test the model that the settings choose for this role.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find out what the endpoint can do. Exit code 0: it can be used."""
    import asyncio

    from app.engine.services.model_testing import report_on

    def say(check: ModelCheck) -> None:
        if not as_json:
            sys.stdout.write(terminal_safe(check_text(check)) + "\n")
            sys.stdout.flush()

    report = asyncio.run(report_on(ModelTestRequest(url=url, model=model, effort=effort, role=role), say))
    verdict = "usable" if report.is_usable else "not usable"
    print_result(
        report, as_json, lambda: f"{report.model or report.url}: {verdict}, {sum(report.tokens)} tokens spent"
    )
    if not report.is_usable:
        raise typer.Exit(1)


@app.command("key")
def key(
    url: Annotated[
        str, typer.Option(help="Address whose key it is (default: the one in the settings).")
    ] = "",
    clear: Annotated[bool, typer.Option("--clear", help="Remove the key from the keyring.")] = False,
) -> None:
    """Keep the endpoint's key in the system's keyring; it is asked for and not shown."""
    import os

    from app import model_keys
    from app.errors import UsageError

    given = "" if clear else typer.prompt("Key", hide_input=True, default="", show_default=False).strip()
    if not given and not clear:
        raise UsageError("no key was given", remedy="use --clear to remove the one in the keyring")
    model_keys.keep_model_key(given, url or None)
    print_note("the key is kept in the keyring" if given else "there is no key in the keyring")
    if os.environ.get(model_keys.KEY_VARIABLE):
        print_note(f"{model_keys.KEY_VARIABLE} is set and is used in place of it")


def check_text(check: ModelCheck) -> str:
    """Return one line of the report, with the remedy where something is wrong."""
    sign = "ok" if check.ok else "-" if check.ok is None else "NO"
    remedy = f" ({check.remedy})" if check.remedy and not check.ok else ""
    return f"{sign:3} {check.name}: {check.found}{remedy}"
