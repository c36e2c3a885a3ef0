"""The word patterns of the lint rules.  English; tuned on the 52 tips published with ColorBrowserAgent."""

from __future__ import annotations

import re


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


BENCHMARK = _any(
    r"\bbenchmark\w*",
    r"\bweb\s?(?:chore)?arena\b",
    r"\bevaluators?\b|\bgraders?\b|\bgrading\b|\bauto-?grad\w+",
    r"\b(?:is|are|be|being|gets?|will be) (?:evaluated|graded|scored|judged)\b",
    r"\beval\w*tes? (?:based )?(?:on|using|by|against|whether|your|the (?:answer|url|page|result))\b",
    r"\b(?:the|this|our|task|during|for|of) evaluation "
    r"(?:is|was|will|uses?|runs?|script|criteri\w+|checks?|environment)\b",
    r"\bground[- ]truth\b|\b(?:reference|expected|gold(?:en)?|correct) answers?\b",
    r"\btask[ _-]?ids?\b|\btask (?:no\.?|number|#) ?\d+",
    r"\b(?:test|evaluation) (?:set|suite|harness|cases?)\b",
    r"\b(?:your|full|partial|task|agent'?s?|higher|maximum) (?:score|reward|credit)\b|\bsuccess rate\b",
    r"\b(?:mock|simulated|sandbox) environment\b",
    r"\b(?:pass|fail|solve)(?:es|s|ed)? (?:the|this|a) (?:task|test|eval\w*)\b",
    r"\b(?:the|this) (?:task|test) (?:passes|fails|is (?:passed|failed|solved))\b",
    r"\breward (?:is|of|=) ?[01]\b|\banswer key\b",
    r"\b(?:exact_match|fuzzy_match|must_include|string_match|url_match|program_html)\b",
)
"""Mentions the benchmark or the grader."""

SCORE = _any(r"\bscor(?:e|es|ing)\b(?! of| \()")
"""May mean a grade, may mean the votes of a post."""

SECRET = _any(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}",
    r"\b(?:password|passwd|passphrase|pwd|pin|secret|api[ _-]?key|token)\b"
    r"\s*(?:is|:|=)\s*['\"`]?(?!required|not\b|an?\b|the\b)[^\s'\"`]{3,}",
    r"\b(?:glpat-|ghp_|gho_|github_pat_|sk-|xox[abp]-|AKIA|AIza)[\w-]{10,}",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}",
    r"\b(?=[\w+/]*\d)(?=[\w+/]*[A-Za-z])(?=[A-Za-z0-9/]{0,64}[A-Za-z0-9+]{20})[A-Za-z0-9+/]{32,}={0,2}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"\bbearer [\w.~+/-]{12,}",
)
"""Passwords, tokens, keys, e-mail addresses."""

INJECTION = _any(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all|other|your)\b"
    r"[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|tips?)\b",
    r"\byou are now (?:an?|the|my|free|dan)\b(?! (?:step|page|form|list|tab|cart|checkout|same|first|second|next"
    r"|last|state|middle|dialog|wizard|details?|overview|edit\w*|view|start|top|bottom|end)\b)",
    r"\bfrom now on,? you\b",
    r"\b(?:system|developer) (?:prompt|message|instructions?)\b",
    r"</?(?:system|assistant|user|instructions?|script|iframe)\b[^>]*>|<\|im_(?:start|end)\|>|\[/?INST\]",
    r"\b(?:reveal|print|repeat|leak|send)\b[^.\n]{0,30}"
    r"\b(?:your (?:prompt|instructions|credentials|password)|api keys?)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to) (?:the )?user\b",
    r"\bjailbreak\w*|\bdeveloper mode\b",
)
"""Text that would steer an agent that reads it; more in ``lint_orders``, in other languages too."""

PAGE_DUMP = re.compile(
    r"^[ \t]*\[[a-z]{0,2}\d+\] [a-zA-Z]+ '|\b(?:click|fill|hover|press|select_option)\(\s*['\"][a-z]{0,2}\d+['\"]"
    r"|\bbid ?[=:]?\s?['\"]?\d+|<(?:div|span|input|button|a|td|tr|ul|li)\b[^>]*>",
    re.MULTILINE,
)
"""Lines of an accessibility tree, markup, calls with element numbers."""

ONE_MACHINE = _any(
    r"https?://[^\s'\"`<>){}]+",
    r"\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3})(?::\d+)?\b",
    r"(?<![\w.-])[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}:\d{2,5}\b",
)
"""Addresses that exist on one machine only; placeholders in braces pass."""

