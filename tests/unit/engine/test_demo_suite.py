"""The suite of the bundled shop: its answers are those of the shop's pages, its pages those the shop serves."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from app.assets import resource
from app.demo.server import DemoServer, Request
from app.demo.state import Product
from app.engine.core.evaluation.suite import Evaluator, SuiteTask
from app.engine.engine import Engine
from app.engine.evaluation.suites.registry import read_suite

SUITE = read_suite(resource("suites", "demo.json"))
ADDRESS = "http://127.0.0.1:7801"
BY_PAGE = [task for task in SUITE.tasks if task.oracle.page]


def product_named(server: DemoServer, task: SuiteTask) -> Product:
    """The product that a task names."""
    return next(one for one in server.state.products.values() if one.name in task.intent)


def get(server: DemoServer, path: str, query: dict[str, str] | None = None) -> str:
    """A page of the shop."""
    asked = Request(method="GET", path=path, query=query or {}, form={}, cookies={})
    return server.shop(asked).body.decode()


def test_it_has_enough_templates_and_every_task_its_oracle() -> None:
    assert len({task.template for task in SUITE.tasks}) >= 6
    assert not SUITE.notes
    for task in SUITE.tasks:
        assert task.sites == ("demo-shop",)
        assert task.start_url.startswith(f"{ADDRESS}/")
        assert task.login == "nobody"
        assert not task.writes
        kinds = {Evaluator.ANSWER: bool(task.oracle.accepted), Evaluator.PAGE: bool(task.oracle.page)}
        assert [kind for kind, there in kinds.items() if there] == list(task.oracle.evaluators)


@pytest.mark.parametrize(
    "task", [task for task in SUITE.tasks if task.oracle.accepted], ids=lambda one: one.id
)
def test_an_answer_is_what_the_page_says(task: SuiteTask) -> None:
    server = DemoServer()
    if task.template == "cheapest-in-department":
        department = task.intent.split("department ")[1].split()[0]
        of_it = [one for one in server.state.products.values() if one.department == department]
        assert task.oracle.accepted == (min(of_it, key=lambda one: one.price).name,)
        return
    product = product_named(server, task)
    page = get(server, f"/product/{product.slug}")
    if task.oracle.answer_kind == "number":
        assert task.template == "price-of-product" or f"{task.oracle.accepted[0]} in stock" in page
        assert task.template != "price-of-product" or Decimal(task.oracle.accepted[0]) == product.price
    elif task.template == "sizes-of-product":
        assert task.oracle.accepted == product.sizes
    else:
        assert f"Made by {task.oracle.accepted[0]}." in page


@pytest.mark.parametrize("task", BY_PAGE, ids=lambda one: one.id)
def test_a_page_is_one_of_the_shop_and_not_where_the_task_begins(task: SuiteTask) -> None:
    server = DemoServer()
    if task.template == "department-sorted":
        end = "/department/Wear?sort=name"
        assert 'value="name" selected' in get(server, "/department/Wear", {"sort": "name"})
    elif task.template == "put-into-basket":
        product = product_named(server, task)
        form = {"product": product.slug, "size": product.sizes[-1]}
        asked = Request(method="POST", path="/basket/add", query={}, form=form, cookies={})
        end = server.shop(asked).location
    else:
        end = f"/product/{product_named(server, task).slug}"
    assert re.fullmatch(task.oracle.page, end)
    assert not re.fullmatch(task.oracle.page, task.start_url.removeprefix(ADDRESS))


async def test_it_is_added_by_its_name(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "workspace", "tester")
    try:
        row = await engine.add_suite(str(tmp_path / "demo"))
        assert (row.name, row.tasks, row.without_oracle, row.unbound) == ("demo", len(SUITE.tasks), 0, ())
    finally:
        await engine.aclose()
