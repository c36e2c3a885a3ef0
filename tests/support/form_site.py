"""A site of forms of many kinds, which records what is sent to it: rich text, dates, tokens, two pages, row menus."""

from __future__ import annotations

from app.demo.server import Request, Response

THINGS = ("F-11", "F-12", "F-13")
_SIDE = "<header><form action=/search><input type=search name=q><button>Search</button></form></header>"
_FOOT = (
    "<footer><form method=post action=/newsletter><label>Your e-mail <input type=email name=mail></label>"
    "<button>Subscribe</button></form></footer>"
)
_ARTICLE = """<h1>New article</h1><form method=post action=/articles onsubmit="body.value = editor.innerHTML">
<p><label for=t>Headline</label> <input id=t name=headline required></p>
<p><span>Body</span></p><div id=editor contenteditable role=textbox style="min-height:60px"></div>
<input type=hidden name=body><input type=hidden name=people>
<p><label for=d>Goes live</label> <input id=d name=live placeholder="dd.mm.yyyy" autocomplete=off></p>
<table id=cal hidden><tr><td onclick="d.value='01.01.2030'; cal.hidden=true">1</td></tr></table>
<p><label for=o>Owners</label> <span id=chips></span><input id=o role=combobox autocomplete=off></p>
<ul id=found role=listbox></ul>
<p><label for=s>Section</label> <select id=s name=section><option>News<option>Sports<option>Culture</select></p>
<p><label><input type=checkbox name=front value=yes> On the front page</label></p>
<button type=button onclick="location='/preview'">Preview</button><button name=go value=save>Save</button>
<button name=go value=delete formaction=/articles/delete>Delete</button></form>
<script>
d.onfocus = () => { cal.hidden = false }; d.onblur = () => setTimeout(() => { cal.hidden = true }, 100);
const people = ["Ann Lee", "Anna Holm", "Bo Berg"], chosen = [];
o.oninput = () => { found.innerHTML = ""; for (const one of people) {
  if (!o.value || !one.toLowerCase().includes(o.value.toLowerCase())) continue;
  const li = document.createElement("li"); li.setAttribute("role", "option"); li.textContent = one;
  li.onmousedown = event => { event.preventDefault(); chosen.push(one); o.value = ""; found.innerHTML = "";
    chips.innerHTML += "<b>" + one + "</b> "; document.querySelector("[name=people]").value = chosen.join("|"); };
  found.append(li); } };
</script>"""
_LIST = (
    "<h1>Invoices</h1><table><tr><th>Number<th>State<th></tr>"
    + "".join(
        f"<tr><td><a href=/invoices/{one}>{one}</a><td>open<td><details><summary>Actions</summary>"
        f"<form method=post action=/invoices/{one}/archive><button>Archive</button></form>"
        f"<form method=post action=/invoices/{one}/delete><button>Delete</button></form></details></tr>"
        for one in THINGS
    )
    + "</table>"
)


class FormSite:
    """Serves the pages; ``sent`` are the writes that arrived, each with its path and fields."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, str]]] = []

    def __call__(self, request: Request) -> Response:
        if request.method == "POST":
            return self._write(request)
        pages = {
            "/articles/new": _ARTICLE,
            "/invoices": _LIST,
            "/members/new": _step("/members/2", "<label>Full name <input name=name></label>", "Next"),
            "/saved": "<h1>Articles</h1><p role=status>The article was saved.</p>",
        }
        return _page(pages.get(request.path, "<h1>Nothing here</h1>"))

    def _write(self, request: Request) -> Response:
        if request.path == "/members/2":
            kept = f"<input type=hidden name=name value='{request.form.get('name', '')}'>"
            level = "<label>Level <select name=level><option>Basic<option>Gold</select></label>"
            return _page(_step("/members", kept + level, "Create member"))
        self.sent.append((request.path, dict(request.form)))
        if request.path == "/articles":
            if request.form.get("headline") == "refused":
                return _page("<p role=alert>Headline is already taken: please choose another.</p>" + _ARTICLE)
            return Response(status="303 See Other", location="/saved")
        if request.path == "/members":
            return _page(f"<h1>{request.form.get('name', '')}</h1><p>Member created.</p>")
        thing, _, deed = request.path.removeprefix("/invoices/").partition("/")
        return _page(f"<h1>Invoices</h1><p role=status>Invoice {thing} was {deed}d.</p>")


def _step(action: str, fields: str, button: str) -> str:
    return f"<h1>New member</h1><form method=post action={action}>{fields}<button>{button}</button></form>"


def _page(body: str) -> Response:
    html = f"<!doctype html><title>Desk</title>{_SIDE}<main>{body}</main>{_FOOT}"
    return Response(body=html.encode())
