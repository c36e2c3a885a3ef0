"""Scripts played on the demo shop to record sample runs: how each fails, and how it is scored.

Each quirk of the site catches one of the scripts.  They are nobody's agent: a score says whether the shop's state, or
the answer, is what the task asks for, and nothing about any system.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.demo.server import DemoServer
from app.demo.state import DemoState
from app.engine.core.actions.recorded import ArgValue
from tools.run_recorder import Move

SHOP, ADMIN = "demo-shop", "demo-admin"
STEP_LIMIT = 10

Truth = Callable[[DemoState, str], bool]
"""Whether a task is done, by the shop's state and the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTask:
    """A task, and how its completion is checked."""

    id: str
    site: str
    intent: str
    done: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAttempt:
    """One run at a task; ``name`` ends the run's id, ``passes`` is the expected score."""

    task: DemoTask
    name: str
    passes: bool
    moves: tuple[Move, ...]


def _answers(words: str) -> Truth:
    """Whether the answer contains this as a whole word."""
    return lambda _, answer: re.search(rf"(?<!\w){re.escape(words)}(?!\w)", answer) is not None


def _mug_ordered(state: DemoState, _: str) -> bool:
    return any(
        (name, town) == ("Iris Kemp", "Leeds")
        and [(line.product, line.size, line.quantity) for line in lines] == [("enamel-mug", "Large", 1)]
        for name, town, lines in state.placed
    )


APRON = DemoTask(
    id="shop-1",
    site=SHOP,
    intent="Put one Linen Apron into the basket.",
    done=lambda state, _: [line.product for line in state.in_baskets()] == ["linen-apron"],
)
MUG = DemoTask(
    id="shop-2",
    site=SHOP,
    intent="Order one large Enamel Mug for Iris Kemp in Leeds.",
    done=_mug_ordered,
)
CHEAPEST = DemoTask(
    id="shop-3",
    site=SHOP,
    intent="What is the cheapest product in the Kitchen department? Answer with its name.",
    done=_answers("Enamel Mug"),
)
STOCK = DemoTask(
    id="admin-1",
    site=ADMIN,
    intent="Set the stock of the Oak Tray to 14.",
    done=lambda state, _: state.products["oak-tray"].stock == 14,
)
SEPTEMBER = DemoTask(
    id="admin-2",
    site=ADMIN,
    intent="How many orders came in in September, by the orders report?",
    done=_answers("11"),
)
EMAIL = DemoTask(
    id="admin-3",
    site=ADMIN,
    intent="What is the e-mail address of the customer who placed order 1009?",
    done=_answers("mateo.rivas@example.com"),
)
UNPAID = DemoTask(
    id="admin-4",
    site=ADMIN,
    intent="How many orders are waiting for payment?",
    done=_answers("6"),
)
LARGEST = DemoTask(
    id="admin-5",
    site=ADMIN,
    intent="Which order has the largest total? Answer with its number.",
    done=_answers("1022"),
)
LEEDS = DemoTask(
    id="admin-6",
    site=ADMIN,
    intent="How many customers live in Leeds?",
    done=_answers("6"),
)
PRICE = DemoTask(
    id="admin-7",
    site=ADMIN,
    intent="Raise the price of the Brass Lamp to 64.00.",
    done=lambda state, _: str(state.products["brass-lamp"].price) == "64.00",
)


def _click(reason: str, role: str, name: str, nth: int = 0) -> Move:
    return Move(reason=reason, role=role, name=name, nth=nth)


def _do(kind: str, reason: str, role: str = "", name: str = "", /, **args: ArgValue) -> Move:
    return Move(kind=kind, reason=reason, role=role, name=name, args=dict(args))


def _say(reason: str, text: str) -> Move:
    return _do("send_msg_to_user", reason, text=text)


def _got_it() -> Move:
    return _click("A dialog with news lies over the orders. I close it first.", "button", "Got it")


_ORDERS = ("The orders are listed under Orders in the top bar.", "link", "Orders")
_PRODUCTS = ("Products are kept under Products in the top bar.", "link", "Products")

