"""The verbs of instructions: what each kind of step is called in tips."""

from __future__ import annotations

import re

_PRESS = (
    r"(?:double[- ]|right[- ]|left[- ])?click(?:ing)?(?:\s+on(?:to)?)?|press(?:ing)?(?:\s+on)?|"
    r"tap(?:ping)?(?:\s+on)?|hit(?:ting)?|"
    r"push(?:ing)?|toggl(?:e|ing)|expand(?:ing)?|collaps(?:e|ing)|unfold(?:ing)?|follow(?:ing)?|activat(?:e|ing)|"
    r"confirm(?:ing)?(?:\s+with|\s+by)?|finish(?:ing)?\s+with|sav(?:e|ing)\s+(?:with|by)|"
    r"submit(?:ting)?\s+(?:with|by)|(?:go|going)\s+on\s+with|continu(?:e|ing)\s+with|"
    r"sort(?:ing)?\s+(?:with|by|on|using)(?=\s+(?:the|\ue000))|sort(?:ing)?\s+(?:on|with)|send(?:ing)?\s+(?:it\s+)?(?:with|by)|"
    r"answer(?:ing)?\s+(?:with\s+)?(?=\ue000q)|(?:log|sign)\s+in\s+with|mark(?!ing|ed)(?!\s+the\s+(?:check|tick|box))|"
    r"us(?:e|ing)|clos(?:e|ing)\s+with|end\s+with|switch(?:ing)?\s+to|chang(?:e|ing)\s+to\s+(?=the)|"
    r"leave\s+(?:with|by)"
)
_OPEN = (
    r"go(?:ing)?(?=\s+(?:[\w']+\s+){1,3}>)|go(?:ing)?\s+(?:straight\s+|directly\s+|back\s+|over\s+)?(?:to|through|via|into|by)|goto|"
    r"visit(?:ing)?|open(?:ing)?(?:\s+up)?|"
    r"navigat(?:e|ing)\s+(?:directly\s+|straight\s+)?(?:to|through|via)|head(?:ing)?\s+to|"
    r"load(?:ing)?|brows(?:e|ing)\s+to|access(?:ing)?|"
    r"enter(?:ing)?\s+the\s+(?:address|url)(?=\s+\ue000a)|call(?:ing)?\s+up|append(?:ing)?|tak(?:e|ing)|"
    r"find(?:ing)?|get(?:ting)?\s+to|"
    r"reach(?:ing)?|jump(?:ing)?\s+to|start(?:ing)?\s+(?:at|from|on|in)|begin(?:ning)?\s+(?:at|on|"
    r"with|in)|return(?:ing)?\s+to|pull\s+up"
)
_HOVER = (
    r"hover(?:ing)?(?:\s+over|\s+on|\s+above)?|mouse\s+over|point(?:ing)?\s+(?:at|to)|(?:mov(?:e|ing)|"
    r"rest(?:ing)?|put)\s+the\s+(?:mouse|pointer|cursor)(?:\s+pointer)?\s+(?:over|to|on|onto|above)"
)
_FILL = (
    r"typ(?:e|ing)(?:\s+in)?|enter(?:ing)?|writ(?:e|ing)|put(?:ting)?|input(?:ting)?|insert(?:ing)?|"
    r"search(?:ing)?\s+for(?=[^,]{1,60}\s(?:in|with)\s+(?:\ue000q|the\s+(?:search|field|box)))|"
    r"past(?:e|ing)|key\s+in|overwrit(?:e|ing)|replac(?:e|ing)|(?:giv|stat)(?:e|ing)(?=\s[^,]{1,60}\s(?:in|into|under)\s+(?:the\s+\w+\s+)?(?:\ue000q|(?-i:[A-Z])))|"
    r"fill(?:ing)?(?:\s+in|\s+out)?"
)
_CHOOSE = r"choos(?:e|ing)|select(?:ing)?|pick(?:ing)?"
_SET = r"set(?:ting)?|chang(?:e|ing)|switch(?:ing)?"
_TICK = (
    r"(?:un)?tick(?:ing)?|(?:un)?check(?:ing)?(?=\s+(?:the\s+)?(?:check|tick|box|\ue000))|"
    r"mark(?:ing)?\s+the\s+(?=check|tick|box)"
)
_READ = (
    r"writ(?:e|ing)\s+down|look(?:ing)?\s+(?:at|in|into|for)|copy(?:ing)?|read(?:ing)?(?:\s+off)?|compar(?:e|ing)|not(?:e|"
    r"ing)\s+(?:down\s+)?(?=the|\ue000)|count(?:ing)?(?=\s+the|\s+\ue000)|see(?=\s+(?:the|column|"
    r"\ue000))|inspect(?:ing)?"
)
_WAIT = r"wait(?:ing)?(?:\s+(?:until|for|till))"

