"""``sitelore kb serve``: a frozen knowledge base as an MCP server, with the maps of this workspace."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import GLOBALS, print_note, with_engine
from app.errors import InputError, SiteloreError, UsageError
from kb.errors import BadFile, KbError
from kb.mcp_serving import (
    PORT,
    TOKEN_VARIABLE,
    ServeOptions,
    check_served,
    chosen_token,
    client_config,
    made,
    opened,
    serve,
)

if TYPE_CHECKING:
    from app.engine.engine import Engine

EXAMPLES = f"""\b
Examples:
  sitelore kb serve shop.akb --print-config   the JSON for a client: Claude, Cursor, browser-use
  sitelore kb serve shop.akb --site shop      with the map of the site in this workspace
  sitelore kb serve shop.akb --http           on 127.0.0.1; token from ${TOKEN_VARIABLE}, or printed once

\b
In the configuration of a client (--print-config fills in the paths):
  {{"mcpServers": {{"site-knowledge":
    {{"command": "sitelore", "args": ["kb", "serve", "/path/to/shop.akb"]}}}}}}
"""


def serve_(
    file: Annotated[Path, typer.Argument(help="A frozen knowledge base ('sitelore kb freeze').")],
    site: Annotated[
        list[str] | None,
        typer.Option(help="Also serve the map of this site of the workspace; may be repeated."),
    ] = None,
    graph: Annotated[
        list[Path] | None,
        typer.Option(help="Also serve an exported map ('sitelore graph export'), by words only; repeatable."),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Over HTTP on 127.0.0.1 instead of stdio.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of --http; 0 takes a free one.")] = PORT,
    token: Annotated[
        str,
        typer.Option(
            help=f"Token of --http, or $NAME of a variable. Default: ${TOKEN_VARIABLE}, or a new one, printed once."
        ),
    ] = "",
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of an encoder: tips are found by meaning, too.")
    ] = None,
    print_config: Annotated[
        bool,
        typer.Option("--print-config", help="Print the JSON for the configuration of a client, and exit."),
    ] = False,
) -> None:
    """Serve a frozen knowledge base to agents as an MCP server. Read-only; stdio unless --http is given."""
    graphs = tuple(str(path.expanduser().resolve()) for path in graph or ())
    options = ServeOptions(
        http=http, port=port, token=token, graphs=graphs, encoder=str(encoder) if encoder else ""
    )
    if graph and site:
        raise UsageError("maps come from the workspace or from files", remedy="give --site or --graph")
    try:
        if print_config:
            for line in check_served(file, options):
                print_note(line)
            command = [*_program(), *_workspace_option(bool(site)), "kb", "serve"]
            more = [part for name in site or () for part in ("--site", name)]
            sys.stdout.write(client_config([*command, *more], file, options) + "\n")
        else:
            _serve(file, options, site or [])
    except BadFile as error:
        raise InputError(str(error)) from error
    except KbError as error:
        raise SiteloreError(str(error)) from error


def _serve(file: Path, options: ServeOptions, sites: Sequence[str]) -> None:
    if options.http:
        chosen_token(options.token)  # refused before anything is opened
    knowledge, maps = opened(file, options)
    for line in knowledge.notes:
        print_note(line)

    async def serving(engine: Engine) -> None:
        from app.cli.kb_maps import WorkspaceMaps

        known = {row.site for row in await engine.graphs()}
        if missing := [one for one in sites if one not in known]:
            named = ", ".join(sorted(known)) or "none"
            raise UsageError(f"there is no map of {missing[0]!r}", remedy=f"maps of this workspace: {named}")
        await serve(made(knowledge, WorkspaceMaps(engine, sites)), options)

    with knowledge, suppress(KeyboardInterrupt):
        if sites:
            with_engine(serving, encoder="cached")
        else:
            asyncio.run(serve(made(knowledge, maps), options))


def _program() -> list[str]:
    found = shutil.which("sitelore") or (sys.argv[0] if sys.argv[0].endswith("sitelore") else "")
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "app"]


def _workspace_option(needed: bool) -> list[str]:
    given = GLOBALS.workspace
    return ["--workspace", str(given.expanduser().resolve())] if needed and given is not None else []