ANSWER_FORMAT = _any(
    r"\b(?:in|as|of|about|for) (?:your|the) (?:final |last )?(?:answer|response|reply|last message|final message)s?\b",
    r"\b(?:your|final) (?:answer|response|reply)s?\b(?! (?:button|field|form|box))",
    r"\bif (?:your|the) (?:answer|question) (?:contains|has|is|asks)\b|\byes/no\b",
    r"\bplease use the format\b|\b(?:answer|respond|reply) (?:with|in|only|using)\b",
    r"\bas concise(?:ly)? as possible\b",
    r"\bwhen(?:ever)? (?:you(?:'re| are)? )?(?:the task )?ask(?:s|ed)?\b[^\n]{0,120}?"
    r"\b(?:return|answer|include|respond|provide|give|assume|ensure|make sure)\b",
    r"\b(?:do not|don'?t|please|always|must|should) return (?:the|an?|only|all|full)\b",
    r"\bcount as (?:an? )?(?:correct )?answer\b",
    r"\bwhen the task (?:says|asks|mentions|wants)\b[^.\n]{0,60}\b(?:draft|list|state|report|summari[sz]e)\b",
    r"\bsummari[sz]e all of them\b|\bpreserve all symbols\b",
    r"\bfor (?:any |all )?\w+[- ](?:questions?|related task)\b|\bfor \w+ questions\b",
)
"""How to word an answer, not how the site works."""

TASK_WORDS = _any(
    r"\b(?:when(?:ever)?|if|once) (?:the|a|your) (?:task|question|goal|intent) "
    r"(?:mentions?|says?|asks?|wants?|specif\w+|requires?|is about|refers?|contains?|involves?)\b",
    r"\bsub-?agents?\b|\b(?:the|this|your) task (?:mentions?|says?|wants?)\b",
)
"""Mentions tasks or parts of the agent: a tip says what holds on the site for every task."""

ACCOUNT_FACT = _any(
    r"\b(?:user ?name|account name|log-?in name) (?:is|:) ?(?!(?:required|not|an?|the|shown|case)\b)['\"`]?[\w.-]{2,}",
    r"\bis (?:one of )?(?:my|our) (?:\w+ ){0,3}(?:repositor\w+|repos?|projects?|forums?|stores?|shops?|accounts?)\b",
    r"\bmy (?:repositor\w+|repo|project|account|user ?name|store|shop) is\b",
    r"\b(?:operating|in business|in operation|open|running|selling|founded) (?:since|in) (?:19|20)\d\d\b",
)
"""True of one account or one copy of a site only."""

WHEN = _any(
    r"\b(?:when|whenever|if|once|while|where|on|in|for|under|at|before|after|until|unless|from|during)\b",
    r"^\s*to \w+",
)
"""Says on which page or for which goal."""

DO = _any(
    r"\b(?:click|select|choose|open|go|goto|visit|navigate|hover|press|type|enter|input|use|search|scroll|look|check"
    r"|fill|submit|set|sort|filter|wait|close|add|put|leave|find|expand|read|do not|don't|never|must|should|can|need"
    r"|avoid|make sure|pick|save|drag|tick|switch|edit|return|include|perform|apply|assign|change|clear|collapse"
    r"|commit|compare|confirm|continue|copy|count|create|delete|download|ensure|exclude|follow|ignore|keep|mark|merge"
    r"|move|prefer|preserve|refresh|reload|remove|rename|repeat|replace|reset|retry|skip|start|stop|submit|tap|treat"
    r"|try|turn|update|upload|verify|view|write)\b"
)
"""Says what to do."""

WHY = _any(
    r"\b(?:because|since|so that|so|as it|as the|otherwise|to (?:reveal|see|avoid|show|get|make|find|open|view|keep"
    r"|ensure|prevent|retrieve|access)|in order to|else|or else|will not|won't|means|therefore|which (?:is|will|opens"
    r"|redirects|shows))\b",
    r"\b(?:is|are|do|does|was|can|may|will)(?:n't|n’t|(?: \w+)? not)\b|\bcannot\b|\bno longer\b",
    r"\bnever (?:shows?|works?|loads?|lists?)\b",
    r"\bhas no effect\b|\bis (?:broken|disabled|hidden|missing)\b|\bonly (?:shows?|works?|lists?|accepts?|searche?s)\b",
)
"""Says why."""

RULED = _any(
    r"\b(?:do not|don['’]?t|never|always|avoid|instead|rather than|unless|must|should not|not to|beware|careful)\b",
    r"\bonly (?:use|click|press|select|choose|after|then|if|when)\b",
    r"\b(?:before|first)[ ,]+(?:you|then|press|click|open|save|submit)\b",
)
"""Forbids, demands or prefers something: an agent may break the rule if it does not know its reason."""

PAGE_NAMED = _any(
    r"\b(?:on|in|at|under|from) (?:the|a|an|its|your|each|every) (?:[\w'’-]+ ){1,3}?"
    r"(?:page|tab|form|list|grid|screen|editor|dialog|section|dashboard)\b",
    r"(?<![\w.<>/}])/[a-z][\w-]*(?:/[\w{}<>:-]*)+",
)
"""Speaks of one page: its scope could say which."""
