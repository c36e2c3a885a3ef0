"""Scripts that do tasks of MiniWoB++ correctly: boxes, lists, menus, tabs, trees, dates, sliders, scrolling."""

from __future__ import annotations

import re

from app.engine.core.actions.types import Click, Drag, Hover, Scroll
from tests.support.miniwob_play import Play, plays

# -- boxes, lists, menus -------------------------------------------------------------------------------------------


@plays("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
async def tick(play: Play) -> None:
    names = re.search(r"Select (.*) and click Submit", play.goal)[1]
    for name in [] if names == "nothing" else names.split(", "):
        await play.check(name)
    await play.submit()


@plays("click-option")
async def choose_radio(play: Play) -> None:
    await play.check(re.search(r"Select (.*) and click Submit", play.goal)[1])
    await play.submit()


@plays("choose-list")
async def choose_list(play: Play) -> None:
    await play.choose(re.search(r"Select (.*) from the list", play.goal)[1])
    await play.submit()


@plays("click-scroll-list")
async def choose_several(play: Play) -> None:
    await play.choose(*re.search(r"Select (.*) from the scroll list", play.goal)[1].split(", "))
    await play.submit()


@plays("form-sequence")
async def form_sequence(play: Play) -> None:
    value, place = re.search(r"Select (-?\d+) with the slider, click the (\d)", play.goal).groups()
    await play.slide(int(value))
    await play.click(role="checkbox", nth=int(place) - 1)
    await play.submit()


@plays("form-sequence-2")
async def form_sequence_2(play: Play) -> None:
    radio, text, place = re.search(
        r'Check the (\d)\w+ radio .* number "(-?\d+)" into the (\d)', play.goal
    ).groups()
    await play.click(role="radio", nth=int(radio) - 1)
    await play.type(text, int(place) - 1)
    await play.submit()


@plays("form-sequence-3")
async def form_sequence_3(play: Play) -> None:
    height, button = re.search(
        r'Choose (.*) from the dropdown, then click the button labeled "(\w+)"', play.goal
    ).groups()
    await play.click(name="▾")
    await play.click(height)
    await play.click(button, "button")


@plays("click-menu")
async def click_menu(play: Play) -> None:
    *above, last = play.goal.removeprefix("Select ").split(">")
    for name in above:
        await play.do(Hover(play.one("menuitem", name)))
        await play.wait(0.5)
    await play.click(last, "menuitem")


@plays("click-menu-2")
async def click_menu_2(play: Play) -> None:
    await play.click("Menu", "button")
    if not play.has("menuitem", play.quoted[-1]):
        await play.click("Playback", "menuitem")
        await play.wait(0.5)
    await play.click(play.quoted[-1], "menuitem")


@plays("click-tab")
async def click_tab(play: Play) -> None:
    await play.click(re.search(r"Tab #\d", play.goal)[0], "tab")


@plays("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
async def find_in_tabs(play: Play) -> None:
    for nth in range(len(play.all("tab"))):
        await play.do(Click(play.one("tab", nth=nth)))
        if play.has("generic", play.quoted[0]):
            break
    await play.click(play.quoted[0], "generic")


@plays("click-collapsible", "click-collapsible-nodelay")
async def expand(play: Play) -> None:
    await play.do(Click(play.one("tab", nth=0)))
    await play.wait(0.6)
    await play.submit()


@plays("click-collapsible-2", "click-collapsible-2-nodelay")
async def find_in_sections(play: Play) -> None:
    for nth in range(len(play.all("tab"))):
        await play.do(Click(play.one("tab", nth=nth)))
        await play.wait(0.6)
        if play.has("generic", play.quoted[0]):
            break
    await play.click(play.quoted[0], "generic")


@plays("navigate-tree")
async def navigate_tree(play: Play) -> None:
    opened: set[str] = set()

    def shown() -> list[int]:
        return [e.index for e in play.all("generic listitem") if e.name == play.quoted[0]]

    while not shown():
        folders = [e for e in play.all("generic") if "folder" in dict(e.attributes).get("class", "")]
        folder = next(e for e in folders if e.name not in opened)
        opened.add(folder.name)
        await play.do(Click(folder.index))
        await play.wait(0.3)
    await play.do(Click(shown()[-1]))


@plays("click-dialog")
async def close_dialog(play: Play) -> None:
    await play.click("Close", "button")


@plays("click-dialog-2")
async def press_in_dialog(play: Play) -> None:
    await play.click({"x": "Close"}.get(play.quoted[0], play.quoted[0]), "button")


# -- dates, sliders, scrolling -------------------------------------------------------------------------------------

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@plays("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
async def choose_date(play: Play) -> None:
    month, day, _ = (int(part) for part in re.search(r"(\d+)/(\d+)/(\d+)", play.goal).groups())
    await play.click(role="textbox")
    for _ in range(12):
        await play.wait(0.3)
        shown = next(MONTHS.index(name) + 1 for name in MONTHS if name in play.page.text)
        if shown == month:
            break
        await play.click("Prev" if shown > month else "Next")
    await play.click(str(day), "link")
    await play.submit()


@plays("use-slider")
async def use_slider(play: Play) -> None:
    await play.slide(int(re.search(r"Select (-?\d+)", play.goal)[1]))
    await play.submit()


@plays("use-slider-2")
async def use_sliders(play: Play) -> None:
    for nth, value in enumerate(re.search(r"\[(.*)\]", play.goal)[1].split(",")):
        await play.slide(int(value), nth)
    await play.submit()


@plays("use-spinner")
async def use_spinner(play: Play) -> None:
    await play.type(re.search(r"Select (-?\d+)", play.goal)[1])
    await play.submit()


@plays("scroll-text-2")
async def scroll_text(play: Play) -> None:
    down = "bottom" in play.goal
    await play.do(Scroll(2000 if down else -2000, element=play.one("textbox")))
    await play.submit()


@plays("sign-agreement")
async def sign_agreement(play: Play) -> None:
    if not play.quoted:
        await play.submit("Cancel")
        return
    name, button = play.quoted
    await play.do(Scroll(4000, element=play.one("textbox", nth=0)))
    await play.wait(0.2)
    await play.type(name, name="Name")
    await play.submit(button)


@plays("resize-textarea")
async def resize(play: Play) -> None:
    handle = play.one(hint="ui-resizable-se")
    left, top, width, height = play.page.elements[handle].rect or (0, 0, 0, 0)
    x, y = left + width / 2, top + height / 2
    longer, more = "larger" in play.goal, 12
    by = more if longer else -more
    await play.do(Drag(handle, (x + by, y) if "width" in play.goal else (x, y + by)))
    await play.submit()
