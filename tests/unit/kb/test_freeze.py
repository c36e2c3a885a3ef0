"""The same tips give the same bytes everywhere; any changed bit is found; frozen is frozen."""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb import image, pages
from kb.compiler import procedure_of
from kb.errors import BadFile, Frozen, KbError, NoSuchTip
from kb.freeze import diff, freeze, open_any, refuse_changed, verify
from kb.frozen import FrozenKnowledgeBase
from kb.manifest import manifest_path, read_manifest, to_bytes, waiting_path
from kb.merge import merge
from kb.retrieval import Retriever
from kb.store import KnowledgeBase
from kb.tip import Kind, Provenance, Query, Scope, Status, Tip, TipDraft
from tests.support.laws import examples

ROOT = Path(__file__).parents[3]
DRAFTS = [
    TipDraft(
        site="gitlab",
        text="Open issues stand under {WA_GITLAB}/dashboard/issues — “To-Do” is another list.",
        scope=Scope(path="/dashboard/**", query=("state=opened",)),
        kind=Kind.NAVIGATION,
        keywords=("issues", "to-do"),
        status=Status.ACTIVE,
        taint=("webarena.44",),
        provenance=Provenance(run="r1", step=4),
    ),
    TipDraft(site="shopping", text="Hover the category; a click leaves the page.", status=Status.ACTIVE),
    TipDraft(site="shopping", text="Not looked at yet."),
    TipDraft(site="shopping", text="Doubtful.", status=Status.SUSPECT),
]


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        for draft in DRAFTS:
            kb.add(draft)
        kb.set_hosts("gitlab", ["*:8023"])
        kb.set_hosts("reddit", ["*:9999"])
        yield kb


@pytest.fixture
def frozen(kb: KnowledgeBase, tmp_path: Path) -> Path:
    out = tmp_path / "frozen.akb"
    freeze(kb, out, encoder=("minilm", "cafe"))
    return out


def bare(tip: Tip) -> Tip:
    """A tip without what stands in the manifest."""
    provenance = replace(tip.provenance, author="", source="")
    return replace(tip, provenance=provenance, revision=1, created_at=0.0, changed_at=0.0)


def test_active_tips_are_frozen_and_the_rest_is_counted(kb: KnowledgeBase, tmp_path: Path):
    report = freeze(kb, tmp_path / "a.akb")
    assert (report.tips, report.left_out, report.tainted_tasks) == (2, {"draft": 1, "suspect": 1}, 1)
    assert report.sha256 == hashlib.sha256((tmp_path / "a.akb").read_bytes()).hexdigest()
    assert freeze(kb, tmp_path / "b.akb", include=[Status.SUSPECT]).tips == 3


def test_the_bytes_are_these_on_every_machine_and_with_every_sqlite(kb: KnowledgeBase, tmp_path: Path):
    expected = "ee97a7d75ede1ef6e28e4c8e20338ea78ca465c098be3b6a30500ca424d652c2"
    assert freeze(kb, tmp_path / "a.akb").sha256 == expected


