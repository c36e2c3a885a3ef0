"""A made-up shop of 40 page states with transitions, pictures, runs and tips; and a generator for very large sites."""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from dataclasses import dataclass, replace

import numpy as np

from app.engine.api.graph_api import GraphPicture, NodeRow
from app.engine.core.page_state import Challenge, Element, PageKeys, Source
from app.engine.core.transition import Locator, Operation, Transition
from app.engine.graph.layout import layout
from tests.support.made_up import NOW

HOME = "http://shop.example:8123/"
SITE = "shop"

CATEGORIES = ("Books", "Clothing", "Electronics", "Garden", "Offers")
PRODUCTS = (
    "Apron",
    "Teapot",
    "The shellcoder's handbook",
    "Hacking exposed wireless",
    "Kettle",
    "Lamp",
    "Rake",
    "Mug",
)


@dataclass(frozen=True)
class Place:
    """One state to be: its title, path, depth, the number of the one it is reached from, and what to do there."""

    title: str
    path: str
    depth: int
    parent: int
    words: str = ""
    direct: bool = True


def _places() -> list[Place]:
    places = [Place("Shop: everything for house and garden", "", 0, -1)]
    first = [
        Place(name, f"catalogue/category/{name.lower()}_{n}/", 1, 0) for n, name in enumerate(CATEGORIES, 2)
    ]
    places += first
    places += [
        Place("Basket", "basket/", 1, 0),
        Place("Log in or register", "accounts/login/", 1, 0),
        Place("Search", "search/", 1, 0),
        Place("Menu 'Browse' open", "", 1, 0, "button 'Browse'", direct=False),
        Place("Dialog 'Choose a language'", "", 1, 0, "button 'Language'", direct=False),
    ]
    places += [
        Place(name, f"catalogue/{name.lower().replace(' ', '-')}_{n + 17}/", 2, 1 + n % 5)
        for n, name in enumerate(PRODUCTS)
    ]
    places += [
        Place("Checkout: shipping address", "checkout/shipping-address/", 2, 6),
        Place("Register", "accounts/register/", 2, 7),
        Place("Forgotten password", "password-reset/", 2, 7),
        Place("Profile", "accounts/profile/", 2, 7),
        Place("Orders", "accounts/orders/", 2, 7),
        Place("Sort by price", "catalogue/category/books_2/", 2, 1, "combobox 'Sort by'", direct=False),
    ]
    for n in range(8):
        where = places[11 + n]
        tabs = ("Reviews", "Write a review")
        places.append(
            Place(
                f"{where.title}: {tabs[n % 2]}", where.path + ("reviews/", "reviews/add/")[n % 2], 3, 11 + n
            )
        )
    places += [Place(f"Order number 1000{n}", f"accounts/orders/1000{n}/", 3, 23) for n in range(4)]
    places += [
        Place("Order status 'pending' open", "accounts/orders/", 3, 23, "combobox 'Status'", direct=False),
        Place("Address book", "accounts/addresses/", 3, 22),
        Place("Payment", "checkout/payment-details/", 3, 19),
    ]
    return places


def make_rows() -> tuple[list[NodeRow], list[tuple[int, int, bool]]]:
    """40 rows and the edges between them as (source, target, tried)."""
    places = _places()[:40]
    edges: dict[tuple[int, int], bool] = {}
    for number, place in enumerate(places):
        if place.parent >= 0:
            edges[place.parent, number] = True
    for number in range(1, 40):
        edges.setdefault((number, 0), number % 7 == 0)  # the logo of every page
        if number > 10:
            edges.setdefault((number, 6), number % 9 == 0)  # and the basket
    for number in range(11, 19):
        edges.setdefault((number, 11 + (number - 10) % 8), number % 2 == 0)  # "others also bought"
    rows = [_row(number, place, list(edges)) for number, place in enumerate(places)]
    return rows, [(source, target, tried) for (source, target), tried in edges.items()]


def _row(number: int, place: Place, edges: list[tuple[int, int]]) -> NodeRow:
    return NodeRow(
        id=node_id(number),
        title=place.title,
        url=HOME + place.path,
        template="/"
        + "/".join("{id}" if "_" in part or part.isdigit() else part for part in place.path.split("/")),
        depth=place.depth,
        pages=3 if number in (12, 24) else 1,
        elements=18 + 7 * number % 40,
        outgoing=sum(source == number for source, _ in edges),
        incoming=sum(target == number for _, target in edges),
        waiting=4 if number in (9, 23, 31) else 0,
        runs=(13 * number) % 6,
        failures={6: 2, 14: 1, 19: 5, 23: 1}.get(number, 0),
        tips={0: 1, 6: 2, 12: 1, 19: 3, 23: 1}.get(number, 0),
        suspect_tips={12: 1}.get(number, 0),
        direct=place.direct,
        gone=number in (21, 36),
        thumbnail=f"thumb-{number}",
        challenge=Challenge.LOGIN if number == 7 else Challenge.NONE,
        last_seen=NOW - 60 * number,
    )


def node_id(number: int) -> str:
    """16 hex digits."""
    return hashlib.sha256(f"state {number}".encode()).hexdigest()[:16]


def make_picture(
    rows: list[NodeRow],
    edges: list[tuple[int, int, bool]],
    before: GraphPicture | None = None,
    *,
    tidy: bool = False,
) -> GraphPicture:
    """The map of these rows; whoever stood keeps the place."""
    sources, targets = [edge[0] for edge in edges], [edge[1] for edge in edges]
    placed = (
        {}
        if before is None
        else {row.id: (x, y) for row, x, y in zip(before.nodes, before.x, before.y, strict=True)}
    )
    previous = np.array([placed.get(row.id, (np.nan, np.nan)) for row in rows], dtype=float)
    places = layout([row.depth for row in rows], sources, targets, previous, tidy=tidy)
    return GraphPicture(
        site=SITE,
        version=1 if before is None else before.version + 1,
        nodes=tuple(rows),
        x=tuple(places[:, 0].tolist()),
        y=tuple(places[:, 1].tolist()),
        sources=tuple(sources),
        targets=tuple(targets),
        weights=tuple(1 for _ in edges),
        tried=tuple(edge[2] for edge in edges),
    )


