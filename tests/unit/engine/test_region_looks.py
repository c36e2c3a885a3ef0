"""Tips found by the picture of their region, with a small image-text model that the real loader reads."""

from __future__ import annotations

import hashlib
import io
import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app import settings
from app.engine.api.run_api import LIVE_KNOWLEDGE
from app.engine.core.page_state import Element, PageCapture
from app.engine.engine import Engine
from app.engine.graph.search.pictures import PictureModel
from app.engine.services.region_looks import aside, background_of, likeness, regions_for, windows_for
from app.engine.services.run_knowledge import RunKnowledge
from app.engine.store.workspace import Workspace
from app.errors import UsageError
from kb.tip import Anchor, Query, Status, Tip, TipDraft
from tests.support.clip import has_models, write_clip
from tests.support.runs import make_run, make_step

BOX = (120, 80, 160, 90)
"""Where the chart is on the page that the tip was written on."""
SIZE = (640, 400)


def page_with(chart_at: tuple[int, int] | None, ink: str = "navy") -> bytes:
    """A page with lines of text, a sidebar and, maybe, a chart of three bars."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 90, 400), fill="#dddddd")
    for line in range(24):
        draw.rectangle((110, 10 + 16 * line, 300 + (line * 53) % 220, 16 + 16 * line), fill="#888888")
    if chart_at is not None:
        left, top = chart_at
        draw.rectangle((left, top, left + 159, top + 89), fill="#ffeeaa", outline="black")
        for bar, high in enumerate((30, 70, 50)):
            draw.rectangle((left + 15 + 48 * bar, top + 80 - high, left + 45 + 48 * bar, top + 80), fill=ink)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def capture(picture: bytes, *rects: tuple[float, float, float, float]) -> PageCapture:
    elements = tuple(
        Element(index=at, role="img", name=f"Chart {at}", rect=rect) for at, rect in enumerate(rects)
    )
    return PageCapture(
        url="http://10.0.0.1:8023/reports/2", elements=elements, viewport=SIZE, picture=picture
    )


def made(tip: str, **anchor: object) -> Tip:
    given = {"screenshot": "f" * 64, "box": BOX, "role": "img", **anchor}
    return Tip(id=tip, site="gitlab", text="t", anchor=Anchor(**given))  # type: ignore[arg-type]


# ---------------------------------------------------------------- rules
def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("clause", "seen", "elsewhere", "expected"),
    [
        ("the very same", [unit(1, 0)], [unit(0, 1)], 1.0),
        ("nothing like it", [unit(0, 1)], [unit(0, 1)], 0.0),
        ("no more like it than its own page elsewhere", [unit(1, 1)], [unit(1, 1)], 0.0),
        ("less like it than that", [unit(1, 1)], [unit(2, 1)], 0.0),
        ("half way", [unit(1, 1.7320508)], [unit(0, 1)], 0.5),
        ("the likest counts", [unit(0, 1), unit(1, 0)], [unit(1, 1)], 1.0),
        ("a background below nothing is none", [unit(1, 1.7320508)], [unit(-1, 0)], 0.5),
        ("without a background", [unit(1, 1.7320508)], [], 0.5),
        ("a region that its own page repeats tells no place", [unit(1, 0)], [unit(1, 0)], 0.0),
    ],
)
def test_how_alike_is_alike_is_told_by_the_regions_own_page(clause, seen, elsewhere, expected):
    region = unit(1, 0)
    found = likeness(region, seen, background_of(region, elsewhere))
    assert found == pytest.approx(expected, abs=2e-4), clause


def test_the_background_is_of_windows_beside_the_region():
    found = aside(tuple(map(float, BOX)), SIZE)
    assert len(found) == 9
    assert all(box[2:] == (160, 90) for box in found)
    assert len(aside((240.0, 155.0, 160.0, 90.0), SIZE)) == 8
    assert aside((0.0, 0.0, 640.0, 400.0), SIZE) == []


@pytest.mark.parametrize(
    ("clause", "rects", "expected"),
    [
        ("at its own place", [], [BOX]),
        ("around a control of its role", [(400, 200, 40, 20)], [BOX, (340, 165, 160, 90)]),
        (
            "the nearest first",
            [(500, 300, 40, 20), (400, 200, 40, 20)],
            [BOX, (340, 165, 160, 90), (440, 265, 160, 90)],
        ),
        ("what is nearly the same window once", [(185, 116, 40, 20)], [BOX]),
        ("cut at the edge of the view", [(600, 200, 40, 20)], [BOX, (540, 165, 100, 90)]),
        ("not where most of it is out of view", [(639, 390, 40, 20)], [BOX]),
    ],
)
def test_a_region_is_looked_for_in_these_windows(clause, rects, expected):
    (windows,) = windows_for(regions_for(Query(), [made("a")]), capture(b"", *rects)).values()
    assert windows == [tuple(map(float, box)) for box in expected], clause


def test_controls_of_other_roles_and_hidden_ones_are_no_windows():
    page = capture(b"", (400, 200, 40, 20))
    (region,) = regions_for(Query(), [made("a", role="button")])
    assert len(windows_for([region], page)["a"]) == 1
    hidden = replace(page, elements=(replace(page.elements[0], visible=False),))
    assert len(windows_for(regions_for(Query(), [made("a")]), hidden)["a"]) == 1


def test_regions_are_those_of_the_querys_sites_that_have_a_picture():
    tips = [
        made("b"),
        made("a"),
        made("c", screenshot=""),
        made("d", box=(0, 0, 0, 0)),
        Tip(id="e", site="gitlab", text="t"),
        replace(made("f"), site="shop"),
        replace(made("g"), site="cross"),
    ]
    assert [one.tip for one in regions_for(Query(site="gitlab"), tips)] == ["a", "b", "g"]
    assert [one.tip for one in regions_for(Query(sites=("gitlab", "shop")), tips)] == ["a", "b", "f", "g"]
    assert [one.tip for one in regions_for(Query(), tips)] == ["a", "b", "f", "g"]


# ---------------------------------------------------------------- with a model
@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("looks"))


@pytest.fixture(scope="session")
def model(clip: Path) -> PictureModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PictureModel(clip)


@pytest.fixture
def set_model(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    def use(folder: object) -> None:
        monkeypatch.setenv("SITELORE_PICTURE_ENCODER", str(folder))
        assert settings.load().picture_encoder == str(folder)

    return use


@pytest.fixture
async def engine(tmp_path: Path):
    """A base with one tip, about a chart without words on a stored screenshot."""
    shown = page_with(BOX[:2])
    digest = hashlib.sha256(shown).hexdigest()
    with Workspace.open(tmp_path / "workspace") as workspace:
        step = make_step(index=0, url="http://10.0.0.1:8023/reports/1", screenshot=digest)
        workspace.runs.add(make_run("run-1", site="gitlab", step_count=1), [step], {digest: shown})
        workspace.rebuild_index()
    opened = await Engine.open(tmp_path / "workspace", author="mina")
    draft = TipDraft(
        site="gitlab", text="A bar opens its list.", anchor=Anchor(screenshot=digest, box=BOX, role="img")
    )
    tip = await opened.save_tip(draft)
    await opened.set_status([tip.id], Status.ACTIVE, waive="made up")
    yield opened
    await opened.aclose()


async def tips_on(engine: Engine, page: PageCapture) -> list[str]:
    knowledge = await RunKnowledge.open(engine._retrieval, LIVE_KNOWLEDGE, "gitlab")
    assert knowledge is not None
    return [found.text for found in await knowledge.tips(Query(url=page.url, text="sum up"), page)]


@has_models
@pytest.mark.parametrize(
    ("clause", "picture", "rects", "found"),
    [
        ("at the same place", page_with(BOX[:2], ink="darkblue"), (), True),
        ("elsewhere, around a control", page_with((400, 250)), ((400, 250, 160, 90),), True),
        ("nowhere", page_with(None), ((400, 250, 160, 90),), False),
        ("elsewhere without a control there", page_with((400, 250)), (), False),
    ],
)
async def test_a_tip_with_a_picture_is_found_where_a_page_looks_alike(
    engine: Engine, clip: Path, set_model, clause, picture, rects, found
):
    assert await tips_on(engine, capture(picture, *rects)) == []
    set_model(clip)
    assert await tips_on(engine, capture(picture, *rects)) == (["A bar opens its list."] if found else [])


@has_models
async def test_vectors_are_cached_by_the_content_of_pictures(
    engine: Engine, clip: Path, set_model, monkeypatch
):
    set_model(clip)
    page = capture(page_with(BOX[:2]))
    encoded: list[int] = []
    real = PictureModel.of_parts

    def counted(self, picture, boxes):
        encoded.append(len(boxes))
        return real(self, picture, boxes)

    monkeypatch.setattr(PictureModel, "of_parts", counted)
    assert await tips_on(engine, page)
    assert encoded == [1, 10]
    assert await tips_on(engine, page)
    assert encoded == [1, 10]
    await tips_on(engine, capture(page_with(None)))
    assert encoded == [1, 10, 1]
    kept = engine._core.kb.vectors.get_many(
        (await engine._retrieval.picture_models.load(str(clip))).id,
        [f"region:{hashlib.sha256(page_with(BOX[:2])).hexdigest()}:120,80,160,90"],
    )
    assert len(kept) == 1


@has_models
async def test_a_model_that_cannot_be_used_leaves_the_words_and_is_said_once(
    engine: Engine, tmp_path: Path, set_model, caplog
):
    set_model(tmp_path / "gone")
    with caplog.at_level(logging.WARNING):
        assert await tips_on(engine, capture(page_with(BOX[:2]))) == []
        assert await tips_on(engine, capture(page_with(None))) == []
    assert [record.message for record in caplog.records if "words only" in record.message] != []
    assert sum("regions are found by their words only" in record.message for record in caplog.records) == 1


async def test_without_torch_regions_are_found_by_words_only(
    engine: Engine, tmp_path, set_model, monkeypatch
):
    def missing(_folder):
        raise UsageError("search by picture needs torch", remedy="install the extra 'encoder'")

    monkeypatch.setattr("app.engine.graph.search.pictures.PictureModel", missing)
    set_model(tmp_path)
    tips = await engine._retrieval.tips_with_regions()
    found = await engine._retrieval.looks.on(Query(), capture(b"picture"), tips)
    assert found.looks == ()
    assert found.off.startswith("regions are found by their words only: search by picture needs torch")
    assert await tips_on(engine, capture(b"picture")) == []


@has_models
async def test_a_region_whose_screenshot_is_gone_is_found_by_words_only(
    engine: Engine, clip: Path, set_model
):
    set_model(clip)
    lost = made("lost", screenshot="0" * 64)
    found = await engine._retrieval.looks.on(Query(), capture(page_with(BOX[:2])), [lost])
    assert (found.looks, found.off) == ((), "")


@has_models
def test_a_part_of_a_picture_is_encoded_whole(model: PictureModel):
    shown = page_with(BOX[:2])
    one, same, other = model.of_parts(shown, [(120, 80, 160, 90), (120, 80, 160, 90), (0, 0, 160, 90)])
    assert float(one @ same) == pytest.approx(1.0, abs=1e-5)
    assert float(one @ other) < 0.999
    assert model.of_parts(b"none", [(0, 0, 1, 1)]) == []
    assert len(model.of_parts(shown, [(-50, -50, 2000, 2000), (639, 399, 50, 50)])) == 2
