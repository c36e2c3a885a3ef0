"""Sitelore's own run folder, the format of exports and of recordings of the demo.

run.json       {"format": "sitelore-run", "version": 1, ...}
steps.jsonl    one step a line
blobs/         <sha256>.txt.zst (trees, HTML), .png, .jpg, .webp
"""

from __future__ import annotations

from app.engine.store.run_files import write_run_folder

__all__ = ["write_run_folder"]
