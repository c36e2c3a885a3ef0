"""``sitelore sites``."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.common import Json, full_path, json_data, print_note, print_result, table, with_engine
from app.engine.api.site_api import SiteRow
from app.engine.core.site_rules import host_glob, site_name
from app.engine.core.sites import Site
from app.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from app.engine.engine import Engine

app = typer.Typer(
    help="Sites: their names, hosts, start pages, log-ins, base addresses and commands.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="SITE", help="The site's name.")]
Hosts = Annotated[
    list[str] | None,
    typer.Option(help="A host of the site; a * stands for any text. May be repeated.", show_default=False),
]
Starts = Annotated[
    list[str] | None, typer.Option(help="A start page; the first one is the usual. May be repeated.")
]
Bases = Annotated[
    list[str] | None,
    typer.Option(help="An address that task files name, as __SHOPPING__=URL. May be repeated."),
]
Reset = Annotated[
    str | None, typer.Option(help="The command that puts the site back as it was; evaluations run it.")
]
State = Annotated[
    str | None,
    typer.Option(
        help="The command that prints the site's state as JSON; evaluations run it with `before TASK` or"
        " `after TASK` behind it."
    ),
]
LoginCommand = Annotated[
    str | None,
    typer.Option(
        help="The command that logs in and writes a storage state; it is run with a role and the file's path behind it."
    ),
]
Role = Annotated[str, typer.Option(help="A role with a log-in of its own, such as admin.")]
LogIn = Annotated[
    Path | None,
    typer.Option(help="A recorded log-in (Playwright storage state); a copy is kept, for you alone."),
]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the sites of this workspace."""
    rows = with_engine(lambda engine: engine.sites())
    heads = ("site", "hosts", "start page", "log-in", "bases", "runs", "tips", "map")
    print_result(
        [site_document(row) for row in rows], as_json, lambda: table([_cells(row) for row in rows], heads)
    )


@app.command()
def show(site: Name, as_json: Json = False) -> None:
    """Show everything about one site."""
    row = with_engine(lambda engine: _row_of(engine, site))
    print_result(site_document(row), as_json, lambda: site_text(row))


@app.command()
def add(
    site: Name,
    host: Hosts = None,
    start: Starts = None,
    base: Bases = None,
    reset: Reset = None,
    state: State = None,
    login_command: LoginCommand = None,
    storage_state: LogIn = None,
    as_json: Json = False,
) -> None:
    """Add a site. Without --host it has the hosts of its start pages and bases."""
    bases = _bases(base or ())
    hosts = tuple(host or ()) or tuple(host_glob(url) for url in (*(start or ()), *bases.values()))
    new = Site(
        name=site_name(site),
        hosts=hosts,
        starts=tuple(start or ()),
        bases=bases,
        reset=reset or "",
        state=state or "",
        login=login_command or "",
    )

    async def adding(engine: Engine) -> SiteRow:
        return await _save(engine, new, None, full_path(storage_state))

    _saved(adding, as_json)


