"""LangChain: a retriever whose documents are tips.

    from kb import open_frozen
    from kb.adapters.langchain import tip_retriever

    retriever = tip_retriever(open_frozen("shop.akb"), url=lambda: browser.current_url)
    documents = retriever.invoke("apply the coupon")

The query is the goal; the page's address comes from ``url``, or with the call: ``retriever.invoke(goal, url=…)``, which
takes the page's text as well (``page=…``). Needs ``langchain-core``; tried with 1.8.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any

from kb.adapters.step_tips import StepTips
from kb.errors import KbError
from kb.knowledge import FrozenKnowledge


def tip_retriever(
    knowledge: FrozenKnowledge, *, url: str | Callable[[], str] = "", most: int | None = None
) -> Any:
    """Return a ``BaseRetriever`` over a frozen file; its ``tips`` keep what was given.

    Args:
        url: the page's address, or a function that returns it at the moment of a call.
        most: documents of an answer at most; None: as many as the file's token budget allows.

    Raises:
        KbError: langchain-core is not installed.
    """
    try:
        documents, retrievers = (
            import_module("langchain_core.documents"),
            import_module("langchain_core.retrievers"),
        )
    except ImportError as error:
        raise KbError(
            "langchain-core is not installed here; install it with: pip install langchain-core"
        ) from error
    tips = StepTips(knowledge, most=most)

    def relevant(
        self: Any, query: str, *, run_manager: Any = None, page: str | None = None, **named: Any
    ) -> list[Any]:
        address = named.get("url") or (url if isinstance(url, str) else url())
        found = tips.at(str(address), page, query)
        if found is None:
            return []
        return [
            documents.Document(
                page_content=tip.text,
                id=tip.id,
                metadata={
                    "tip": tip.id,
                    "site": tip.site,
                    "scope": tip.scope,
                    "score": tip.score,
                    "why": tip.why,
                    "file": found.sha256,
                },
            )
            for tip in found
        ]

    async def relevant_async(self: Any, query: str, *, run_manager: Any = None, **named: Any) -> list[Any]:
        return await asyncio.to_thread(relevant, self, query, **named)

    kind = type(
        "TipRetriever",
        (retrievers.BaseRetriever,),
        {
            "__doc__": "Tips of a frozen knowledge base as documents.",
            "__module__": __name__,
            "_get_relevant_documents": relevant,
            "_aget_relevant_documents": relevant_async,
            "tips": property(lambda self: tips),
        },
    )
    return kind()
