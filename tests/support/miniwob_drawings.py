"""Scripts that do tasks of MiniWoB++ correctly: what is drawn, dragged or has neither role nor name."""

from __future__ import annotations

import re

from app.engine.core.actions.types import Click, ClickAt, Drag, Press, Scroll, TypeKeys, TypeText
from app.engine.core.page_state import Element
from tests.support.miniwob_play import Play, middle, plays


def looks(element: Element) -> str:
    return dict(element.attributes).get("looks", "")


def drawn(play: Play, words: str) -> list[Element]:
    """Shapes and boxes that look so."""
    return [element for element in play.all() if words in looks(element)]


# -- drawings ------------------------------------------------------------------------------------------------------


@plays("click-color")
async def click_color(play: Play) -> None:
    colour = re.search(r"Click on the (\w+)", play.goal)[1].replace("grey", "gray")
    await play.do(Click(drawn(play, f"{colour} box")[0].index))


@plays("click-shades")
async def click_shades(play: Play) -> None:
    colour = re.search(r"shades of (\w+)", play.goal)[1]
    for box in drawn(play, f"{colour} box"):
        await play.do(Click(box.index))
    await play.submit()


@plays("ascending-numbers")
async def ascending(play: Play) -> None:
    numbers = sorted(
        play.all("text"), key=lambda e: int(e.name)
    )  # after the first click they can't be seen any more
    for number in numbers:
        await play.do(ClickAt(middle(number)))


def _fits(element: Element, words: str) -> bool:
    """Whether a shape is what "large red letter" means."""
    look = looks(element)
    size = re.search(r"(\d+)x(\d+)", look)
    wanted = words.lower().split()
    kinds = {
        "circle", "rectangle", "triangle", "square", "letter", "letters", "digit", "digits", "circles", "triangles",
        "rectangles", "item", "items", "shape", "shapes",
    }  # fmt: skip
    for word in wanted:
        if word in ("small", "large"):
            big = int(size[2]) >= 15 if size else False
            if big != (word == "large"):
                return False
        elif word.rstrip("s") in ("letter", "digit"):
            if element.role != "text" or element.name.isdigit() != word.startswith("digit"):
                return False
        elif word.rstrip("s") in ("item", "shape"):
            continue
        elif word in kinds:
            if word.rstrip("s").replace("square", "rectangle") not in look:
                return False
        elif not look.startswith(word) and word != element.name.lower():
            return False
    return True


@plays("click-shape")
async def click_shape(play: Play) -> None:
    words = re.search(r"Click on an? (.*)", play.goal)[1]
    shapes = [e for e in play.all("text image") if looks(e)]
    await play.do(Click(next(e for e in shapes if _fits(e, words)).index))


@plays("count-shape")
async def count_shape(play: Play) -> None:
    words = re.search(r"How many (.*) are there", play.goal)[1]
    shapes = [e for e in play.all("text image") if looks(e)]
    await play.submit(str(sum(_fits(e, words) for e in shapes)))


@plays("identify-shape")
async def identify_shape(play: Play) -> None:
    tree = play.page.tree
    found = re.search(r"looks='\w+ (circle|rectangle|triangle)", tree)
    letter = re.search(r"StaticText '(\w)', looks", tree)
    kind = found[1].title() if found else "Number" if letter and letter[1].isdigit() else "Letter"
    await play.submit(kind)


@plays("grid-coordinate")
async def grid_coordinate(play: Play) -> None:
    x, y = (int(part) for part in re.search(r"\((-?\d),(-?\d)\)", play.goal).groups())
    dots = drawn(play, "circle")
    lefts = sorted({round(middle(dot)[0]) for dot in dots})
    tops = sorted({round(middle(dot)[1]) for dot in dots})
    wanted = (lefts[x + 2], tops[2 - y])
    await play.do(Click(next(d.index for d in dots if tuple(round(p) for p in middle(d)) == wanted)))


@plays("circle-center")
async def circle_center(play: Play) -> None:
    await play.do(ClickAt(middle(drawn(play, "circle")[0])))
    await play.submit()


@plays("find-midpoint")
async def find_midpoint(play: Play) -> None:
    (ax, ay), (bx, by) = (middle(e) for e in drawn(play, "black circle"))
    await play.do(ClickAt(((ax + bx) / 2, (ay + by) / 2)))
    await play.submit()


@plays("right-angle")
async def right_angle(play: Play) -> None:
    corner, other = middle(drawn(play, "blue circle")[0]), middle(drawn(play, "black circle")[0])
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    far = (dx * dx + dy * dy) ** 0.5 / 30
    svg = next(e for e in play.all("image") if "svg" in e.tag)
    left, top, width, height = svg.rect or (0, 0, 0, 0)
    for turned in ((-dy / far, dx / far), (dy / far, -dx / far)):
        at = corner[0] + turned[0], corner[1] + turned[1]
        if left + 4 < at[0] < left + width - 4 and top + 4 < at[1] < top + height - 4:
            await play.do(ClickAt(at))
            break
    await play.submit()


