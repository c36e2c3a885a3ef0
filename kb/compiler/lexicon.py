"""The closed classes of words that tips are read by: verbs with their frames, roles, prepositions, leads."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_FRAMES = {
    "press": "press click double-click right-click left-click tap hit push toggle expand collapse unfold fold activate "
    "follow mark untoggle doubleclick",
    "open": "open visit load goto",
    "hover": "hover glide slide",
    "fill": "type enter write put input insert paste fill key",
    "replace": "replace overwrite",
    "give": "give state supply provide",
    "choose": "choose select pick",
    "set": "set change switch adjust",
    "tick": "tick untick check uncheck deselect",
    "read": "read copy compare inspect note count",
    "wait": "wait",
    "vague": "use take find reach locate search access",
    "means": "confirm finish save submit continue proceed end close send sort answer publish apply order filter "
    "complete store post create add remove delete cancel approve upload attach log sign show hide start begin move",
    "void": "skip scroll remember ensure ignore keep leave repeat stop report return mind expect trust make see look "
    "go get head jump browse navigate append call pull point rest turn try let prefer combine do know drop stay be",
}
"""Verbs by the frame of their objects; ``means`` only acts with a named control, ``void`` gives no step."""

_TWO = {
    ("look", "at"): "read", ("look", "in"): "read", ("look", "into"): "read", ("look", "for"): "vague",
    ("look", "up"): "vague", ("get", "to"): "open", ("head", "to"): "open", ("head", "for"): "open",
    ("jump", "to"): "open", ("browse", "to"): "open", ("navigate", "to"): "open", ("navigate", "through"): "open",
    ("navigate", "via"): "open", ("call", "up"): "open", ("pull", "up"): "open", ("pull", "down"): "press",
    ("return", "to"): "open", ("start", "at"): "open", ("start", "from"): "open", ("start", "on"): "open",
    ("start", "in"): "open", ("begin", "at"): "open", ("begin", "on"): "open", ("begin", "with"): "open",
    ("continue", "with"): "press", ("continue", "to"): "open", ("proceed", "with"): "press", ("proceed", "to"): "open",
    ("confirm", "with"): "press", ("finish", "with"): "press", ("end", "with"): "press", ("close", "with"): "press",
    ("answer", "with"): "answer", ("write", "down"): "read", ("note", "down"): "read", ("read", "off"): "read",
    ("note", "that"): "void", ("point", "at"): "hover", ("point", "to"): "hover", ("mouse", "over"): "hover",
    ("switch", "to"): "press", ("move", "to"): "hover", ("move", "over"): "hover", ("move", "on"): "hover",
    ("change", "to"): "press", ("append", "to"): "void", ("append", "the"): "open",
    ("append", ""): "open", ("turn", "on"): "press", ("turn", "off"): "press", ("switch", "on"): "press",
    ("switch", "off"): "press", ("turn", "to"): "open", ("open", "up"): "open", ("sort", "by"): "press",
    ("sort", "on"): "press", ("sort", "with"): "press", ("sort", "using"): "press", ("go", "on"): "press",
    ("check", "that"): "check", ("check", "whether"): "check", ("check", "if"): "check", ("make", "sure"): "check",
    ("see", "that"): "check", ("see", "the"): "read", ("see", "whether"): "check", ("see", "if"): "check",
    ("check", "for"): "check", ("put", "down"): "read", ("take", "down"): "read", ("wait", "a"): "void",
    ("note", "the"): "read", ("drop", "down"): "press", ("leave", "with"): "press",
    ("fill", "out"): "fill", ("take", "care"): "check",
}  # fmt: skip
"""Frames of verbs with the word after them."""

_PAST = {
    "put": "put", "written": "write", "chosen": "choose", "read": "read", "set": "set", "hit": "hit",
    "gone": "go", "found": "find", "taken": "take", "given": "give", "left": "leave", "sent": "send",
    "ticked": "tick", "picked": "pick",
}  # fmt: skip


def _forms() -> tuple[dict[str, tuple[str, str]], dict[str, str], dict[str, str]]:
    base: dict[str, tuple[str, str]] = {}
    gerund: dict[str, str] = {}
    past = dict(_PAST)
    for frame, verbs in _FRAMES.items():
        for verb in verbs.split():
            base.setdefault(verb, (verb, frame))
            stem = verb[:-1] if verb.endswith("e") and verb != "see" else verb
            for whole in (stem, f"{stem}{stem[-1]}"):
                gerund.setdefault(f"{whole}ing", verb)
                past.setdefault(f"{whole}ed", verb)
    return base, gerund, past


BASE, GERUND, PAST = _forms()
"""Imperative and frame of a word; the verb of a word on -ing; the verb of a participle."""

STRONG = words(
    "press click double-click right-click tap hit open visit goto type enter fill choose select pick "
    "tick untick hover go navigate use write put follow read look wait paste take switch set change "
    "uncheck scroll leave confirm sort"
)
"""Verbs that begin a clause without a comma before them."""


def frame_of(verb: str, following: str, after: str) -> str:
    """The frame of a verb before two words."""
    if verb in ("move", "rest", "put") and following == "the" and after in ("mouse", "pointer", "cursor"):
        return "hover"
    if (
        verb in ("put", "set", "make", "place")
        and following in ("a", "the")
        and after in ("tick", "check", "checkmark", "tick-mark", "cross")
    ):
        return "tick"
    if verb == "go":
        if (following, after) == ("on", "with"):
            return "press"
        return (
            "void"
            if following in ("", "on", "ahead", "away", "wrong", "back") and after in ("", "with")
            else "open"
        )
    if verb == "append" and following != "to":
        return "open"
    if verb in ("start", "begin", "get", "head", "return") and (verb, following) not in _TWO:
        return "void" if verb in ("get", "head", "return") else "means"
    return _TWO.get((verb, following)) or BASE[verb][1]


PARTICLES = {
    "press": "on onto with by down off using in into inside",
    "open": "straight directly right back over down up on there to into through via by at from onto in with for",
    "hover": "over on above onto at to mouse pointer cursor",
    "read": "at in into down off closely",
    "wait": "until for till",
    "choose": "", "fill": "out", "tick": "", "set": "", "vague": "for up", "replace": "", "give": "", "means": "",
}  # fmt: skip
"""Words after a verb that belong to it, by its frame."""

ROLES = {
    "button": "button", "link": "link", "hyperlink": "link", "tab": "tab", "menu": "menu", "submenu": "menu",
    "menu item": "menuitem", "menu entry": "menuitem", "entry": "menuitem", "item": "menuitem",
    "field": "field", "box": "field", "text box": "field", "input": "field", "text area": "field",
    "textarea": "field", "text field": "field", "input field": "field",
    "input box": "field", "textbox": "field", "editor": "field",
    "drop-down": "select", "dropdown": "select", "drop-down list": "select", "dropdown list": "select",
    "list": "select", "select": "select", "select box": "select", "drop-down menu": "select",
    "dropdown menu": "select", "selector": "select", "combo box": "select", "combobox": "select",
    "list box": "select", "pull-down": "select", "selection": "select", "drop-down box": "select",
    "checkbox": "checkbox", "check box": "checkbox", "check-box": "checkbox", "tick box": "checkbox",
    "tickbox": "checkbox", "row": "row", "line": "row", "icon": "icon", "symbol": "icon", "heading": "heading",
    "header": "heading", "column": "heading", "column head": "heading", "column header": "heading",
    "column heading": "heading", "head": "heading", "title": "",
    "dialog": "dialog", "dialogue": "dialog", "radio button": "button", "option": "", "page": "", "section": "",
    "message": "", "address": "", "url": "", "key": "", "word": "", "label": "", "entries": "menuitem",
    "boxes": "field", "fields": "field", "links": "link", "buttons": "button", "tabs": "tab", "icons": "icon",
    "checkboxes": "checkbox", "form": "", "text": "", "report": "", "panel": "", "block": "", "menus": "menu",
    "keyword": "", "names": "", "column heads": "heading", "filter": "", "radio": "button",
}  # fmt: skip
"""Words for roles, and the role each means; of some words only the name beside them counts."""

DETERMINERS = words(
    "the a an your its this that these those their his her our any some each every both all my another"
)
ARTICLES = DETERMINERS - {"each", "every", "another"}
PRONOUNS = words("it them that this these those they one")

ADJECTIVES = words(
    "matching first second third fourth last next previous right correct only corresponding same found "
    "topmost newest oldest latest appearing suggested short long old new small big large tiny little "
    "blue red green grey gray orange black white yellow cheapest upper lower left other main top bottom "
    "uppermost lowest highest wide narrow round proper respective wanted desired resulting single empty "
    "additional extra"
)

PLACES = words(
    "top bottom upper lower head foot header footer side corner toolbar bar middle center centre "
    "sidebar navigation page dialog dialogue window form screen panel popup pop-up overlay project site "
    "grid table toolbox menu menus edge end field column list results result map dashboard section area "
    "tools view front home block tree banner breadcrumb body left right toolbars box tab group editor "
    "card tile shop app application system submenu dropdown drop-down select website interface screen's "
    "page's grid's"
)
"""Nouns of a part of the screen, which is no landmark."""

SIDES = words(
    "below beneath underneath under above over behind near beside besides opposite following after "
    "before inside between against alongside"
)
"""Prepositions that make a thing a landmark."""

LOCAL = words("in on at from within along among across via through by for inside onto into to")
"""Prepositions of a place that is none."""

SUBORDINATORS = {
    "if": "cond", "unless": "cond", "when": "cond", "whenever": "cond", "wherever": "cond", "where": "cond",
    "should": "cond", "before": "time", "after": "time", "until": "time", "till": "time", "once": "time",
    "while": "cond", "because": "reason", "since": "reason", "as": "reason", "though": "reason", "although": "reason",
    "having": "time", "whichever": "cond", "whatever": "cond", "however": "cond",
    "which": "rel", "who": "rel", "whose": "rel", "that": "rel", "for": "purpose", "whereas": "reason",
}  # fmt: skip

FINITE = words(
    "get gets hide is are was were isn't aren't wasn't has have had hasn't haven't does doesn't did didn't do can "
    "can't cannot may might must mustn't should shouldn't will won't would shows show lists leads gives "
    "goes opens deletes removes empties erases discards cancels destroys hides closes resets overwrites "
    "looks acts takes brings puts asks needs stands sits lies means makes tells says contains holds "
    "works starts begins stays keeps appears comes lets leaves saves sends publishes belongs helps "
    "serves depends exists uses ends becomes adds changes creates lives reads refers searches sorts "
    "subscribes appear stand lie sit lead belong mean remain exist act come receives loses costs "
    "happens allows offers moves expects returns remains repeats only never also always differs matters "
    "counts covers includes ignores filters knows"
) - {"only", "never", "also", "always"}
"""Verbs of statements."""

MODALS = words("must should may might can could will would cannot can't need needs has have want wants")

LEADS = words(
    "else and or but then next now first firstly second secondly third thirdly last lastly finally "
    "afterwards afterward thereafter also simply just please either instead again always directly there "
    "here rather alternatively otherwise immediately only so thus still even fourth best quickly"
)
LONG_LEADS = tuple(
    tuple(phrase.split())
    for phrase in sorted(
        [
            "after that",
            "after this",
            "at once",
            "in the end",
            "at last",
            "at the end",
            "from there",
            "once there",
            "to do so",
            "with that",
            "in addition",
            "you can",
            "you may",
            "you could",
            "you should",
            "you must",
            "you need to",
            "you have to",
            "you want to",
            "you might",
            "one can",
            "one may",
            "we can",
            "we need to",
            "it is best to",
            "it is better to",
            "it is enough to",
            "it is possible to",
            "it is easier to",
            "it is safer to",
            "it is faster to",
            "it suffices to",
            "be sure to",
            "make sure to",
            "make sure you",
            "remember to",
            "try to",
            "do not forget to",
            "don't forget to",
            "never forget to",
            "if so",
            "as a first step",
            "in a first step",
            "in the next step",
            "as a next step",
            "as a last step",
            "one way is to",
            "another way is to",
            "the other way is to",
            "the best way is to",
            "the fastest way is to",
            "the quickest way is to",
            "the easiest way is to",
            "the shortest way is to",
            "a second way is to",
            "one way",
            "another way",
            "the other way",
            "it is also possible to",
            "by hand",
            "in that case",
            "in this case",
            "only after it",
            "only after that",
            "only after this",
            "after it",
            "only then",
            "straight to",
            "directly to",
            "right to",
            "than",
            "there you",
            "here you",
            "now you",
            "then you",
            "right after",
            "if not",
            "if so",
            "or else",
            "after which",
            "and so on",
            "as well",
            "the first step is to",
            "the next step is to",
            "one is to",
            "another is to",
            "the other is to",
            "from here",
            "on it",
            "in it",
            "there you",
            "here you",
            "for that",
            "for this",
            "the second way is to",
            "before that",
            "before this",
            "prior to that",
            "first of all",
            "at first",
            "shortly after",
            "straight away",
            "right away",
            "you will have to",
            "you will need to",
            "the second way",
            "the first way",
            "is to",
        ],
        key=len,
        reverse=True,
    )
)
"""Words before an imperative, those of several words longest first."""

ELSE = frozenset(
    [
        ("if", "not"),
        ("otherwise",),
        ("else",),
        ("alternatively",),
        ("another", "way"),
        ("another", "way", "is", "to"),
        ("the", "other", "way"),
        ("the", "other", "way", "is", "to"),
        ("a", "second", "way", "is", "to"),
        ("it", "is", "also", "possible", "to"),
        ("or", "else"),
        ("or",),
        ("the", "other", "is", "to"),
        ("another", "is", "to"),
        ("the", "second", "way", "is", "to"),
        ("the", "second", "way"),
    ]
)
"""Leads that begin another way."""

HARM = (
    "delet", "remov", "empti", "empty", "eras", "discard", "destroy", "overwrit", "publish", "send", "sent", "subscrib",
    "unsubscrib", "reset", "cancel", "clos", "open", "chang", "act", "without", "wrong", "hide", "lose", "lost", "mail",
    "log", "stop", "block", "ban", "archiv", "lock", "useless", "broken", "trash", "trashes", "kill", "drop", "wip",
    "start", "leav", "merg", "move", "alike", "never", "undo", "revert", "back", "forget", "clear", "asking", "not",
    "misses", "miss", "fail", "put", "add", "take", "buy", "pay", "charg", "order", "jump", "lead",
)  # fmt: skip
"""How words begin by which a reason tells that its subject is not to be touched."""

DANGER = (
    "throws",
    "undo",
    "delet", "remov", "empties", "eras", "discard", "destroy", "overwrit", "cancels", "hides", "closes", "resets",
    "unsubscrib", "wipes", "loses", "trashes", "mails", "blocks", "bans", "drops", "breaks", "forgets",
    "undoes", "kills", "reverts", "clears", "locks",
)  # fmt: skip
"""How verbs of statements begin that say that the subject does harm."""

STOPS = words(
    "then and or but in on at of for to with by from into under below beside besides above over behind "
    "near next which that who where when if is are has have shows lists was were not so before after "
    "until as because since the a an your its their this these those it them via through without "
    "instead only again once twice too there here opposite within inside while unless appears says "
    "leads right left must should can may does do will would first called named labelled labeled "
    "between onto you also till using goes opens deletes removes"
)
"""Small words that end a name in capitals."""

GOING_ON = words(
    "add assign move copy back reply send jump convert return subscribe go save proceed apply link ship "
    "bill continue switch skip log sign submit transfer export"
)
"""First words of names that hold a preposition ("Add to cart")."""

KEYS = frozenset(["enter", "return", "escape", "esc", "backspace", "tab", "space", "delete"])
NOTHING = words(
    "nothing anything everything none any so this that it them both all these those one's what whatever "
    "how whether something there once twice outside away anywhere elsewhere somewhere"
)
NAME_HEADS = words("name title subject number login sender username id")
"""Nouns whose "of the ..." the task supplies."""

ATTRIBUTES = words(
    "role status state priority severity visibility language currency country region category type format level access "
    "engine unit theme"
)
"""Things that have options and are chosen by name ("choose the role X")."""

TYPED = words(
    "title name text amount price address description comment message quantity qty date day number "
    "e-mail email subject url slug street password note phone"
)
"""Things that are typed and not chosen."""
