"""Files of earlier layouts still open: a live one migrates with a backup, a frozen one reads and verifies unchanged."""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kb import compiler, image, pages
from kb.compiler import compiled
from kb.content import clean, content_key
from kb.errors import BadFile
from kb.freeze import freeze, open_any, verify
from kb.frozen import FrozenKnowledgeBase
from kb.manifest import manifest_path, to_bytes
from kb.merge import merge
from kb.migrations import APPLICATION_ID, FROZEN_ID, STEPS
from kb.record import FIRST_COLUMNS, to_json, to_row
from kb.store import KnowledgeBase
from kb.tip import Status, Tip, TipDraft, TipRecord
from tests.unit.kb.test_freeze import DRAFTS

OLD_FILE = "01891934776361f78d4f92af88865eaab5aabae9b54ca25a1a1561daa69aae05"
"""SHA-256 of the file that the program froze from ``DRAFTS`` while frozen files had layout 1."""


def old_live(path: Path, drafts: list[TipDraft]) -> list[str]:
    """Write a live file of layout 2.1: its migrations, and rows without steps and anchors."""
    ids: list[str] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        for number, step in STEPS:
            if number <= 2001:
                step(connection)
        columns = ", ".join(f'"{name}"' for name in FIRST_COLUMNS)
        marks = ", ".join("?" * (7 + len(FIRST_COLUMNS)))
        for number, draft in enumerate(drafts):
            row, id = to_row(draft)[: len(FIRST_COLUMNS)], f"{draft.site}-{number}"
            connection.execute("INSERT INTO tip VALUES (?, 1, 0, 5.0)", (id,))
            connection.execute(
                f"INSERT INTO revision (tip, revision, gone, deed, author, at, content, {columns})"
                f" VALUES ({marks})",
                (id, 1, 0, "add", "ada", 5.0, content_key(draft), *row),
            )
            ids.append(id)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 2001")
    return ids


def test_a_live_file_of_layout_2_1_gets_steps_and_keeps_a_backup(tmp_path: Path):
    path = tmp_path / "knowledge.akb"
    draft = replace(DRAFTS[1], text="Press Save", do='Press "Save" and read Total')
    [id] = old_live(path, [draft])
    before = path.read_bytes()
    with KnowledgeBase.open(path, author="ada") as kb:
        tip = kb.get(id)
        assert (tip.text, tip.do, tip.procedure, tip.anchor, tip.record) == (
            draft.text,
            draft.do,
            None,
            None,
            TipRecord(),
        )
        assert [str(step) for step in compiler.procedure_of(tip).entries] == ['press "Save"', 'read "Total"']
        assert kb.add(draft).id == id, "its content is recognised"
        kb.edit(id, replace(tip, why="it is not stored otherwise"))
        assert kb.get(id).procedure == compiled(kb.get(id))
        assert kb.restore_revision(id, 1).why == ""
    backup = tmp_path / "knowledge.akb.backup-2.1"
    with closing(sqlite3.connect(backup)) as kept, closing(sqlite3.connect(":memory:")) as old:
        old.deserialize(before)
        assert list(kept.iterdump()) == list(old.iterdump())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2003,)


def test_a_live_file_of_layout_2_1_is_read_without_a_change(tmp_path: Path):
    path = tmp_path / "knowledge.akb"
    [id] = old_live(path, [DRAFTS[1]])
    before = path.read_bytes()
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.get(id).text == DRAFTS[1].text
        assert kb.evidence(id) == []
    assert path.read_bytes() == before


