"""Sentences of tips cut into clauses: what may be acted on, what is warned of, which alternative each belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kb.compiler.text import MARK, ClauseKind
from kb.compiler.words import LEAD, VERB

_NOT = r"(?:do\s+not|don['’]?t|does\s+not|never|not|avoid|stay\s+(?:away|off)|keep\s+(?:away|off|clear)|without|nor)"
_CONDITION = r"(?:if|when|once|whenever|in\s+case|as\s+soon\s+as|unless|until|while|where|should)"
_IDLE = r"(?:scroll|drag|leave|keep|skip|ignore|clear)"
_REASON = (
    r"(?:because|since|as\s+(?:it|the|this|that|they)|otherwise|or\s+else|so\s+(?:that|as)|which|"
    r"that\s+(?:is|would|will|page)|"
    r"this|it\s+(?:is|does|only|will|would|has|just|merely|shows?|opens?|makes?|looks?)|they|who|whose|for\s+it)"
)
_START = (
    rf"(?:(?:{LEAD})\s*,?\s+){{0,5}}(?:{VERB}|{_NOT}|{_IDLE}|{_CONDITION}|{_REASON}|instead\s+of|rather\s+than|"
    rf"before|after|either)(?=\s|\ue000|$)"
)
_MARKED_NEXT = (
    r"(?:then|and|or)\s+(?:(?:then|finally|lastly|next|afterwards|also)\s+)?(?:(?:over|on)\s+)?(?:the\s+|a\s+)?"
    r"(?:(?:link|button|tab|menu|icon|entry|option|field)\s+)?\ue000[^\ue001]*\ue001(?!\s+with\b|\s*(?:and|,)[^,]{0,40}\swith\b)"
    r"|then\s+(?:the|an?|your)\s"
    r"|(?:and\s+)?(?-i:then|last|finally|lastly)\s+(?:(?:over|on)\s+)?(?-i:[A-Z][\w-]*)"
    r"|and\s+the\s+[a-z]+\s+(?:next\s+to|beside|below|above|(?:to\s+the\s+)?(?:right|left)\s+of)\s"
)
_IN_PLACE = (
    r"(?:(?:and|then)\s+)?(?:in|on|at|under|below)\s+(?:(?:the|its|that)\s+(?:[\w-]+\s+){1,4}?|\ue000q\d+\ue001\s+)"
    rf"(?:{VERB})(?=\s+(?:the|an?)\s|\s+\ue000|\s+(?-i:[A-Z]))"
)
"""A place and the instruction to be done there ("in the menu press X")."""

_A_PATH = r"(?-i:\ue000q|[A-Z])[^,;:>→]{0,60}\s*(?:>|→|->)\s"
_SPLIT = re.compile(
    rf"\s*[,;]\s+(?=(?:{_START}|{_MARKED_NEXT}|{_IN_PLACE}))|\s*:\s+(?=(?:{_START}|{_A_PATH}))|\s+[-–—]\s+|\s*—\s*"
    rf"|\s+(?=(?:and|or|but|then|before|after|by|until|instead|while|otherwise|because|since|unless|if|"
    rf"when)\s+(?:(?:{LEAD})\s+){{0,5}}(?:{VERB}|{_NOT}|{_IDLE})(?=\s|\ue000|$))"
    r"|\s+(?=or\s+(?:at|under|via|through)\s+\ue000a)"
    rf"|\s+(?={_MARKED_NEXT}|(?:and|then)\s+(?:{_IN_PLACE}))|\s+(?=(?:because|since|unless|otherwise|so\s+that|which)\s)|\s+(?=(?:if|"
    rf"when|once|until)\s+(?:the|it|you|there|a|an|this|that)\s)",
    re.IGNORECASE,
)
_WARNED = re.compile(
    r"^(?:so\s+|and\s+)?(?:leave|let)\s+(?:it|that|this|them)\b(?:\s+(?:alone|be))?|\b(?:is|are)\s+(?:to\s+be\s+)?left\s+alone\b|"
    r"^(?:press|click|open|choos|us|tick)ing\s.{1,60}?\s(?:would|will|deletes?|removes?)\b|"
    r"\b(?:is|are)\s+to\s+be\s+left\b|\bhands\s+off\b|"
    r"\b(?:is|are)\s+(?:simply\s+|always\s+)?(?:wrong\b|not\s+(?:what|the\s+(?:one|right|way|same)|for|to\s+be|wanted|meant)\b|never\b|"
    r"forbidden|dangerous|a\s+trap|no\s+use|useless|taboo)|"
    rf"^(?:(?:{LEAD})\s*,?\s+){{0,5}}{_NOT}\b"
    r"|\b(?:must|should|may|can|need|is|are)(?:\s+not|n['’]t)\s+(?:to\s+)?(?:be\s+)?(?:opened|pressed|"
    r"clicked|used|followed|touched|chosen|visited|sent|filled|called|taken|changed|edited|deleted|removed|trusted|moved|selected|ticked|saved)\b"
    r"|\b(?:does|do|is|are)\s+(?:not|n['’]t)\s+(?:work|working|help)|\b(?:does|do|is|"
    r"are)n['’]t\s+(?:work|help)|\bis\s+broken\b",
    re.IGNORECASE,
)
_STAY_OFF = re.compile(
    r"\b(?:stay|keep)\s+(?:off|away|clear)|\b(?:don['’]?t|do\s+not|never)\s+(?:press|click|open|use|"
    r"touch|follow|choose|visit|take)\s+(?:it|that|this|them)\b|\bavoid\s+(?:it|this|that)\b|"
    r"\bhands\s+off",
    re.IGNORECASE,
)
_REASONED = re.compile(rf"^(?:{_REASON})\b", re.IGNORECASE)
_CONDITIONED = re.compile(
    rf"^(?:(?:{LEAD})\s*,?\s+){{0,5}}?(?P<word>{_CONDITION})\s+(?P<rest>.+)$", re.IGNORECASE
)
_GROUPS = frozenset(["if", "in case", "unless", "should"])
"""Conditions that hold for the rest of their sentence; others only for the next step."""

_DANGLING = re.compile(r"[\s,]+(?:and|then)(?:\s+only)?$")
"""A connector left at the end of a clause."""

_THEN_DO = re.compile(
    r"(.{4,120}?(?<!\bto)(?<!\byou)(?<!\bcan)(?<!\bmust)(?<!\bthe)(?<!\bhave)(?<!\bnot)(?<!\ba)(?<!\bit)(?<!\bor)(?<!\band))\s+"
    r"((?:press|click|use|go|open|type|choose|select|tick|hit|hover|fill|set|change|put|write|enter|follow)\s.+)$",
    re.IGNORECASE,
)
"""A condition and, without a comma, the instruction that follows it."""

_INSTEAD_OF = re.compile(
    r"^(?:(?:and|but|so)\s+)?(?:instead\s+of|rather\s+than|in\s+place\s+of)\s+(?P<rest>.+)$", re.IGNORECASE
)
_TRAILING_INSTEAD_OF = re.compile(
    r"\s*,?\s+(?:instead\s+of|rather\s+than|and\s+not|but\s+not|,\s*not)\s+(?P<rest>[^,]+?)(?=,|$)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"^(?:(?:and|but)\s+)?before\s+(?:you\s+)?(?P<rest>.+)$", re.IGNORECASE)
_AFTER = re.compile(
    r"^(?:(?:and|then)\s+)?(?:after\s+(?:you(?:\s+have|['’]ve)?\s+|having\s+)?|(?:once|when|as\s+soon\s+as)\s+you(?:\s+have|['’]ve)\s+)(?P<rest>(?:\w+ing|\w+ed|chosen|set|"
    r"written|put|gone|read)\b.*)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:eg|ie|for\s+(?:example|instance)|example(?=\s*:)|such\s+as)\b[\s:,]*", re.IGNORECASE
)
_CARRIED = re.compile(
    r"(?:or|nor)\s+(?!else\b|if\b|you\s+can\b|simply\b|just\b|alternatively\b)", re.IGNORECASE
)
_PLACE_ALONE = re.compile(
    r"(?:[Ii]n|[Uu]nder|[Aa]t)\s+(?:\ue000q\d+\ue001|[A-Z][\w-]*(?:\s+[A-Z][\w-]*){0,3})$"
)
_NAME_THEN_REST = re.compile(
    rf"((?:the\s+)?(?:\w+\s+)?\ue000[^\ue001]*\ue001|(?:the|an?)\s[^,\ue000]{{1,60}}?|(?-i:[A-Z])[^,\ue000]{{1,40}}?)"
    rf"\s+((?:{VERB})\s(?=the\s|an?\s|\ue000|(?-i:[A-Z])).*)$",
    re.IGNORECASE,
)
_OR = re.compile(r"^(?:or)\b", re.IGNORECASE)
_EITHER = re.compile(
    r"\beither\b|\btwo\s+ways\b|\bthere\s+are\s+(?:two|three|several)\b|\bone\s+of\s+(?:two|these)\b",
    re.IGNORECASE,
)
ELSE = re.compile(
    r"(?:(?:and|but|or)\s+)?(?:otherwise\b|else\b|failing\s+that\b|(?:if|when)\s+(?:not|so|none)\b"
    r"|(?:if|when)\s+(?:it|you|they|that|this|there|these|one)\s+(?:is|are|does|do|has|have|can|was|fails?)"
    r"(?:n['’]t|\s+not|\s+no)?(?:\s+(?:for\s+)?(?:some|any)\w+\s+else|\s+(?:there|shown|one|any|missing|none|empty|visible|so|available|work|such\s+\w+))?"
    r"\s*(?:,|$|(?=\s(?:press|click|use|go|open|type|choose|select|take)\b)))",
    re.IGNORECASE,
)
"""Begins the other of two ways ("if it is not there, ...", "otherwise ..."); the first way came before."""

_REMARK = re.compile(r":\s+(?=(?:the|it|its|this|that|there|they|these|a|an)\s)", re.IGNORECASE)
_FIRST = re.compile(r"^but\s+first\b|(?<!\bthe )\bfirst$|\bbeforehand$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TipClause:
    """One clause of a sentence.

    Attributes:
        either: it opens a list of alternatives; ``other``: it is the next alternative.
        earlier: it is done before the step named just before it; ``later``: after the rest of its sentence.
        when: the condition it was under.
        joined: no comma parts it from the clause before.
    """

    text: str
    kind: ClauseKind = ClauseKind.ACTION
    either: bool = False
    other: bool = False
    earlier: bool = False
    later: bool = False
    when: str = ""
    joined: bool = False


def clauses(sentence: str) -> list[TipClause]:
    """The clauses of a marked sentence, in the order of the words."""
    made: list[TipClause] = []
    said, example, _ = _split_example(sentence)
    condition, group = "", False
    stay_off = bool(_STAY_OFF.search(said))
    either = False
    for piece, comma in _pieces(said):
        if piece.lower() in ("", "or", "and", "then", "but"):
            either = either or piece.lower() == "or"
            continue
        if made and _CARRIED.match(piece) and made[-1].kind in (ClauseKind.WARNING, ClauseKind.REASON):
            # "do not export or open files", "if it asks you to make or open one": the negation or condition goes on
            made.append(
                TipClause(
                    f"not {piece[2:].strip()}" if made[-1].kind is ClauseKind.WARNING else piece,
                    made[-1].kind,
                )
            )
            continue
        if (
            (found := _CONDITIONED.match(piece)) is not None
            and not _OR.match(piece)
            and not _AFTER.match(piece)
        ):
            if made and made[-1].kind is ClauseKind.ACTION and not comma:  # "press it if it points down"
                made[-1] = replace(made[-1], when=found["rest"])
            else:
                condition, group = found["rest"], found["word"].lower() in _GROUPS
            made.append(TipClause(piece, ClauseKind.REASON))
            continue
        for clause in _of_piece(piece, stay_off):
            if clause.kind is ClauseKind.ACTION and (condition or either or not comma):
                clause = replace(
                    clause, when=clause.when or condition, joined=not comma, other=clause.other or either
                )
                either = False
                condition = condition if group else ""
            made.append(clause)
    if example:
        made.append(TipClause(example, ClauseKind.EXAMPLE))
    return made


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text at its cuts, and whether a comma was there.

    A place that stands alone goes with what follows ("Under Status, choose Draft").
    """
    pieces: list[tuple[str, bool]] = []
    place, start, comma = "", 0, True
    cuts = [(found.start(), found.end(), found[0]) for found in _SPLIT.finditer(text)]
    for begin, end, cut in [*cuts, (len(text), len(text), "")]:
        piece = text[start:begin].strip(" ,;:")
        if piece.endswith((" and", " then", " only")):
            piece = _DANGLING.sub("", piece)
        if _PLACE_ALONE.match(piece):
            place = f"{piece} "
        else:
            condition = _CONDITIONED.match(piece)
            verb = _THEN_DO.match(piece) if condition is not None else None
            pieces += [(place + piece, comma)] if verb is None else [(verb[1], comma), (verb[2], True)]
            place = ""
        start, comma = end, not cut.isspace()
    return pieces


