"""Exports the embedded model to an int8 ONNX copy: ``python -m kb.encoder_export CACHE_DIR``.

Runs in a process of its own, because torch costs 1.2 GB and seconds of import.  Mean pooling and normalisation are
part of the graph; its first output is the text's vector, its second the tokens'.  The second changes no bit of the
first.  The copy is built in a temporary folder and renamed, so readers see a whole copy or none; of two processes
exporting at once the second to finish finds the first one's copy and leaves it.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from kb.encoder import COPY, MODEL_PACKAGE, OnnxEncoder, file_hash, read_copy, weights_hash

_PROBES = (
    "To add new members to the project, open the members tab and press the invite button",
    "Hover the menu to reveal its subcategories",
    "Sort the orders by purchase date, newest first",
    "How many issues are assigned to me?",
    "search",
)
_LEAST_AGREEMENT = 0.95


def export(cache_dir: Path) -> Path:
    """Export the copy unless a valid one exists; return its folder."""
    place = cache_dir / COPY
    if read_copy(place):
        return place
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{COPY}-", dir=cache_dir) as scratch:
        _build(Path(scratch))
        _move_in(Path(scratch), place)
    return place


def _build(folder: Path) -> None:
    """Write ``model.onnx``, ``tokenizer.json`` and, last, ``copy.json`` with their hashes."""
    package: Any = importlib.import_module(MODEL_PACKAGE)
    source = Path(package.get_model_path())
    dim = _export_float32(source, folder / "float32.onnx")
    shutil.copyfile(source / "tokenizer.json", folder / "tokenizer.json")
    settings = json.loads((source / "sentence_bert_config.json").read_bytes())
    form, agreement = _quantise(folder, dim, int(settings["max_seq_length"]))
    (folder / "float32.onnx").unlink()
    version = metadata.version(MODEL_PACKAGE.replace("_", "-"))
    about = {
        "id": f"all-MiniLM-L6-v2@{version}:{weights_hash(source)[:16]}:{form}",
        "dim": dim,
        "max_tokens": settings["max_seq_length"],
        "agreement": agreement,
        "files": {name: file_hash(folder / name) for name in ("model.onnx", "tokenizer.json")},
    }
    (folder / "copy.json").write_text(json.dumps(about, indent=1, sort_keys=True))
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _quantise(folder: Path, dim: int, max_tokens: int) -> tuple[str, float]:
    """Write ``model.onnx``; return its quantisation and its least cosine with the float32 model on the probes.

    Weights get a scale per channel (least cosine 0.99 instead of 0.93 with one scale per matrix).  Processors without
    VNNI can overflow on eight bits; the probes detect that, and seven bits are used there.
    """
    quantization: Any = importlib.import_module("onnxruntime.quantization")
    about = {"id": "probe", "dim": dim, "max_tokens": max_tokens}
    shutil.copyfile(folder / "float32.onnx", folder / "model.onnx")
    exact = OnnxEncoder(folder, about).encode(_PROBES)
    agreement = 0.0
    for form, reduced in (("int8-per-channel", False), ("int7-per-channel", True)):
        quantization.quantize_dynamic(
            folder / "float32.onnx",
            folder / "model.onnx",
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            reduce_range=reduced,
        )
        rounded = OnnxEncoder(folder, about).encode(_PROBES)
        agreement = round(float((exact * rounded).sum(axis=1).min()), 4)
        if agreement >= _LEAST_AGREEMENT:
            return form, agreement
    raise RuntimeError(
        f"on this processor the quantised model's agreement with the exact one is only {agreement}"
    )


def _export_float32(source: Path, target: Path) -> int:
    """Trace the model with pooling and normalisation inside; return the vector's length."""
    import torch

    transformers: Any = importlib.import_module("transformers")
    model: Any = transformers.AutoModel.from_pretrained(
        str(source), local_files_only=True, attn_implementation="eager"
    )

    class Vectors(torch.nn.Module):
        """The text's vector, the mean over the tokens that are no padding, and each token's; all of length one."""

        def __init__(self) -> None:
            super().__init__()
            self.model: Any = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            tokens = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(tokens.dtype)
            mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            vector = torch.nn.functional.normalize(mean, p=2.0, dim=1)
            return vector, torch.nn.functional.normalize(tokens, p=2.0, dim=2)

    example = torch.ones(2, 16, dtype=torch.long)
    axes: Any = {0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", min=2, max=512)}
    torch.onnx.export(
        Vectors().eval(),
        (example, example.clone()),
        str(target),
        dynamo=True,
        external_data=False,
        input_names=["input_ids", "attention_mask"],
        output_names=["vector", "tokens"],
        dynamic_shapes={"input_ids": axes, "attention_mask": axes},
        verbose=False,
    )
    return int(model.config.hidden_size)


def _move_in(scratch: Path, place: Path) -> None:
    """Rename the finished folder into place; a damaged existing one is moved out first."""
    finished = scratch / "finished"
    finished.mkdir()
    for name in ("model.onnx", "tokenizer.json", "copy.json"):
        (scratch / name).rename(finished / name)
    if read_copy(place):
        return
    if place.exists():
        place.rename(scratch / "damaged")
    try:
        finished.rename(place)
    except OSError:
        if not read_copy(place):
            raise


if __name__ == "__main__":
    export(Path(sys.argv[1]))
