"""Tips for tests: the published ones, short ways to make one, and strategies for random knowledge bases."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from kb.tip import Query, Scope, Status, StoredStep, Tip
from tests.support.laws import examples

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[2].parent / "shared"))
PUBLISHED = SHARED / "data" / "colorbrowseragent" / "agent" / "tips"

laws = settings(deadline=None, max_examples=examples(60))
"""For property tests: the machine may be busy, so no deadline."""

HOSTS = {
    "gitlab": ("*:8023",),
    "reddit": ("*:9999",),
    "shopping": ("*:7770",),
    "shopping_admin": ("*:7780",),
    "map": ("www.openstreetmap.org",),
}


def tip(
    id: str, text: str, site: str = "gitlab", scope: str = "", status: Status = Status.ACTIVE, **more: object
) -> Tip:
    return Tip(id=id, site=site, text=text, scope=Scope.parse(scope), status=status, **more)  # type: ignore[arg-type]


def published_tips() -> list[Tip]:
    """The 52 numbered tips, ids like ``gitlab-07``."""
    tips: list[Tip] = []
    for file in sorted(PUBLISHED.glob("*.txt")):
        numbered = re.findall(r"(?ms)^(\d+)\. (.*?)(?=^\d+\. |\Z)", file.read_text(encoding="utf-8"))
        tips += [
            tip(f"{file.stem}-{int(number):02}", text.strip(), site=file.stem) for number, text in numbered
        ]
    return tips


_TEXT = """
merge request issue milestone mileston order orders report year status label comment forum post search cart
product review invite members the a page click not use sort date bestseller filter 2023
"""
_WORDS = _TEXT.split()
words = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=9).map(" ".join)
texts = st.one_of(
    words, words.map(lambda text: f'Use "{text[:20]}" here'), st.builds("{} {}".format, words, words)
)
_PATHS = ("", "/", "/**", "/*", "/a", "/a/*", "/a/**", "/a/b", "/**/b", "/a*/b", "/a/b?q", "/a?q=1", "?q")
scopes = st.builds(
    "{}{}".format,
    st.sampled_from(("", "*:8023", "h:8023", "*", "other.test", "*.test")),
    st.sampled_from(_PATHS),
).map(Scope.parse)
sites = st.sampled_from(("gitlab", "reddit", "nowhere"))


@st.composite
def bases(draw: st.DrawFn, max_size: int = 14) -> list[Tip]:
    """A knowledge base: distinct ids, few words, so that routes and ties collide often."""
    ids = draw(st.lists(st.integers(0, 99), unique=True, max_size=max_size))
    return [
        Tip(
            id=f"tip-{number:02}",
            site=draw(sites),
            text=draw(texts) * draw(st.sampled_from((1, 1, 1, 9))),
            scope=draw(scopes),
            status=draw(st.sampled_from((Status.ACTIVE, Status.ACTIVE, Status.REVIEWED, Status.DRAFT))),
            keywords=tuple(draw(st.lists(words, max_size=1))),
        )
        for number in ids
    ]


urls = st.builds(
    "{}{}{}".format,
    st.sampled_from(
        ("http://h:8023", "https://x.test", "http://h:9999", "http://other.test", "about:blank", "")
    ),
    st.sampled_from(("", "/", "/a", "/a/b", "/a/b/c/", "/ab/b", "/z")),
    st.sampled_from(("", "?q=1", "?q=2&r", "#top")),
)
queries = st.builds(
    lambda url, text, site: Query(url=url, text=text, site=site),
    urls,
    st.one_of(st.just(""), texts),
    st.sampled_from(("", "gitlab", "reddit", "nowhere")),
)
stored_steps = st.lists(
    st.builds(
        lambda query, run, step, failed: StoredStep(
            run=f"run-{run}", step=step, url=query.url, site=query.site, text=query.text, failed=failed
        ),
        queries,
        st.integers(0, 3),
        st.integers(0, 20),
        st.sampled_from((True, False, None)),
    ),
    max_size=25,
)
