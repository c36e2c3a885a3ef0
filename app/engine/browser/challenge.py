"""Does something stand between the visitor and the page: a log-in, or a question whether a person is there?  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.page_state import Challenge, Element

_LOGIN_PATH = re.compile(
    r"(^|[/._#-])(log-?in|log-?on|sign-?in|signon|auth(enticate|entication)?|sso|session(s/new)?|anmelden|anmeldung|connexion"
    r"|iniciar-?sesion|accedi|inloggen|logowanie|users/sign_in)([/._?#-]|$)",
    re.IGNORECASE,
)
_LOGIN_WORDS = re.compile(
    r"\b(log ?in|log ?on|sign ?in|authenticate|authentication required|anmelden|anmeldung|einloggen"
    r"|(se )?connecte[rz]|connexion|identifi(ez|er)[ -]vous|iniciar sesi[oó]n|inicia sesi[oó]n|accedi|entrar"
    r"|iniciar sess[aã]o|inloggen|logga in|log ind"
    r"|logg inn|kirjaudu|zaloguj|logowanie|přihlásit|prihlásiť|bejelentkezés|autentificare|giriş yap)\b"
    r"|войти|вход|увійти|ログイン|サインイン|登录|登入|로그인|تسجيل الدخول|כניסה|התחבר",
    re.IGNORECASE,
)
_HUMAN_WORDS = re.compile(
    r"verify (that )?you are (a )?human|are you (a )?(human|robot)|not a robot|unusual traffic|checking your browser"
    r"|just a moment|attention required|security check|prove (that )?you('| a)re human|complete the captcha"
    r"|enter the characters|kein roboter|sind sie ein mensch|pas un robot|no soy un robot|non sono un robot"
    r"|я не робот|ロボットではありません|不是机器人|로봇이 아닙니다",
    re.IGNORECASE,
)
_NAME_FIELD = re.compile(r"user|login|e-?mail|account|identifier|benutzer|utilisateur|usuario", re.IGNORECASE)
_FEW = 25
_SHORT = 2000
_CHROME = ("banner", "navigation", "contentinfo", "complementary")


def challenge_of(
    *,
    url: str,
    title: str,
    headings: Sequence[str],
    text: str,
    elements: Sequence[Element],
    captcha: bool,
) -> Challenge:
    """What stands in the way.  A small log-in box beside a page's own matter is nothing that does."""
    told = " \n".join((title, *headings[:5]))
    own = [e for e in elements if e.visible and not _in_chrome(e)]
    if _HUMAN_WORDS.search(told) and len(own) < _FEW:
        return Challenge.CAPTCHA
    if captcha and (_HUMAN_WORDS.search(text[:_SHORT]) or (len(own) < _FEW and len(text) < _SHORT)):
        return Challenge.CAPTCHA
    return Challenge.LOGIN if _asks_who(url, told, own) else Challenge.NONE


def _asks_who(url: str, told: str, own: Sequence[Element]) -> bool:
    parts = urlsplit(url)
    says_so = bool(_LOGIN_PATH.search(f"{parts.path}#{parts.fragment}") or _LOGIN_WORDS.search(told))
    forms: dict[str, list[Element]] = {}
    for element in own:
        if element.type == "password":
            around = element.xpath.rpartition("/form")  # two forms may send to one address
            forms.setdefault(around[0] + around[2].partition("/")[0], []).append(element)
    # One password alone asks for a log-in; two in a form, or a new one, are a registration.
    asking = [
        form
        for form, fields in forms.items()
        if len(fields) == 1 and ("autocomplete", "new-password") not in fields[0].attributes
    ]
    if asking:
        return says_so or len(own) < _FEW
    return says_so and len(own) < _FEW and any(_is_name_field(element) for element in own) and not forms


def _is_name_field(element: Element) -> bool:
    if element.role != "textbox":
        return False
    words = " ".join((element.name, element.label, element.type, *(value for _, value in element.attributes)))
    return bool(_NAME_FIELD.search(words))


def _in_chrome(element: Element) -> bool:
    return any(landmark.split(":")[0] in _CHROME for landmark in element.landmarks)
