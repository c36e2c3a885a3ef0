"""Facts of the shop, read from its own database: the answers a task must give, and what it must not change.

A task holds questions in SQL and no answers; this puts them to the database of the copy that the task runs on.  The
views below say once what the shop's pages mean by a product of a list, its price, and whether it can be bought.

``python -m tests.support.shop_facts DATABASE`` prints the answers of all tasks.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from tests.support.shop import Rows, difference

TASKS = Path(__file__).parents[2] / "benchmarks" / "data" / "scout_tasks.json"

_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"

VIEWS = """
CREATE TEMP VIEW item AS
    SELECT product.id, product.title, product.upc, product.product_class_id, MIN(stock.price) AS price,
           MAX(stock.num_in_stock - COALESCE(stock.num_allocated, 0)) > 0 AS available
    FROM catalogue_product AS product
    JOIN catalogue_product AS kind ON kind.id = product.id OR kind.parent_id = product.id
    LEFT JOIN partner_stockrecord AS stock ON stock.product_id = kind.id
    WHERE product.parent_id IS NULL AND product.is_public GROUP BY product.id;
CREATE TEMP VIEW listed AS
    SELECT above.name AS category, item.* FROM catalogue_category AS above
    JOIN catalogue_category AS category ON category.path LIKE above.path || '%'
    JOIN catalogue_productcategory AS link ON link.category_id = category.id
    JOIN item ON item.id = link.product_id;
CREATE TEMP VIEW attribute AS
    SELECT product.title, named.name, COALESCE(given.value_text, given.value_integer, choice.option) AS value
    FROM catalogue_productattributevalue AS given
    JOIN catalogue_productattribute AS named ON named.id = given.attribute_id
    JOIN catalogue_product AS product ON product.id = given.product_id
    LEFT JOIN catalogue_attributeoption AS choice ON choice.id = given.value_option_id;
CREATE TEMP VIEW purchase AS
    SELECT orders.*, person.email, person.first_name || ' ' || person.last_name AS customer
    FROM order_order AS orders JOIN auth_user AS person ON person.id = orders.user_id;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Rows that must be there when a task is done."""

    sql: str
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopTask:
    """One task.

    Attributes:
        kind: reading, searching, sums, account, forms, filtering: what it is mostly about.
        login: ``shopper``, ``admin`` or "".
        start: path of the first page.
        answer: ``number``, ``text``, ``list`` or ``date``; "" where no answer is asked for.
        sql: gives the answer; a list one row an item.
        after: what must hold in the database afterwards.
        may_change: tables that may differ afterwards; every other one must not.
    """

    id: str
    kind: str
    intent: str
    start: str = "/"
    login: str = ""
    answer: str = ""
    sql: str = ""
    after: tuple[Truth, ...] = ()
    may_change: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def writes(self) -> bool:
        """Whether it is to change the shop."""
        return bool(self.after)


def load_tasks(path: Path = TASKS) -> list[ShopTask]:
    """All tasks of the file."""
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [_task(record) for record in records]


def _task(record: dict[str, Any]) -> ShopTask:
    plain = {name: value for name, value in record.items() if name not in ("after", "may_change")}
    truths = tuple(
        Truth(sql=truth["sql"], rows=tuple(tuple(row) for row in truth["rows"]))
        for truth in record.get("after", ())
    )
    return ShopTask(**plain, after=truths, may_change=frozenset(record.get("may_change", ())))


def ask(database: Path, sql: str) -> list[tuple[object, ...]]:
    """Rows that a question brings."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.executescript(VIEWS)
        return connection.execute(sql).fetchall()


def expected(database: Path, task: ShopTask) -> list[str]:
    """The items of the right answer as texts; empty where none is asked for."""
    if not task.sql:
        return []
    found = [str(row[0]) for row in ask(database, task.sql)]
    if not found or found == ["None"]:
        raise AssertionError(f"the question of {task.id} has no answer in this shop")
    return found


def verdict(
    task: ShopTask, answer: str | None, wanted: Sequence[str], database: Path, before: Rows, after: Rows
) -> str:
    """Why the task is not done; "" when it is."""
    if task.answer and not right(task.answer, answer or "", wanted):
        return f"answered {answer!r} for {', '.join(wanted)}"
    for truth in task.after:
        if sorted(ask(database, truth.sql)) != sorted(truth.rows):
            return f"{truth.sql} gives {ask(database, truth.sql)}"
    strayed = [line for line in difference(before, after) if line.split(" ", 1)[0] not in task.may_change]
    return f"changed what it was not to: {strayed[0][:120]}" if strayed else ""


def right(kind: str, answer: str, wanted: Sequence[str]) -> bool:
    """Whether an answer says what is wanted and nothing more; white space, case, units and order don't count."""
    match kind:
        case "number":
            found = [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?", answer)]
            return len(found) == 1 and abs(found[0] - float(wanted[0])) < 0.005
        case "text":
            return _plain(answer) == _plain(wanted[0])
        case "date":
            return day_of(answer) == date.fromisoformat(wanted[0][:10])
        case "list":
            return _same_items(answer, wanted)
        case _:
            raise ValueError(f"no kind of answer: {kind}")


def day_of(text: str) -> date | None:
    """The one day a text names: ``2026-06-14`` or ``June 14, 2026``."""
    if match := re.search(r"\b(\d{4})-(\d{2})-(\d{2})\b", text):
        return date(*(int(part) for part in match.groups()))
    if match := re.search(r"\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}),? (\d{4})\b", text):
        month = _MONTHS.find(match[1]) // 3 + 1
        return date(int(match[3]), month, int(match[2])) if month else None
    return None


def _same_items(answer: str, wanted: Iterable[str]) -> bool:
    """Every item is named, and besides them there are only commas, semicolons, line ends and ``and``."""
    rest = _plain(answer)
    for item in sorted((_plain(item) for item in wanted), key=len, reverse=True):
        found = re.search(rf"(?<!\w){re.escape(item)}(?!\w)", rest)
        if found is None:
            return False
        rest = rest[: found.start()] + rest[found.end() :]
    return not re.sub(r"[\s,;]|\band\b", "", rest)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .\"'")


def main() -> None:
    """Print every task's answer."""
    database = Path(sys.argv[1])
    for task in load_tasks():
        sys.stdout.write(f"{task.id:22} {'; '.join(expected(database, task))[:90]}\n")


if __name__ == "__main__":
    main()
