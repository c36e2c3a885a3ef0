"""AgentLab's ``hint_db.csv``: hints that people wrote for tasks; read only.

Ten columns; used here: ``hint``, ``semantic_keys`` (its topics), ``domain_name`` (the site), ``task_name`` (its
author saw that task, so it taints the tip) and ``source`` (its author).
"""

from __future__ import annotations

import re

from kb.exchange.csv import rows
from kb.exchange.parsed import ParsedTip, Parser
from kb.tip import Provenance, TipDraft

_NO_SLUG = re.compile(r"[^a-z0-9._-]+")


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each row; a given ``site`` takes precedence over the row's domain."""
    for line, row in rows(text, needs="hint"):
        named = site or _NO_SLUG.sub("-", row.get("domain_name", "").strip().lower()).strip("-._")
        task = row.get("task_name", "").strip()
        if not named:
            yield ParsedTip(line, error="it names no site; give one for the whole file")
            continue
        draft = TipDraft(
            site=named,
            text=row.get("hint", ""),
            keywords=tuple(re.split(r"[,;\n]", row.get("semantic_keys", ""))),
            provenance=Provenance(author=row.get("source", "")),
            taint=(task,) if task else (),
        )
        yield ParsedTip(line, draft)
