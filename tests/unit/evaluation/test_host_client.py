"""One engine host without Qt: a request, its own errors, its death."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.events import Event, KnowledgeChanged
from app.engine.host_client import HostClient, HostGone
from app.errors import NotFound, SiteloreError
from kb.tip import TipDraft


@pytest.fixture
async def host(tmp_path: Path):
    told: list[Event] = []
    host = HostClient(tmp_path / "workspace", on_event=told.append, own_group=True)
    await host.start()
    yield host, told
    await host.stop()


async def test_requests_errors_and_events_cross_the_channel(host):
    client, told = host
    assert await client.api.list_runs(RunFilter()) == []
    with pytest.raises(NotFound):
        await client.api.tip("gitlab-0000000000")
    await client.api.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only."))
    assert any(isinstance(event, KnowledgeChanged) for event in told)
    await client.stop()
    assert not client.is_alive


async def test_a_host_that_dies_answers_what_waits_with_its_end(host):
    client, _ = host
    waiting = asyncio.gather(*(client.api.doctor() for _ in range(2)), return_exceptions=True)
    await asyncio.sleep(0)
    os.kill(client.pid, signal.SIGKILL)
    assert all(isinstance(answer, HostGone) for answer in await waiting)
    with pytest.raises(HostGone):
        await client.api.list_runs(RunFilter())


async def test_a_workspace_that_can_not_be_opened_is_refused_in_the_hosts_words(tmp_path: Path):
    (tmp_path / "workspace.json").write_text('{"format": "sitelore-workspace", "version": 99}')
    host = HostClient(tmp_path)
    with pytest.raises(SiteloreError, match="newer"):
        await host.start()
    await host.stop()
