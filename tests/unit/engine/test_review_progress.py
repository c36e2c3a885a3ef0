"""The progress of the review, and its page for print."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from app.engine.api.review_api import AssignmentRequest, ProgressRow, ReviewProgress, TipOpportunity
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label, Verdict
from app.engine.engine import Engine
from app.engine.evaluation.report.review_progress_page import progress_html
from app.engine.store.workspace import Workspace
from app.errors import InputError
from kb.tip import Provenance, TipDraft
from tests.support.runs import make_run, make_step


@pytest.fixture
async def engine(tmp_path):
    with Workspace.open(tmp_path / "workspace") as workspace:
        for number, site in enumerate(["gitlab", "gitlab", "map", "map"]):
            run = make_run(f"run-{number}", site=site, score=float(number == 3), step_count=2)
            steps = [make_step(index=at, url=f"http://10.0.0.1:8023/p{number}/{at}") for at in range(2)]
            workspace.runs.add(run, steps, {})
        workspace.rebuild_index()
    engine = await Engine.open(tmp_path / "workspace", author="ann")
    yield engine
    await engine.aclose()


async def test_progress_counts_runs_once_by_site_and_by_person_and_takes_medians(engine):
    await engine.assign_runs(
        AssignmentRequest(annotators=("ann", "bob"), which=RunFilter(failed=True), overlap=1.0)
    )
    await engine.give_verdict("run-0", Label.LOOP, lead_seconds=10.0)
    await engine.give_verdict("run-0", Label.LOOP, lead_seconds=30.0)
    await engine.give_verdict("run-2", Label.GAVE_UP, lead_seconds=50.0)
    await engine.give_verdict("run-3", Label.NOT_A_FAILURE)
    await engine.save_tip(
        TipDraft(site="map", text="Zoom in first.", provenance=Provenance(run="run-2", author="ann"))
    )
    found = await engine.review_progress(RunFilter(failed=True))
    assert [(row.name, row.judged, row.runs, row.tips, row.verdict_seconds) for row in (found.total, *found.sites)] == [
        ("all", 2, 3, 1, 30.0), ("gitlab", 1, 2, 0, 20.0), ("map", 1, 1, 1, 50.0),
    ]  # fmt: skip
    assert [(row.name, row.judged, row.runs, row.tips) for row in found.people] == [
        ("ann", 2, 3, 1), ("bob", 0, 3, 0),
    ]  # fmt: skip
    assert found.labels == {"loop": 2, "gave up": 1}
    assert found.total.tip_seconds is not None
    assert found.total.tip_seconds < 60
    assert found.sites[0].tip_seconds is None
    assert found.people[1].verdict_seconds is None
    everything = await engine.review_progress(RunFilter())
    assert (everything.total.judged, everything.total.runs) == (3, 4)


async def test_a_tip_long_after_the_verdict_has_no_time(engine):
    old = Verdict(id="v-old", run="run-0", label=Label.LOOP, author="ann", at=1.0)
    await engine._core.on_store(engine._core.workspace.review.add_verdict, old)
    await engine.save_tip(
        TipDraft(site="gitlab", text="Open the menu first.", provenance=Provenance(run="run-0", author="ann"))
    )
    found = await engine.review_progress(RunFilter())
    assert (found.total.tips, found.total.tip_seconds) == (1, None)


async def test_the_page_is_written_whole_or_not_at_all(engine, tmp_path):
    out = tmp_path / "progress.html"
    assert await engine.progress_page(str(out)) == str(out)
    assert "0 of 3 runs judged (0 %), 3 left" in out.read_text()
    before = out.read_bytes()
    with pytest.raises(InputError):
        await engine.progress_page(str(tmp_path / "none" / "page.html"))
    with pytest.raises(InputError):
        await engine.progress_page(str(tmp_path))
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["progress.html", "workspace"]


class _Tags(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}


def test_names_from_runs_are_text_on_the_page_and_it_needs_nothing_else():
    bad = '<script src="http://evil.test/x.js">"\'><img onerror=alert(1)>\u202e&'
    progress = ReviewProgress(
        total=ProgressRow(name="all", runs=3, judged=1, tips=1),
        sites=(ProgressRow(name=bad, runs=3, judged=1, tips=1, verdict_seconds=12.4),),
        people=(ProgressRow(name=bad, runs=3, judged=1, tips=1),),
        labels={bad: 2},
        uncovered=(TipOpportunity(site=bad, page="/" + bad, runs=("a",), tips=(), covered=0),),
    )
    text = progress_html(progress, bad, 0.0, bad)
    page = _Tags()
    page.feed(text)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.names <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "scope",
        "aria-hidden",
        "style",
    }
    assert page.tags.count("table") == 4
    assert "\u202e" not in text
    assert "http://" not in text.replace("http://evil.test", "")


def test_a_page_without_runs_says_so():
    text = progress_html(
        ReviewProgress(total=ProgressRow(name="all", runs=0, judged=0, tips=0), sites=(), people=()), "w", 0.0
    )
    assert "No run passes the filter." in text
    assert "<table" not in text
