"""Pages of a made-up shop as they are captured, with everything on them that changes from look to look."""

from __future__ import annotations

from app.engine.core.identity import element_key, keys_of, kind_key, node_id, page_id
from app.engine.core.page_state import Element, Mode, PageCapture

HOME = "http://shop.example/"


def shop_page(
    *,
    ids: int = 0,
    seconds: int = 0,
    token: str = "0" * 32,
    basket: int = 3,
    adverts: tuple[str, ...] | list[str] = (),
    rows: int = 12,
    first: int = 0,
    host: str = "shop.example",
) -> PageCapture:
    """The catalogue: banner with menu and search, a list of products, advert slots, a form with a token."""
    base = f"http://{host}"
    elements = [
        _chrome(0, "link", f"Basket ({basket})", href=f"{base}/basket/?sid={token}"),
        _chrome(
            1, "button", "Account", states=("collapsed", "haspopup"), attributes=(("id", f"menu-{ids}"),)
        ),
        _chrome(2, "searchbox", "Search", value=str(seconds), form="get:/search"),
        Element(
            index=3, role="link", name="Books", href=f"{base}/books", landmarks=("navigation:Departments",)
        ),
        Element(index=4, role="link", name=f"Updated {seconds} seconds ago", href=f"{base}/news?_={seconds}"),
    ]
    for row in range(first, first + rows):
        where = {"landmarks": ("main",), "repeat": "ol>li", "repeat_index": row - first}
        link = f"{base}/catalogue/thing-{row}_{row}/"
        elements.append(Element(index=10 + 2 * row, role="link", name=f"Thing {row}", href=link, **where))  # pyright: ignore[reportArgumentType]
        elements.append(
            Element(index=11 + 2 * row, role="button", name="Add to basket", css=f"#b{ids}", **where)
        )  # pyright: ignore[reportArgumentType]
    for slot, advert in enumerate(adverts):
        elements.append(
            Element(index=800 + slot, role="link", name=advert, in_advert=True, href=f"http://ads/{slot}")
        )
    return PageCapture(
        url=f"{base}/catalogue/?utm_source=mail&csrf_token={token}&t={1700000000 + seconds}",
        title=f"Catalogue ({basket})",
        headings=("All products",),
        text=f"All products\n12 things\nIt is 12:00:{seconds:02d}",
        elements=tuple(elements),
    )


def product_page(name: str, *, images: int = 1) -> PageCapture:
    """A product whose address is a plain word, its name in headings, links and buttons."""
    main = ("main",)
    elements = [
        _chrome(1, "button", "Account", states=("collapsed", "haspopup")),
        Element(
            index=2,
            role="link",
            name=name,
            href=f"{HOME}product/{name.lower()}",
            landmarks=("navigation:Crumbs",),
        ),
        Element(
            index=3, role="button", name=f"Add {name} to basket", landmarks=main, form="post:/basket/add"
        ),
        Element(index=4, role="tab", name="Reviews", landmarks=("main", "tablist")),
        Element(index=5, role="checkbox", name="In stock", landmarks=main),
        *(
            Element(index=10 + n, role="button", name=f"Picture {n}", landmarks=main, states=())
            for n in range(images)
        ),
    ]
    return PageCapture(
        url=f"{HOME}product/{name.lower()}", title=name, headings=(name,), text=name, elements=tuple(elements)
    )


def key_lines() -> list[str]:
    """Everything identity says of these pages, one line each: the same in every process."""
    lines: list[str] = []
    for page in (
        shop_page(),
        shop_page(basket=8, adverts=("Buy!",)),
        product_page("Apron"),
        product_page("Teapot"),
    ):
        keys = keys_of(page, HOME)
        lines.append(" ".join((keys.url, keys.template, keys.structure, keys.skeleton, keys.content)))
        lines.append(" ".join((page_id(keys), node_id(keys, Mode.SKELETON))))
        lines.append(" ".join(element_key(element, HOME) + kind_key(element) for element in page.elements))
    return lines


def _chrome(index: int, role: str, name: str, **fields: object) -> Element:
    return Element(index=index, role=role, name=name, landmarks=("banner",), **fields)  # pyright: ignore[reportArgumentType]
