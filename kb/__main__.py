"""``sitelore-kb`` and ``python -m kb``: ask a frozen knowledge base, or serve it to agents.

``sitelore kb serve`` does the same, and knows the maps of a workspace.

Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 bad input file.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kb.errors import KbError
from kb.mcp_serving import (
    PORT,
    TOKEN_VARIABLE,
    ServeOptions,
    check_served,
    client_config,
    made,
    note,
    opened,
    serve,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        return _ask(given) if given.command == "retrieve" else _serve(given)
    except KbError as error:
        note(f"sitelore-kb: {error}")
        return error.exit_code


def _ask(given: argparse.Namespace) -> int:
    from kb.knowledge import open_frozen

    page = sys.stdin.read() if given.page == "-" else ""
    with open_frozen(given.file) as known:
        found = known.retrieve(url=given.url, goal=given.goal, page=page, k=given.k or None)
    sys.stdout.write(found.block + "\n" if found.block else "")
    if not found.tips:
        note("no tip applies" + (f"; {found.note}" if found.note else ""))
    return 0


def _serve(given: argparse.Namespace) -> int:
    options = ServeOptions(
        http=given.http,
        port=given.port,
        token=given.token,
        graphs=tuple(given.graph),
        encoder=given.encoder,
    )
    if given.print_config:
        for line in check_served(given.file, options):
            note(line)
        command = [sys.executable, "-m", "kb", "serve"]
        sys.stdout.write(client_config(command, Path(given.file), options) + "\n")
        return 0
    knowledge, maps = opened(given.file, options)
    for line in knowledge.notes:
        note(line)
    server = made(knowledge, maps)
    with knowledge, suppress(KeyboardInterrupt):
        asyncio.run(serve(server, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sitelore-kb", description="Frozen knowledge about websites.")
    commands = parser.add_subparsers(dest="command", required=True)
    ask = commands.add_parser("retrieve", help="print the tips of a page and a goal, as text for a prompt")
    ask.add_argument("file", help="a frozen file (.akb)")
    ask.add_argument("--url", default="", help="the page's address")
    ask.add_argument("--goal", default="", help="the task")
    ask.add_argument("--page", default="", choices=["", "-"], help="-: the page's text on standard input")
    ask.add_argument("-k", type=int, default=0, help="at most so many tips")
    run = commands.add_parser("serve", help="serve the file to agents as an MCP server")
    run.add_argument("file", help="a frozen file (.akb)")
    run.add_argument("--graph", action="append", default=[], help="exported map of a site; may be repeated")
    run.add_argument("--encoder", default="", help="folder of an encoder: also search by meaning")
    run.add_argument("--http", action="store_true", help="over HTTP on 127.0.0.1 instead of standard input")
    run.add_argument("--port", type=int, default=PORT, help=f"port of --http (default {PORT}; 0: any)")
    run.add_argument("--token", default="", help=f"token, or $NAME of a variable (default ${TOKEN_VARIABLE})")
    run.add_argument("--print-config", action="store_true", help="print the JSON for a client and exit")
    return parser


if __name__ == "__main__":
    sys.exit(main())