ATTEMPTS = (
    ScriptedAttempt(
        task=APRON,
        name="a",
        passes=False,
        moves=(
            _click("An apron is something to wear, so it should be in the Wear department.", "link", "Wear"),
            _click("The Linen Apron is listed. I open it.", "link", "Linen Apron"),
            _click("The product page is open. I add it to the basket.", "button", "Add to basket"),
            _click(
                "The basket still shows 0. The click may have been lost; again.", "button", "Add to basket"
            ),
            _click("No message appeared. I look into the basket itself.", "link", "Basket (0)"),
            _do("go_back", "The basket is empty. I go back to the product."),
            _click("I press the button once more and watch the counter.", "button", "Add to basket"),
            _click("Nothing yet. Perhaps the shop is slow; I try again.", "button", "Add to basket"),
            _click("I check whether one of the clicks was counted.", "link", "Basket (0)"),
            _do("go_back", "Still empty. Back to the apron for another try."),
        ),
    ),
    ScriptedAttempt(
        task=APRON,
        name="b",
        passes=True,
        moves=(
            _click("Aprons are clothes: the Wear department.", "link", "Wear"),
            _click("There it is.", "link", "Linen Apron"),
            _click("The form has a size that is not chosen yet. I choose the only one.", "radio", "One size"),
            _click("Now I add it.", "button", "Add to basket"),
            _say("The page says that it is in the basket.", "The Linen Apron is in the basket."),
        ),
    ),
    ScriptedAttempt(
        task=MUG,
        name="a",
        passes=False,
        moves=(
            _click("The Enamel Mug is on the first page.", "link", "Enamel Mug"),
            _click("A size has to be chosen. I take the first.", "radio", "Small"),
            _click("Into the basket.", "button", "Add to basket"),
            _click("The counter shows 1. On to the basket.", "link", "Basket (1)"),
            _click("The mug is listed. I check out.", "link", "Check out"),
            _do("fill", "The form asks for a name.", "textbox", "Name", value="Iris Kemp"),
            _do("fill", "And for a town.", "textbox", "Town", value="Leeds"),
            _click("Everything is filled in.", "button", "Place order"),
            _say("The shop confirms the order.", "The order for Iris Kemp in Leeds is placed."),
        ),
    ),
    ScriptedAttempt(
        task=MUG,
        name="b",
        passes=True,
        moves=(
            _click("The Enamel Mug is on the first page.", "link", "Enamel Mug"),
            _click("The task asks for a large one.", "radio", "Large"),
            _click("Into the basket.", "button", "Add to basket"),
            _click("One thing is in the basket now.", "link", "Basket (1)"),
            _click("The line says Large. I check out.", "link", "Check out"),
            _do("fill", "The name first.", "textbox", "Name", value="Iris Kemp"),
            _do("fill", "Then the town.", "textbox", "Town", value="Leeds"),
            _click("Both are filled in.", "button", "Place order"),
            _say("The shop confirms the order.", "Ordered: one large Enamel Mug for Iris Kemp in Leeds."),
        ),
    ),
    ScriptedAttempt(
        task=CHEAPEST,
        name="a",
        passes=False,
        moves=(
            _click("I open the Kitchen department.", "link", "Kitchen"),
            _do(
                "select_option",
                "Sorting by price puts the cheapest product first.",
                "combobox",
                "Sort by",
                options="price, low to high",
            ),
            _say("The list is sorted from low to high and the Iron Skillet stands first.", "Iron Skillet"),
        ),
    ),
    ScriptedAttempt(
        task=STOCK,
        name="a",
        passes=False,
        moves=(
            _click(*_PRODUCTS),
            _click("The Oak Tray is in the list. Its name should open its details.", "link", "Oak Tray"),
        ),
    ),
    ScriptedAttempt(
        task=STOCK,
        name="b",
        passes=True,
        moves=(
            _click(*_PRODUCTS),
            _click("The row has a link to edit the product.", "link", "Edit Oak Tray"),
            _do("fill", "The stock is 9; it should be 14.", "textbox", "Stock", value="14"),
            _click("I save the form.", "button", "Save"),
            _say("The page says that it was saved.", "The stock of the Oak Tray is 14 now."),
        ),
    ),
    ScriptedAttempt(
        task=SEPTEMBER,
        name="a",
        passes=False,
        moves=(
            _click("The orders report should be in the Reports menu.", "button", "Reports"),
            _click("The menu did not open. I click it again.", "button", "Reports"),
            _do("press", "Maybe it listens to the keyboard.", "button", "Reports", key_comb="Enter"),
            _click("No menu. The help page may say where reports are.", "link", "Help"),
            _click("The help says nothing about it. One more click on Reports.", "button", "Reports"),
            _do(
                "report_infeasible",
                "The Reports menu has no entries, so there is no orders report in this shop.",
                reason="The Reports menu does not open, so the orders report can't be reached.",
            ),
        ),
    ),
    ScriptedAttempt(
        task=SEPTEMBER,
        name="b",
        passes=True,
        moves=(
            _do("hover", "Reports has a menu. I point at it.", "button", "Reports"),
            _click("The menu is open and offers the orders by month.", "link", "Orders by month"),
            _say("The row for September says 11.", "11"),
        ),
    ),
    ScriptedAttempt(
        task=EMAIL,
        name="a",
        passes=False,
        moves=(
            _click(*_ORDERS),
            _click("Order 1009 is on this page. I open it.", "link", "1009"),
            _click("The click timed out. I try again.", "link", "1009"),
            _click("Perhaps another page of the list answers.", "link", "next"),
            _do("press", "I scroll the page to free the link.", "link", "1009", key_comb="PageDown"),
            _click("Once more on the order.", "link", "1009"),
            _do("go_back", "The list does not react. I start over from the dashboard."),
            _click(*_ORDERS),
            _click("The list is open again. I open order 1009.", "link", "1009"),
            _click("It did not open; another try.", "link", "1009"),
        ),
    ),
    ScriptedAttempt(
        task=EMAIL,
        name="b",
        passes=True,
        moves=(
            _click(*_ORDERS),
            _got_it(),
            _click("Order 1009 is in the list.", "link", "1009"),
            _say("The order's page shows the address.", "mateo.rivas@example.com"),
        ),
    ),
    ScriptedAttempt(
        task=UNPAID,
        name="a",
        passes=False,
        moves=(
            _click(*_ORDERS),
            _got_it(),
            _do(
                "select_option",
                "An order that is not paid yet is still open. I filter by that status.",
                "combobox",
                "Status",
                options="open",
            ),
            _say("Five orders are open, so five wait for payment.", "5"),
        ),
    ),
    ScriptedAttempt(
        task=UNPAID,
        name="b",
        passes=True,
        moves=(
            _click("The status words are the shop's own. The help may explain them.", "link", "Help"),
            _click("Parked means waiting for payment. Now the orders.", "link", "Orders"),
            _got_it(),
            _do("select_option", "I filter by parked.", "combobox", "Status", options="parked"),
            _say("Six orders are parked.", "6"),
        ),
    ),
    ScriptedAttempt(
        task=LARGEST,
        name="a",
        passes=False,
        moves=(
            _click(*_ORDERS),
            _got_it(),
            _click("I sort by total.", "link", "Total"),
            _say("Sorted by total, the largest stands first: order 1023 with £92.00.", "1023"),
        ),
    ),
    ScriptedAttempt(
        task=LEEDS,
        name="a",
        passes=False,
        moves=(
            _click("I open the customers.", "link", "Customers"),
            Move(
                unreadable="<think>\nOn this page Ada Whitlock, Celia Marsh and Farid Nasser live in Leeds. "
                "I should make sure that no one is missing, so I go through the rows once more: Ada Whitlock"
            ),
            Move(
                unreadable="<think>\nThe rows with Leeds are the first, the third and the sixth.\n</think>\n<action>"
            ),
            _say("Three rows say Leeds.", "3"),
        ),
    ),
    ScriptedAttempt(
        task=PRICE,
        name="a",
        passes=False,
        moves=(
            _click(*_PRODUCTS),
            _click(
                "The grid shows prices but no field. The dashboard may have one.", "link", "Larkspur Admin"
            ),
            _click("No prices here. Back to the products.", "link", "Products"),
            _click("Still no field to type in. The dashboard again.", "link", "Larkspur Admin"),
            _click("Products must be the right place after all.", "link", "Products"),
            _click("I can't type into the grid. Dashboard.", "link", "Larkspur Admin"),
            _click("I look at the products once more.", "link", "Products"),
            _click("No field. Perhaps a setting on the dashboard.", "link", "Larkspur Admin"),
            _click("Nothing there. Products.", "link", "Products"),
            _click("The price stands in the grid as plain text. Dashboard.", "link", "Larkspur Admin"),
        ),
    ),
)


def start_url(server: DemoServer, task: DemoTask) -> str:
    """Start address of a run at this task."""
    return server.shop_url + "/" if task.site == SHOP else server.admin_url + "/admin"


SIGN_IN = (_click("", "button", "Sign in"),)
"""Actions before a run on the admin part begins; they are not recorded."""