def test_order_authors_times_edits_and_file_names_leave_no_trace(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    with KnowledgeBase.open(tmp_path / "other.akb", author="bob", clock=lambda: 7.0) as other:
        other.set_hosts("gitlab", ["*:8023"])
        drafts = [replace(d, provenance=replace(d.provenance, source="tips.csv")) for d in reversed(DRAFTS)]
        for tip in other.add_many(drafts):
            other.edit(tip.id, replace(tip, why="a detour"))
            other.edit(tip.id, replace(tip, why=""))
        freeze(other, tmp_path / "b.akb")
    assert (tmp_path / "b.akb").read_bytes() == frozen.read_bytes()


def test_the_frozen_file_holds_nothing_of_the_machine_or_the_moment(frozen: Path):
    raw = frozen.read_bytes()
    for trace in (b"ada", b"knowledge.akb", str(frozen.parent).encode(), sqlite3.sqlite_version.encode()):
        assert trace not in raw
    assert raw[24:28] == raw[92:96] == b"\0\0\0\1"
    assert frozen.stat().st_mode & 0o777 == 0o444
    assert {path.name for path in frozen.parent.iterdir() if "frozen" in path.name} == {
        "frozen.akb",
        "frozen.akb.manifest.json",
    }


def test_the_manifest_tells_what_the_file_may_not(kb: KnowledgeBase, frozen: Path):
    manifest = json.loads(manifest_path(frozen).read_text())
    gitlab = kb.tips("gitlab")[0]
    assert manifest["schema"] == "2.0"
    assert manifest["counts"]["by_site"] == {"gitlab": 1, "shopping": 1}
    assert manifest["counts"]["by_kind"] == {"navigation": 1, "operation": 1}
    assert manifest["counts"]["left_out"] == {"draft": 1, "suspect": 1}
    assert manifest["encoder"] == {"id": "minilm", "sha256": "cafe"}
    assert manifest["taint"] == {"tasks": ["webarena.44"], "tips": 1}
    assert manifest["tips"][gitlab.id] == {
        "author": "ada",
        "source": "",
        "revision": 1,
        "created_at": gitlab.created_at,
        "changed_at": gitlab.changed_at,
    }


def test_a_tip_with_lint_errors_is_left_out_unless_waived_with_a_reason(kb: KnowledgeBase, tmp_path: Path):
    tip = kb.tips("gitlab")[0]
    errors = {tip.id: ["names the benchmark"]}
    report = freeze(kb, tmp_path / "a.akb", lint_errors=errors)
    assert (report.tips, report.left_out["lint errors"]) == (1, 1)
    assert report.lint_errors == (f"{tip.id}: names the benchmark",)

    report = freeze(kb, tmp_path / "b.akb", lint_errors=errors, waive={tip.id: "it is a placeholder"})
    assert (report.tips, report.lint_errors) == (2, ())
    waived = json.loads(Path(report.manifest).read_text())["lint"]["waived"]
    assert waived == {tip.id: {"reason": "it is a placeholder", "errors": ["names the benchmark"]}}
    with pytest.raises(KbError, match="only be waived with a reason"):
        freeze(kb, tmp_path / "c.akb", lint_errors=errors, waive={tip.id: " "})
    with pytest.raises(NoSuchTip):
        freeze(kb, tmp_path / "c.akb", waive={"nowhere": "because"})


_words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)


@settings(
    deadline=None, max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(_words, max_size=6, unique=True), long=st.integers(0, 20_000))
def test_what_is_frozen_is_read_back_and_gives_the_same_bytes_again(
    tmp_path: Path, texts: list[str], long: int
):
    tips = [
        Tip(id=f"x-{n}", site="x", text=text, why="y" * long if n == 0 else "")
        for n, text in enumerate(texts)
    ]
    content = image.Content.of(random.sample(tips, len(tips)), {"x": ("*:1",), "other": ()})
    data = image.build(content)
    path = tmp_path / "f.akb"
    path.write_bytes(data)
    with open_any(path) as frozen:
        assert frozen.tips() == [replace(tip, procedure=procedure_of(tip)) for tip in tips]
        again = image.Content.of(frozen.tips(), frozen.hosts())
    assert image.build(again) == data


def test_a_frozen_base_reads_like_the_live_one(kb: KnowledgeBase, frozen: Path):
    live = [bare(tip) for tip in kb.tips(statuses={Status.ACTIVE})]
    with open_any(frozen) as other:
        assert isinstance(other, FrozenKnowledgeBase)
        assert other.tips() == live
        assert other.tips(site="gitlab", search="ISSUES") == [other.get(live[0].id)]
        assert other.hosts() == {"gitlab": ("*:8023",)}
        stats = other.stats()
        assert (stats.tips, stats.frozen, stats.encoder) == (2, True, "minilm")
        other.vectors.put_many("minilm", {"a": b"1"})
        assert other.vectors.get_many("minilm", ["a", "b"]) == {"a": b"1"}
        with pytest.raises(NoSuchTip):
            other.get("nowhere")