@plays("bisect-angle")
async def bisect_angle(play: Play) -> None:
    corner = middle(drawn(play, "blue circle")[0])
    arms: list[tuple[float, float]] = []
    for end in drawn(play, "black circle"):
        x, y = middle(end)
        dx, dy = x - corner[0], y - corner[1]
        far = (dx * dx + dy * dy) ** 0.5
        arms.append((dx / far, dy / far))
    dx, dy = arms[0][0] + arms[1][0], arms[0][1] + arms[1][1]
    far = (dx * dx + dy * dy) ** 0.5 / 25
    await play.do(ClickAt((corner[0] + dx / far, corner[1] + dy / far)))
    await play.submit()


@plays("draw-line")
async def draw_line(play: Play) -> None:
    x, y = middle(drawn(play, "circle")[0])
    ends = ((x, y - 20), (x, y + 20)) if "vertical" in play.goal else ((x - 20, y), (x + 20, y))
    await play.do(Drag(*ends))
    await play.submit()


@plays("click-pie", "click-pie-nodelay")
async def click_pie(play: Play) -> None:
    """Its first entry counts as chosen already: a page bug that no click gets round."""
    await play.do(Click(play.one("text", "+")))
    await play.wait(1.0)
    await play.do(Click(play.one("text", play.quoted[0])))


# -- dragging ------------------------------------------------------------------------------------------------------


@plays("drag-box")
async def drag_box(play: Play) -> None:
    await play.do(Drag(play.one("generic", "s"), play.one("generic", "L")))
    await play.submit()


@plays("drag-circle", "drag-single-shape")
async def drag_circle(play: Play) -> None:
    direction = re.search(r"Drag the \w+ (\w+)", play.goal)[1]
    shape = next(e for e in play.all("image") if looks(e))
    x, y = middle(shape)
    dx, dy = {"up": (0, -20), "down": (0, 20), "left": (-20, 0), "right": (20, 0)}[direction]
    await play.do(Drag(shape.index, (x + dx, y + dy)))
    await play.submit()


@plays("drag-shapes")
async def drag_shapes(play: Play) -> None:
    kind = re.search(r"Drag all (\w+)s into", play.goal)[1].replace("square", "rectangle")
    box = next(e for e in drawn(play, "rectangle") if (e.rect or (0, 0, 0, 0))[2] > 40)
    left, top, width, height = box.rect or (0, 0, 0, 0)
    movable = [e for e in play.all("image") if kind in looks(e) and e.index != box.index]
    for nth, shape in enumerate(movable):
        await play.do(Drag(shape.index, (left + width * (nth + 1) / (len(movable) + 1), top + height / 2)))
    await play.submit()


@plays("drag-items")
async def drag_items(play: Play) -> None:
    name, place = re.search(r"Drag ([\w-]+) to the (\d)", play.goal).groups()
    items = play.all("listitem")
    goal = items[int(place) - 1]
    left, top, width, height = goal.rect or (0, 0, 0, 0)
    above = next(e for e in items if e.name == name).index > goal.index
    await play.do(Drag(play.one("listitem", name), (left + width / 2, top + (1 if above else height - 1))))


@plays("drag-sort-numbers")
async def sort_numbers(play: Play) -> None:
    for _ in range(12):
        items = play.all("listitem")
        values = [int(e.name) for e in items]
        wrong = next((at for at, value in enumerate(values) if value != sorted(values)[at]), None)
        if wrong is None:
            break
        at = values.index(sorted(values)[wrong])
        left, top, width, _ = items[wrong].rect or (0, 0, 0, 0)
        await play.do(Drag(items[at].index, (left + width / 2, top + 1)))
    await play.submit()


@plays("drag-items-grid")
async def drag_in_grid(play: Play) -> None:
    name, where = re.search(r"Drag ([\w-]+) to the (.*)\.", play.goal).groups()
    items = play.all("listitem")
    row = 0 if "top" in where else 2 if "bottom" in where else 1
    column = 0 if "left" in where else 2 if "right" in where else 1
    goal = items[3 * row + column]
    left, top, width, height = goal.rect or (0, 0, 0, 0)
    before = next(e for e in items if e.name == name).index > goal.index
    await play.do(
        Drag(play.one("listitem", name), (left + width * (0.3 if before else 0.7), top + height * 0.6))
    )


# -- what has neither role nor name --------------------------------------------------------------------------------


@plays("tic-tac-toe")
async def tic_tac_toe(play: Play) -> None:
    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
    for _ in range(5):
        cells = [e for e in play.all("generic") if dict(e.attributes).get("id", "").startswith("ttt-")]
        marks = [dict(e.attributes).get("class", "") for e in cells]

        def filled(line: tuple[int, ...], mark: str, marks: list[str] = marks) -> int | None:
            free = [at for at in line if "mark" not in marks[at]]
            return free[0] if len(free) == 1 and sum(mark in marks[at] for at in line) == 2 else None

        wins = [at for line in lines if (at := filled(line, "mark-x")) is not None]
        saves = [at for line in lines if (at := filled(line, "mark-o")) is not None]
        free = [at for at in (4, 0, 2, 6, 8, 1, 3, 5, 7) if "mark" not in marks[at]]
        await play.do(Click(cells[(wins + saves + free)[0]].index))
        if await play.episode.done():
            return


