"""The demo shop's pages: templates of ``resources/demo_site`` filled from its state.  Text in, HTML out."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from string import Template
from typing import TypeVar
from urllib.parse import urlencode

from app.assets import resource
from app.demo.state import PAGE_ROWS, Customer, DemoState, Product, ShopOrder

T = TypeVar("T")

DEPARTMENTS = ("Kitchen", "Living", "Garden", "Wear")
STATUSES = ("open", "parked", "processing", "settled")
SHELF_ORDERS = {"shelf": "our choice", "price": "price, low to high", "name": "name"}
MONTHS = {"08": "August", "09": "September", "10": "October"}


class Html(str):
    """Text that is HTML already; anything else is escaped when it is filled in."""

    __slots__ = ()


@cache
def _template(name: str) -> Template:
    return Template(resource("demo_site", "templates", f"{name}.html").read_text(encoding="utf-8"))


def fill(template: str, record: Product | ShopOrder | Customer | None = None, /, **values: object) -> Html:
    """Fill one template with its values, escaped; the fields of a record are values, too."""
    if record is not None:
        values = {**{one.name: getattr(record, one.name) for one in fields(record)}, **values}
    safe = {k: v if isinstance(v, Html) else html.escape(str(v)) for k, v in values.items()}
    return Html(_template(template).substitute(safe))


def join(parts: list[Html]) -> Html:
    """Concatenate pieces."""
    return Html("".join(parts))


def _link(address: str, text: str, *, current: bool = False) -> Html:
    mark = ' aria-current="page"' if current else ""
    return Html(f'<a href="{html.escape(address)}"{mark}>{html.escape(text)}</a>')


def _options(choices: dict[str, str], chosen: str) -> Html:
    return join(
        [
            Html(
                f'<option value="{value}"{" selected" if value == chosen else ""}>{html.escape(text)}</option>'
            )
            for value, text in choices.items()
        ]
    )


# the shop ---------------------------------------------------------------------------------------------------------


def shop_page(state: DemoState, session: str, title: str, body: Html, *, department: str = "") -> Html:
    """A page of the shop around its body."""
    links = join([_link(f"/department/{name}", name, current=name == department) for name in DEPARTMENTS])
    count = len(state.baskets.get(session, []))
    return fill("shop", title=title, departments=links, basket_count=count, body=body)


def department_page(state: DemoState, department: str, order: str) -> Html:
    """Cards of all products, or of one department's.  Prices are sorted as text: a quirk of this site."""
    products = [p for p in state.products.values() if department in ("", p.department)]
    if order == "price":
        products.sort(key=lambda product: str(product.price))
    elif order == "name":
        products.sort(key=lambda product: product.name)
    cards = [fill("card", product) for product in products]
    return fill(
        "shelf",
        heading=department or "Good things for plain days",
        count=len(products),
        action=f"/department/{department}" if department else "/",
        options=_options(SHELF_ORDERS, order),
        cards=join(cards),
    )


def product_page(product: Product, *, added: bool) -> Html:
    """One product with its sizes; none is chosen, not even an only one."""
    notice = '<p class="note" role="status">Added to your basket.</p>' if added else ""
    return fill(
        "product",
        product,
        notice=Html(notice),
        sizes=join([fill("size", size=size) for size in product.sizes]),
    )


def basket_page(state: DemoState, session: str) -> Html:
    """The basket's contents."""
    basket = state.baskets.get(session, [])
    rows = [
        fill(
            "basket_row", state.products[line.product], size=line.size, quantity=line.quantity, line=position
        )
        for position, line in enumerate(basket)
    ]
    notice = Html("" if basket else '<p class="muted">There is nothing in it yet.</p>')
    return fill("basket", rows=join(rows), total=f"{state.total(basket):.2f}", notice=notice)


def checkout_page(state: DemoState, session: str, *, incomplete: bool = False) -> Html:
    """The form for name and town."""
    notice = '<p class="note warn" role="alert">Please give a name and a town.</p>' if incomplete else ""
    total = state.total(state.baskets.get(session, []))
    return fill("checkout", total=f"{total:.2f}", notice=Html(notice))


# the admin part ---------------------------------------------------------------------------------------------------


def admin_page(title: str, body: Html, *, current: str = "") -> Html:
    """A page of the admin part around its body."""
    links = [
        _link(f"/admin/{name.lower()}", name, current=name == current)
        for name in ("Orders", "Products", "Customers", "Help")
    ]
    return fill("admin", title=title, links=join(links), body=body)


def dashboard(state: DemoState) -> Html:
    """Four figures and the newest orders."""
    low = sum(product.stock < 10 for product in state.products.values())
    figures = {
        "orders": len(state.orders),
        "customers": len(state.customers),
        "products": len(state.products),
        "low on stock": low,
    }
    tiles = [fill("tile", figure=figure, label=label) for label, figure in figures.items()]
    newest = sorted(state.orders.values(), key=lambda order: -order.id)[:5]
    rows = [fill("newest_row", order, customer=state.customers[order.customer].name) for order in newest]
    return fill("dashboard", tiles=join(tiles), rows=join(rows))


