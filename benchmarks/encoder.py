"""Time to a ready encoder, and milliseconds a text: the exported copy beside sentence-transformers on torch.

Each is measured in a fresh process.  The copy is exported first if it is not in the cache (about 20 s, not counted).
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kb.encoder import MODEL_PACKAGE, EncoderUnavailable, load_encoder

_CHILD = """
import json, resource, sys, time
started = time.perf_counter()
from pathlib import Path
from kb.encoder import load_encoder
encoder = load_encoder(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2] else None, allow_export=False)
ready = time.perf_counter() - started
query = "How do I find the merge requests that wait for my review?"
encoder.encode([query])
started = time.perf_counter()
for _ in range(100):
    encoder.encode([query])
one = (time.perf_counter() - started) * 10
tip = "To add new members to the project, visit project information, then members, and press the invite button. "
started = time.perf_counter()
encoder.encode([f"{number} {tip * 2}" for number in range(100)])
hundred = (time.perf_counter() - started) * 10
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"ready": ready, "one": one, "hundred": hundred, "memory": memory, "torch": "torch" in sys.modules}))
"""


def measure(cache: Path, model: str) -> dict[str, float]:
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CHILD, str(cache), model],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": root, "HF_HUB_OFFLINE": "1"},
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    cache = Path(os.environ.get("SITELORE_CACHE", Path(tempfile.gettempdir()) / "sitelore-benchmark"))
    try:
        load_encoder(cache)
    except EncoderUnavailable as error:
        print(f"no encoder: {error}")
        return
    rows = {"exported int8 copy": measure(cache, "")}
    if importlib.util.find_spec(MODEL_PACKAGE) and importlib.util.find_spec("sentence_transformers"):
        package = importlib.import_module(MODEL_PACKAGE)
        rows["sentence-transformers"] = measure(cache, str(package.get_model_path()))
    print(f"{'':<24}{'ready':>9}{'a query':>11}{'a tip':>10}{'memory':>10}  torch loaded")
    for name, row in rows.items():
        print(
            f"{name:<24}{row['ready']:>7.2f} s{row['one']:>8.2f} ms{row['hundred']:>7.2f} ms{row['memory']:>7.0f} MB"
            f"  {bool(row['torch'])}"
        )
    if len(rows) == 2:
        copy, torch = rows.values()
        sooner, faster = torch["ready"] / copy["ready"], torch["one"] / copy["one"]
        print(f"ratio: ready {sooner:.0f}x sooner, a query {faster:.1f}x faster")


if __name__ == "__main__":
    main()
