"""Detect what stands between a visitor and the page: a log-in or a captcha. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.core.page_state import Challenge, Element

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
_LOGIN_EXTRA_FIELD = re.compile(
    r"verification|one.?time|security code|\botp\b|\btoken|\bpin\b|captcha|\b2fa|\bmfa|tenant|company"
    r"|organi[sz]ation|\bdomain|kunden",
    re.IGNORECASE,
)
"""Fields that a log-in may have beside name and password."""
_FEW = 25
_SHORT = 2000
_CHROME = ("banner", "navigation", "contentinfo", "complementary")


def detect_challenge(
    *,
    url: str,
    title: str,
    headings: Sequence[str],
    text: str,
    elements: Sequence[Element],
    captcha: bool,
) -> Challenge:
    """Return the challenge a page poses. A small log-in box beside a page's own content is none."""
    told = " \n".join((title, *headings[:5]))
    own = [e for e in elements if e.visible and not _in_page_frame(e)]
    if _HUMAN_WORDS.search(told) and len(own) < _FEW:
        return Challenge.CAPTCHA
    if captcha and (_HUMAN_WORDS.search(text[:_SHORT]) or (len(own) < _FEW and len(text) < _SHORT)):
        return Challenge.CAPTCHA
    return Challenge.LOGIN if _asks_for_login(url, told, own) else Challenge.NONE


def is_named_login_page(url: str, title: str, headings: Sequence[str]) -> bool:
    """Whether a page's address, title or headings say that it is a log-in."""
    return _is_named_login(url, " \n".join((title, *headings[:5])))


def password_forms(elements: Sequence[Element]) -> tuple[tuple[Element, ...], ...]:
    """Return the forms in a page's own content that have a password field, each with all its elements."""
    forms: dict[str, list[Element]] = {}
    for element in elements:
        if element.visible and not _in_page_frame(element):
            forms.setdefault(_enclosing_form(element), []).append(element)
    return tuple(tuple(form) for form in forms.values() if any(one.type == "password" for one in form))


def other_text_fields(form: Sequence[Element]) -> tuple[Element, ...]:
    """Return the text fields of a password form that ask for no name, password or code."""
    return tuple(
        one
        for one in form
        if one.role in ("textbox", "searchbox", "spinbutton")
        and one.type != "password"
        and not _is_name_field(one)
        and not _LOGIN_EXTRA_FIELD.search(_words_of(one))
    )


def _asks_for_login(url: str, told: str, own: Sequence[Element]) -> bool:
    says_so = _is_named_login(url, told)
    forms = password_forms(own)
    # A single password is a log-in; two in a form, or a new one, are a registration.
    asking = [form for form in forms if _asks_one_password(form)]
    if asking:
        return says_so or (len(own) < _FEW and not all(map(_has_other_purpose, asking)))
    return says_so and len(own) < _FEW and any(_is_name_field(element) for element in own) and not forms


def _is_named_login(url: str, told: str) -> bool:
    parts = urlsplit(url)
    return bool(_LOGIN_PATH.search(f"{parts.path}#{parts.fragment}") or _LOGIN_WORDS.search(told))


def _enclosing_form(element: Element) -> str:
    around = element.xpath.rpartition("/form")  # two forms may have the same action
    return around[0] + around[2].partition("/")[0]


def _asks_one_password(form: Sequence[Element]) -> bool:
    fields = [one for one in form if one.type == "password"]
    return len(fields) == 1 and ("autocomplete", "new-password") not in fields[0].attributes


def _has_other_purpose(form: Sequence[Element]) -> bool:
    """Whether a form asks for more than credentials: a multi-line text, or two other things."""
    besides = other_text_fields(form)
    return len(besides) > 1 or any(one.tag == "textarea" for one in besides)


def _is_name_field(element: Element) -> bool:
    if element.role != "textbox":
        return False
    return bool(_NAME_FIELD.search(_words_of(element)))


def _words_of(element: Element) -> str:
    return " ".join((element.name, element.label, element.type, *(value for _, value in element.attributes)))


def _in_page_frame(element: Element) -> bool:
    return any(landmark.split(":")[0] in _CHROME for landmark in element.landmarks)