def large_site(
    count: int = 10_000, edges_each: int = 3, seed: int = 1
) -> tuple[list[NodeRow], list[tuple[int, int, bool]]]:
    """Rows and edges of a site that was explored breadth first: hubs, many leaves, links back."""
    dice = random.Random(seed)
    depths, edges = [0], dict[tuple[int, int], bool]()
    for number in range(1, count):
        parent = dice.randrange(max(0, number // 8 - 5), max(1, number // 3 + 1))
        depths.append(depths[parent] + 1)
        edges[parent, number] = True
    while len(edges) < edges_each * count and count > 20:
        pair = dice.randrange(count), dice.randrange(20 if dice.random() < 0.4 else count)
        edges.setdefault(pair, dice.random() < 0.3)
    model = make_rows()[0]
    rows = [
        replace(
            model[number % 40],
            id=node_id(number),
            title=f"{model[number % 40].title} {number}",
            url=f"{model[number % 40].url}{number}/",
            depth=depth,
            failures=number % 97 == 5,
            tips=number % 61 == 3,
            gone=number % 211 == 7,
            challenge=Challenge.NONE,
        )
        for number, depth in enumerate(depths)
    ]
    return rows, [(source, target, tried) for (source, target), tried in edges.items()]


def make_keys(row: NodeRow) -> PageKeys:
    """The typed parts of a row's identity."""
    return PageKeys(
        url="/" + row.url.removeprefix(HOME),
        template=row.template,
        structure=row.id,
        skeleton=row.id[::-1],
        content=row.id,
    )


def make_elements(row: NodeRow) -> tuple[Element, ...]:
    """Return the elements of a page; their rectangles fit ``page_png``."""
    names = (
        ("link", "Shop", ("banner",)), ("searchbox", "Search", ("banner", "search")),
        ("button", "Search", ("banner", "search")), ("link", "Basket", ("banner",)),
        ("link", "Books", ("navigation:Browse",)), ("link", "Clothing", ("navigation:Browse",)),
        ("button", "Add to basket", ("main",)), ("link", "Reviews", ("main",)),
        ("button", "Delete this list", ("main",)), ("link", "Send to a friend", ("main",)),
    )  # fmt: skip
    return tuple(
        Element(
            index=number,
            role=role,
            name=name,
            tag="a" if role == "link" else "button",
            rect=(40 + 240 * (number % 5), 30 + 150 * (number // 5), 180, 36),
            landmarks=landmarks,
            href=f"{HOME}{name.lower()}/" if role == "link" else "",
            repeat="" if number < 7 else "list",
            css=f"#e{number}",
        )
        for number, (role, name, landmarks) in enumerate(names[: 6 + row.elements % 5])
    )


def make_transition(rows: list[NodeRow], source: int, target: int, *, tried: bool) -> Transition:
    """How one row leads to another."""
    place = rows[target]
    direct = bool(place.direct)
    return Transition(
        id=hashlib.sha256(f"{source}>{target}".encode()).hexdigest()[:16],
        source=rows[source].id,
        target=place.id,
        operation=Operation.CLICK,
        locator=Locator(
            role="link" if direct else "button", name=place.title.split(":")[0], landmarks=("main",)
        ),
        attempts=3 if tried else 0,
        successes=(2 if target % 5 == 4 else 3) if tried else 0,
        seconds=0.4 + 0.1 * (target % 4),
        risk=0.0 if direct else 0.1,
        last_at=NOW,
        last_ok_at=NOW,
        last_arrival="exact" if tried else "",
        found_by=Source.EXPLORED if tried else Source.SEEN,
    )


def page_png(number: int, width: int = 320, height: int = 200) -> bytes:
    """A picture that looks like a page from afar: a bar, a column of links, blocks of text; made here, byte by byte."""
    dice = random.Random(number)
    paper, bar = np.array([252, 252, 250]), np.array([40 + 25 * (number % 7), 80 + 13 * (number % 11), 150])
    image = np.empty((height, width, 3), np.uint8)
    image[:] = paper
    image[: height // 9] = bar
    image[height // 30 : height // 12, width // 24 : width // 4] = [250, 250, 250]
    image[height // 6 : height - height // 12, width // 24 : width // 5] = [232, 236, 240]
    for line in range(6 + number % 4):
        top = height // 6 + line * height // 13
        end = width // 4 + int(width * (0.3 + 0.4 * dice.random()))
        image[top : top + height // 32, width // 4 : end] = [176, 182, 190] if line else [70, 78, 90]
    left = width // 4 + (number % 3) * width // 5
    image[height * 2 // 3 : height - height // 9, left : left + width // 6] = [
        210,
        170 - 9 * (number % 9),
        130,
    ]
    return _png(image)


def _png(image: np.ndarray) -> bytes:
    height, width, _ = image.shape
    raw = b"".join(b"\0" + image[row].tobytes() for row in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(raw, 1))
        + chunk(b"IEND", b"")
    )


def is_free_of_overlaps(places: np.ndarray) -> bool:
    """Whether no two states share a cell of the map."""
    order = np.lexsort((places[:, 1], places[:, 0]))
    sorted_ = places[order]
    same = np.diff(sorted_[:, 0]) < 1e-9
    return bool((np.diff(sorted_[:, 1])[same] > 0.999).all())