@pytest.mark.parametrize(
    "act", ["add", "edit", "set_status", "restore_revision", "undo", "redo", "set_hosts", "add_evidence"]
)
def test_nothing_in_a_frozen_base_can_be_changed(frozen: Path, act: str):
    with open_any(frozen) as other, pytest.raises(Frozen, match="change the live one"):
        getattr(other, act)("x", "y")


_vocabulary = ["menu", "hover", "issue", "order", "category", "list", "To-Do", "export"]
_phrases = st.lists(st.sampled_from(_vocabulary), min_size=1, max_size=6).map(" ".join)
_paths = st.lists(st.sampled_from(["dashboard", "issues", "catalog", "1"]), max_size=3).map("/".join)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), tips=st.lists(st.tuples(_phrases, _paths, st.sampled_from(Status)), max_size=8))
def test_a_frozen_file_is_retrieved_from_like_the_live_one(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, tips: list[tuple[str, str, Status]]
):
    folder = tmp_path_factory.mktemp("kb")
    with KnowledgeBase.open(folder / "live.akb", author="ada") as live:
        live.set_hosts("gitlab", ["*:8023"])
        live.add_many(
            TipDraft(site="gitlab", text=text, scope=Scope(path=f"/{path}/**" if path else ""), status=status)
            for text, path, status in tips
        )
        freeze(live, folder / "frozen.akb")
        active = Retriever(live.tips(statuses={Status.ACTIVE}), live.hosts())
    with open_any(folder / "frozen.akb") as base:
        frozen = Retriever(base.tips(), base.hosts())
    for _ in range(5):
        query = Query(url=f"http://host:8023/{data.draw(_paths)}", text=data.draw(_phrases))
        expected, answer = active.retrieve(query), frozen.retrieve(query)
        assert [(r.tip.id, r.route, r.score, r.why) for r in answer.results] == [
            (r.tip.id, r.route, r.score, r.why) for r in expected.results
        ]


def test_a_frozen_file_is_not_opened_as_a_live_one(frozen: Path):
    before = frozen.read_bytes()
    frozen.chmod(0o644)
    with pytest.raises(Frozen):
        KnowledgeBase.open(frozen)
    assert frozen.read_bytes() == before


def test_a_whole_file_verifies(frozen: Path):
    report = verify(frozen)
    assert (report.ok, report.tips, report.problems) == (True, 2, ())


def test_any_byte_that_differs_is_found(frozen: Path):
    data = frozen.read_bytes()
    frozen.chmod(0o644)
    with frozen.open("r+b", buffering=0) as file:
        for offset in [*range(100), *range(100, len(data), 11)]:
            file.seek(offset)
            file.write(bytes([data[offset] ^ (1 << offset % 8)]))
            assert not verify(frozen).ok, offset
            file.seek(offset)
            file.write(data[offset : offset + 1])
    assert verify(frozen).ok


def test_any_byte_of_the_manifest_that_differs_is_found(frozen: Path):
    path = manifest_path(frozen)
    data = path.read_bytes()
    for offset in range(0, len(data), 3):
        changed = bytearray(data)
        changed[offset] ^= 1 << offset % 8
        path.write_bytes(changed)
        report = verify(frozen)
        assert not report.ok, offset
        assert "was changed" in report.problems[0]


