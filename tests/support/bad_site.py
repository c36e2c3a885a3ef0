"""A small site, served on this machine, that misbehaves on purpose: one page for each way a site can go wrong.

``async with await BadSite.start() as site`` serves; ``site.page("crash")`` is the address of one case, and
``site.entry(...)`` that of a home page which links to the given cases and to three good pages.  ``destroyed`` holds
every request that a careful visitor never sends.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
GOOD = ("one", "two", "three")
MAX_WAIT = 60.0
"""Seconds a connection is kept silent at most, so that a test that forgot it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One recorded request."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response. ``silent`` sends nothing, ``cut`` promises more bytes than it sends, ``drip`` sends
    slowly.
    """

    body: str = ""
    status: str = "200 OK"
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[str, ...] = ()
    silent: bool = False
    cut: bool = False
    drip: float = 0.0


def html(title: str, body: str, script: str = "", head: str = "") -> Answer:
    """A whole page; the script runs at its end."""
    scripted = f"<script>{script}</script>" if script else ""
    return Answer(
        body=f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><h1>{title}</h1><main>{body}</main>{scripted}</body></html>"
    )


def to(address: str, status: str = "302 Found", *headers: str) -> Answer:
    """A redirect."""
    return Answer(status=status, headers=(f"Location: {address}", *headers))


HOME_LINK = '<p><a href="/">Home</a></p>'

PAGES: dict[str, Answer] = {
    "never-settles": html(
        "Never settles",
        f'<p id="n">0</p>{HOME_LINK}',
        "let n=0;setInterval(()=>{document.getElementById('n').textContent=++n},15);"
        "(function ask(){fetch('/tick?'+Math.random()).finally(ask)})()",
    ),
    "alerts": html(
        "Alerts for ever",
        f"{HOME_LINK}<button>Say hello</button>",
        "document.querySelector('button').onclick=()=>{for(;;)alert('again')};"
        "setInterval(()=>alert('one more'),30);confirm('sure?');prompt('who?')",
    ),
    "grows": html(
        "Grows for ever",
        f'{HOME_LINK}<ul id="list"></ul>',
        "let n=0;const more=()=>{const li=document.createElement('li');"
        "li.innerHTML=`<a href='/good/one?item=${++n}'>Item ${n}</a> <button>Keep ${n}</button>`;"
        "document.getElementById('list').append(li)};for(let i=0;i<40;i++)more();setInterval(more,10)",
    ),
    "scroll": html(
        "Endless page",
        f'{HOME_LINK}<div id="list"></div>',
        "let n=0;const more=()=>{for(let i=0;i<30;i++){const p=document.createElement('p');p.style.height='60px';"
        "p.innerHTML=`<a href='/good/two?item=${++n}'>Item ${n}</a>`;"
        "document.getElementById('list').append(p)}};more();"
        "addEventListener('scroll',()=>{if(innerHeight+scrollY>document.body.scrollHeight-200)more()})",
    ),
    "moves": html(
        "Never stays",
        f"{HOME_LINK}<button>Stay</button>",
        "setTimeout(()=>{location.href='/moves?again='+Math.random()},40)",
    ),
    "refreshes": html(
        "Refreshes itself", HOME_LINK, head='<meta http-equiv="refresh" content="0; url=/refreshes">'
    ),
    "moves-once": html(
        "On the way", "<p>Please wait</p>", "setTimeout(()=>{location.href='/good/three'},150)"
    ),
    # A tree this deep is more than the renderer's stack holds: it is gone within two seconds.
    "crash": html(
        "Crashes",
        f"{HOME_LINK}<button>Still here</button>",
        "addEventListener('load',()=>setTimeout(()=>{let at=document.body;for(let i=0;i<6000;i++){"
        "const d=document.createElement('div');at.appendChild(d);at=d}},100))",
    ),
    "crash-on-click": html(
        "Crashes when asked",
        f"{HOME_LINK}<button aria-expanded='false'>Show more</button>",
        "document.querySelector('button').onclick=()=>{let at=document.body;for(let i=0;i<6000;i++){"
        "const d=document.createElement('div');at.appendChild(d);at=d}}",
    ),
    "hangs": html(
        "Hangs",
        f"{HOME_LINK}<button>Wait</button>",
        "addEventListener('load',()=>setTimeout(()=>{for(;;);},50))",
    ),
    "popups": html(
        "Opens windows",
        f"{HOME_LINK}<button aria-haspopup='true'>More windows</button><a href='/good/two' target='_blank'>New tab</a>",
        "document.querySelector('button').onclick=()=>{for(let i=0;i<8;i++)window.open('/good/one?w='+i)}",
    ),
    "keeps-you": html(
        "Does not let go",
        f"{HOME_LINK}<input aria-label='Note'>",
        "addEventListener('beforeunload',e=>{e.preventDefault();e.returnValue='stay'})",
    ),
    "download": html(
        "Offers a file", f'{HOME_LINK}<a href="/report">Report</a><a href="/data.csv" download>Table</a>'
    ),
    "captcha": html(
        "Just a moment",
        '<p>Verify you are human</p><div class="g-recaptcha" data-sitekey="k"><iframe title="reCAPTCHA" '
        'src="/recaptcha/frame" width="300" height="78"></iframe></div>',
    ),
    "frames": html(
        "Frames in frames",
        f'{HOME_LINK}<iframe name="a" src="/frames?deep=1" width="300" height="200"></iframe>',
    ),
    "history": html(
        "Makes up addresses",
        f"{HOME_LINK}<button aria-expanded='false'>Menu</button>",
        "let n=0;setInterval(()=>{history.replaceState({},'','/history?t='+(++n))},40)",
    ),
    "broken-html": Answer(
        body="<html><title>Broken</title><body><div><a href='/good/one'>One<div><table><a href=/good/two>"
        "Two<b><i></b><button>\x00\x07 Odd \ud7ff</p></span>" + "<div>" * 400
    ),
    "many": html(
        "Very many",
        HOME_LINK + "".join(f'<div><a href="/good/one?n={n}">Row {n}</a></div>' for n in range(3000)),
    ),
    "danger": html(
        "Dangerous",
        f"{HOME_LINK}<a href='/account/logout'>Sign out</a> <a href='/item/3/delete'>Delete</a>"
        " <a href='/item?do=remove&amp;id=3'>Drop it</a> <a href='/quiet' data-method='delete'>Away</a>"
        "<button onclick=\"fetch('/api/wipe',{method:'POST'})\">Delete all</button>"
        "<button onclick=\"fetch('/api/pay',{method:'POST'})\">Pay now</button>"
        "<button class='fa fa-trash' onclick=\"fetch('/api/bin',{method:'POST'})\"></button>"
        "<form method='post' action='/api/save'><input name='a'><button>Apply</button>"
        "<select name='s' aria-label='Sort' onchange='this.form.submit()'><option>a<option>b</select></form>",
    ),
}


class BadSite:
    """The server.

    Attributes:
        url: address of the home page, without a final slash.
        silent_url: a port that accepts connections and never answers.
        refused_url: a port without a listener.
        asked: every request, in order.
        visits_until_logout: how many pages a log-in lasts.
    """

    def __init__(self, visits_until_logout: int = 6) -> None:
        self.url = self.silent_url = self.refused_url = ""
        self.asked: list[Asked] = []
        self.visits_until_logout = visits_until_logout
        self.home: tuple[str, ...] = ()
        self._servers: list[asyncio.Server] = []
        self._sessions: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._turns: Counter[str] = Counter()
        self._stopped = asyncio.Event()

    @classmethod
    async def start(cls, *, visits_until_logout: int = 6) -> Self:
        """Listen on free ports."""
        site = cls(visits_until_logout)
        addresses: list[str] = []
        for serve in (site._serve, site._say_nothing, site._say_nothing):
            server = await asyncio.start_server(serve, HOST, 0)
            site._servers.append(server)
            addresses.append(f"http://{HOST}:{server.sockets[0].getsockname()[1]}")
        site.url, site.silent_url, site.refused_url = addresses
        closed = site._servers.pop()
        closed.close()
        await closed.wait_closed()
        return site

    async def stop(self) -> None:
        """Stop listening and release waiting connections."""
        self._stopped.set()
        for server in self._servers:
            server.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def page(self, case: str) -> str:
        """Address of one case."""
        return f"{self.url}/{case}"

    def entry(self, *cases: str) -> str:
        """Address of a home page that links to these cases, between the good pages."""
        self.home = cases
        return f"{self.url}/"

    @property
    def destroyed(self) -> list[Asked]:
        """Requests that a careful visitor never sends: anything but GET and HEAD, and writes by GET."""
        deeds = ("/account/logout", "/item", "/quiet")
        return [
            asked
            for asked in self.asked
            if asked.method not in ("GET", "HEAD") or asked.path.startswith(deeds)
        ]

    def times(self, path: str) -> int:
        """How often a path was requested."""
        return sum(asked.path == path for asked in self.asked)

    # answers

    def answer(self, asked: Asked) -> Answer:
        """Return the response to a request."""
        case = asked.path.strip("/")
        special = self._special().get(case.partition("/")[0])
        if special is not None:
            return special(asked)
        if case in PAGES:
            return PAGES[case]
        return Answer(body="<h1>Nothing here</h1><a href='/'>Home</a>", status="404 Not Found")

    def _special(self) -> dict[str, Callable[[Asked], Answer]]:
        return {
            "": self._home,
            "good": self._good,
            "robots.txt": lambda _: Answer(
                body="User-agent: *\nDisallow: /private\n", content_type="text/plain"
            ),
            "private": lambda _: html("Private", HOME_LINK),
            "tick": lambda _: Answer(body="tick", content_type="text/plain"),
            "loop": lambda asked: to("/loop/b" if asked.path == "/loop/a" else "/loop/a"),
            "long-way": self._long_way,
            "silent": lambda _: Answer(silent=True),
            "slow": lambda _: Answer(body=html("Slow", HOME_LINK).body, drip=0.02),
            "cut": lambda _: Answer(body=html("Cut", HOME_LINK).body, cut=True),
            "flaky": self._flaky,
            "down": lambda _: Answer(body="<h1>Sorry</h1>", status="503 Service Unavailable"),
            "empty": lambda _: Answer(),
            "picture": lambda _: Answer(body="\x00\x01\x02", content_type="image/png"),
            "report": lambda _: Answer(
                body="a,b", headers=("Content-Disposition: attachment; filename=report.csv",)
            ),
            "data.csv": lambda _: Answer(body="a,b", content_type="text/csv"),
            "guarded": lambda _: Answer(
                body="<h1>Who are you?</h1>",
                status="401 Unauthorized",
                headers=('WWW-Authenticate: Basic realm="x"',),
            ),
            "calendar": self._calendar,
            "session": self._session_links,
            "members": self._members,
            "login": self._login,
            "frames": self._frames,
            "silent-frame": lambda _: html(
                "Silent frame", f'{HOME_LINK}<iframe src="/silent" title="Advert"></iframe>'
            ),
            "unreachable-link": lambda _: html(
                "Leads nowhere", f'{HOME_LINK}<a href="{self.refused_url}/">Other port</a>'
            ),
        }

    def _home(self, _: Asked) -> Answer:
        good = "".join(f'<li><a href="/good/{name}">Good {name}</a></li>' for name in GOOD)
        bad = "".join(f'<li><a href="/{case}">Case {case}</a></li>' for case in self.home)
        return html("Home", f"<nav aria-label='Good'><ul>{good}</ul></nav><ul>{bad}</ul>")

    def _good(self, asked: Asked) -> Answer:
        name = asked.path.rpartition("/")[2]
        return html(
            f"Good {name}",
            f"{HOME_LINK}<button aria-expanded='false'>Details {name}</button><p hidden>More of {name}: "
            f"<a href='/good/{name}/more'>All of {name}</a></p>",
            "document.querySelector('button').onclick=e=>{const p=document.querySelector('p[hidden],p.shown');"
            "p.hidden=!p.hidden;p.className='shown';e.target.setAttribute('aria-expanded',String(!p.hidden))}",
        )

    def _long_way(self, asked: Asked) -> Answer:
        """Redirect endlessly to new addresses: a browser gives up after twenty."""
        number = int(asked.path.rpartition("/")[2]) if asked.path.rpartition("/")[2].isdecimal() else 0
        return to(f"/long-way/{number + 1}")

    def _flaky(self, asked: Asked) -> Answer:
        """Every other request fails, beginning with the first."""
        self._turns[asked.path] += 1
        if self._turns[asked.path] % 2:
            return Answer(body="<h1>Server error</h1>", status="500 Internal Server Error")
        links = (
            "".join(f'<a href="/flaky/{n}">Part {n}</a> ' for n in range(1, 5))
            if asked.path == "/flaky"
            else ""
        )
        return html(f"Flaky {asked.path}", HOME_LINK + links)

    def _calendar(self, asked: Asked) -> Answer:
        """Months without end, each with its address."""
        last = asked.path.rpartition("/")[2]
        month = int(last) if last.isdecimal() else 0
        return html(
            "Calendar",
            f'{HOME_LINK}<p>Month {month}</p><a href="/calendar/{month + 1}">Next month</a>'
            f'<a href="/calendar/{max(0, month - 1)}">Month before</a>',
        )

    def _session_links(self, asked: Asked) -> Answer:
        """Every link carries another session number; the page is always the same."""
        number = next(self._numbers)
        return html(
            "Sessions",
            f'{HOME_LINK}<a href="/session/a?sid=s{number}x{number * 7}">Part A</a>'
            f'<a href="/session/b?sid=s{number}x{number * 9}&amp;utm_source=m">Part B</a>',
        )

    def _members(self, asked: Asked) -> Answer:
        """Pages for members; a log-in lasts for a few of them."""
        session = asked.cookies.get("member", "")
        if self._sessions.get(session, 0) <= 0:
            return to(f"/login?next={asked.path}", "302 Found")
        self._sessions[session] -= 1
        links = "".join(f'<a href="/members/{n}">Member page {n}</a> ' for n in range(1, 13))
        return html(f"Members {asked.path}", HOME_LINK + links)

    def _login(self, asked: Asked) -> Answer:
        if asked.method == "POST":
            return to("/members", "303 See Other", f"Set-Cookie: member={self.new_session()}; Path=/")
        return html(
            "Log in",
            "<form method='post' action='/login'><label>User <input name='user' autocomplete='username'></label>"
            "<label>Password <input type='password' name='password'></label><button>Log in</button></form>",
        )

    def new_session(self) -> str:
        """Return a log-in cookie's value (``member``), good for ``visits_until_logout`` pages."""
        session = f"m{next(self._numbers)}"
        self._sessions[session] = self.visits_until_logout
        return session

    def storage_state(self) -> dict[str, object]:
        """A fresh log-in as a recorded storage state."""
        cookie = {
            "name": "member", "value": self.new_session(), "domain": HOST, "path": "/",
            "expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax",
        }  # fmt: skip
        return {"cookies": [cookie], "origins": []}

    def _frames(self, asked: Asked) -> Answer:
        deep = int(asked.query.get("deep", "0"))
        inner = (
            f'<iframe name="f{deep}" src="/frames?deep={deep + 1}"></iframe>'
            if deep < 12
            else "the innermost"
        )
        return html(f"Frame {deep}", f"{HOME_LINK}<button>Inside {deep}</button>{inner}")

    # the wire

    async def _say_nothing(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), MAX_WAIT)
        except TimeoutError:
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            if asked is not None:
                self.asked.append(asked)
                await self._send(self.answer(asked), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a browser that was killed, or one that had enough
        finally:
            writer.close()

    async def _send(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer.silent:
            await self._say_nothing(reader, writer)
            return
        body = answer.body.encode("utf-8", "surrogatepass")
        length = len(body) + (5000 if answer.cut else 0)
        head = [
            f"HTTP/1.1 {answer.status}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {length}",
            "Cache-Control: no-store",
            "Connection: close",
            *answer.headers,
        ]
        writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
        for start in range(0, len(body), 8 if answer.drip else len(body) or 1):
            writer.write(body[start : start + 8] if answer.drip else body)
            await writer.drain()
            if answer.drip:
                await asyncio.sleep(answer.drip)


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    words = head[0].split(" ")
    if len(words) != 3:
        return None
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
    }
    if (length := headers.get("content-length", "0")).isdecimal() and 0 < int(length) < 100_000:
        await reader.readexactly(int(length))
    address = urlsplit(words[1])
    cookies = dict(
        part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";") if "=" in part
    )
    query = {key: values[0] for key, values in parse_qs(address.query).items()}
    return Asked(method=words[0], path=address.path, query=query, cookies=cookies)