def products_page(state: DemoState, maker_url: str) -> Html:
    """The product grid: a name leads to its maker's own site, only "Edit" opens the details."""
    rows = [fill("products_row", product, maker_url=maker_url) for product in state.products.values()]
    return fill("products", count=len(rows), rows=join(rows))


def product_form(product: Product, notice: str = "") -> Html:
    """Price and stock of one product; ``notice`` is ``saved``, ``refused`` or nothing."""
    notes = {
        "saved": '<p class="note" role="status">Saved.</p>',
        "refused": '<p class="note warn" role="alert">Price and stock must be numbers.</p>',
    }
    return fill("product_form", product, notice=Html(notes.get(notice, "")))


def orders_page(state: DemoState, query: dict[str, str], *, news: bool) -> Html:
    """The order grid, ten at a time.  Totals are sorted as text: another quirk of this site."""
    status, sort, down = query.get("status", ""), query.get("sort", "id"), query.get("dir") == "desc"

    def total(order: ShopOrder) -> str:
        return f"£{state.total(order.lines):,.2f}"

    keys: dict[str, Callable[[ShopOrder], str]] = {
        "id": lambda order: str(order.id),
        "date": lambda order: order.date,
        "customer": lambda order: state.customers[order.customer].name,
        "total": total,
    }
    orders = [order for order in state.orders.values() if status in ("", order.status)]
    orders.sort(key=keys.get(sort, keys["id"]), reverse=down)
    shown, pager = _page_of(orders, "/admin/orders", query)
    rows = [
        fill("orders_row", order, customer=state.customers[order.customer].name, total=total(order))
        for order in shown
    ]

    def heading(key: str) -> str:
        turned = "asc" if sort == key and down else "desc"
        return "/admin/orders?" + urlencode({"status": status, "sort": key, "dir": turned})

    return fill(
        "orders",
        rows=join(rows),
        pager=pager,
        options=_options({"": "all", **{word: word for word in STATUSES}}, status),
        by_id=heading("id"),
        by_date=heading("date"),
        by_customer=heading("customer"),
        by_total=heading("total"),
        news=fill("news") if news else Html(""),
    )


def order_page(state: DemoState, order: ShopOrder) -> Html:
    """One order with its customer and lines."""
    customer = state.customers[order.customer]
    lines = [
        fill(
            "order_line",
            state.products[line.product],
            size=line.size,
            quantity=line.quantity,
            price=f"£{state.products[line.product].price:.2f}",
        )
        for line in order.lines
    ]
    return fill(
        "order",
        order,
        customer=customer.name,
        email=customer.email,
        town=customer.town,
        rows=join(lines),
        total=f"£{state.total(order.lines):,.2f}",
    )


def customers_page(state: DemoState, query: dict[str, str]) -> Html:
    """Customers by name, ten at a time."""
    shown, pager = _page_of(list(state.customers.values()), "/admin/customers", query)
    rows = [fill("customers_row", customer) for customer in shown]
    return fill("customers", rows=join(rows), pager=pager)


def orders_report(state: DemoState) -> Html:
    """Orders by month."""
    counts = Counter(order.date[5:7] for order in state.orders.values())
    rows = [fill("report_row", name=name, figure=counts[month]) for month, name in MONTHS.items()]
    return fill(
        "report",
        title="Orders by month",
        text="Counted by the day they came in.",
        what="Month",
        measure="Orders",
        rows=join(rows),
    )


def stock_report(state: DemoState) -> Html:
    """Stock by department."""
    counts: Counter[str] = Counter()
    for product in state.products.values():
        counts[product.department] += product.stock
    rows = [fill("report_row", name=name, figure=counts[name]) for name in DEPARTMENTS]
    return fill(
        "report",
        title="Stock",
        text="Pieces on the shelves now.",
        what="Department",
        measure="Pieces",
        rows=join(rows),
    )


def _page_of(rows: list[T], path: str, query: dict[str, str]) -> tuple[list[T], Html]:
    """The rows of the requested page, and links to the pages beside it."""
    asked = query.get("page", "1")
    last = max(1, -(-len(rows) // PAGE_ROWS))
    page = min(max(int(asked) if asked.isdecimal() else 1, 1), last)
    links: list[Html] = []
    for text, target in (("previous", page - 1), ("next", page + 1)):
        if 1 <= target <= last:
            links.append(_link(f"{path}?{urlencode({**query, 'page': target})}", text))
    shown = rows[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    return shown, fill("pager", links=join(links), page=f"page {page} of {last}")
