"""Fields that take a secret (a password, a code, a key, a card's numbers), by name, attributes, selector or page.

A written rule, in this order: an attribute that says so (``type=password``, ``autocomplete``); a selector that names
such an attribute or a password; a word for a password in a field's name, in many languages; a short name or a clear
phrase that asks for a code. "PIN code of the parcel shop" is none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.ax_tree import find_node

SECRET_AUTOCOMPLETE = frozenset({"current-password", "new-password", "one-time-code", "cc-number", "cc-csc"})
"""Values of ``autocomplete`` that declare a field's content a secret."""

_PASSWORD = (
    r"passw(?:or)?d|passphrase|passcode|secret|api[ _-]?key|access[ _-]?token|card number"
    r"|kennwort|passwort|mot de passe|contraseñ|contrasen|clave de acceso|senha\b|palavra-passe|wachtwoord|lösenord"
    r"|adgangskode|passord|salasana|hasł[oa]|\bheslo\b|jelszó|parol[aă]\b|lozinka|şifre|\bsifre\b|parola d'ordine"
    r"|пароль|пароля|κωδικός πρόσβασης|סיסמ|كلمة (?:المرور|السر)|रहस्य|पासवर्ड|mật khẩu|รหัสผ่าน|kata sandi"
    r"|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호"
)
_CODE_PHRASE = (
    r"\b(?:one[ -]?time|verification|security|authenticat(?:ion|or)|two[ -]factor|2fa|mfa|sms|login|recovery|backup)"
    r" (?:codes?|pin|passcode)\b(?! (?:of|for|examples?|scanner)\b)"
    r"|(?:bestätigungs|sicherheits|einmal)code|code de (?:vérification|sécurité)"
    r"|código de (?:verificación|seguridad|verificação)"
    r"|код подтверждения|验证码|驗證碼|認証コード|인증 ?번호"
)
_SHORT_NAME = (
    r"^\W*(?:(?:enter|type|your|the|a|card|account|current|new|old|repeat|confirm|\d-digit|\d digit)\b\W*)*"
    r"(?:pin|pin[ -](?:code|number)|otp|totp|2fa|one[ -]?time pin|cv[vc]2?|csc)(?:[ /-]+(?:code|number|cv[vc]2?))?"
    r"(?:\s*\([^)]{0,40}\))?(?: (?:field|box|input|textbox))?\W*$"
)
_NAME = re.compile(f"{_PASSWORD}|{_CODE_PHRASE}|{_SHORT_NAME}", re.IGNORECASE)
_SELECTOR = re.compile(
    r"\btype\s*[*~|^$]?=\s*\\?[\"']?password"
    r"|autocomplete\s*[*~|^$]?=\s*\\?[\"']?[\w -]*(?:-password|one-time-code|cc-number|cc-csc)"
    r"|(?<![a-z])(?:pass|pwd|otp|totp|pin|cv[vc]2?|csc)(?![a-z])|passw(?:or)?d|passphrase|passcode|secret"
    r"|one[-_]?time|verif\w*[-_]?code|security[-_]?code",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"\btype\s*=\s*[\"']?password\b"
    r"|\bautocomplete\s*=\s*[\"']?(?:[\w-]+ )*(?:current-password|new-password|one-time-code|cc-number|cc-csc)\b"
    r"|\bprotected\b",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+))")
_KEY_NAME = re.compile(
    r"(?:(?:control|ctrl|shift|alt|meta|cmd|command|controlormeta|super|win)[+-])*"
    r"(?:enter|return|tab|escape|esc|backspace|delete|del|insert|space|home|end|page_?up|page_?down|f\d{1,2}"
    r"|(?:arrow_?)?(?:up|down|left|right)|capslock|shift|control|ctrl|alt|meta)"
    r"|(?:(?:control|ctrl|alt|meta|cmd|command|controlormeta|super|win)[+-])+\S",
    re.IGNORECASE,
)
_FOCUSED = re.compile(r"^.*, focused\b.*$", re.MULTILINE)

