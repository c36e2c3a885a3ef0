"""The head file of a workspace, which names its format, and who may read its files."""

from __future__ import annotations

import json
import logging
import uuid
from pathlib import Path
from typing import Any

from app.engine.core.sites import SiteTable, load_sites, site_table
from app.engine.store.database import translated_errors
from app.engine.store.prompt_store import PROMPTS_FOLDER
from app.engine.store.run_files import RUNS, TRASH, WORKSPACE_FILE, write_file
from app.engine.store.site_store import SITES_FILE
from app.engine.store.suite_store import SUITES_FOLDER
from app.errors import StoreError
from kb.private import FOLDER, is_open_to_others, make_folder, tighten

log = logging.getLogger(__name__)

VERSION = 1
GRAPHS_FOLDER = "graphs"
_OWN_FILES = (
    WORKSPACE_FILE,
    SITES_FILE,
    RUNS,
    TRASH,
    GRAPHS_FOLDER,
    PROMPTS_FOLDER,
    SUITES_FOLDER,
    "*.sqlite*",
    "knowledge.akb*",
    "*.lock",
)
"""Patterns of the workspace's own files."""


def make_workspace(path: Path) -> None:
    """Make the folder and its head file."""
    with translated_errors(path):
        make_folder(path, parents=True)
        document = {"format": "sitelore-workspace", "version": VERSION}
        draft = path / f".{WORKSPACE_FILE}.{uuid.uuid4().hex[:8]}"
        write_file(draft, json.dumps(document, indent=2).encode() + b"\n")
        draft.replace(path / WORKSPACE_FILE)


def restrict_access(path: Path) -> None:
    """Restrict a workspace that others could read to its owner; the folder itself comes last.

    In a folder with other files, only those of the workspace are changed.
    """
    with translated_errors(path):
        if is_open_to_others(path):
            tighten(found for pattern in _OWN_FILES for found in path.glob(pattern))
            try:
                path.chmod(FOLDER)
            except OSError as error:  # somebody else's, who lets us work in it
                log.warning("%s can be read by others: %s", path, error.strerror or error)


def read_head(file: Path) -> SiteTable:
    """Check the head file; return the table of sites that is in force until the first change of it.

    Older workspaces have theirs here.
    """
    with translated_errors(file):
        data = file.read_bytes()
    try:
        document: Any = json.loads(data)
        if document["format"] != "sitelore-workspace":
            raise ValueError("another format")
        version = document.get("version")
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{file}: this is not a Sitelore workspace; choose another folder") from error
    if not isinstance(version, int) or version > VERSION:
        raise StoreError(
            f"{file}: the workspace is of version {version}, this program reads up to {VERSION}; use a newer Sitelore"
        )
    sites = document.get("sites")
    return site_table(sites, str(file)) if sites else load_sites()
