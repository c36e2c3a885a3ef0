"""Bad files, other processes, full disks and kills: one clear message, and nothing lost."""

import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from kb.content import content_key
from kb.errors import BadFile, Frozen, Locked
from kb.exchange import write
from kb.freeze import freeze, verify
from kb.frozen import open_any
from kb.migrations import APPLICATION_ID, STEPS, VERSION
from kb.store import KnowledgeBase
from kb.tip import Kind, Status, Tip, TipDraft

ROOT = Path(__file__).parents[3]
DRAFT = TipDraft(site="shopping", text="Hover the category.")


# a version-1 file


def version_one(path: Path) -> None:
    """A file as version 1.0 wrote it: no vectors, no hosts, no content keys, no guards; one tip edited, one undone."""
    with closing(sqlite3.connect(path)) as connection:
        for number, step in STEPS:
            if number == 1000:
                step(connection)
        for tip, revision, gone, at in (("shop-aaaaaaaaaa", 2, 0, 10.0), ("shop-bbbbbbbbbb", 2, 1, 20.0)):
            connection.execute("INSERT INTO tip VALUES (?, ?, ?, ?)", (tip, revision, gone, at))
        common = ("shop", "", "/admin/**", '["a=1"]', "navigation")
        rest = ("w", "d", "b", "y", '["k"]', "active", '{"author":"ada","run":"r1","step":3}', '["t.1"]')
        for tip, revision, gone, deed, text in (
            ("shop-aaaaaaaaaa", 1, 0, "add", "old words"),
            ("shop-aaaaaaaaaa", 2, 0, "edit", "new words"),
            ("shop-bbbbbbbbbb", 1, 0, "add", "a mistake"),
            ("shop-bbbbbbbbbb", 2, 1, "undo add", "a mistake"),
        ):
            connection.execute(
                f"INSERT INTO revision VALUES ({', '.join('?' * 20)})",
                (tip, revision, gone, deed, "ada", 10.0 + revision, *common, text, *rest),
            )
        for id, forward, backward in ((1, 1, 0), (2, 2, 1)):
            connection.execute(
                "INSERT INTO deed (kind, label, author, at, forward, backward) VALUES (?, 'x', 'ada', 1, ?, ?)",
                (
                    "edit" if id == 2 else "add",
                    f'{{"tips":{{"shop-aaaaaaaaaa":{forward}}}}}',
                    f'{{"tips":{{"shop-aaaaaaaaaa":{backward}}}}}',
                ),
            )
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1000")
        connection.commit()


def test_a_version_one_file_is_migrated_with_everything_in_it(tmp_path: Path):
    path = tmp_path / "knowledge.akb"
    version_one(path)
    with KnowledgeBase.open(path, author="bob") as kb:
        [tip] = kb.tips()
        assert (tip.id, tip.text, tip.kind, tip.status) == (
            "shop-aaaaaaaaaa",
            "new words",
            Kind.NAVIGATION,
            Status.ACTIVE,
        )
        assert tip.provenance.step == 3
        assert [r.tip.text for r in kb.history(tip.id)] == ["old words", "new words"]
        assert kb.add_many([replace(tip, text="old words")]) == [], "old revisions have their content keys"
        kb.set_hosts("shop", ["*:7770"])
        kb.vectors.put_many("e", {"k": b"v"})
        kb.undo()
        assert kb.get(tip.id).text == "old words"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = connection.execute("SELECT content FROM revision WHERE revision = 2").fetchone()[0]
        assert stored == content_key(tip)


