"""Every habit of the demo shop is one: what one does without knowing it fails, what a tip would say works."""

from __future__ import annotations

from app.demo.server import DemoServer
from tests.support.browser_walker import Walker


async def test_adding_to_the_basket_does_nothing_without_a_size_even_if_there_is_only_one(
    shop: Walker, server: DemoServer
):
    await shop.go(server.shop_url + "/product/linen-apron")
    before = await shop.state()

    assert await shop.do("click", "button", "Add to basket") == ""

    assert await shop.state() == before
    assert server.state.in_baskets() == []

    await shop.do("click", "radio", "One size")
    await shop.do("click", "button", "Add to basket")

    assert [line.product for line in server.state.in_baskets()] == ["linen-apron"]
    assert "Basket (1)" in await shop.names("link")


async def test_a_products_name_leaves_the_admin_part_and_edit_opens_the_details(
    admin: Walker, server: DemoServer
):
    await admin.do("click", "link", "Products")
    await admin.do("click", "link", "Oak Tray")
    assert admin.tab.page.url.startswith(server.maker_url)

    await admin.do("go_back")
    await admin.do("click", "link", "Edit Oak Tray")
    await admin.do("fill", "textbox", "Stock", value="14")
    await admin.do("click", "button", "Save")

    assert server.state.products["oak-tray"].stock == 14
    assert "Saved." in [node.name for node in await admin.nodes()]


async def test_the_reports_menu_opens_when_pointed_at_and_not_when_clicked(admin: Walker):
    before = await admin.state()
    for _ in range(2):
        await admin.do("click", "button", "Reports")
        assert await admin.state() == before
    await admin.do("press", "button", "Reports", key_comb="Enter")
    assert await admin.state() == before

    await admin.do("hover", "link", "Help")
    await admin.do("hover", "button", "Reports")
    await admin.do("click", "link", "Orders by month")

    assert admin.path == "/admin/reports/orders"
    assert [n for n in await admin.names("cell") if n in ("September", "11")] == ["September", "11"]


async def test_news_cover_the_orders_until_they_are_closed_once(admin: Walker):
    await admin.do("click", "link", "Orders")
    error = await admin.do("click", "link", "1009")
    assert "is covered by" in error
    assert await admin.names("dialog") == ["New in this release"]

    await admin.do("click", "button", "Got it")
    assert await admin.do("click", "link", "1009") == ""
    assert admin.path == "/admin/orders/1009"

    await admin.do("click", "link", "Orders")
    assert await admin.names("dialog") == []


async def test_parked_and_not_open_is_what_waits_for_payment(admin: Walker, server: DemoServer):
    await admin.do("click", "link", "Help")
    words = [node.name for node in await admin.nodes() if node.name]
    assert words[words.index("parked") + 1] == "Waiting for the customer's payment."
    assert words[words.index("processing") + 1] == "With the carrier, out for delivery."

    counts = {}
    for word in ("open", "parked"):
        await admin.go(f"{server.admin_url}/admin/orders?status={word}")
        counts[word] = (await admin.names("cell")).count(word)
    assert counts == {"open": 5, "parked": 6}


async def test_totals_and_prices_are_sorted_as_text(admin: Walker, shop: Walker, server: DemoServer):
    await admin.go(server.admin_url + "/admin/orders?sort=total&dir=desc")
    shown = [name for name in await admin.names("cell") if name.startswith("£")]
    largest = max(server.state.orders.values(), key=lambda order: server.state.total(order.lines))
    assert shown[0] == "£92.00"
    assert f"£{server.state.total(largest.lines):,.2f}" == "£1,152.00"

    await shop.do("click", "link", "Kitchen")
    await shop.do("select_option", "combobox", "Sort by", options="price, low to high")
    texts = [node.name for node in await shop.nodes() if node.name.startswith("£")]
    assert texts[0] == "£112.00"
    assert texts[-1] == "£9.50"


async def test_a_list_shows_ten_rows_and_hides_the_rest_behind_next(admin: Walker):
    await admin.do("click", "link", "Customers")
    in_leeds = (await admin.names("cell")).count("Leeds")
    assert in_leeds == 3

    for _ in range(2):
        await admin.do("click", "link", "next")
        in_leeds += (await admin.names("cell")).count("Leeds")

    assert in_leeds == 6
    assert "next" not in await admin.names("link")


async def test_an_order_needs_a_name_and_a_town(shop: Walker, server: DemoServer):
    await shop.go(server.shop_url + "/product/enamel-mug")
    await shop.do("click", "radio", "Large")
    await shop.do("click", "button", "Add to basket")
    await shop.do("click", "link", "Basket (1)")
    await shop.do("click", "link", "Check out")
    await shop.do("click", "button", "Place order")
    assert server.state.placed == []
    assert "Please give a name and a town." in [node.name for node in await shop.nodes()]

    await shop.do("fill", "textbox", "Name", value="Iris Kemp")
    await shop.do("fill", "textbox", "Town", value="Leeds")
    await shop.do("click", "button", "Place order")

    assert [(name, town) for name, town, _ in server.state.placed] == [("Iris Kemp", "Leeds")]


async def test_two_shops_do_not_meet(shop: Walker, server: DemoServer):
    async with await DemoServer.start() as other:
        await shop.go(other.shop_url + "/product/oak-tray")
        await shop.do("click", "radio", "One size")
        await shop.do("click", "button", "Add to basket")
        assert len(other.state.in_baskets()) == 1
    assert server.state.in_baskets() == []


async def test_the_admin_part_wants_a_sign_in(shop: Walker, server: DemoServer):
    await shop.go(server.admin_url + "/admin/orders")
    assert shop.path == "/admin/sign-in"
    await shop.do("fill", "textbox", "Password", value="wrong")
    await shop.do("click", "button", "Sign in")
    assert shop.path == "/admin/sign-in"
