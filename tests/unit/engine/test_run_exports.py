"""Runs exported for people: whole or not at all, without secrets, nothing active, of bounded size."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from app.engine.api.export_api import RunExportReport
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import MARK
from app.engine.core.trajectory import ErrorClass, Run, Step
from app.engine.core.verdicts import Flag, Label, Severity, Verdict
from app.engine.engine import Engine
from app.engine.exports import EXPORTS, animation, html_page
from app.engine.exports.page_pictures import inline_pictures
from app.engine.exports.pictures import open_picture
from app.engine.exports.redacted_source import redacted
from app.engine.exports.run_export import ExportSource, RunExport
from app.engine.services.run_exports import write_whole
from app.errors import Conflict, InputError, NotFound
from kb.tip import Provenance, Tip
from tests.support.runs import make_run, make_step

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
TREE = "RootWebArea 'Shop'\n\t[12] button 'Save <b>now</b>'\n\t[13] textbox 'password: hunter22'"


def picture(width: int = 200, height: int = 120, shade: int = 90, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.effect_noise((width, height), shade).convert("RGB").save(out, kind)
    return out.getvalue()


def source(
    steps: list[Step], run: Run | None = None, blobs: dict[str, bytes] | None = None, **more: object
) -> ExportSource:
    contents = {"tree": TREE.encode(), "p1": picture(), "p2": picture(220, 900, 60), **(blobs or {})}

    def read(digest: str) -> bytes:
        if digest not in contents:
            raise NotFound(digest)
        return contents[digest]

    return ExportSource(run=run or make_run(), steps=tuple(steps), read_blob=read, **more)  # type: ignore[arg-type]


def page_of(given: ExportSource, tmp_path: Path) -> str:
    path = tmp_path / "run.html"
    html_page.write(given, path)
    return path.read_text("utf-8")


# ------------------------------------------------------------ the page
def test_texts_of_pages_and_models_are_never_active_in_the_page(tmp_path: Path) -> None:
    steps = [
        make_step(
            0,
            url=f"https://shop.example/{HOSTILE}",
            title=HOSTILE,
            reason=HOSTILE,
            error=f"{HOSTILE}\n{HOSTILE}",
            error_class=ErrorClass.HARD,
            output=HOSTILE,
            tree="tree",
            target=ActionTarget(role="button", name=HOSTILE, bid="12"),
            tips=("t1",),
        )
    ]
    run = make_run(
        intent=HOSTILE, answer=HOSTILE, error=HOSTILE, notes=(HOSTILE,), model=HOSTILE, final=steps[0]
    )
    flag = Flag(run=run.id, detector="x", step=0, severity=Severity.ERROR, confidence=1, message=HOSTILE)
    verdict = Verdict(id="v", run=run.id, label=Label.LOOP, step=0, note=HOSTILE, author=HOSTILE)
    tip = Tip(id="t1", site="shop", text=HOSTILE, provenance=Provenance(run=run.id))
    text = page_of(source(steps, run, flags=[flag], verdicts=[verdict], tips={"t1": tip}), tmp_path)
    assert text.count("<script") == 1
    assert not re.search(r"<[^>]*onerror", text)
    assert "alert(1)</script>" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 10
    assert not re.search(r"""<[^>]*\s(?:src|href)=["']?(?!["']?(?:data:|#))""", text)
    assert "default-src 'none'" in text


def test_a_page_tells_the_run_its_flags_verdicts_and_tips(tmp_path: Path) -> None:
    steps = [
        make_step(0, screenshot="p1", target_box=(10, 10, 40, 20), tips=("t1",)),
        make_step(
            1, screenshot="p1", target_box=(10, 10, 40, 20), error="It failed.", error_class=ErrorClass.HARD
        ),
        make_step(2, tree="tree"),
    ]
    run = make_run(final=Step(index=3, url="https://shop.example/end", title="The end", screenshot="p2"))
    given = source(
        steps,
        run,
        flags=[
            Flag(
                run="r",
                detector="no-effect",
                step=1,
                severity=Severity.HINT,
                confidence=1,
                message="Nothing.",
            )
        ],
        verdicts=[
            Verdict(id="v", run="r", label=Label.WRONG_ELEMENT, step=1, note="The wrong one.", author="ana")
        ],
        tips={"t1": Tip(id="t1", site="shop", text="Press Save twice.")},
    )
    text = page_of(given, tmp_path)
    for said in (
        "Find the thing", "score 0", "click button &#x27;Save&#x27;", "It failed.", "Nothing.", "The wrong one.",
        "wrong element", "Press Save twice.", "1 tip in force", "The end", "The page looked as at",
        "I look for the thing on page 2.", "A part of a long page.",
    ):  # fmt: skip
        assert said in text, said
    assert text.count('class="box"') == 1
    assert "<mark>  [12] button &#x27;Save &lt;b&gt;now" in text


def test_right_to_left_and_broken_text_is_written(tmp_path: Path) -> None:
    text = page_of(source([make_step(0, reason="اضغط حفظ \ud800 \u202e")]), tmp_path)
    assert "اضغط حفظ" in text
    assert 'dir="auto"' in text


@pytest.mark.parametrize("bad", [b"", b"no picture", picture()[:200], b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_a_picture_that_cannot_be_read_is_left_out_with_a_sentence(bad: bytes, tmp_path: Path) -> None:
    given = source([make_step(0, screenshot="bad"), make_step(1, screenshot="p1")], blobs={"bad": bad})
    path = tmp_path / "run.html"
    assert "1 of 2 pictures can't be read." in html_page.write(given, path)
    assert path.read_text().count("<img") == 1


def test_a_decompression_bomb_is_no_picture() -> None:
    out = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    assert open_picture(out.getvalue()) is None


def test_too_many_pictures_are_made_smaller_then_left_out_the_flagged_ones_last() -> None:
    blobs = {f"n{number}": picture(900, 600, 120 + number) for number in range(9)}
    steps = [make_step(number, screenshot=f"n{number}") for number in range(9)]
    whole, said = inline_pictures(source(steps, blobs=blobs), steps, ())
    assert (len(whole), said) == (9, [])
    size = sum(len(one.address) for one in whole.values())
    smaller, said = inline_pictures(source(steps, blobs=blobs), steps, (), limit=int(size * 0.8))
    assert len(smaller) == 9
    assert any("made smaller" in sentence for sentence in said)
    few, said = inline_pictures(source(steps, blobs=blobs), steps, {4}, limit=size // 8)
    assert {0, 4, 8} >= set(few) or 4 in few
    assert sum(len(one.address) for one in few.values()) <= size // 8
    assert any("left out" in sentence for sentence in said)


# ------------------------------------------------------------ secrets
def test_what_is_exported_has_no_secret_and_no_exchange(tmp_path: Path) -> None:
    typed = RecordedAction(kind="fill", args={"bid": "9", "value": "s3cret-word"})
    steps = [
        make_step(
            0,
            url="https://ana:pw12@shop.example/?token=abcdef123456",
            action=typed,
            target=ActionTarget(role="textbox", name="Password", bid="9"),
            reason="I type s3cret-word.",
            tree="tree",
            calls=("exchange",),
        ),
        make_step(1, error="s3cret-word was wrong"),
    ]
    run = make_run(
        intent="Log in with password: s3cret-word",
        calls=("exchange",),
        evidence="har",
        source_path="/home/ana",
    )
    given = source(steps, run, {"exchange": b"prompt", "har": b"cookie"})
    clean = redacted(given)
    for digest in ("exchange", "har"):
        with pytest.raises(NotFound):
            clean.read_blob(digest)
    assert (clean.run.calls, clean.run.evidence, clean.run.source_path, clean.steps[0].calls) == (
        (),
        "",
        "",
        (),
    )
    assert b"hunter22" not in clean.read_blob("tree")
    text = page_of(clean, tmp_path)
    for secret in ("s3cret-word", "pw12", "abcdef123456", "hunter22"):
        assert secret not in text, secret
    assert MARK in text


# ------------------------------------------------------------ animation
def test_an_animation_has_a_frame_for_each_picture_and_the_last_stays_longest(tmp_path: Path) -> None:
    steps = [
        make_step(0, screenshot="p1", target_box=(10.0, 10.0, 40.0, 20.0)),
        make_step(1, screenshot="p2", target_box=(10.0, 800.0, 5000.0, 9000.0)),
        make_step(2),
    ]
    run = make_run(final=Step(index=3, url="", title="End", screenshot="p1"))
    said = animation.write(source(steps, run), tmp_path / "run.gif")
    assert said == ["1 step without a picture is not shown."]
    with Image.open(tmp_path / "run.gif") as opened:
        assert opened.n_frames == 3
        assert opened.width <= 960
        opened.seek(2)
        assert opened.info["duration"] > 3000


def test_a_run_without_pictures_is_no_animation(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pictures"):
        write_whole(EXPORTS["gif"], source([make_step(0)]), tmp_path / "run.gif")
    assert list(tmp_path.iterdir()) == []


def test_of_a_long_run_steps_are_left_out_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "MAX_FRAMES", 4)
    blobs = {f"n{number}": picture(200, 100, 40 + 9 * number) for number in range(12)}
    steps = [make_step(number, screenshot=f"n{number}") for number in range(12)]
    said = animation.write(source(steps, blobs=blobs), tmp_path / "run.gif")
    assert said == ["8 of 12 steps were left out."]
    with Image.open(tmp_path / "run.gif") as opened:
        assert opened.n_frames == 4


# ------------------------------------------------------------ files
def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def failing(_source: ExportSource, path: Path) -> list[str]:
        path.mkdir()
        (path / "half").write_text("x")
        raise InputError("it can't be held")

    form = RunExport(name="x", title="X", suffix="", write=failing)
    with pytest.raises(InputError):
        write_whole(form, source([]), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
async def engine(tmp_path: Path):
    opened = await Engine.open(tmp_path / "workspace", "ana")
    for name in ("run-1", "run-2"):
        run = make_run(name, step_count=1, content_hash=name)
        await opened._core.on_store(
            opened._core.workspace.runs.add,
            run,
            [make_step(0, screenshot="" if name == "run-2" else "00" * 32)],
            {},
        )
    await opened.rebuild_index()
    yield opened
    await opened.aclose()


async def test_one_run_becomes_the_named_file_and_several_become_files_in_a_folder(
    engine: Engine, tmp_path: Path
) -> None:
    report = await engine.export_runs(["run-1"], str(tmp_path / "one.html"), "html")
    assert report.paths == (str(tmp_path / "one.html"),)
    assert report.left_out
    report = await engine.export_runs(["run-1", "run-2"], str(tmp_path / "all"), "html")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["run-1.html", "run-2.html"]
    (tmp_path / "there").mkdir()
    report = await engine.export_runs(["run-2"], str(tmp_path / "there"), "html")
    assert report.paths == (str(tmp_path / "there" / "run-2.html"),)
    report = await engine.export_runs(["run-1", "run-2"], str(tmp_path / "native"))
    assert sorted(path.name for path in (tmp_path / "native").iterdir()) == ["run-1", "run-2"]


async def test_what_is_there_stays_and_nothing_new_is_written_beside_it(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "run-2.html").write_text("mine")
    with pytest.raises(Conflict, match=r"run-2\.html is there already"):
        await engine.export_runs(["run-1", "run-2"], str(tmp_path / "all"), "html")
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["run-2.html"]
    assert (tmp_path / "all" / "run-2.html").read_text() == "mine"


async def test_runs_that_a_format_cannot_hold_are_named_and_the_others_written(
    engine: Engine, tmp_path: Path
) -> None:
    report = await engine.export_runs(["run-1", "run-2"], str(tmp_path / "gifs"), "gif")
    assert [one.path for one in report.failed] == ["run-1", "run-2"]
    assert report.paths == ()
    with pytest.raises(InputError, match="no pictures"):
        await engine.export_runs(["run-2"], str(tmp_path / "run.gif"), "gif")


async def test_unknown_formats_and_runs_are_refused(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)'pdf'.*native"):
        await engine.export_runs(["run-1"], str(tmp_path / "x"), "pdf")
    with pytest.raises(NotFound):
        await engine.export_runs(["run-1", "gone"], str(tmp_path / "x"), "html")
    with pytest.raises(InputError, match="no run was named"):
        await engine.export_runs([], str(tmp_path / "x"), "html")
    assert not (tmp_path / "x").exists()


async def test_an_export_that_is_cancelled_keeps_whole_files(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = EXPORTS["html"].write

    def cancelling(given: ExportSource, path: Path) -> list[str]:
        for job in engine._core.registry.jobs:
            job.request_cancel()
        return first(given, path)

    monkeypatch.setitem(EXPORTS, "html", replace(EXPORTS["html"], write=cancelling))
    report = await engine.export_runs(["run-1", "run-2"], str(tmp_path / "all"), "html")
    assert report == RunExportReport(
        paths=(str(tmp_path / "all" / "run-1.html"),), left_out=report.left_out, cancelled=True
    )
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["run-1.html"]


async def test_verdicts_of_a_blind_run_and_confidential_tips_stay_behind(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.give_verdict("run-1", Label.LOOP, note="Round and round.")
    path = tmp_path / "open.html"
    await engine.export_runs(["run-1"], str(path), "html")
    assert "Round and round." in path.read_text()
    monkeypatch.setattr(engine._core.workspace.annotators, "is_blind", lambda _run, _author: True)
    path = tmp_path / "blind.html"
    await engine.export_runs(["run-1"], str(path), "html")
    assert "Round and round." not in path.read_text()