def test_before_a_migration_the_old_file_is_kept_beside(tmp_path: Path):
    path = tmp_path / "knowledge.akb"
    for backup in ("knowledge.akb.backup-1.0", "knowledge.akb.backup-1.0-2"):
        path.unlink(missing_ok=True)
        version_one(path)
        KnowledgeBase.open(path).close()
        with closing(sqlite3.connect(tmp_path / backup)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (1000,)
            assert connection.execute("SELECT count(*) FROM revision").fetchone() == (4,)
    assert len(list(tmp_path.glob("*backup*"))) == 2


def test_a_migration_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "knowledge.akb"
    version_one(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE revision SET keywords = 'no JSON'")
        connection.commit()
    with pytest.raises(BadFile, match=r"a tip in it is damaged .* nothing was changed"):
        KnowledgeBase.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1000,)
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vector'").fetchall()


def test_an_old_file_opened_for_reading_is_not_touched(tmp_path: Path):
    path = tmp_path / "knowledge.akb"
    version_one(path)
    before = path.read_bytes()
    with open_any(path) as kb:
        assert [tip.text for tip in kb.tips()] == ["new words"]
        with pytest.raises(BadFile, match="read-only"):
            kb.add(DRAFT)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["knowledge.akb"]


# files that are something else


def test_a_file_of_a_newer_major_is_refused_and_not_touched(tmp_path: Path):
    path = tmp_path / "k.akb"
    KnowledgeBase.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 3000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    with pytest.raises(
        BadFile, match=r"made by a newer version .* update the program, the file was not changed"
    ):
        KnowledgeBase.open(path)
    assert path.read_bytes() == before


def test_a_file_of_a_newer_minor_is_opened_as_it_is(tmp_path: Path):
    path = tmp_path / "k.akb"
    KnowledgeBase.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with KnowledgeBase.open(path) as kb:
        kb.add(DRAFT)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)