def old_frozen(folder: Path) -> Path:
    """Freeze the active ``DRAFTS`` as the program did while frozen files had layout 1, with a manifest."""
    with KnowledgeBase.open(folder / "source.akb", author="ada") as kb:
        for draft in DRAFTS:
            kb.add(draft)
        kb.set_hosts("gitlab", ["*:8023"])
        tips = [replace(tip, procedure=None) for tip in kb.tips(statuses={Status.ACTIVE})]
        content = image.Content.of(tips, kb.hosts(), 1000, as_stored=True)
    tables = [
        pages.Table("meta", ("key", "value"), [("content_sha256", content.sha256)]),
        pages.Table("site_host", ("site", "hosts"), [("gitlab", to_json(["*:8023"]))]),
        pages.Table(
            "tip",
            ("id", *FIRST_COLUMNS),
            ((tip.id, *to_row(tip)[: len(FIRST_COLUMNS)]) for tip in content.tips),
        ),
    ]
    data = pages.build(tables, application_id=FROZEN_ID, user_version=1000)
    path = folder / "old.akb"
    path.write_bytes(data)
    manifest = {
        "format": "sitelore frozen knowledge base",
        "schema": "1.0",
        "file": {"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()},
        "content_sha256": content.sha256,
        "counts": {},
        "tips": {},
    }
    manifest_path(path).write_bytes(to_bytes(manifest))
    return path


def test_a_frozen_file_of_layout_1_reads_and_verifies_with_its_digest_unchanged(tmp_path: Path):
    path = old_frozen(tmp_path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == OLD_FILE
    report = verify(path)
    assert (report.ok, report.tips, report.problems) == (True, 2, ())
    with open_any(path) as base:
        assert [tip.procedure for tip in base.tips()] == [None, None]
        assert [tip.text for tip in base.tips("gitlab")] == [DRAFTS[0].text]
    with KnowledgeBase.open(tmp_path / "mine.akb") as mine, open_any(path) as base:
        assert len(merge(mine, base).added) == 2


def test_a_frozen_file_keeps_the_steps_of_an_older_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with KnowledgeBase.open(tmp_path / "live.akb") as kb:
        kb.add(replace(DRAFTS[1], text='Press "Save"'))
        freeze(kb, tmp_path / "a.akb")
        monkeypatch.setattr(compiler, "VERSION", compiler.VERSION + 1)
        assert verify(tmp_path / "a.akb").ok
        with FrozenKnowledgeBase.open(tmp_path / "a.akb") as frozen:
            freeze(frozen, tmp_path / "b.akb")
            assert (tmp_path / "b.akb").read_bytes() == (tmp_path / "a.akb").read_bytes()


def test_the_record_of_a_tip_is_frozen_with_it():
    tip = Tip(
        id="x-1", site="x", text="Press Save", record=TipRecord(applied=4, done=3, effect=2, up=1, broke=1)
    )
    content = image.Content.of([tip], {})
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.deserialize(image.build(content))
        again = image.read(connection)
    assert [one.record for one in again.tips] == [tip.record]
    assert again.sha256 == content.sha256
    assert image.Content.of([replace(tip, record=TipRecord())], {}).sha256 != content.sha256


def test_hostile_steps_in_a_frozen_file_are_a_bad_file(tmp_path: Path):
    for number, procedure in enumerate(["[" * 100_000, "[]", '{"steps": 1}', "x"]):
        row = ("x-1", *to_row(clean(TipDraft(site="x", text="t")))[:-2], procedure, "", "")
        columns = ("id", *FIRST_COLUMNS, "procedure", "anchor", "record")
        data = pages.build(
            [
                pages.Table("meta", ("key", "value"), [("content_sha256", "0")]),
                pages.Table("site_host", ("site", "hosts"), []),
                pages.Table("tip", columns, [row]),
            ],
            application_id=FROZEN_ID,
            user_version=image.VERSION,
        )
        path = tmp_path / f"{number}.akb"
        path.write_bytes(data)
        with pytest.raises(BadFile, match="changed or damaged"):
            open_any(path)


def test_compiled_steps_leave_a_tips_content_key_as_it_was():
    """The key is the one of the layouts before steps; corrected steps and an anchor are content."""
    draft = TipDraft(site="x", text="t", when="w", do='Press "Save"', before="b", why="y", keywords=("k",))
    said = ["x", "", "", [], "operation", "t", "w", 'Press "Save"', "b", "y", ["k"]]
    old = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
    assert content_key(draft) == content_key(clean(draft)) == hashlib.sha256(old).hexdigest()