_INTO_FIELD = frozenset(
    {"fill", "type", "input", "input_text", "type_text", "enter_text", "set_value", "press_sequentially"}
)  # fmt: skip
BY_KEYBOARD = frozenset(
    {"keyboard_type", "keyboard_insert_text", "keyboard_press", "press", "send_keys", "type"}
)
"""Actions that type where the focus is."""
_STAYS = frozenset({"noop", "wait", "hover", "scroll", "mouse_move", "screenshot", "browser_snapshot"})
"""Actions after which the focus is where it was."""
_ON_FIELD = frozenset({"click", "dblclick", "focus", "clear", "tap"}) | _INTO_FIELD
_NO_FIELDS = frozenset(
    {"link", "button", "tab", "menuitem", "option", "checkbox", "radio", "heading", "image", "listitem", "row", "cell"}
    | {"gridcell", "columnheader", "LabelText", "StaticText", "menu", "treeitem", "switch", "DisclosureTriangle"}
)  # fmt: skip
_TYPED_PARTS = ("value", "text", "keys", "key", "key_comb")
_MARKS = ("bid", "data-bid", "browsergym_id", "id", "name", "data-testid")
_NAMING = ("aria-label", "placeholder", "title", "name", "id")


def names_a_secret(name: str) -> bool:
    """Whether a field of this name holds a secret: a password, a code, a key, a card number."""
    return _NAME.search(name) is not None


def names_secret_selector(selector: str) -> bool:
    """Whether a selector finds a password field by its attributes, or names one (``#password``)."""
    return _SELECTOR.search(selector) is not None or names_a_secret(selector)


def is_secret_input(attributes: Mapping[str, str]) -> bool:
    """Whether an element with these attributes takes a secret; ``name`` and ``id`` count as words."""
    if attributes.get("type", "").lower() == "password":
        return True
    if not SECRET_AUTOCOMPLETE.isdisjoint(attributes.get("autocomplete", "").lower().split()):
        return True
    return any(names_a_secret(re.sub(r"[_-]+", " ", attributes.get(name, ""))) for name in _NAMING)


def typed_part(action: RecordedAction) -> tuple[str, str]:
    """Return the argument that holds what an action types, and the text; ("", "") where it types none."""
    if action.kind not in _INTO_FIELD and action.kind not in BY_KEYBOARD:
        return "", ""
    for part in _TYPED_PARTS:
        typed = action.args.get(part)
        if isinstance(typed, str) and typed:
            return ("", "") if part.startswith("key") and is_key(typed) else (part, typed)
    return "", ""


def is_key(keys: str) -> bool:
    """Whether this is a key's name or a combination, no text."""
    return _KEY_NAME.fullmatch(keys.strip()) is not None


def selector_of(action: RecordedAction) -> str:
    """Return the words by which an action finds its element, "" for a bare id."""
    given = (action.args.get(name) for name in ("selector", "locator", "css", "xpath", "element", "bid"))
    return " ".join(one for one in given if isinstance(one, str) and not one.isdecimal())


def types_into_named_secret(action: RecordedAction, name: str) -> bool:
    """Whether an action types into a field that is a secret by its name or by the action's selector."""
    return action.kind in _INTO_FIELD and (names_a_secret(name) or names_secret_selector(selector_of(action)))


def is_secret_on_page(tree: str, html: str, bid: str) -> bool:
    """Whether a page's tree or HTML says that the element with this id (or CSS id) takes a secret."""
    bid = bid.removeprefix("#")
    if not bid:
        return False
    node = find_node(tree, bid) if tree else None
    if node is not None and node.role in _NO_FIELDS:
        return False
    if node is not None and (names_a_secret(node.name) or _declares_secret(tree, bid)):
        return True
    return bool(html) and any(is_secret_input(one) for one in _elements_of(html, bid))


