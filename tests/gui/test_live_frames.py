"""Page frames: decoded off the window's thread, only the newest, in the size they are drawn."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image
from PySide6.QtCore import QSize

from app.engine.core.events import LiveRunDismissed, PageFrame
from app.engine.core.supervision import RunState
from app.models.live.frames import (
    MAX_UNSEEN,
    DisplayArea,
    FrameStore,
    RunThumbnails,
    decoded,
    drawn_size,
)
from tests.support.fake_live import make_rows, page_jpeg


def frame(number, *, run="live-1", width=640, height=400, jpeg=None, **more):
    data = page_jpeg(width, height, number) if jpeg is None else jpeg
    return PageFrame(
        run=run,
        number=number,
        width=width,
        height=height,
        page_width=1280,
        page_height=800,
        jpeg=data,
        **more,
    )


def jpeg_of(width, height):
    out = io.BytesIO()
    Image.new("RGB", (width, height), (9, 9, 9)).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def store(client, qtbot):
    made = FrameStore(client)
    yield made
    made.close()


def test_a_picture_is_had_once_it_is_decoded_with_all_that_came_with_it(store, client, qtbot):
    with qtbot.waitSignal(store.arrived) as told:
        client.page_frame.emit(frame(7, url="http://shop.example/", pointer=(3.0, 4.0), input_at=12.5))
    found = store.get(told.args[0])
    assert (found.number, found.page, found.url) == (7, (1280, 800), "http://shop.example/")
    assert (found.pointer, found.input_at) == ((3.0, 4.0), 12.5)
    assert found.image.size() == QSize(640, 400)
    assert store.get("another") is None


def test_a_store_that_falls_behind_shows_the_newest_picture_and_drops_those_between(store, qtbot):
    seen: list[int] = []
    store.arrived.connect(lambda run: seen.append(store.get(run).number))
    for number in range(1, 41):
        store.take(frame(number))  # the loop does not turn between them, as in a window that is busy
    qtbot.waitUntil(lambda: 40 in seen)
    assert seen == sorted(seen)
    assert seen == [1, 40]
    assert store.counts.dropped == 38


def test_pictures_of_several_runs_do_not_wait_for_each_other(store, qtbot):
    for number in range(1, 4):
        for run in range(8):
            store.take(frame(number, run=f"live-{run}"))
    qtbot.waitUntil(lambda: all(store.get(f"live-{run}") for run in range(8)))
    qtbot.waitUntil(lambda: all(store.get(f"live-{run}").number == 3 for run in range(8)))


def test_a_picture_that_cannot_be_read_leaves_the_one_before(store, qtbot):
    store.take(frame(1))
    qtbot.waitUntil(lambda: store.get("live-1") is not None)
    for broken in (b"", b"no picture", page_jpeg(64, 40)[:20], jpeg_of(8200, 4)):
        before = store.counts.broken
        store.take(frame(2, jpeg=broken))
        qtbot.waitUntil(lambda before=before: store.counts.broken == before + 1)
    assert store.get("live-1").number == 1


def test_memory_stays_where_it_is_however_many_pictures_come(store, qtbot):
    most = 0
    for number in range(1, 121):
        store.take(frame(number))
        qtbot.waitUntil(lambda number=number: store.counts.decoded + store.counts.dropped >= number - 1)
        most = max(most, store.held)
    assert most <= 640 * 400 * 4 + 200_000


def test_tiles_are_shrunk_by_the_worker_and_the_large_page_fills_its_room(store, qtbot):
    store.fit("tile", QSize(200, 200))
    store.enlarge("large", QSize(1000, 1000))
    store.take(frame(1, run="tile", width=1280, height=800))
    store.take(frame(1, run="large", width=1280, height=800))
    store.take(frame(1, run="plain", width=1280, height=800))
    qtbot.waitUntil(lambda: all(map(store.get, ("tile", "large", "plain"))))
    assert store.get("tile").image.size() == QSize(200, 125)
    assert store.get("large").image.size() == QSize(1000, 625)
    assert store.get("plain").image.size() == QSize(1280, 800)


def test_a_page_is_never_drawn_larger_than_it_is_and_sharp_on_a_fine_screen():
    page = QSize(1280, 800)
    assert drawn_size(page, DisplayArea(QSize(2000, 1500))) == page
    assert drawn_size(page, DisplayArea(QSize(640, 900))) == QSize(640, 400)
    assert drawn_size(page, DisplayArea(QSize(1900, 1500), 2.0)) == QSize(1900, 1187)
    assert drawn_size(page, DisplayArea(QSize(4000, 3000), 2.0)) == QSize(2560, 1600)


def test_a_picture_that_misses_its_place_by_a_pixel_is_not_scaled():
    assert decoded(page_jpeg(639, 399), QSize(640, 400)).size() == QSize(639, 399)
    assert decoded(page_jpeg(600, 375), QSize(640, 400)).size() == QSize(640, 400)


def test_a_run_that_left_the_wall_is_forgotten_also_while_its_picture_is_decoded(store, client, qtbot):
    told: list[str] = []
    store.arrived.connect(told.append)
    store.take(frame(1))
    client.live_run_dismissed.emit(LiveRunDismissed(run="live-1"))
    store.take(frame(2, run="live-2"))
    qtbot.waitUntil(lambda: store.get("live-2") is not None)
    assert store.get("live-1") is None
    assert "live-1" not in told


# ------------------------------------------------------------------------------------------------ ended runs
TILE = QSize(280, 175)


def test_a_hundred_ended_runs_give_their_pictures_back(store, qtbot):
    released: list[str] = []
    store.released.connect(released.append)
    seen = [f"run-{number}" for number in range(6)]
    store.set_in_sight(seen)
    for number in range(100):
        run = f"run-{number}"
        store.fit(run, TILE)
        store.take(frame(number, run=run))
        qtbot.waitUntil(lambda run=run: store.get(run) is not None)
        store.set_ended(run, True)
    assert all(store.get(run) is not None for run in seen), "what is on the screen stays"
    assert store.held <= (len(seen) + MAX_UNSEEN) * TILE.width() * TILE.height() * 4
    assert len(released) == 100 - len(seen) - MAX_UNSEEN


def test_the_picture_of_a_run_that_goes_on_is_never_given_back(store, qtbot):
    for number in range(30):
        store.take(frame(number, run=f"run-{number}"))
    qtbot.waitUntil(lambda: all(store.get(f"run-{number}") for number in range(30)))
    store.set_in_sight([])
    assert all(store.get(f"run-{number}") for number in range(30))


def test_an_ended_run_that_was_large_is_held_no_larger_than_its_tile(store, qtbot):
    store.fit("live-1", TILE)
    store.enlarge("live-1", QSize(1280, 800))
    store.take(frame(1, width=1280))
    qtbot.waitUntil(lambda: store.get("live-1") is not None)
    assert store.get("live-1").image.width() == 1280
    store.set_ended("live-1", True)
    assert store.get("live-1").image.width() == 1280, "it is still large"
    store.enlarge("", QSize())
    qtbot.waitUntil(lambda: store.get("live-1").image.size() == TILE)


def test_a_picture_that_was_given_back_is_loaded_again_when_its_tile_comes_into_sight(
    store, client, tasks, fake_engine, qtbot, monkeypatch
):
    async def stored(_digest):
        return page_jpeg(640, 400)

    async def with_picture(run, detail_of=fake_engine.live_run):
        detail = await detail_of(run)
        return replace(detail, steps=tuple(replace(step, screenshot="shot") for step in detail.steps))

    monkeypatch.setattr(fake_engine, "blob", stored)
    monkeypatch.setattr(fake_engine, "live_run", with_picture)
    rows = [
        replace(make_rows()[5], run=f"live-{number}", state=RunState.ENDED)
        for number in range(6, 6 + 2 * MAX_UNSEEN)
    ]
    fake_engine.rows |= {row.run: row for row in rows}
    thumbnails = RunThumbnails(client, tasks, store)
    for row in rows:
        thumbnails.want([row])
        qtbot.waitUntil(lambda row=row: store.get(row.run) is not None)
    assert store.get(rows[0].run) is None
    store.set_in_sight([rows[0].run])
    thumbnails.want([rows[0]])
    qtbot.waitUntil(lambda: store.get(rows[0].run) is not None)
