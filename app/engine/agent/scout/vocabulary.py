"""The words of a task that are known by themselves: verbs, and kinds of control with the roles they may have."""

from __future__ import annotations

from enum import StrEnum


class Verb(StrEnum):
    """What a clause asks for."""

    CLICK = "click"
    TYPE = "type"
    SELECT = "select"
    CHECK = "check"
    UNCHECK = "uncheck"
    SUBMIT = "submit"
    FIND = "find"
    SEARCH = "search"
    OPEN = "open"
    CLOSE = "close"
    DRAG = "drag"
    SORT = "sort"
    SCROLL = "scroll"
    COPY = "copy"
    PASTE = "paste"
    HIGHLIGHT = "highlight"
    HOVER = "hover"
    FOCUS = "focus"
    WAIT = "wait"
    DELETE = "delete"
    REPLY = "reply"
    FORWARD = "forward"
    SET = "set"
    BUY = "buy"
    ADD = "add"
    EDIT = "edit"
    SAVE = "save"
    FILTER = "filter"
    ASK = "ask"
    SOLVE = "solve"
    DRAW = "draw"
    RESIZE = "resize"
    LOGIN = "login"
    LOGOUT = "logout"
    USE = "use"
    OTHER = "other"


WORDS: dict[Verb, str] = {
    Verb.CLICK: "click|press|hit|push|tap|activate|double-click",
    Verb.TYPE: "enter|type|write|fill|input|put|insert",
    Verb.SELECT: "select|choose|pick",
    Verb.CHECK: "check|tick|mark|enable|star|flag|file",
    Verb.UNCHECK: "uncheck|untick|unmark|disable|deselect",
    Verb.SUBMIT: "submit|confirm|finish|apply",
    Verb.FIND: "find|locate|look",
    Verb.SEARCH: "search",
    Verb.OPEN: "open|expand|unfold|show|view|switch|navigate|go|visit|reveal|browse",
    Verb.CLOSE: "close|collapse|dismiss|cancel",
    Verb.DRAG: "drag|move",
    Verb.SORT: "sort|rank",
    Verb.SCROLL: "scroll",
    Verb.COPY: "copy",
    Verb.PASTE: "paste",
    Verb.HIGHLIGHT: "highlight",
    Verb.HOVER: "hover",
    Verb.FOCUS: "focus",
    Verb.WAIT: "wait",
    Verb.DELETE: "delete|remove|trash|erase",
    Verb.REPLY: "reply|respond|answer",
    Verb.FORWARD: "forward|send|pass",
    Verb.SET: "set|adjust|configure",
    Verb.BUY: "buy|book|order|purchase",
    Verb.ADD: "add|create|make|post|register",
    Verb.EDIT: "edit|change|update|rename|replace|modify",
    Verb.SAVE: "save|store",
    Verb.FILTER: "filter",
    Verb.ASK: "what|which|who|when|where|how|tell|give|list|count|get|report|is|are|does|did|find out|compare",
    Verb.SOLVE: "solve|calculate|compute|reckon",
    Verb.DRAW: "draw",
    Verb.RESIZE: "resize",
    Verb.LOGIN: "login|log in|sign in",
    Verb.LOGOUT: "logout|log out|sign out",
    Verb.USE: "use|using",
}
"""The verbs by what they ask for, parted by ``|``."""

KINDS: dict[str, frozenset[str]] = {
    "button": frozenset({"button"}),
    "link": frozenset({"link"}),
    "tab": frozenset({"tab"}),
    "checkbox": frozenset({"checkbox", "switch", "menuitemcheckbox"}),
    "check box": frozenset({"checkbox", "switch", "menuitemcheckbox"}),
    "radio": frozenset({"radio", "menuitemradio"}),
    "textbox": frozenset({"textbox", "searchbox", "spinbutton"}),
    "text box": frozenset({"textbox", "searchbox", "spinbutton"}),
    "textarea": frozenset({"textbox"}),
    "text area": frozenset({"textbox"}),
    "text field": frozenset({"textbox", "searchbox", "spinbutton"}),
    "text input": frozenset({"textbox", "searchbox", "spinbutton"}),
    "input": frozenset({"textbox", "searchbox", "spinbutton"}),
    "field": frozenset({"textbox", "searchbox", "spinbutton", "combobox"}),
    "dropdown": frozenset({"combobox", "listbox"}),
    "drop-down": frozenset({"combobox", "listbox"}),
    "list": frozenset({"combobox", "listbox", "list"}),
    "slider": frozenset({"slider"}),
    "spinner": frozenset({"spinbutton"}),
    "menu": frozenset({"menu", "menuitem", "button"}),
    "section": frozenset({"tab", "button", "heading"}),
    "dialog": frozenset({"dialog", "alertdialog"}),
    "icon": frozenset({"image", "button", "generic"}),
    "image": frozenset({"image"}),
    "option": frozenset({"option", "radio"}),
}
"""Words for kinds of control, and the roles they may have."""
