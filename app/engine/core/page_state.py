"""A captured page, and the state of a site it belongs to.  Pure data.

A *page state* is identified by typed parts that are kept apart (``PageKeys``), which ``app.engine.core.identity``
computes.  A *node* of the interaction graph stands for one page state, or for several: in skeleton mode for all pages
of one template, and wherever a person has merged some (``app.engine.graph.graph``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Rect = tuple[float, float, float, float]
"""Left, top, width, height in CSS pixels."""


class Mode(StrEnum):
    """Granularity of states.

    ``full`` keeps every instance apart; ``skeleton`` lets one product stand for all (WebNavigator, section 4.2: the
    topological skeleton).
    """

    FULL = "full"
    SKELETON = "skeleton"


class Challenge(StrEnum):
    """A barrier between the visitor and the page."""

    NONE = ""
    LOGIN = "login"
    CAPTCHA = "captcha"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One interactive element, as it was at the moment of the capture.

    Attributes:
        index: its number in this capture, in document order; valid until the next capture of the same page.
        role, name: as exposed to assistive technology; the name's white space is collapsed.
        states: sorted words: ``checked``, ``disabled``, ``expanded``, ``collapsed``, ``haspopup``, ``selected``,
            ``pressed``, ``required``, ``readonly``, ``focused``, ``current``.
        rect: within the top page's viewport; ``None`` without a box.
        frame: the chain of frames it is in, outermost first, each named by something permanent (name, id or path of
            its source).
        origin: for an element in a frame the origin of the frame's document (``https://pay.example``, ``null`` if it
            has none); "" in the page itself.
        landmarks: those around it, outermost first (``banner``, ``navigation:Main``, ``main``, ``dialog:Cart``).
        in_shadow: it lies in an open shadow root.
        href: absolute address of a link, without credentials.
        form: ``get:/search`` or ``post:/basket/add/``: method and path of the form around it, "" outside of one.
        submits: activating it sends that form.
        test_id: value of data-testid, data-test, data-qa and the like.
        attributes: stable attributes (id, name, type, aria-label, title, placeholder, autocomplete, class tokens that
            look like names), without volatile values.
        label: text of its label element, if that is not its name already.
        css, xpath: within its frame; ``css`` crosses shadow roots with `` >> ``.
        repeat: identifies the repeated list it lies in (a template of its rows), "" outside; ``repeat_index`` is its
            row.
        in_live: inside an alert, status or other live region, whose appearance makes no new state.
        in_advert: inside an advert slot.
        visible: it has a box, is not hidden and nothing hides it permanently.
        listens: it is no native control but looks like one (cursor, onclick, tabindex); its role then is often
            ``generic``.
        hears: only in a thorough capture: events that scripts listen to on it, or other ways to use it (``click``,
            ``press``: pressed or dragged, ``hover``, ``drop``, ``scroll``).  An element that neither has an
            interactive role nor ``listens`` is listed for this alone, or as part of a drawing; it does not count for
            a page's identity.
        met: only in a thorough capture: the pointer can hit it, within the viewport and not covered.  ``attributes``
            then have ``looks`` (nameless things: ``red circle 20x20``), ``near`` (the words beside an unlabelled
            field) and ``hint`` (the name its developers gave it) besides.
    """

    index: int
    role: str
    name: str = ""
    tag: str = ""
    states: tuple[str, ...] = ()
    rect: Rect | None = None
    frame: tuple[str, ...] = ()
    origin: str = ""
    landmarks: tuple[str, ...] = ()
    in_shadow: bool = False
    href: str = ""
    target: str = ""
    form: str = ""
    submits: bool = False
    type: str = ""
    value: str = ""
    options: tuple[str, ...] = ()
    test_id: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    label: str = ""
    text: str = ""
    css: str = ""
    xpath: str = ""
    repeat: str = ""
    repeat_index: int = 0
    in_live: bool = False
    in_advert: bool = False
    visible: bool = True
    listens: bool = False
    hears: tuple[str, ...] = ()
    met: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCapture:
    """One capture of a page: everything later parts need, taken without changing the page.

    Attributes:
        status: HTTP status of the document, 0 if unknown.
        tree: the accessibility tree in the form ``app.engine.core.ax_tree`` reads; an element's id in it is its index.
        text: visible text, blocks on lines of their own.
        picture: JPEG of the viewport, one pixel for each CSS pixel; empty if none was taken.
        frames, opaque: frames that were read, and sources of those that could not be.
        alerts: texts of JavaScript dialogs that opened since the capture before (they were dismissed).
        popups, downloads: addresses of windows that opened, names of files that were offered, since then.
        canvas_only: most of the viewport is a canvas and hardly any element can be read.
        notes: what was truncated or left out, in words.
        served: key of the document as it was sent (``app.engine.core.static_page``), "" if unknown or not meaningful.
        seconds: duration of the capture.
    """

    url: str
    title: str = ""
    language: str = ""
    status: int = 0
    elements: tuple[Element, ...] = ()
    headings: tuple[str, ...] = ()
    text: str = ""
    tree: str = ""
    viewport: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)
    picture: bytes = b""
    frames: int = 0
    opaque: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    popups: tuple[str, ...] = ()
    downloads: tuple[str, ...] = ()
    challenge: Challenge = Challenge.NONE
    canvas_only: bool = False
    notes: tuple[str, ...] = ()
    served: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageKeys:
    """The typed parts of a page state's identity.  Equal parts mean equal pages, in any process and any order.

    Attributes:
        url: host (only if it is not the graph's home host), path, allowed query keys with values; readable.
        template: the same with what varies between instances replaced; readable.
        structure: 16 hex digits over the interactive elements (role, landmark path, name, state), lists collapsed.
        skeleton: 16 hex digits over the same without names of data; equal for two products.
        content: 16 hex digits over the visible text, digits as ``#``; no part of the id.
    """

    url: str
    template: str
    structure: str
    skeleton: str
    content: str = ""