def test_a_manifest_that_vouches_for_another_file_is_found_out_by_the_tips_it_was_written_for(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    """Whoever swaps the file can seal its hash into the manifest anew; the tips are still not those it tells of."""
    other = tmp_path / "other.akb"
    freeze(kb, other, lint_errors={kb.tips("gitlab")[0].id: ["left out"]})
    data = other.read_bytes()
    told = json.loads(manifest_path(frozen).read_bytes())
    told["file"] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    frozen.chmod(0o644)
    frozen.write_bytes(data)
    manifest_path(frozen).write_bytes(to_bytes(told))
    report = verify(frozen)
    assert report.problems == ("the tips are not those the manifest was written for",)
    assert not report.ok


@settings(
    deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_changed_file_without_its_manifest_is_never_read_as_something_else(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path, data: st.DataObject
):
    """Without a manifest the hash within still guards what the tips say: the same tips, or an error."""
    raw = bytearray(frozen.read_bytes())
    with open_any(frozen) as whole:
        tips = whole.tips()
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path / "changed.akb"
    path.write_bytes(raw)
    try:
        with open_any(path) as changed:
            assert changed.tips() == tips
    except (BadFile, Frozen):
        pass
    report = verify(path)
    assert not report.ok
    assert "is missing" in report.problems[0]


def test_a_missing_or_foreign_manifest_is_told(kb: KnowledgeBase, frozen: Path, tmp_path: Path):
    other = tmp_path / "other.akb"
    freeze(kb, other, include=[Status.SUSPECT])
    shutil.copy(manifest_path(other), manifest_path(frozen))
    assert "not the one the manifest was written for" in verify(frozen).problems[0]
    manifest_path(frozen).unlink()
    assert verify(frozen).problems == ("the manifest frozen.akb.manifest.json is missing",)


def test_any_changed_bit_is_refused_before_the_file_is_used(frozen: Path, tmp_path: Path):
    raw = frozen.read_bytes()
    copy = tmp_path / "copy.akb"
    shutil.copy(manifest_path(frozen), manifest_path(copy))
    copy.write_bytes(raw)
    assert refuse_changed(copy) == ""
    for at in range(0, len(raw), 501):
        copy.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(
            BadFile, match=r"copy\.akb: the file is not the one its manifest .*kb verify"
        ) as told:
            refuse_changed(copy)
        assert "\n" not in str(told.value)
    copy.write_bytes(raw)
    assert refuse_changed(copy) == ""


def test_any_byte_of_a_file_without_a_manifest_that_differs_is_refused_or_changes_nothing(frozen: Path):
    """Also where SQLite hands on text that is none, as from a damaged list of tables."""
    data = frozen.read_bytes()
    with open_any(frozen) as whole:
        tips = whole.tips()
    frozen.chmod(0o644)
    with frozen.open("r+b", buffering=0) as file:
        for offset in range(100, len(data), 23):
            for changed in (data[offset] ^ (1 << offset % 8), 0xCC):
                file.seek(offset)
                file.write(bytes([changed]))
                with suppress(BadFile), FrozenKnowledgeBase.open(frozen) as found:
                    assert found.tips() == tips
            file.seek(offset)
            file.write(data[offset : offset + 1])


def test_a_changed_manifest_is_refused_and_a_missing_one_is_noted(kb: KnowledgeBase, frozen: Path):
    manifest = manifest_path(frozen)
    data = manifest.read_bytes()
    manifest.write_bytes(data.replace(b"minilm", b"minilx"))
    with pytest.raises(BadFile, match="was changed since it was written"):
        refuse_changed(frozen)
    manifest.replace(waiting_path(frozen))
    waiting_path(frozen).write_bytes(data)
    assert refuse_changed(frozen) == "", "a manifest that waits for this file counts"
    manifest_path(frozen).unlink()
    assert refuse_changed(frozen).startswith("frozen.akb has no manifest beside it")
    assert refuse_changed(kb.path) == "", "a live knowledge base has none"
    assert refuse_changed(frozen.parent) == refuse_changed(Path("/")) == "", "opening says what is wrong"


def test_a_file_is_hashed_once_until_it_changes(frozen: Path, monkeypatch):
    read: list[Path] = []
    monkeypatch.setattr("kb.freeze.read_manifest", lambda path: read.append(path) or read_manifest(path))
    refuse_changed(frozen)
    refuse_changed(frozen)
    assert read == [frozen]
    os.utime(frozen, ns=(1, 1))
    refuse_changed(frozen)
    assert read == [frozen, frozen]


@pytest.mark.parametrize(("where", "tips"), [(b"Hover", 0), (b"", 2)])
def test_the_tips_that_can_be_read_are_counted_though_the_file_was_changed(
    frozen: Path, where: bytes, tips: int
):
    """A changed page header's reserved bytes leave the tips readable; a changed text does not."""
    raw = bytearray(frozen.read_bytes())
    raw[raw.index(where) if where else 95] ^= 1  # 92 to 99: the program that wrote the file
    frozen.chmod(0o644)
    frozen.write_bytes(raw)
    report = verify(frozen)
    assert (report.ok, report.tips) == (False, tips)


def test_a_file_that_ends_early_is_found(frozen: Path):
    data = frozen.read_bytes()
    frozen.chmod(0o644)
    for end in (0, 50, 100, 4096, len(data) - 1):
        frozen.write_bytes(data[:end])
        assert not verify(frozen).ok


def test_a_newer_major_is_refused_and_a_newer_minor_read(frozen: Path):
    frozen.chmod(0o644)
    raw = bytearray(frozen.read_bytes())
    manifest = json.loads(manifest_path(frozen).read_text())

    def stamp(version: int) -> None:
        raw[60:64] = version.to_bytes(4, "big")
        frozen.write_bytes(raw)
        manifest["file"]["sha256"] = hashlib.sha256(raw).hexdigest()
        manifest_path(frozen).write_bytes(to_bytes(manifest))

    stamp(3000)
    with pytest.raises(BadFile, match=r"made by a newer version of this program \(frozen format 3\.0"):
        open_any(frozen)
    assert "made by a newer version" in verify(frozen).problems[0]
    stamp(2001)
    assert verify(frozen).ok


def test_what_is_no_frozen_file_is_named(kb: KnowledgeBase, tmp_path: Path):
    assert "not a frozen knowledge base" in " ".join(verify(kb.path).problems)
    (tmp_path / "text.akb").write_text("hello")
    with pytest.raises(BadFile, match="not a frozen knowledge base"):
        FrozenKnowledgeBase.open(tmp_path / "text.akb")
    with pytest.raises(BadFile, match="No such file"):
        verify(tmp_path / "none.akb")


def test_freezing_replaces_a_frozen_file_and_nothing_else(kb: KnowledgeBase, frozen: Path, tmp_path: Path):
    freeze(kb, frozen, include=[Status.SUSPECT])
    assert verify(frozen).tips == 3
    with pytest.raises(BadFile, match="not a frozen knowledge base; choose another name"):
        freeze(kb, kb.path)
    with pytest.raises(BadFile, match="there is no folder"):
        freeze(kb, tmp_path / "none" / "f.akb")
    with pytest.raises(BadFile, match="another kind of file"):
        freeze(kb, tmp_path)


def test_a_freeze_that_ended_between_file_and_manifest_is_completed(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    newer = tmp_path / "newer.akb"
    freeze(kb, newer, include=[Status.SUSPECT])
    manifest_path(newer).replace(waiting_path(frozen))
    assert verify(frozen).ok, "a manifest that waits for another file doesn't count"
    newer.replace(frozen)
    assert verify(frozen).ok
    assert not waiting_path(frozen).exists()
    assert verify(frozen).tips == 3


_FREEZE_FOR_EVER = """
import sys
from kb.freeze import freeze
from kb.store import KnowledgeBase
from kb.tip import Status
with KnowledgeBase.open(sys.argv[1], author="ada") as kb:
    print("ready", flush=True)
    while True:
        for include in ([], [Status.SUSPECT], [Status.DRAFT, Status.SUSPECT]):
            freeze(kb, sys.argv[2], include=include)
"""


def test_a_freeze_that_is_killed_at_any_moment_leaves_a_whole_file(kb: KnowledgeBase, tmp_path: Path):
    out, chance = tmp_path / "killed.akb", random.Random(2)
    seen = set[int]()
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", _FREEZE_FOR_EVER, str(kb.path), str(out)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        ) as process:
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(timeout=chance.uniform(0.001, 0.08))
            except subprocess.TimeoutExpired:
                process.kill()
        if out.exists():
            report = verify(out)
            assert report.ok, report.problems
            seen.add(report.tips)
    assert seen <= {2, 3, 4}
    assert seen


def test_diff_tells_what_was_added_removed_and_changed(kb: KnowledgeBase, frozen: Path):
    gitlab, hover = kb.tips("gitlab")[0], kb.tips(search="hover")[0]
    with open_any(frozen) as old:
        assert diff(old, old).changed == ()
        kb.edit(gitlab.id, replace(gitlab, why="because"))
        later = diff(old, kb)
        assert [tip.text for tip in later.added] == [
            t.text for t in kb.tips() if t.status is not Status.ACTIVE
        ]
        assert later.removed == ()
        assert [(a.id, a.why, b.why) for a, b in later.changed] == [(gitlab.id, "", "because")]
        assert [tip.id for tip in diff(kb, old).removed] == [tip.id for tip in later.added]
        assert hover.id not in {a.id for a, _ in later.changed}


def test_merged_tips_are_drafts_and_merging_twice_adds_nothing(
    kb: KnowledgeBase, frozen: Path, tmp_path: Path
):
    with KnowledgeBase.open(tmp_path / "mine.akb", author="bob") as mine, open_any(frozen) as other:
        mine.add(replace(DRAFTS[1], status=Status.ACTIVE))
        report = merge(mine, other)
        assert (len(report.added), report.skipped) == (1, 1)
        tip = mine.get(report.added[0])
        assert (tip.status, tip.provenance.source) == (Status.DRAFT, "frozen.akb")
        assert tip.id == kb.tips("gitlab")[0].id
        assert mine.hosts() == {"gitlab": ("*:8023",)}
        assert merge(mine, other).added == ()
        assert mine.undo().label == "merge frozen.akb"
        assert len(mine.tips()) == 1


def test_a_tip_of_the_same_id_that_says_something_else_comes_beside(kb: KnowledgeBase, tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "mine.akb") as mine:
        ours = mine.add(DRAFTS[1])
        theirs = kb.tips(search="hover")[0]
        kb.edit(theirs.id, replace(theirs, why="the menu is nested"))
        assert theirs.id == ours.id
        with open_any(kb.path) as other:
            report = merge(mine, other)
        assert f"{ours.id}-2" in report.added
        assert mine.get(ours.id).why == ""


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 9000), st.sampled_from(["a", "é", "🛒"])), max_size=30))
def test_a_file_built_page_by_page_is_whole_to_sqlite(sizes: list[tuple[int, str]]):
    rows = [(str(n), character * size) for n, (size, character) in enumerate(sizes)]
    check_pages(rows)


@pytest.mark.parametrize(
    "near", [*range(484, 494), *range(4055, 4066), *range(4575, 4590), *range(8140, 8165)]
)
def test_rows_of_a_size_at_which_the_page_layout_changes_are_whole(near: int):
    check_pages([(str(n), "x" * (near - n)) for n in range(4)])


@pytest.mark.parametrize("count", [0, 1, 255 * 20, 257 * 25, 30_000])
def test_tables_of_one_two_and_three_levels_are_whole(count: int):
    check_pages([(str(n), "x" * 200) for n in range(count)])


def check_pages(rows: list[tuple[str, str]]) -> None:
    data = pages.build(
        [pages.Table("other", ("key",), [("x",)]), pages.Table("t", ("id", "do"), rows)],
        application_id=5,
        user_version=7,
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT * FROM t ORDER BY rowid").fetchall() == rows
        assert connection.execute("SELECT * FROM other").fetchall() == [("x",)]
        assert connection.execute("PRAGMA user_version").fetchone() == (7,)