def is_secret_focused(tree: str, html: str) -> bool:
    """Whether the element that a tree calls focused takes a secret."""
    for line in _FOCUSED.findall(tree):
        found = re.match(r"\s*(?:\[([\w-]+)\] )?\w+ (.*?)(?:, |$)", line)
        if found is not None and (
            names_a_secret(found[2].strip("\"'"))
            or _DECLARED.search(line)
            or is_secret_on_page("", html, found[1] or "")
        ):
            return True
    return False


def has_password_field(tree: str, html: str) -> bool:
    """Whether a page has a password field at all."""
    return _DECLARED.search(html) is not None or any(
        names_a_secret(found[1]) for found in re.finditer(r"\btextbox ['\"]([^'\"\n]*)", tree)
    )


def _declares_secret(tree: str, bid: str) -> bool:
    at = tree.find(f"[{bid}] ")
    end = tree.find("\n", at)
    line = tree[at : end if end != -1 else len(tree)]
    return re.search(r"\b(?:type|autocomplete)=", line) is not None and _DECLARED.search(line) is not None


def _elements_of(html: str, bid: str) -> list[dict[str, str]]:
    """Return the attributes of a page's fields that one of the attributes for ids names so."""
    found: list[dict[str, str]] = []
    for written in (f'="{bid}"', f"='{bid}'", f"={bid} ", f"={bid}>", f"={bid}/"):
        at = html.find(written)
        while at != -1 and len(found) < 5:
            start = html.rfind("<", max(at - 4000, 0), at)
            end = html.find(">", at, at + 4000)
            tag = html[start : end + 1 if end != -1 else at + 4000] if start != -1 else ""
            held = {one[1].lower(): one[2] or one[3] or one[4] or "" for one in _ATTRIBUTE.finditer(tag)}
            if any(held.get(mark) == bid for mark in _MARKS):
                found.append(held)
            at = html.find(written, at + len(written))
        if found:  # a page is written in one way
            break
    return found


@dataclass(slots=True)
class SecretFocus:
    """Follows over a run's steps whether an action types a secret: into its own field, or where the focus is."""

    _focused: bool = False
    _moved: bool = False

    def is_typed(
        self, action: RecordedAction, name: str, tree: str, html: str, *, declared: bool = False
    ) -> bool:
        """Return whether the action types into a field that takes a secret; ``declared`` where its source says so.

        After a Tab key the focus is anywhere: it counts as in a password field of the page, if there is one.
        """
        selector = selector_of(action)
        has_field = bool(action.bid or selector or name or declared)
        if action.kind in BY_KEYBOARD and not has_field:
            on_secret = self._focused or is_secret_focused(tree, html) or self._may_be_focused(tree, html)
        elif action.kind in _ON_FIELD | BY_KEYBOARD:
            on_secret = declared or names_a_secret(name) or names_secret_selector(selector)
            on_secret = on_secret or is_secret_on_page(tree, html, action.bid or selector)
        else:
            on_secret = declared
        self._note_focus(action, on_secret)
        return on_secret and bool(typed_part(action)[1])

    def _may_be_focused(self, tree: str, html: str) -> bool:
        return self._moved and ", focused" not in tree and has_password_field(tree, html)

    def _note_focus(self, action: RecordedAction, on_secret: bool) -> None:
        keys = action.args.get("key", action.args.get("keys", action.args.get("key_comb")))
        key = keys.lower() if isinstance(keys, str) else ""
        self._moved = key in ("tab", "shift+tab")
        if key in ("tab", "shift+tab", "enter", "escape"):
            self._focused = False
        elif action.kind in _ON_FIELD | BY_KEYBOARD:
            self._focused = on_secret
        else:
            self._focused = self._focused and action.kind in _STAYS


def secret_forms(secret: str) -> tuple[str, ...]:
    """Return how a secret is written in texts, addresses and JSON."""
    escaped = secret.replace("\\", "\\\\").replace('"', '\\"')
    return tuple(
        dict.fromkeys((secret, escaped, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]))
    )
