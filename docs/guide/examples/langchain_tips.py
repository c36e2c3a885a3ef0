"""Tips of a frozen file as LangChain's documents.

    python langchain_tips.py shop.akb "apply a coupon" https://shop.example/cart

Needs: pip install langchain-core sitelore-kb
"""

from __future__ import annotations

import sys

from kb import open_frozen
from kb.adapters.langchain import tip_retriever


def main(file: str, goal: str, url: str) -> None:
    with open_frozen(file) as kb:
        retriever = tip_retriever(kb, url=url)
        for document in retriever.invoke(goal):
            print(f"{document.metadata['score']:.2f} {document.id}: {document.page_content}")
            print(f"     {document.metadata['why']}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
