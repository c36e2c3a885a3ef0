"""A plain loop over OpenAI's tools, with retrieval of tips as one of them.

    python openai_tips.py shop.akb "How do I apply a coupon?" https://shop.example/cart

The endpoint is that of OPENAI_API_KEY and, where it is another one, OPENAI_BASE_URL; OPENAI_MODEL names the model.
Needs: pip install openai sitelore-kb
"""

from __future__ import annotations

import os
import sys

from openai import OpenAI

from kb import open_frozen
from kb.adapters.openai_tools import TipTools

MOST_ROUNDS = 8


def main(file: str, goal: str, url: str) -> None:
    client = OpenAI()
    messages = [{"role": "user", "content": f"{goal}\nThe page in front is {url}."}]
    with open_frozen(file) as kb:
        tools = TipTools(kb)
        for _ in range(MOST_ROUNDS):
            answer = client.chat.completions.create(
                model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"), messages=messages, tools=tools.chat
            )
            said = answer.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                print("answer:", said.content)
                break
            messages += [tools.chat_result(call) for call in said.tool_calls]
        for one in tools.tips.given:
            print(f"asked for {one.url}: {', '.join(one.tips) or 'no tips'}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
