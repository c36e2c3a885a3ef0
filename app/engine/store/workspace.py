"""A workspace: one folder with the runs, their reviews, and the knowledge base.

    workspace.json    format version             sites.json      the table of sites
    runs/  trash/     run folders             blobs.sqlite   pages' contents
    review.sqlite     verdicts, supervision   index.sqlite   can be rebuilt
    knowledge.akb     the knowledge base (opened by ``kb``)
    graphs/           one file a site: its interaction graph
    prompts/          its own prompts and sets of actions
    suites/           tasks with their reference answers

Two processes may have it open, the window and the command line: nothing is cached that the other could change, and
each writes in short transactions or by moving whole folders into place.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import quote, unquote

from app.engine.core.page_state import GraphEdit
from app.engine.core.sites import Site, SiteTable
from app.engine.core.supervision import RunState
from app.engine.store.annotator_store import QUEUES_EDIT, AnnotatorStore
from app.engine.store.database import INDEX_FILE, translated_errors
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.locks import FileLock
from app.engine.store.prompt_store import PROMPTS_FOLDER, PromptStore
from app.engine.store.review_store import ReviewStore
from app.engine.store.run_files import RUNS, WORKSPACE_FILE
from app.engine.store.run_index import RunIndex
from app.engine.store.run_locks import LIVE_FOLDER, RunRegistry
from app.engine.store.run_store import RunStore
from app.engine.store.schedule_store import SCHEDULE_EDIT, ScheduleStore
from app.engine.store.site_store import SITES_FILE, SiteStore, site_document, site_from
from app.engine.store.suite_edits import SUITE_EDIT, SuiteEdits
from app.engine.store.suite_store import SUITES_FOLDER, SuiteStore
from app.engine.store.supervision.batch_store import BatchStore
from app.engine.store.supervision.supervision_state import POLICY_EDIT, LiveRunSnapshot
from app.engine.store.supervision.supervision_store import SupervisionStore
from app.engine.store.workspace_head import GRAPHS_FOLDER, make_workspace, read_head, restrict_access
from app.errors import Conflict, DamagedIndex, InputError, NotFound, StoreError
from kb.journal import JournalEntry

log = logging.getLogger(__name__)

_DELETE_RUNS = "delete-runs"
GRAPH_EDIT, SITE_EDIT, PROMPT_EDIT, ACTION_SET_EDIT = "graph-decision", "site", "prompt", "action-set"
_LONGEST_NAME = 200
_NOT_STARTED = (RunState.QUEUED, RunState.STARTING)


class Workspace:
    """An open workspace; close it, or use it in a ``with``.  One thread at a time (``store.database``).

    Attributes:
        notes: repairs made while opening, one sentence each.
        reader: the person the rows of the index are for (``RunIndex.reader``).
        index_made_anew: the index was lost and rebuilt, so flags and risks are missing until detectors run.
    """

    def __init__(self, path: Path, seed: SiteTable) -> None:
        self.path = path
        self.site_store = SiteStore(path / SITES_FILE, seed)
        self.suites = SuiteStore(path / SUITES_FOLDER)
        self.notes: list[str] = []
        self.reader = ""
        self.index_rebuilt = False
        self._graphs: dict[str, GraphStore] = {}
        self.review = ReviewStore(path / "review.sqlite")
        self.supervision = SupervisionStore(self.review)
        self.annotators = AnnotatorStore(self.review)
        self.schedules = ScheduleStore(self.review)
        self.batches = BatchStore(self.review)
        self.suite_edits = SuiteEdits(self.suites, self.review)
        self.run_registry = RunRegistry(path / RUNS / LIVE_FOLDER)
        try:
            self.runs = RunStore(path)
            self.prompts = PromptStore(path / PROMPTS_FOLDER, self.runs.blobs)
            try:
                self.index = self._open_index()
            except BaseException:
                self.runs.close()
                raise
        except BaseException:
            self.review.close()
            raise

    @classmethod
    def open(cls, path: Path, create: bool = True) -> Workspace:
        """Open the workspace in a folder, or create it there.

        Raises:
            NotFound: there is none, and ``create`` is false.
            StoreError: it is of a newer version, damaged, or can't be written.
        """
        path = path.expanduser().absolute()
        file = path / WORKSPACE_FILE
        if not file.exists():
            if not create:
                raise NotFound(f"{path} holds no workspace")
            make_workspace(path)
        seed = read_head(file)
        restrict_access(path)
        return cls(path, seed)

    def read_as(self, person: str) -> None:
        """Show the rows of the index as this person may see them."""
        self.reader = self.index.reader = person

    # what lies in it

    @property
    def knowledge_path(self) -> Path:
        """The path of the knowledge base."""
        return self.path / "knowledge.akb"

    @property
    def site_table(self) -> SiteTable:
        """The table of sites as it is now."""
        return self.site_store.table

    @property
    def sites(self) -> dict[str, tuple[str, ...]]:
        """Host globs by site."""
        return self.site_table.globs

    def site_of(self, url: str) -> str:
        """Return the site of an address, or its host."""
        return self.site_table.site_of(url)

    def graph_sites(self) -> list[str]:
        """Return the sites that have an interaction graph."""
        folder = self.path / GRAPHS_FOLDER
        return sorted(unquote(file.stem) for file in folder.glob("*.sqlite")) if folder.is_dir() else []

    def graph(self, site: str) -> GraphStore:
        """Return the interaction graph of a site, creating its file; it stays open.

        Raises:
            InputError: the site's name is empty or too long for a file.
            StoreError: the file is of a newer version, damaged, or can't be written.
        """
        if site not in self._graphs:
            self._graphs[site] = GraphStore(self._of_site(site, ".sqlite"), site)
        return self._graphs[site]

    def rules_path(self, site: str) -> Path:
        """Return the path of the site's own block rules, which may be missing.  Raises ``InputError`` as
        ``graph``.
        """
        return self._of_site(site, ".rules.json")

    def lock_path(self, site: str) -> Path:
        """Return the lock file of work on the site's graph.  Raises ``InputError`` as ``graph``."""
        return self._of_site(site, ".lock")

    def is_site_in_use(self, site: str) -> bool:
        """Return whether some process explores, verifies or updates the site's graph now."""
        path = self.lock_path(site)
        if not path.exists():
            return False
        with FileLock(path) as lock:
            return not lock.take()

    # changes that can be undone

    def decide(self, site: str, decision: GraphEdit, label: str) -> None:
        """Merge or split nodes of a graph; ``label`` names it in the undo history."""
        self.graph(site).add_decision(decision)
        change = {"site": site, "decision": decision.id}
        self.review.record(
            GRAPH_EDIT, label, {**change, "standing": True}, {**change, "standing": False}, decision.author
        )

    def change_site(self, before: Site | None, after: Site | None, author: str = "") -> None:
        """Add, remove or change a site as ``SiteStore.change`` does; undo takes it back."""
        self._put_site(before, after)
        old, new = site_document(before), site_document(after)
        verb = "add" if before is None else "remove" if after is None else "edit"
        name = (after or before or Site(name="")).name
        self.review.record(
            SITE_EDIT, f"{verb} site '{name}'", {"old": old, "new": new}, {"old": new, "new": old}, author
        )

    def save_prompt(self, name: str, text: str, author: str = "") -> None:
        """Put a text in place of a bundled prompt, "" for the bundled one; undo takes it back."""
        before = self.prompts.keep(name)
        after = self.prompts.save(name, text, author)
        label = f"edit prompt '{name}'" if text else f"reset prompt '{name}'"
        if after != before:
            self.review.record(
                PROMPT_EDIT,
                label,
                {"prompt": name, "digest": after},
                {"prompt": name, "digest": before},
                author,
            )

    def save_action_set(self, name: str, calls: Sequence[str] | None, author: str = "") -> None:
        """Store a set of actions, ``None`` removes it; undo takes it back."""
        before = self.prompts.action_sets().get(name)
        self.prompts.put_action_set(name, calls)
        verb = "add" if before is None else "remove" if calls is None else "edit"
        forward, backward = {"set": name, "calls": calls}, {"set": name, "calls": before}
        self.review.record(ACTION_SET_EDIT, f"{verb} action set '{name}'", forward, backward, author)

    def learn_hosts(self, claims: Mapping[str, Sequence[str]]) -> list[str]:
        """Give hosts to the sites that claim them (``SiteStore.learn``); return one sentence for each."""
        before = self.sites
        told = self.site_store.learn(claims)
        if self.sites != before:
            self.index.name_sites(self.site_of)
        return told

    def delete_runs(self, runs: Sequence[str], author: str = "") -> int:
        """Move runs to the trash; undo restores them.

        Raises:
            Conflict: one of them is still active.
        """
        moved = self.runs.delete(runs)
        if moved:
            self.index.remove(moved)
            what = moved[0] if len(moved) == 1 else f"{len(moved)} runs"
            change = {"runs": moved}
            self.review.record(
                _DELETE_RUNS, f"delete {what}", {**change, "back": False}, {**change, "back": True}, author
            )
        return len(moved)

    def restore_runs(self, runs: Sequence[str]) -> int:
        """Restore runs from the trash."""
        back = self.runs.restore(runs)
        for run in back:
            self.index_run(run)
        return len(back)

    def undo(self) -> JournalEntry | None:
        """Undo the latest verdict, deletion, merge, split, policy or site edit; return it, ``None`` for nothing."""
        with translated_errors(self.review.path):
            return self.review.journal.undo(self._apply)

    def redo(self) -> JournalEntry | None:
        """Redo the action that was undone last."""
        with translated_errors(self.review.path):
            return self.review.journal.redo(self._apply)

    # the rest

    def runs_of_other_processes(self) -> list[LiveRunSnapshot]:
        """Return the runs that other processes work on or have queued."""
        others = self.run_registry.runs_of_others()
        return [
            run
            for run in self.supervision.snapshots()
            if self.runs.is_live(run.run) or (run.run in others and run.row.state in _NOT_STARTED)
        ]

    def export_runs(self, runs: Sequence[str], out: Path) -> int:
        """Write runs as native run folders ``out/<id>``; return how many.

        Raises:
            Conflict: one of the folders exists.  NotFound: there is no such run.
        """
        for run in runs:
            self.runs.load(run)
        for run in runs:
            self.runs.export(run, out)
        return len(runs)

    def rebuild_index(self) -> int:
        """Rebuild the index from the runs on disk; flags and risks are empty until detectors run.

        A damaged file is renamed, never deleted.

        Raises:
            Conflict: another process rebuilds it.
        """
        with translated_errors(self.path), FileLock(self.path / "index.lock") as lock:
            if not lock.take():
                raise Conflict("another process is rebuilding this workspace's index; wait for it")
            try:
                if self.index.is_damaged():
                    raise DamagedIndex("found broken before it is made again")
                self._fill_index()
            except DamagedIndex as error:
                self._replace_index(error)
                self._fill_index()
            return self.index.count()

    def close(self) -> None:
        """Close all files."""
        for graph in self._graphs.values():
            graph.close()
        self._graphs.clear()
        self.index.close()
        self.run_registry.close()
        self.runs.close()
        self.review.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # inside

    def _of_site(self, site: str, suffix: str) -> Path:
        name = quote(site, safe="")
        if not name or len(name) > _LONGEST_NAME:
            raise InputError(
                f"{site[:80]!r} can't name a site's graph", remedy="give a shorter name with --site"
            )
        return self.path / GRAPHS_FOLDER / f"{name}{suffix}"

    def _apply(self, kind: str, change: dict[str, Any]) -> None:
        if kind == _DELETE_RUNS:
            runs = cast("list[str]", change["runs"])
            if change["back"]:
                self.restore_runs(runs)
            else:
                self.index.remove(self.runs.delete(runs))
        elif kind == GRAPH_EDIT:
            graph = self.graph(str(change["site"]))
            if change["standing"]:
                graph.restore_decision(str(change["decision"]))
            else:
                graph.remove_decision(str(change["decision"]))
        elif kind == POLICY_EDIT:
            self.supervision.put_policy(change)
        elif kind == SITE_EDIT:
            self._put_site(site_from(change["old"]), site_from(change["new"]))
        elif kind == PROMPT_EDIT:
            self.prompts.put(str(change["prompt"]), str(change["digest"]))
        elif kind == ACTION_SET_EDIT:
            self.prompts.put_action_set(str(change["set"]), change["calls"])
        elif kind == SUITE_EDIT:
            self.suite_edits.apply(change)
        elif kind == QUEUES_EDIT:
            self.annotators.put_queues(change)
        elif kind == SCHEDULE_EDIT:
            self.schedules.put(change)
        else:
            for verdict in change.get("verdicts") or (change["verdict"],):
                self.review.set_standing(str(verdict), bool(change["standing"]))

    def _put_site(self, before: Site | None, after: Site | None) -> None:
        self.site_store.change(before, after)
        self.index.name_sites(self.site_of, before.name if before is not None and after is None else "")

    def _open_index(self) -> RunIndex:
        """Open the index, replace a damaged one, and bring it in line with the runs on disk."""
        try:
            self.index = self._new_index()
            self.catch_up()
        except DamagedIndex as error:
            self._replace_index(error)
            self.catch_up()
            self.index_rebuilt = True
        return self.index

    def _new_index(self) -> RunIndex:
        index = RunIndex(self.path / INDEX_FILE, self.review.path)
        index.reader = self.reader
        return index

    def catch_up(self) -> None:
        """Index the runs that a dead process left unindexed or unfinished, and remove those that are gone."""
        stored, indexed = self.runs.ids(), self.index.ids()
        if indexed and indexed & stored != indexed:
            self.index.remove(indexed - stored)
        dead = {run.id for run in self.runs.crashed} & stored
        if changed := (stored - indexed) | dead:
            self.index_rebuilt = not indexed and bool(stored - dead)
            with self.index.batch():
                for run in sorted(changed):
                    self.index_run(run)
        while self.runs.crashed:
            self.runs.crashed.pop().lock.delete()

    def _fill_index(self) -> None:
        with self.index.batch():
            self.index.clear()
            for run in sorted(self.runs.ids()):
                self.index_run(run)

    def _replace_index(self, error: DamagedIndex) -> None:
        """Rename the damaged index and start an empty one."""
        if hasattr(self, "index"):
            self.index.close()
        log.warning("the search index is damaged and is being rebuilt: %s", error)
        path = self.path / INDEX_FILE
        aside = f"{INDEX_FILE}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:4]}"
        with translated_errors(path):
            for end in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    (self.path / f"{INDEX_FILE}{end}").rename(self.path / f"{aside}{end}")
        self.index = self._new_index()
        self.notes.append(
            f"The search index was damaged and has been rebuilt from the runs; the damaged file is kept as {aside}."
        )

    def index_run(self, run: str) -> None:
        """Bring the index in line with a run on the disk."""
        try:
            head, steps = self.runs.load(run)
        except (NotFound, StoreError, InputError) as error:
            log.warning("run %s is not indexed: %s", run, error)
            self.notes.append(str(error))
            return
        self.index.put_run(head, steps, self.site_of)