def test_what_is_no_knowledge_base_is_named_and_not_touched(tmp_path: Path):
    text, other = tmp_path / "notes.akb", tmp_path / "other.sqlite"
    text.write_text("no database at all, but long enough to be one " * 50)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (a)")
    for path, complaint in (
        (text, "not an SQLite file"),
        (other, "of another kind"),
        (tmp_path, "this is a folder"),
        (tmp_path / "none" / "k.akb", "can't be opened"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BadFile, match=complaint):
            KnowledgeBase.open(path)
        assert not path.is_file() or path.read_bytes() == before
    with pytest.raises(BadFile, match="there is no such knowledge base"):
        KnowledgeBase.open(tmp_path / "new.akb", create=False)
    assert not (tmp_path / "new.akb").exists()


def test_a_damaged_file_is_told_on_opening(tmp_path: Path):
    path = tmp_path / "k.akb"
    with KnowledgeBase.open(path) as kb:
        kb.add_many([replace(DRAFT, text=f"{n} " * 200) for n in range(50)])
    raw = bytearray(path.read_bytes())
    for page in range(1, len(raw) // 4096):
        raw[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    path.write_bytes(raw)
    with pytest.raises(BadFile, match="damaged"):
        KnowledgeBase.open(path)


def test_a_read_only_file_is_read_and_not_written(tmp_path: Path):
    path = tmp_path / "k.akb"
    with KnowledgeBase.open(path) as kb:
        tip = kb.add(DRAFT)
    path.chmod(0o444)
    with KnowledgeBase.open(path) as kb:
        assert kb.tips() == [tip]
        kb.vectors.put_many("e", {"k": b"v"})
        assert kb.vectors.get_many("e", ["k"]) == {"k": b"v"}
        with pytest.raises(BadFile, match="the file is read-only; nothing was changed"):
            kb.add(replace(DRAFT, text="more"))
        with pytest.raises(BadFile, match="read-only"):
            kb.undo()


# full disks


def fill(kb: KnowledgeBase) -> int:
    """Add until it fails; how many went in."""
    for number in range(100_000):
        before = kb.tips()
        drafts = [replace(DRAFT, text=f"{number}.{part} " + "x" * 5000) for part in range(10)]
        try:
            kb.add_many(drafts)
        except BadFile:
            with pytest.raises(BadFile, match="the disk is full; nothing was changed"):
                kb.add_many(drafts)
            assert kb.tips() == before, "all of an import or nothing of it"
            return number * 10
    raise AssertionError("it never filled up")


def test_a_full_disk_is_told_and_leaves_nothing_half_written(tmp_path: Path):
    path = tmp_path / "k.akb"
    with KnowledgeBase.open(path) as kb:
        kb._connection.execute("PRAGMA max_page_count = 200")
        stored = fill(kb)
        kb._connection.execute("PRAGMA max_page_count = 10000")
        kb.add(DRAFT)
    with KnowledgeBase.open(path) as kb:
        assert kb.stats().tips == stored + 1


@pytest.fixture
def small_disk(tmp_path: Path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    made = (
        subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=768k", "tmpfs", str(disk)], capture_output=True, check=False
        )
        if mount and os.geteuid() == 0
        else None
    )
    if made is None or made.returncode:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_really_full_disk_is_told_and_leaves_nothing_half_written(small_disk: Path):
    with KnowledgeBase.open(small_disk / "k.akb") as kb:
        stored = fill(kb)
    with KnowledgeBase.open(small_disk / "k.akb") as kb:
        assert kb.stats().tips == stored > 0


def test_a_freeze_and_an_export_onto_a_full_disk_leave_the_files_of_before(small_disk: Path, tmp_path: Path):
    out, table = small_disk / "f.akb", small_disk / "t.csv"
    with KnowledgeBase.open(tmp_path / "k.akb") as kb:
        kb.add(replace(DRAFT, status=Status.ACTIVE))
        freeze(kb, out)
        write(kb.tips(), table)
        before = {path: path.read_bytes() for path in small_disk.iterdir()}
        kb.add_many([replace(DRAFT, text=f"{n}" + " x" * 950, status=Status.ACTIVE) for n in range(500)])
        with pytest.raises(BadFile, match="the disk is full; nothing was written"):
            freeze(kb, out)
        with pytest.raises(BadFile, match="the disk is full; nothing was written"):
            write(kb.tips(), table)
    assert {path: path.read_bytes() for path in small_disk.iterdir()} == before
    assert verify(out).ok


# other processes


def start(code: str, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, cwd=ROOT)


def test_a_writer_that_waits_too_long_is_told(tmp_path: Path):
    path = tmp_path / "k.akb"
    with KnowledgeBase.open(path, busy_seconds=0.05) as kb:
        tip = kb.add(DRAFT)
        holder = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("holding", flush=True)
sys.stdin.read()
"""
        with subprocess.Popen(
            [sys.executable, "-c", holder, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout.readline() == b"holding\n"
            with pytest.raises(Locked, match="another process is writing to it; nothing was changed"):
                kb.add(replace(DRAFT, text="more"))
            kb.vectors.put_many("e", {"k": b"v"})
            assert kb.tips() == [tip], "reading goes on meanwhile"
            process.communicate()
        assert kb.add(replace(DRAFT, text="more")).revision == 1


_ADD = """
import sys
from kb.store import KnowledgeBase
from kb.tip import TipDraft
with KnowledgeBase.open(sys.argv[1], author=sys.argv[2], busy_seconds=30) as kb:
    for n in range(40):
        kb.add(TipDraft(site="x", text=f"{sys.argv[2]} {n}"))
"""


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path):
    path = tmp_path / "k.akb"
    writers = [start(_ADD, str(path), name) for name in ("ada", "bob", "eve")]
    for writer in writers:
        with writer:
            assert writer.wait(timeout=60) == 0
    with KnowledgeBase.open(path) as kb:
        assert {tip.text for tip in kb.tips()} == {
            f"{w} {n}" for w in ("ada", "bob", "eve") for n in range(40)
        }
        assert len(kb.journal.entries(1000)) == 120
        assert kb.data_version == 120


def test_processes_that_make_the_same_file_at_the_same_time_all_get_in(tmp_path: Path):
    makers = [start(_ADD.replace("range(40)", "range(1)"), str(tmp_path / "k.akb"), str(n)) for n in range(6)]
    codes = []
    for maker in makers:
        with maker:
            codes.append(maker.wait(timeout=60))
    assert codes == [0] * 6
    with KnowledgeBase.open(tmp_path / "k.akb") as kb:
        assert len(kb.tips()) == 6


_SAVE = """
import sys
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft
with KnowledgeBase.open(sys.argv[1]) as kb:
    start = int(sys.argv[2])
    for n in range(start, start + 100000):
        tip = kb.add(TipDraft(site="x", text=f"tip {n}"))
        kb.edit(tip.id, TipDraft(site="x", text=f"tip {n} " + "edited " * 500))
        print(n, flush=True)
"""


def test_a_kill_in_the_middle_of_a_save_loses_at_most_that_save(tmp_path: Path):
    path, chance, told = tmp_path / "k.akb", random.Random(3), set[int]()
    for kills in range(8):
        with start(_SAVE, str(path), str(1000 * kills)) as process:
            told.add(int(process.stdout.readline()))
            try:
                process.wait(timeout=chance.uniform(0.0, 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
            told.update(map(int, process.stdout.read().split(b"\n")[:-1]))
        with KnowledgeBase.open(path) as kb:
            edited = {int(tip.text.split()[1]) for tip in kb.tips() if "edited" in tip.text}
            assert edited >= told, "what was told to be saved is there"
            assert len(kb.tips()) - len(edited) <= kills + 1, "one tip a kill stands between its two saves"
            assert kb.stats().revisions == len(kb.journal.entries(100_000)), (
                "a revision and its deed come together"
            )


# the law of undo


class History(RuleBasedStateMachine):
    """After any changes, undos and redos, tips equal a plain list of states, and history only grows."""

    tips = Bundle("tips")

    counter = itertools.count()

    @initialize()
    def begin(self) -> None:
        self.connection_path = Path(os.environ["KB_TEST_FOLDER"]) / f"{next(self.counter)}.akb"
        self.kb = KnowledgeBase.open(self.connection_path)
        self.states: list[dict[str, Tip]] = [self.now()]
        self.at = 0
        self.revisions = 0

    def now(self) -> dict[str, Tip]:
        return {t.id: replace(t, revision=0, changed_at=0.0) for t in self.kb.tips()}

    def did(self) -> None:
        if self.now() != self.states[self.at]:
            self.states[self.at + 1 :] = [self.now()]
            self.at += 1

    @rule(target=tips, number=st.integers(0, 5))
    def add(self, number: int) -> str:
        id = self.kb.add(TipDraft(site="x", text=f"tip {number}")).id
        self.did()
        return id

    @rule(numbers=st.lists(st.integers(0, 5), min_size=1, max_size=3))
    def add_many(self, numbers: list[int]) -> None:
        self.kb.add_many([TipDraft(site="x", text=f"tip {number}") for number in numbers])
        self.did()

    @rule(id=tips, number=st.integers(0, 5))
    def edit(self, id: str, number: int) -> None:
        if id in self.now():
            self.kb.edit(id, TipDraft(site="x", text=f"tip {number}", why="edited"))
            self.did()

    @rule(ids=st.lists(tips, min_size=1, max_size=3), status=st.sampled_from(Status))
    def set_status(self, ids: list[str], status: Status) -> None:
        self.kb.set_status([id for id in ids if id in self.now()], status)
        self.did()

    @rule(id=tips, back=st.integers(1, 3))
    def restore(self, id: str, back: int) -> None:
        if id in self.now():
            self.kb.restore_revision(id, max(1, self.kb.get(id).revision - back))
            self.did()

    @rule()
    def undo(self) -> None:
        assert (self.kb.undo() is not None) == (self.at > 0)
        self.at = max(0, self.at - 1)

    @rule()
    def redo(self) -> None:
        can = self.at < len(self.states) - 1
        assert (self.kb.redo() is not None) == can
        self.at += can

    @rule()
    def reopen(self) -> None:
        self.kb.close()
        self.kb = KnowledgeBase.open(self.connection_path)

    @invariant()
    def tips_are_as_told(self) -> None:
        if hasattr(self, "kb"):
            assert self.now() == self.states[self.at]
            revisions = self.kb.stats().revisions
            assert revisions >= self.revisions
            self.revisions = revisions

    def teardown(self) -> None:
        if hasattr(self, "kb"):
            self.kb.close()


def test_undo_and_redo_obey_their_law_whatever_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KB_TEST_FOLDER", str(tmp_path))
    run_state_machine_as_test(
        History,
        settings=settings(
            deadline=None, max_examples=25, stateful_step_count=25, suppress_health_check=list(HealthCheck)
        ),
    )


def test_a_frozen_file_is_no_live_one(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "k.akb") as kb:
        freeze(kb, tmp_path / "f.akb")
    with pytest.raises(Frozen):
        KnowledgeBase.open(tmp_path / "f.akb")