@plays(
    "email-inbox-delete",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-star-reply",
    "email-inbox-reply",
)
async def mail(play: Play) -> None:
    await mail_by(play, re.search(r"email by (\w+)", play.goal)[1])


@plays("email-inbox", "email-inbox-forward")
async def long_mail(play: Play) -> None:
    await mail_by(play, re.search(r"email by (\w+)", play.goal)[1])


async def mail_by(play: Play, sender: str) -> None:
    rows = [e for e in play.all("generic") if dict(e.attributes).get("class", "").startswith("email-thread")]
    row = next(e for e in rows if e.name.startswith(sender))
    if "trash" in play.goal or "delete" in play.goal or "star" in play.goal:
        hint = "trash" if "star" not in play.goal else "star"
        inner = next(
            e for e in play.page.elements if e.index > row.index and dict(e.attributes).get("hint") == hint
        )
        await play.do(Click(inner.index))
        return
    await play.do(Click(row.index))
    if "forward" in play.goal:
        await play.click(hint="forward") if play.has(hint="forward") else await play.click("Forward")
        await play.type(re.search(r"to (\w+)\.?$", play.goal)[1])
    else:
        await play.click(hint="reply") if play.has(hint="reply") else await play.click("Reply")
        await play.type(play.quoted[0])
    await play.click(hint="send")


@plays("social-media-all", "social-media-some")
async def social(play: Play) -> None:
    button = play.quoted[0].lower()
    who = re.search(r"by (@\w+)", play.goal)[1]
    some = re.search(r"on (\d+) posts?", play.goal)
    handles = re.findall(r"StaticText '(@\w+)'", play.page.tree)[1:]
    nths = [nth for nth, handle in enumerate(handles) if handle == who][: int(some[1]) if some else None]
    for nth in nths:
        await play.click(role="generic", nth=nth, hint=button)
    await play.submit()


@plays("order-food")
async def order_food(play: Play) -> None:
    dish, less = (
        r"StaticText '([^']+)'((?:\n\t+image '[^']+')*)",
        r"\n\t+\[(\d+)\] generic ''[^\n]*\n\t+StaticText '-'",
    )
    rows = re.findall(dish + less + r"\n\t+\[(\d+)\]", play.page.tree)
    count = re.search(r"Order (\d+|one|two|three) items? that (?:are|is) ([\w-]+)", play.goal)
    if count:
        number = int(count[1]) if count[1].isdigit() else {"one": 1, "two": 2, "three": 3}[count[1]]
        wanted = [plus for _, images, _, plus in rows if f"'{count[2]}'" in images][:number]
    else:
        wanted = [plus for name, _, _, plus in rows if name in play.goal]
    for plus in wanted:
        await play.do(Click(int(plus)))
    await play.submit("Order!")


@plays("phone-book")
async def phone_book(play: Play) -> None:
    name = re.search(r"Find (\w+)", play.goal)[1]
    kind = re.search(r"click on their (\w+)", play.goal)[1].removesuffix(" number")
    for _ in range(12):
        if f"heading '{name}'" in play.page.tree:
            break
        await play.click(">", "link")
    await play.do(
        Click(next(e.index for e in play.all("generic") if kind in dict(e.attributes).get("class", "")))
    )


@plays("use-colorwheel")
async def colour_wheel(play: Play) -> None:
    colour = re.search(r"Select (\w+) with", play.goal)[1]
    codes = {
        "red": "FF0000", "green": "00FF00", "lime": "00FF00", "blue": "0000FF", "yellow": "FFFF00", "cyan": "00FFFF",
        "magenta": "FF00FF", "white": "FFFFFF", "black": "000000", "orange": "FFA500", "purple": "800080",
        "brown": "A52A2A", "pink": "FFC0CB", "grey": "808080", "gray": "808080", "aqua": "00FFFF",
    }  # fmt: skip
    await play.do(TypeText(play.one("textbox"), codes[colour]), Press("Tab"))
    await play.do(ClickAt((80, 200)))  # beside the wheel, which then closes
    await play.submit()


@plays("terminal")
async def terminal(play: Play) -> None:
    await play.do(Click(play.one("generic", nth=0)))
    await play.do(TypeKeys("ls"), Press("Enter"))
    files = [word for line in re.findall(r"StaticText '([^']*)'", play.page.tree) for word in line.split()]
    ending = re.search(r"ending with the extension (\S+)", play.goal) or re.search(
        r"extension (\.\w+)", play.goal
    )
    listed = files[files.index("ls") + 1 :]
    pick = next(
        w for w in listed if (w.endswith(ending[1].rstrip(".")) if ending else "." not in w and w.isalnum())
    )
    await play.do(TypeKeys(f"rm {pick}"), Press("Enter"))


@plays("scroll-text")
async def last_word(play: Play) -> None:
    area = play.all("textbox")[0]
    await play.do(Scroll(3000, element=area.index))
    await play.type(re.sub(r"[.,]$", "", area.value.split()[-1]), 1)
    await play.submit()
