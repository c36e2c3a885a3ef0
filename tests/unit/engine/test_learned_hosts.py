"""Sites learn hosts from imports and from what a person calls a page's site; work on a site begins on its own page."""

from __future__ import annotations

import json

import pytest

from app import settings
from app.cli import main
from app.engine.api.run_api import RunRequest
from app.engine.core.events import SitesChanged
from app.engine.core.sites import Site
from app.engine.engine import Engine
from app.engine.services.site_starts import learn_host
from app.engine.store.workspace import Workspace
from app.errors import UsageError
from tests.support.runs import make_run, make_step


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    monkeypatch.setattr(settings, "logins_dir", lambda: tmp_path / "logins")


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    engine.notes_heard = []
    engine.bus.subscribe(
        lambda event: engine.notes_heard.append(event.note) if isinstance(event, SitesChanged) else None
    )
    yield engine
    await engine.aclose()


def _exported(tmp_path, *runs: tuple[str, str, tuple[str, ...]]):
    """Run folders of another workspace: id, site, and the hosts of the pages."""
    with Workspace.open(tmp_path / "other") as other:
        for name, site, hosts in runs:
            steps = [make_step(at, url=f"http://{host}/p") for at, host in enumerate(hosts)]
            run = make_run(name, site=site, start_url=f"http://{hosts[0]}/", step_count=len(steps))
            other.runs.add(run, steps, {})
        other.rebuild_index()
        other.export_runs([name for name, _, _ in runs], tmp_path / "out")
    return str(tmp_path / "out")


async def _hosts(engine):
    return {row.site.name: row.site.hosts for row in await engine.sites()}


async def test_runs_of_a_known_site_bring_its_host_and_it_is_said(engine, tmp_path):
    out = _exported(
        tmp_path, ("r1", "shop", ("new.example", "new.example")), ("r2", "shop", ("new.example",))
    )
    report = await engine.import_runs([out])
    assert report.learned == ("the site 'shop' now has the host new.example",)
    assert engine.notes_heard == list(report.learned)
    assert (await _hosts(engine))["shop"] == ("new.example",)
    assert {step.site for step in engine._core.workspace.index.stored_steps()} == {"shop"}
    assert engine._core.kb.hosts()["shop"] == ("new.example",)


@pytest.mark.parametrize(
    "runs",
    [
        [("r1", "shop", ("a.example",)), ("r2", "store", ("a.example",))],
        [("r1", "shop", ("a.example", "search.example"))],
        [("r1", "shop", ("10.0.0.1:8023",))],
        [("r1", "cross", ("a.example",))],
        [("r1", "old.example", ("a.example",))],
    ],
)
async def test_an_ambiguous_or_foreign_host_is_nobodys(engine, tmp_path, runs):
    before = await _hosts(engine)
    await engine.import_runs([_exported(tmp_path, *runs)])
    assert await _hosts(engine) == before


async def test_two_sites_that_claim_one_host_are_named(engine, tmp_path):
    out = _exported(tmp_path, ("r1", "shop", ("a.example",)), ("r2", "store", ("a.example",)))
    assert (await engine.import_runs([out])).learned == (
        "a.example is claimed by 'shop' and 'store', so neither got it",
    )


async def test_an_undone_edit_leaves_what_was_learned_meanwhile(engine):
    added = (await engine.save_site(Site(name="shop", hosts=("a.example",)))).site
    await engine.save_site(Site(name="shop", hosts=("a.example", "b.example")), added)
    await learn_host(engine._core, "shop", "http://c.example/x")
    await engine.undo()
    assert (await _hosts(engine))["shop"] == ("a.example", "c.example")


async def test_a_host_of_another_site_stays_and_both_are_named(engine):
    await learn_host(engine._core, "shop", "http://10.0.0.1:8023/")
    assert "shop" not in await _hosts(engine)
    assert engine.notes_heard == [
        "10.0.0.1:8023 is a host of the site 'gitlab' and stays with it; 'shop' did not get it"
    ]


async def test_a_run_that_names_only_its_site_begins_on_its_start_page(engine):
    with pytest.raises(UsageError, match="not known where the site 'shop' begins"):
        await engine._agent_runs.validated(RunRequest(intent="Buy socks", start_url="", site="shop"))
    await engine.save_site(Site(name="shop", hosts=("a.example",), starts=("http://a.example/start",)))
    request = await engine._agent_runs.validated(RunRequest(intent="Buy socks", start_url="", site="shop"))
    assert (request.start_url, request.site) == ("http://a.example/start", "shop")


async def test_an_exploration_that_names_no_start_is_refused_in_words(engine):
    with pytest.raises(UsageError, match="sitelore sites edit shop --start URL"):
        await engine.explore("", "shop")
    with pytest.raises(UsageError, match="not the address of a page"):
        await engine.explore("", "")


def test_import_gives_a_site_its_host_before_it_reads(tmp_path, capsys):
    out = _exported(tmp_path, ("r1", "", ("10.9.9.9:81",)))
    place = str(tmp_path / "w")
    assert main(["--workspace", place, "import", out, "--site", "shop"]) == 2
    assert "--site and --host go together" in capsys.readouterr().err
    assert (
        main(["--workspace", place, "import", out, "--site", "shop", "--host", "10.9.9.9:81", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["imported"] == 1
    assert main(["--workspace", place, "runs", "list", "--site", "shop", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["r1"]