@app.command()
def edit(
    site: Name,
    host: Hosts = None,
    start: Starts = None,
    base: Bases = None,
    reset: Reset = None,
    state: State = None,
    login_command: LoginCommand = None,
    storage_state: LogIn = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(help="A host, start page or base to take away. May be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add to a site, or take away with --remove. `sitelore review undo` takes an edit back."""

    async def editing(engine: Engine) -> SiteRow:
        before = (await _row_of(engine, site)).site
        after = replace(
            before,
            hosts=(*before.hosts, *map(host_glob, host or ())),
            starts=(*(start or ()), *(page for page in before.starts if page not in (start or ()))),
            bases={**before.bases, **_bases(base or ())},
            reset=before.reset if reset is None else reset,
            state=before.state if state is None else state,
            login=before.login if login_command is None else login_command,
        )
        for text in remove or ():
            after = _without(after, text)
        return await _save(engine, after, before, full_path(storage_state))

    _saved(editing, as_json)


@app.command()
def remove(site: Name) -> None:
    """Remove a site from the table; its runs, tips, map and log-in stay. `sitelore review undo` brings it back."""
    with_engine(lambda engine: engine.remove_site(site))
    print_note(f"the site '{site}' is removed")


@app.command()
def login(
    site: Name,
    url: Annotated[str, typer.Option(help="The page to log in on (default: the site's start page).")] = "",
    storage_state: LogIn = None,
    role: Role = "",
    run: Annotated[bool, typer.Option("--run", help="Run the site's log-in command.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the saved log-in.")] = False,
) -> None:
    """Log in by hand in a visible browser, keep a recorded log-in, or run the site's log-in command.

    Work on the site begins with it; a log-in with --role is for a suite's tasks of that role.
    """
    if sum((forget, run, storage_state is not None)) > 1:
        raise UsageError("--run, --forget and --storage-state can't be combined", remedy="give one of them")
    if forget:
        there = with_engine(lambda engine: engine.forget_login(site, role))
        print_note("the log-in is deleted" if there else "no log-in was saved")
        return
    file = full_path(storage_state)
    if role and not (file or run):
        raise UsageError(
            "a log-in by hand is the site's usual one", remedy="give --run or --storage-state with --role"
        )

    async def logging_in(engine: Engine) -> None:
        await _row_of(engine, site)
        if file:
            await engine.keep_login(site, file, role)
            return
        if run:
            await engine.run_login(site, role)
            return
        await engine.log_in_by_hand(site, url or await engine.site_start(site))
        print_note("log in in the browser window, then press Enter here")
        if not sys.stdin.readline():
            raise UsageError("nobody pressed Enter", remedy="give a recorded log-in with --storage-state")
        await engine.logged_in(site)

    with_engine(logging_in)
    whose = f"'{site}' as {role}" if role else f"'{site}'"
    print_note(f"the log-in of {whose} is saved, readable by you alone")


async def give_hosts(engine: Engine, site: str, hosts: Sequence[str]) -> None:
    """Give hosts to a site, which is added if it is not there."""
    name = site_name(site)
    before = next((row.site for row in await engine.sites() if row.site.name == name), None)
    known = before or Site(name=name)
    await engine.save_site(replace(known, hosts=(*known.hosts, *map(host_glob, hosts))), before)


def site_document(row: SiteRow) -> dict[str, Any]:
    """Return a site as the stable command line prints it; ``login`` says whether one is saved."""
    site = json_data(row.site)
    kept = {key: value for key, value in json_data(row).items() if key != "site"}
    return {**site, **kept, "login_command": site["login"]}


def site_text(row: SiteRow) -> str:
    """Describe a site in lines."""
    site = row.site
    hosts = [f"{host} (learned)" if host in site.learned else host for host in site.hosts]
    facts = [
        ("hosts", ", ".join(hosts) or "none yet"),
        ("start pages", ", ".join(site.starts) or (f"{row.home} (of its map)" if row.home else "none")),
        ("log-in", _login(row) or "none"),
        *((("roles with a log-in", ", ".join(row.roles)),) if row.roles else ()),
        *((name, address) for name, address in site.bases.items()),
        ("reset command", site.reset or "none"),
        ("state command", site.state or "none"),
        ("log-in command", site.login or "none"),
        ("runs", str(row.runs)),
        ("tips", str(row.tips)),
    ]
    return "\n".join([site.name, *(f"  {name}: {value}" for name, value in facts)])


async def _row_of(engine: Engine, site: str) -> SiteRow:
    rows = await engine.sites()
    found = next((row for row in rows if row.site.name == site.strip().lower()), None)
    if found is None:
        raise NotFound(f"there is no site '{site[:80]}'; add it with: sitelore sites add SITE --host HOST")
    return found


async def _save(engine: Engine, site: Site, before: Site | None, login: str) -> SiteRow:
    if login:
        from app.engine.browser.live_browser import checked_login

        checked_login(login)  # before the site is changed
    row = await engine.save_site(site, before)
    if login:
        await engine.keep_login(site.name, login)
        row = await _row_of(engine, site.name)
    return row


def _saved(work: Callable[[Engine], Awaitable[SiteRow]], as_json: bool) -> None:
    row = with_engine(work)
    print_result(site_document(row), as_json, lambda: site_text(row))


def _bases(given: list[str] | tuple[()]) -> dict[str, str]:
    found = dict[str, str]()
    for text in given:
        name, mark, address = text.partition("=")
        if not mark or not address.strip():
            raise UsageError(f"{text[:80]!r} is no base", remedy="write --base __SHOPPING__=URL")
        found[name.strip()] = address.strip()
    return found


def _without(site: Site, text: str) -> Site:
    hosts = tuple(host for host in site.hosts if host != text.lower())
    starts = tuple(page for page in site.starts if page.rstrip("/") != text.rstrip("/"))
    bases = {name: address for name, address in site.bases.items() if name != text}
    after = replace(site, hosts=hosts, starts=starts, bases=bases)
    if after == site:
        raise NotFound(f"{text[:80]!r} is no host, start page or base of '{site.name}'")
    return after


def _login(row: SiteRow) -> str:
    return time.strftime("saved %Y-%m-%d", time.localtime(row.login_at)) if row.login else ""


def _cells(row: SiteRow) -> tuple[object, ...]:
    site = row.site
    start = site.starts[0] if site.starts else row.home
    return (
        site.name, ", ".join(site.hosts), start, _login(row), " ".join(site.bases), row.runs, row.tips,
        "yes" if row.home else "",
    )  # fmt: skip
