"""A small image-text model with random weights, as a folder that the real loader reads; and pictures for it."""

from __future__ import annotations

import importlib.util
import io
import json
import warnings
from pathlib import Path

import pytest

has_models = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "sentence_transformers", "PIL")),
    reason="the extra 'encoder' is not installed",
)


def write_clip(folder: Path) -> Path:
    """Write a CLIP of one layer: it understands nothing, equal inputs get equal vectors, alike ones alike."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPProcessor, CLIPTokenizer

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


def write_modules(folder: Path, kind: str) -> None:
    modules = [{"idx": 0, "name": "0", "path": "0", "type": kind}]
    (folder / "modules.json").write_text(json.dumps(modules))


def picture(colour: str, size: tuple[int, int] = (64, 48), form: str = "JPEG") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, form)
    return out.getvalue()
