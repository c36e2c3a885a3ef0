"""Controls an exploration leaves alone by itself, and similar ones it does not."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.assets import resource
from app.engine.core.page_state import Element
from app.engine.core.transition import SkipReason
from app.engine.graph.rules.block_list import BlockList, RuleResult
from app.engine.graph.rules.danger_words import language_of, verb_in_address, verb_in_name, words_of

PAGE = "http://shop.example/shop/list?page=2"
RULES = BlockList.builtin()


def judged(
    role: str, name: str = "", href: str = "", lang: str = "en", page: str = PAGE, **more
) -> RuleResult:
    if href.startswith("/"):
        href = f"http://shop.example{href}"
    return RULES.verdict(Element(index=0, role=role, name=name, href=href, **more), page, lang)


BUTTONS = [
    ("en", "Delete"), ("en", "Remove item"), ("en", "Sign out"), ("en", "Log off"), ("en", "Pay"), ("en", "Buy now"),
    ("en", "Place your order"), ("en", "Send"), ("en", "Cancel my last order"), ("en", "Add to basket"),
    ("en", "Save changes"), ("en", "Yes"), ("en", "DELETE ALL"), ("en", "Empty trash"), ("en", "Move to trash"),
    ("de", "Löschen"), ("de", "Konto löschen"), ("de", "Abmelden"), ("de", "Zahlungspflichtig bestellen"),
    ("de", "In den Warenkorb"), ("fr", "Supprimer"), ("fr", "Se déconnecter"), ("fr", "SE DECONNECTER"),
    ("fr", "Passer la commande"), ("es", "Eliminar"), ("es", "Cerrar sesión"), ("es", "Añadir al carrito"),
    ("pt", "Excluir"), ("pt", "Finalizar compra"), ("it", "Elimina"), ("it", "Aggiungi al carrello"), ("it", "Esci"),
    ("nl", "Verwijderen"), ("nl", "Uitloggen"), ("nl", "In winkelwagen"), ("sv", "Ta bort"), ("sv", "Logga ut"),
    ("sv", "Köp"), ("da", "Slet"), ("da", "Læg i kurv"), ("nb", "Slett"), ("no", "Logg ut"), ("fi", "Poista"),
    ("fi", "Kirjaudu ulos"), ("pl", "Usuń"), ("pl", "Wyloguj się"), ("pl", "Dodaj do koszyka"), ("cs", "Smazat"),
    ("cs", "Odhlásit se"), ("sk", "Odstrániť"), ("hu", "Törlés"), ("hu", "Kosárba"), ("ro", "Șterge"),
    ("bg", "Изтрий"), ("uk", "Видалити"), ("ru", "Удалить"), ("ru", "Выйти"), ("ru", "Оформить заказ"),
    ("tr", "Sil"), ("tr", "Sepete ekle"), ("tr", "Çıkış yap"), ("el", "Διαγραφή"), ("el", "Αποσύνδεση"),
    ("id", "Hapus"), ("vi", "Xóa"), ("vi", "Đăng xuất"), ("zh", "删除"), ("zh-TW", "刪除此項目"), ("zh", "加入购物车"),
    ("zh", "退出登录"), ("ja", "削除する"), ("ja", "カートに入れる"), ("ja", "ログアウト"), ("ko", "삭제하기"),
    ("ko", "로그아웃"), ("ko", "장바구니 담기"), ("th", "ลบ"), ("th", "ออกจากระบบ"),
    ("ar", "حذف"), ("ar", "تسجيل الخروج"),
    ("he", "מחק"), ("he", "התנתק"), ("fa", "حذف"), ("fa", "خروج"), ("hi", "हटाएं"), ("hi", "लॉग आउट"),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "name"), BUTTONS)
def test_a_button_named_with_a_danger_verb_is_blocked(lang: str, name: str):
    found = judged("button", name, lang=lang)
    assert (found.verdict, found.reason) == ("block", SkipReason.DANGER)
    assert found.why


@pytest.mark.parametrize(("lang", "name"), BUTTONS)
def test_a_danger_verb_is_blocked_on_a_page_without_a_language(lang: str, name: str):
    assert not judged("button", name, lang="").allows


@pytest.mark.parametrize(
    "name", ["Löschen", "Supprimer", "Удалить", "Usuń", "Odhlásit se", "Eliminar cuenta", "削除"]
)
def test_a_wrong_language_tag_hides_no_danger_verb(name: str):
    assert not judged("button", name, lang="en").allows


@pytest.mark.parametrize(
    "name",
    [
        "Menu", "Close", "Cancel", "More", "Show details", "Next", "Previous", "Filter", "Sort by price", "Search",
        "Settings", "Edit", "New", "Create", "Open", "View", "Toggle theme", "Details", "Select all", "Browse store",
        "Shipping", "Orders", "Postage", "Sender", "Undeleted", "Payment methods", "Removal firms", "Buyers",
        "Mühlöschen", "Delicatessen", "Posters",
    ],
)  # fmt: skip
def test_a_button_that_only_shows_something_is_tried(name: str):
    assert judged("button", name).allows


@pytest.mark.parametrize(
    ("name", "href"),
    [
        ("Sign out", "/bye"),
        ("Account", "/accounts/logout/"),
        ("Account", "/users/sign_out"),
        ("Bye", "/?logout=1"),
        ("Bye", "/index.php?action=logout"),
        ("Delete", "/x/3"),
        ("x", "/item/3/delete/"),
        ("x", "/delete.php?id=3"),
        ("x", "/deleteItem/3"),
        ("x", "/delete/3"),
        ("Trash", "/mail/12/trash"),
        ("x", "/cart?remove=3"),
        ("x", "/?add-to-cart=3"),
        ("x", "/checkout/cart/add/uenc/12/product/7/"),
        ("x", "/vote?id=3&how=up"),
        ("x", "/posts/3/like"),
        ("Cancel order", "/orders/3"),
        ("Buy now", "/p/3"),
        ("Konto löschen", "/konto"),
        ("Unsubscribe", "/newsletter/unsubscribe"),
    ],
)
def test_a_link_whose_address_performs_an_action_is_blocked(name: str, href: str):
    assert judged("link", name, href).reason is SkipReason.DANGER


@pytest.mark.parametrize(
    ("name", "href"),
    [
        ("Create order", "/orders/create/"),
        ("Add product", "/products/add/"),
        ("Add", "/admin/basket/basket/add/"),
        ("Votes", "/admin/reviews/vote/"),
        ("Write a review", "/reviews/add/"),
        ("Send feedback", "/feedback"),
        ("Save the planet", "/blog/save-the-planet"),
        ("Cancel", "/orders"),
        ("Purchase history", "/purchases"),
        ("How to delete a branch", "/docs/how-to-delete-a-branch"),
        ("Pay It Forward", "/books/pay-it-forward_12/"),
        ("Remove Before Flight key ring", "/p/remove-before-flight-key-ring"),
        ("Post", "/post/3"),
        ("Orders", "/orders"),
        ("Checkout", "/checkout/"),
        ("Payments", "/admin/payment/"),
        ("Trash", "/mail/trash"),
        ("Reset password", "/password-reset/"),
        ("Change password", "/accounts/change-password/"),
        ("Log in", "/login"),
        ("Sign up", "/register"),
        ("Subscribe", "/newsletter"),
        ("Deleted items", "/mail/deleted"),
        ("注文履歴", "/orders"),
        ("购买记录", "/orders"),
    ],
)
def test_an_ordinary_link_is_followed(name: str, href: str):
    assert judged("link", name, href).allows


@pytest.mark.parametrize(
    ("name", "own", "other"),
    [("Wissen", "nl", "de"), ("Sil", "tr", "sv"), ("Salir", "es", "en"), ("Ring", "sv", "en")],
)
def test_ambiguous_words_count_only_in_their_own_language(name: str, own: str, other: str):
    assert not judged("button", name, lang=own).allows
    assert judged("button", name, lang=other).allows


def test_an_ambiguous_word_in_a_longer_name_is_no_verb_without_a_language():
    assert judged("button", "Log in", lang="").allows  # 'in' is Vietnamese for printing


@pytest.mark.parametrize(
    "attributes",
    [
        {"class": "btn fa fa-trash"},
        {"class": "icon-delete"},
        {"id": "removeItem"},
        {"icon": "bi bi-trash3 trash"},
        {"title": "Delete"},
        {"data-action": "sign-out"},
        {"class": "glyphicon glyphicon-thumbs-up"},
    ],
)
def test_a_nameless_control_is_judged_by_its_attributes(attributes: dict[str, str]):
    assert judged("button", "", attributes=tuple(attributes.items())).reason is SkipReason.DANGER


@pytest.mark.parametrize(
    "attributes",
    [{"class": "close"}, {"class": "btn-close remove"}, {"class": "navbar-toggler"}, {"class": "chevron"}],
)
def test_a_control_that_closes_or_opens_something_is_tried(attributes: dict[str, str]):
    assert judged("button", "×", attributes=tuple(attributes.items())).allows


def test_a_pictogram_can_mean_a_verb():
    assert not judged("button", "🗑").allows
    assert not judged("button", "Next", test_id="delete-account").allows


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"data-method": "delete"}, SkipReason.DANGER),
        ({"data-turbo-method": "post"}, SkipReason.FORM),
        ({"hx-delete": "/item/3"}, SkipReason.DANGER),
        ({"hx-post": "/item/3"}, SkipReason.FORM),
        ({"data-confirm": "Are you sure?"}, SkipReason.DANGER),
        ({"onclick": "return confirm('Really?')"}, SkipReason.DANGER),
    ],
)
def test_a_link_that_posts_or_asks_for_confirmation_is_blocked(
    attributes: dict[str, str], reason: SkipReason
):
    assert judged("link", "Away", "/item/3", attributes=tuple(attributes.items())).reason is reason


def test_a_link_by_get_is_a_link():
    assert judged("link", "Away", "/item/3", attributes=(("data-method", "get"),)).allows


@pytest.mark.parametrize(
    ("role", "form", "more"),
    [
        ("button", "post:/basket/add/", {"submits": True}),
        ("button", "get:/search", {"submits": True}),
        ("button", "", {"submits": True}),
        ("checkbox", "post:/settings", {}),
        ("radio", "post:/settings", {}),
        ("switch", "post:/settings", {}),
        ("combobox", "post:/language", {"tag": "select"}),
        ("button", "", {"type": "file"}),
    ],
)
def test_forms_are_never_sent_nor_filled_in(role: str, form: str, more: dict):
    assert judged(role, "Go", form=form, **more).reason is SkipReason.FORM


@pytest.mark.parametrize(
    ("role", "form", "more"),
    [
        ("checkbox", "get:/list", {}),
        ("combobox", "get:/list", {"tag": "select"}),
        ("combobox", "post:/save", {"tag": "span"}),
        ("button", "post:/save", {"type": "button"}),
        ("button", "post:/save", {"type": "reset"}),
        ("tab", "post:/save", {}),
        ("link", "post:/save", {"href": "http://shop.example/list"}),
    ],
)
def test_a_control_that_only_lies_in_a_form_may_be_tried(role: str, form: str, more: dict):
    assert judged(role, "Details", form=form, **more).allows


def test_menus_tabs_and_labels_with_a_verb_are_no_danger():
    assert judged("button", "Share", states=("haspopup",)).allows
    assert judged("tab", "Delete account").allows
    assert judged("treeitem", "Sent").allows
    assert judged("combobox", "Reason to cancel order").allows
    assert judged("link", "Write a review", "/shop/list?page=2#review").allows
    assert not judged("button", "Delete", states=("haspopup",)).allows
    assert not judged("link", "Delete", "/shop/list?page=2#").allows


def test_harmless_words_are_dangerous_in_dialogs_and_rows():
    assert judged("button", "Apply").allows
    assert judged("button", "Add").allows
    assert judged("button", "Cancel", landmarks=("dialog:Really?",)).allows
    assert not judged("button", "Apply", landmarks=("main", "dialog:Really?")).allows
    assert not judged("button", "OK", landmarks=("alertdialog",)).allows
    assert not judged("button", "Add", repeat="li.product").allows
    assert not judged("button", "Cancel", repeat="tr").allows


@pytest.mark.parametrize(
    "name", ["Remove filter", "Clear all filters", "Remove from sorting", "Filter entfernen"]
)
def test_verbs_about_the_view_are_no_danger(name: str):
    assert judged("button", name).allows
    assert judged("link", name, "/list?o=2").allows
    assert not judged("button", "Delete filter").allows


def test_a_banner_about_cookies_may_be_answered():
    assert judged("button", "Accept all cookies").allows
    assert judged("button", "OK", landmarks=("dialog:Cookie notice",)).allows
    assert judged("button", "Accept", attributes=(("class", "gdpr-consent__yes"),)).allows


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("mailto:me@shop.example", SkipReason.SCHEME),
        ("tel:123", SkipReason.SCHEME),
        ("http://other.example/", SkipReason.EXTERNAL),
        ("http://shop.example:81/", SkipReason.EXTERNAL),
        ("http://shop.example/files/list.PDF", SkipReason.DOWNLOAD),
        ("http://shop.example/a.tar.gz?x=1", SkipReason.DOWNLOAD),
    ],
)
def test_off_site_addresses_are_blocked(href: str, reason: SkipReason):
    assert judged("link", "There", href).reason is reason


@pytest.mark.parametrize(
    "href",
    [
        "https://www.shop.example/x",
        "http://shop.example:80/x",
        "/prices/list.html",
        "/v1.2/docs",
        "javascript:open()",
    ],
)
def test_on_site_addresses_are_allowed(href: str):
    page = href.replace("www.", "") if href.startswith("https") else PAGE
    assert judged("link", "There", href, page=page).allows


def test_a_danger_verb_precedes_the_form_reason():
    found = judged("button", "Delete", form="post:/x/delete", submits=True)
    assert (found.reason, found.risk) == (SkipReason.DANGER, 1.0)
    assert judged("button", "Add to basket", form="post:/basket/add/", submits=True).reason is SkipReason.FORM


@pytest.mark.parametrize(
    ("tag", "language"),
    [("de-AT", "de"), ("zh_Hant", "zh"), ("nb-NO", "no"), ("EN", "en"), ("tlh", ""), ("", "")],
)
def test_languages_are_told_by_the_first_part_of_a_tag(tag: str, language: str):
    assert language_of(tag) == language


def test_every_listed_verb_is_found_on_a_page_of_its_language():
    words = json.loads(resource("rules", "danger_words.json").read_text(encoding="utf-8"))["languages"]
    missed = [
        (language, verb)
        for language, lists in words.items()
        for kind in ("destroys", "leaves", "pays", "sends")
        for verb in lists.get(kind, ())
        if verb_in_name(verb, language) is None
    ]
    assert missed == []
    own = [
        (language, verb)
        for language, lists in words.items()
        for verb in lists.get("own", ())
        if not any(verb in lists.get(kind, ()) for kind in ("destroys", "leaves", "pays", "sends"))
    ]
    assert own == []


@given(st.text(max_size=60), st.sampled_from(["", "en", "de", "ja", "xx"]))
def test_any_name_gets_an_answer(name: str, language: str):
    assert judged("button", name, lang=language).verdict in ("allow", "block")
    assert all(word == word.strip() and word for word in words_of(name))


@given(st.text(max_size=80))
def test_any_address_gets_an_answer(href: str):
    assert judged("link", "There", f"http://shop.example/{href}").verdict in ("allow", "block")
    assert judged("link", "There", href or "#").verdict in ("allow", "block")


@pytest.mark.parametrize(
    ("path", "verb"),
    [
        ("/issues/5/watch", "watch"),
        ("/msg/9/archive", "archive"),
        ("/a/5/star", "star"),
        ("/item/5/markread", "markread"),
        ("/notifications/mark_read/3", "mark read"),
        ("/t/4/unwatch", "unwatch"),
        ("/watch?v=abc", ""),
        ("/archive/2023", ""),
        ("/blog/star-wars/5", ""),
        ("/issues/5", ""),
        ("/close/5/details", ""),
    ],
)
def test_an_address_that_watches_an_item_is_an_action_and_a_list_is_not(path: str, verb: str):
    said = verb_in_address(urlsplit(f"http://x.test{path}"))
    assert (said.verb if said is not None else "") == verb
