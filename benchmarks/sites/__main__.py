"""Sites of the scout, run on this machine, and their tasks as suites.

``python -m benchmarks.sites {install,start,stop,reset,status} NAME [--port N]``
``python -m benchmarks.sites suite NAME... --out FILE [--held-back | --fresh]``
``python -m benchmarks.sites state NAME [--port N] {before,after} TASK``
``python -m benchmarks.sites login NAME [--port N] ROLE FILE``
``python -m benchmarks.sites workspace FOLDER NAME... [--maps] [--tips [expert|fresh]]``
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.sites.evaluation import save_login, state_after, state_before, suite_document

if TYPE_CHECKING:
    from benchmarks.sites.site import Site

OPEN = ("roundup", "pretix", "calibreweb")
"""Sites whose traces are read while the scout is worked on."""
SEALED = ("hyperkitty", "wagtail", "dokuwiki")
"""Sites that are run for figures only.  The six were split by the order of a hash of their names."""
PLAIN = ("install", "start", "stop", "reset", "status")


def site_of(name: str, port: int = 0) -> Site:
    """The site of this name."""
    made: Site = importlib.import_module(f"benchmarks.sites.{name}").SITE(port)
    return made


def described(site: Site) -> list[str]:
    """The address of a site and the log-ins of its accounts, all of them made up by its seed."""
    return [
        site.url,
        *(f"  {role or 'nobody'}: {one.user} / {one.password}" for role, one in site.accounts.items()),
    ]


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="what", required=True)
    for what in (*PLAIN, "state", "login"):
        one = commands.add_parser(what)
        one.add_argument("name", choices=(*OPEN, *SEALED))
        one.add_argument("--port", type=int, default=0)
        if what == "state":
            one.add_argument("when", choices=("before", "after"))
            one.add_argument("task")
        if what == "login":
            one.add_argument("role")
            one.add_argument("file", type=Path)
    suite = commands.add_parser("suite")
    suite.add_argument("names", nargs="+", choices=(*OPEN, *SEALED))
    suite.add_argument("--out", type=Path, required=True)
    which = suite.add_mutually_exclusive_group()
    which.add_argument("--held-back", dest="which", action="store_const", const="held_back", default="tasks")
    which.add_argument("--fresh", dest="which", action="store_const", const="fresh")
    workspace = commands.add_parser("workspace")
    workspace.add_argument("folder", type=Path)
    workspace.add_argument("names", nargs="+", choices=(*OPEN, *SEALED))
    workspace.add_argument("--maps", action="store_true", help="explore the sites")
    workspace.add_argument(
        "--tips", nargs="?", const="expert", choices=("expert", "fresh"), help="freeze the tips of the sites"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what is asked for."""
    asked = parsed(arguments)
    try:
        if asked.what == "suite":
            document = suite_document([site_of(name) for name in dict.fromkeys(asked.names)], asked.which)
            asked.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        elif asked.what == "workspace":
            from benchmarks.sites.workspace import prepare_workspace

            sites = [site_of(name) for name in dict.fromkeys(asked.names)]
            prepare_workspace(asked.folder, sites, maps=asked.maps, tips=asked.tips or "")
        else:
            of_one_site(asked, site_of(asked.name, asked.port))
    except RuntimeError as error:
        sys.exit(str(error))


def of_one_site(asked: argparse.Namespace, site: Site) -> None:
    """Do a command that concerns a single site."""
    if asked.what == "status":
        print("ready" if site.is_ready() else "not running")
    elif asked.what == "state":
        print(json.dumps((state_before if asked.when == "before" else state_after)(site, asked.task)))
    elif asked.what == "login":
        import asyncio

        asyncio.run(save_login(site, asked.role, asked.file))
    else:
        getattr(site, asked.what)()
        if asked.what in ("start", "reset"):
            print("\n".join(described(site)))


if __name__ == "__main__":
    main()