class Source(StrEnum):
    """How a state or transition became known."""

    EXPLORED = "explored"
    SEEN = "seen"  # a link on a page, never followed
    RUN = "run"  # visited by an agent's or a person's run
    TRAVELLED = "travelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """A page state as it is stored.  Times are Unix seconds; ``elements``, ``text``, ``picture``, ``thumbnail`` are
    content hashes of blobs ("" if there is none).

    Attributes:
        id: 16 hex digits over ``keys.url`` and ``keys.structure`` (``identity.page_id``).
        url: an address it was seen at.
        depth: fewest transitions from the home page when it was found.
        controls: names of its controls with their roles, for search (``button Save``), in document order.
        element_keys: sorted keys of its interactive elements (``identity.element_key``), for structural differences.
        direct: opening ``url`` alone leads here; ``None`` if never tried.
        served: key of the document its address returns (``app.engine.core.static_page``), "" if unknown.
        gone_at: when maintenance found it missing; 0 while it exists.
        exploration: number of the exploration that found it; 0 for runs.
    """

    id: str
    keys: PageKeys
    url: str
    title: str = ""
    depth: int = 0
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    element_keys: tuple[str, ...] = ()
    elements: str = ""
    text: str = ""
    picture: str = ""
    thumbnail: str = ""
    direct: bool | None = None
    challenge: Challenge = Challenge.NONE
    status: int = 0
    source: Source = Source.EXPLORED
    exploration: int = 0
    first_seen: float = 0.0
    last_seen: float = 0.0
    gone_at: float = 0.0
    notes: tuple[str, ...] = field(default_factory=tuple)
    served: str = ""


class GraphEditKind(StrEnum):
    """Kinds of edits."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdit:
    """One merge or split.

    Attributes:
        id: identifies it for undo; hex digits.
        members: ids of nodes as they were.  A merge makes one node of them with the first one's id.  A split undoes a
            merge; a node that was not merged is split into its single pages.  Pages observed later are included.
        at: Unix seconds.
    """

    id: str
    kind: GraphEditKind
    members: tuple[str, ...]
    author: str = ""
    at: float = 0.0