def _split_example(sentence: str) -> tuple[str, str, str]:
    """A sentence without the example at its end; an example address that is an action's object stays."""
    found = _EXAMPLE.search(sentence)
    if found is None:
        return sentence, "", ""
    rest = sentence[found.end() :]
    if not sentence[: found.start()].strip(" *_-"):
        return "", rest, ""
    if re.match(r"\ue000a", rest) and not re.search(r"\ue000a", sentence[: found.start()]):
        return sentence, "", ""
    comma = re.search(rf",\s+(?=(?:{_START}))|\s+(?=(?:and|or|then)\s+(?:{VERB})\s)", rest, re.IGNORECASE)
    end = comma.start() if comma else len(rest)
    return (sentence[: found.start()].rstrip(" ,(") + rest[end:]), rest[:end], ""


def _of_piece(piece: str, stay_off: bool) -> list[TipClause]:
    if (found := _INSTEAD_OF.match(piece)) is not None:
        if (after := _NAME_THEN_REST.match(found["rest"])) is not None:
            return [TipClause(after[1], ClauseKind.WARNING), *_of_piece(after[2], stay_off)]
        return [TipClause(found["rest"], ClauseKind.WARNING)]
    if _WARNED.search(piece) is not None:
        return [TipClause(piece, ClauseKind.WARNING)]
    if _REASONED.match(piece) is not None and not ELSE.match(piece):
        return [TipClause(piece, ClauseKind.WARNING if stay_off else ClauseKind.REASON)]
    made: list[TipClause] = []
    if (found := _TRAILING_INSTEAD_OF.search(piece)) is not None:
        made.append(TipClause(found["rest"], ClauseKind.WARNING))
        piece = piece[: found.start()] + piece[found.end() :]
    other, either = bool(_OR.match(piece)), bool(_EITHER.search(piece))
    if (before := _BEFORE.match(piece)) is not None:
        return [*made, TipClause(before["rest"], later=True)]
    if (after := _AFTER.match(piece)) is not None:
        return [*made, TipClause(_base(after["rest"]))]
    piece, said = _without_remark(piece)
    earlier = bool(_FIRST.search(piece))
    piece = re.sub(r"(?<!\bthe)\s+(?:first|beforehand)$", "", piece, flags=re.IGNORECASE)
    return [*made, TipClause(piece, either=either, other=other, earlier=earlier), *said]


def _without_remark(piece: str) -> tuple[str, list[TipClause]]:
    """An instruction without the remark after its colon ("hover over the row: the links are only there then")."""
    found = _REMARK.search(piece)
    if found is None or found.start() == 0:
        return piece, []
    return piece[: found.start()], [TipClause(piece[found.end() :], ClauseKind.REASON)]


def _base(text: str) -> str:
    """``pressed Save`` as ``press Save``."""
    irregular = {
        "chosen": "choose",
        "written": "write",
        "gone": "go",
        "put": "put",
        "set": "set",
        "read": "read",
    }
    first, _, rest = text.partition(" ")
    word = irregular.get(first.lower(), "")
    if not word and first.lower().endswith("ed"):
        word = first[:-2] if not first.lower().endswith(("ped", "typed", "closed")) else first[:-1]
        word = {"clickd": "click", "typ": "type", "stopp": "stop", "tapp": "tap", "tappe": "tap"}.get(
            word.lower(), word
        )
    return f"{word or first} {rest}"


def is_named(text: str) -> bool:
    """Whether a clause names anything in quotes or by an address."""
    return MARK.search(text) is not None
