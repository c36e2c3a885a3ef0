"""The demo shop's data: products, customers, orders, baskets.  In memory, the same at every start."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from pydantic import TypeAdapter

from app.assets import resource

PAGE_ROWS = 10
"""Rows per page of an admin list; the rest is behind a small "next"."""


@dataclass(slots=True, kw_only=True)
class Product:
    """One product; ``price`` in pounds."""

    slug: str
    name: str
    department: str
    price: Decimal
    sizes: tuple[str, ...]
    stock: int
    maker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A customer with an order."""

    id: int
    name: str
    email: str
    town: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """A quantity of one product in one size."""

    product: str
    size: str
    quantity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopOrder:
    """An order; ``status`` is one of the shop's own words: open, parked, processing, settled."""

    id: int
    date: str
    customer: int
    status: str
    lines: tuple[OrderLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """``resources/demo_site/data.json``."""

    products: list[Product]
    customers: list[Customer]
    orders: list[ShopOrder]


@dataclass(slots=True)
class DemoState:
    """One shop's state.  Each server has its own, so that runs do not interfere."""

    products: dict[str, Product]
    customers: dict[int, Customer]
    orders: dict[int, ShopOrder]
    baskets: dict[str, list[OrderLine]] = field(default_factory=dict[str, list[OrderLine]])
    placed: list[tuple[str, str, tuple[OrderLine, ...]]] = field(
        default_factory=list[tuple[str, str, tuple[OrderLine, ...]]]
    )
    """Orders of this session: name, town, lines."""

    @classmethod
    def seeded(cls) -> DemoState:
        """The shop in its initial state."""
        seed = TypeAdapter(Seed).validate_json(resource("demo_site", "data.json").read_bytes())
        return cls(
            {product.slug: product for product in seed.products},
            {customer.id: customer for customer in seed.customers},
            {order.id: order for order in seed.orders},
        )

    def add_to_basket(self, session: str, slug: str, size: str) -> bool:
        """Add one item; ``False`` (and no change) unless the product comes in that size."""
        product = self.products.get(slug)
        if product is None or size not in product.sizes:
            return False
        self.baskets.setdefault(session, []).append(OrderLine(product=slug, size=size, quantity=1))
        return True

    def remove_from_basket(self, session: str, position: str) -> None:
        """Remove a line; an invalid position changes nothing."""
        basket = self.baskets.get(session, [])
        if position.isdigit() and int(position) < len(basket):
            del basket[int(position)]

    def place_order(self, session: str, name: str, town: str) -> str | None:
        """Turn the basket into an order and return its number; ``None`` if something is missing."""
        basket = self.baskets.get(session, [])
        if not (basket and name.strip() and town.strip()):
            return None
        self.placed.append((name.strip(), town.strip(), tuple(basket)))
        self.baskets[session] = []
        return str(max(self.orders) + len(self.placed))

    def change_product(self, slug: str, price: str, stock: str) -> bool:
        """Store a new price and stock; ``False`` (and no change) if one is no number."""
        try:
            amount, count = Decimal(price), int(stock)
        except (InvalidOperation, ValueError):
            return False
        if not amount.is_finite() or amount < 0 or count < 0:
            return False
        self.products[slug].price, self.products[slug].stock = amount.quantize(Decimal("0.01")), count
        return True

    def total(self, lines: tuple[OrderLine, ...] | list[OrderLine]) -> Decimal:
        """Pounds for these lines at current prices."""
        return sum((self.products[line.product].price * line.quantity for line in lines), Decimal(0))

    def in_baskets(self) -> list[OrderLine]:
        """Every line in any basket, to check a recorded run against."""
        return [line for basket in self.baskets.values() for line in basket]
