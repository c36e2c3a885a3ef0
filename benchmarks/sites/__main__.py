"""Sites of the scout: ``python -m benchmarks.sites {install,start,stop,reset,status} NAME [--port N]``."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.sites.site import Site

OPEN = ("roundup", "pretix", "calibreweb")
"""Sites whose traces are read while the scout is worked on."""
SEALED = ("hyperkitty", "wagtail", "dokuwiki")
"""Sites that are run for figures only.  The six were split by the order of a hash of their names."""


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


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("install", "start", "stop", "reset", "status"))
    parser.add_argument("name", choices=(*OPEN, *SEALED))
    parser.add_argument("--port", type=int, default=0)
    asked = parser.parse_args()
    site = site_of(asked.name, asked.port)
    if asked.what == "status":
        print("ready" if site.is_ready() else "not running")
        return
    try:
        getattr(site, asked.what)()
    except RuntimeError as error:
        sys.exit(str(error))
    if asked.what in ("start", "reset"):
        print("\n".join(described(site)))


if __name__ == "__main__":
    main()