_BY_MEANS = (
    r"(?:open|close|confirm|save|send|finish|submit|remove|show|expand|unfold|start|apply|publish|end|delete|cancel)(?:ing)?\s+"
    r"(?:it|this|that|them|all|everything)\s+(?:with|by\s+(?:pressing|clicking))(?=\s+(?:the|\ue000|(?-i:[A-Z])))"
)
"""An aim and the control that reaches it ("close it with the cross")."""

VERB = rf"(?:attach(?:ing)?|{_BY_MEANS}|{_PRESS}|{_OPEN}|{_HOVER}|{_FILL}|{_CHOOSE}|{_SET}|{_TICK}|{_READ}|{_WAIT})"
"""Every verb that makes a step, as the source of a regular expression."""

LEAD = (
    r"(?:and|or|but|then|next|now|first(?:ly)?|second(?:ly)?|third(?:ly)?|last(?:ly)?|finally|"
    r"afterwards?|after\s+that|after\s+this|at\s+once|last|in\s+the\s+end|"
    r"also|simply|just|please|either|instead|again|always|directly|there|here|rather|alternatively|"
    r"otherwise|at\s+last|"
    r"you(?=\s+(?:reach|find|get|see|open|go)\b)|you(?:\s+(?:can|could|may|might|should|must|have\s+to|need\s+to|want\s+to))(?:\s+(?:also|"
    r"simply|just|always|then|instead|either))?|"
    r"it\s+is\s+(?:best|better|possible|enough|easier|safer|faster)\s+to|"
    r"(?:make|be)\s+sure\s+(?:to|you)|remember\s+to|try\s+to|by|to\s+do\s+so|with\s+that|so|"
    r"from\s+there|once\s+there)"
)
"""Words before an imperative that do not change it."""

KINDS = tuple(
    (kind, re.compile(rf"^(?:{pattern})(?=\s|$|\ue000)\s*", re.IGNORECASE))
    for kind, pattern in (
        ("press", _BY_MEANS), ("replace", r"replac(?:e|ing)|overwrit(?:e|ing)"), ("hover", _HOVER), ("wait", _WAIT),
        ("tick", _TICK), ("set", _SET), ("choose", _CHOOSE), ("read", _READ), ("open", _OPEN), ("press", _PRESS),
        ("press", r"attach\w*\s+(?:the|your|an?)\s+[\w-]+\s+with"), ("fill", _FILL),
    )
)  # fmt: skip
"""Kinds of imperatives and their patterns; the first that matches counts."""

_SOUGHT = re.compile(
    r"(?:\w+\s+){0,2}?(?:find|search\s+for|look\s+(?:up|for))\s+the\s+(?P<what>[\w\s'’-]{1,40}?)\s+"
    r"(?:by\s+(?:its|the|their|his)\s+(?P<by>[\w-]+)\s+)?(?:in|with)\s+"
    r"(?P<field>(?:the\s+(?:\w+\s+)?(?:field|box)\b\s*)?(?:\ue000q\d+\ue001)?(?:\s+(?:field|box))?)\W*$",
    re.IGNORECASE,
)
"""``Find the order by its number in "Search"``: something typed."""

_GOES = re.compile(
    r"^(?P<what>the\s[\w\s'’-]{1,40}?)\s+(?:goes|belongs|comes|must\s+go|is\s+(?:typed|written|entered|put))\s+(?:in|into|under)\s+(?=\ue000q|(?-i:[A-Z])|the\s)",
    re.IGNORECASE,
)
"""``The title goes into Title``."""


def plain(clause: str) -> str:
    """A clause that says in other words that something is typed, as an imperative."""
    if (sought := _SOUGHT.match(clause)) is not None:
        clause = f"put the {sought['by'] or sought['what']} into {sought['field']}"
    return _GOES.sub(r"put \g<what> into ", clause)
