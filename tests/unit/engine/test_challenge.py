"""Detecting log-ins and captchas from a page's elements and words."""

from __future__ import annotations

import pytest

from app.engine.browser.capture.challenge import detect_challenge
from app.engine.core.page_state import Challenge, Element


def box(name: str, kind: str = "text", form: str = "/html/body/form[1]/input", **more: object) -> Element:
    return Element(index=0, role="textbox", name=name, tag="input", type=kind, xpath=form, **more)


def judged(
    *elements: Element, url: str = "http://shop/", title: str = "", text: str = "", captcha: bool = False
) -> Challenge:
    return detect_challenge(url=url, title=title, headings=(), text=text, elements=elements, captcha=captcha)


LINKS = tuple(Element(index=n, role="link", name=str(n)) for n in range(40))


@pytest.mark.parametrize(
    "title", ["Log in", "Anmelden", "Se connecter", "Iniciar sesión", "ログイン", "Вход"]
)
def test_a_page_that_asks_for_a_password_by_its_title_is_a_log_in_in_any_language(title: str):
    assert judged(*LINKS, box("x", "password"), title=title) is Challenge.LOGIN


@pytest.mark.parametrize(
    "path", ["/login", "/accounts/login/", "/users/sign_in", "/signin?next=/a", "/#/login"]
)
def test_a_log_in_is_known_by_its_address(path: str):
    assert judged(*LINKS, box("x", "password"), url=f"http://shop{path}") is Challenge.LOGIN


def test_a_password_among_many_other_things_is_no_log_in():
    assert judged(*LINKS, box("Password", "password"), url="http://shop/settings") is Challenge.NONE
    assert judged(*LINKS, box("Password", "password"), url="http://shop/blogindex") is Challenge.NONE


def test_two_passwords_in_one_form_are_a_registration():
    pair = (box("Password", "password"), box("Again", "password"))
    assert judged(*pair, title="Sign in or register") is Challenge.NONE
    other = box("Password", "password", form="/html/body/form[2]/input")
    assert judged(*pair, other, title="Sign in or register") is Challenge.LOGIN


def test_a_box_in_the_banner_stands_in_nobodys_way():
    hidden = box("Password", "password", landmarks=("banner",))
    assert judged(hidden, title="Sign in to win") is Challenge.NONE
    assert judged(box("Password", "password", visible=False), title="Log in") is Challenge.NONE


def test_the_first_page_of_a_log_in_in_two_asks_for_the_name_only():
    assert judged(box("E-mail"), title="Sign in") is Challenge.LOGIN
    assert judged(box("Search"), title="Sign in") is Challenge.NONE


def test_a_captcha_counts_where_there_is_little_else_or_the_page_says_so():
    assert judged(captcha=True, text="short") is Challenge.CAPTCHA
    assert judged(*LINKS, captcha=True, text="Please confirm that you are not a robot.") is Challenge.CAPTCHA
    assert judged(*LINKS, captcha=True, text="A letter form.") is Challenge.NONE
    assert judged(title="Just a moment...") is Challenge.CAPTCHA
    assert judged(*LINKS, title="Are you a robot? A novel") is Challenge.NONE
