// Stable facts about an element: hand-written ids and classes, its form, its states, its surroundings.

const MADE_UP = new RegExp(
  "\\d{4,}|[0-9a-f]{8}-[0-9a-f]{4}-|(?=[0-9a-f]*\\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}" +
    "|^:|:r\\w+:|^(react|ember|ext-gen|ext-comp|yui_|gwt-|radix-|headlessui-|downshift-|ui-id-|mui-|mat-|cdk-|aria-)" +
    "|__BVID__|^select2-.*-(container|results?|[a-z0-9]{2,4})$|^select2-\\w+-[a-z0-9]{2,4}-|^(v|el|input|id|uid)-?\\d+$",
  "i"
);
const MADE_UP_CLASS = /\d{4,}|^css-|^sc-|^jsx-|^svelte-|^_|__[\w-]{5,}$|(?=[A-Za-z]*\d)(?=\w*[A-Z])\w{5,8}$|^ng-|^data-v-/;
const STATE_CLASS =
  /^(active|open|opened|show|shown|in|out|hover|focus|focused|selected|checked|collapsed|expanded|disabled|loading|loaded|fade|hidden|visible|current|first|last|odd|even|is-.*|has-.*|js-.*|no-js|ng-.*|v-.*|animated?)$/i;

const isMadeUp = (id) => id.length > 60 || MADE_UP.test(id);

const MOST_CLASSES = 6;
const NO_CLASSES = [];
let tokensOfText = new Map();

function classTokens(element) {
  const text = readAttribute(element, "class");
  if (!text) return NO_CLASSES;
  let kept = tokensOfText.get(text);
  if (kept === undefined) {
    kept = [];
    for (const token of text.split(/\s+/)) {
      if (!token || token.length > 40 || STATE_CLASS.test(token) || MADE_UP_CLASS.test(token)) continue;
      kept.push(token);
      if (kept.length === MOST_CLASSES) break;
    }
    tokensOfText.set(text, kept);
  }
  return kept;
}

const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy", "data-automation-id"];
const KEPT = new Set([
  "name", "type", "aria-label", "title", "placeholder", "autocomplete", "alt", "data-method", "data-action",
  "data-toggle", "data-bs-toggle", "data-confirm", "data-turbo-method", "data-turbo-confirm", "hx-get", "hx-post",
  "hx-put", "hx-patch", "hx-delete", "hx-confirm", "formaction", "formmethod", "download", "rel", "onclick",
]);
const namesOf = Function.prototype.call.bind(Element.prototype.getAttributeNames);

function testIdOf(element, names = namesOf(element)) {
  if (!names.some((name) => name.startsWith("data-"))) return "";
  for (const name of TEST_IDS) {
    const value = readAttribute(element, name);
    if (value) return cut(value, 120);
  }
  return "";
}

// Alternating names and values, sorted by name.
function attributesOf(element, names, nameless) {
  const pairs = [];
  for (const name of names) {
    if (name === "class") {
      const classes = classTokens(element);
      if (classes.length) pairs.push([name, classes.join(" ")]);
    } else if (name === "id" || KEPT.has(name)) {
      const value = readAttribute(element, name);
      if ((name === "id" || name === "onclick") && isMadeUp(value)) continue;
      if (value || name === "download") pairs.push([name, cut(squeeze(value), 160)]);
    }
  }
  if (nameless) {
    const icon = iconOf(element);
    if (icon) pairs.push(["icon", icon]);
  }
  return pairs.length > 1 ? pairs.sort((a, b) => (a[0] < b[0] ? -1 : 1)).flat() : pairs.flat();
}

// Appearance of a nameless control: classes of its icon, or the file name of its image.
function iconOf(element) {
  const inner = queryIn(element, "i,svg,img,use,span[class]");
  if (!inner) return "";
  const tag = tagOf(inner);
  const source = tag === "img" ? attr(inner, "src") : tag === "use" ? attr(inner, "href") || attr(inner, "xlink:href")
    : attr(queryIn(inner, "use") ?? inner, "href");
  const file = source.startsWith("data:") ? "" : source.split(/[?#]/)[source.startsWith("#") ? 1 : 0].split("/").pop();
  return cut(squeeze(`${classTokens(inner).join(" ")} ${file ?? ""}`), 120);
}

function formOf(element) {
  const form = element.form instanceof HTMLFormElement ? element.form : closestOf(element, "form");
  return form instanceof HTMLFormElement ? form : null;
}

function formName(element, form) {
  const own = submitsForm(element, tagOf(element), form);
  const address = own && attr(element, "formaction") !== "";
  const method = own && attr(element, "formmethod") !== "";
  if (address || method) {
    return `${method ? element.formMethod : methodOf(form)}:${pathWithin(address ? element.formAction : actionOf(form))}`;
  }
  let place = placeOfForm.get(form);
  if (place === undefined) placeOfForm.set(form, (place = `${methodOf(form)}:${pathWithin(actionOf(form))}`));
  return place;
}

let placeOfForm = new Map();

const actionOf = Function.prototype.call.bind(getter(HTMLFormElement, "action"));
const methodOf = Function.prototype.call.bind(getter(HTMLFormElement, "method"));
const ORIGIN = location.origin;

// Path of a resolved address, with its origin if it differs, without query and fragment.
function pathWithin(address) {
  const end = address.search(/[?#]/);
  const plain = end < 0 ? address : address.slice(0, end);
  return plain.startsWith(`${ORIGIN}/`) ? plain.slice(ORIGIN.length) : cut(plain, 200);
}

function forgetTexts() {
  labelsOfRoot = new Map();
  textOfLabels = new Map();
  liveClasses = new Map();
  advertWords = new Map();
  placeOfForm = new Map();
  tokensOfText = new Map();
}

function submitsForm(element, tag, form) {
  if (form === null) return false;
  if (tag === "button") return element.type === "submit";
  return tag === "input" && (element.type === "submit" || element.type === "image");
}

function addressOf(element, tag) {
  if (tag !== "a" && tag !== "area") return "";
  const resolved = element.href;
  if (typeof resolved === "string" && !resolved.includes("@")) return cut(resolved, 2000);
  try {
    const url = new URL(attr(element, "href"), document.baseURI);
    url.username = url.password = "";
    return cut(url.href, 2000);
  } catch {
    return "";
  }
}

const STATES = [
  "checked", "collapsed", "current", "disabled", "expanded", "focused", "haspopup", "pressed", "readonly", "required",
  "selected",
];
const BIT = Object.fromEntries(STATES.map((word, place) => [word, 1 << place]));

function statesOf(element, tag, role, focused, names) {
  const told = names.some((name) => name.startsWith("aria-"));
  const aria = (name) => (told ? readAttribute(element, `aria-${name}`) : null);
  let bits = 0;
  const native = tag === "input" && (element.type === "checkbox" || element.type === "radio");
  const checked = native ? element.checked : aria("checked") === "true" || aria("checked") === "mixed";
  if (checked) bits |= BIT.checked;
  const expanded = tag === "summary" && role === "summary" ? String(element.parentElement.open) : aria("expanded");
  if (expanded === "true") bits |= BIT.expanded;
  if (expanded === "false") bits |= BIT.collapsed;
  const current = aria("current");
  if (current && current !== "false") bits |= BIT.current;
  if (aria("disabled") === "true" || (LABELLED.has(tag) && element.matches(":disabled"))) bits |= BIT.disabled;
  if (element === focused) bits |= BIT.focused;
  const popup = aria("haspopup");
  if (popup && popup !== "false") bits |= BIT.haspopup;
  if (aria("pressed") === "true" || aria("pressed") === "mixed") bits |= BIT.pressed;
  if (aria("readonly") === "true" || ((tag === "input" || tag === "textarea") && element.readOnly)) bits |= BIT.readonly;
  if (aria("required") === "true" || (LABELLED.has(tag) && element.required === true)) bits |= BIT.required;
  if (aria("selected") === "true" || (tag === "option" && element.selected)) bits |= BIT.selected;
  return bits;
}

function valueOf(element, tag, role, most = 200) {
  if (tag === "input") {
    const type = element.type;
    return type === "password" || type === "checkbox" || type === "radio" || type === "file" || role === "button"
      ? "" : cut(squeeze(element.value), 200);
  }
  if (tag === "textarea") return cut(squeeze(element.value), most);
  if (tag === "select") return cut(squeeze([...element.selectedOptions].map((option) => option.text).join(", ")), 200);
  if (TEXT_LIKE.has(role) && queryIn(element, "input,select,textarea") === null) return cut(squeeze(element.textContent.slice(0, 5 * most)), most);
  return cut(attr(element, "aria-valuetext") || attr(element, "aria-valuenow"), 80);
}

const MOST_OPTIONS = 60;

function optionsOf(element, tag) {
  if (tag !== "select") return [];
  const names = [];
  for (let place = 0; place < element.length && names.length < MOST_OPTIONS; place++)
    names.push(cut(squeeze(element.item(place).text), 120));
  return names;
}

// Regions that may appear and vanish without making it another page.
const LIVE_ROLES = new Set(["alert", "log", "status", "timer", "marquee"]);
const LIVE_CLASS = /(^|[\s_-])(alert|flash|toast|toaster|snackbar|notification|notifications|notice|growl|noty)s?([\s_-]|$)/i;
const MUCH = 15;
let liveClasses = new Map();
let advertWords = new Map();

// Whether a text matches; the same few class texts are on most elements of a page.
function matches(known, pattern, text) {
  let found = known.get(text);
  if (found === undefined) known.set(text, (found = pattern.test(text)));
  return found;
}

function isLive(element, role) {
  const told = readAttribute(element, "aria-live");
  if (told === "off") return false;
  const kind = readAttribute(element, "class");
  const looks = told === "polite" || told === "assertive" || LIVE_ROLES.has(role) || (kind && matches(liveClasses, LIVE_CLASS, kind));
  if (!looks) return false;
  // A region that contains the whole page may be "polite" as well; only a message is omitted.
  if (queryIn(element, "main,h1,form,nav,table,[role=main]")) return false;
  return element.querySelectorAll("a[href],button,input,select").length <= MUCH;
}

const ADVERT = /(^|[\s_-])(ads?|adverts?|advertisements?|advertising|adslot|adunit|adsense|adsbygoogle|adbox|adbanner|sponsor(ed)?|google_ads_iframe|dfp|gpt-ad|taboola|outbrain)(?=[\s_-]|$|\d)/i;
const ADVERT_WORDS = ["class", "id", "aria-label"];
const ADVERT_HOST = /doubleclick|googlesyndication|adservice|adnxs|taboola|outbrain|amazon-adsystem|criteo/i;

function isAdvert(element, tag) {
  for (const name of ADVERT_WORDS) {
    const words = readAttribute(element, name);
    if (words && matches(advertWords, ADVERT, words)) return true;
  }
  if (tag === "iframe") return ADVERT.test(attr(element, "name")) || ADVERT_HOST.test(attr(element, "src"));
  return readAttribute(element, "data-ad-slot") !== null || readAttribute(element, "data-ad-client") !== null;
}

// Repeated lists: three or more siblings of one kind with similar content.
const NO_ROW = "main,nav,h1,header,footer,[role=main],[role=navigation],[role=dialog],dialog";
const CONTROLS = "a[href],button,input:not([type=hidden]),select,textarea,summary,[role],[tabindex],[onclick]";
const PARTS = new Set(["thead", "tbody", "tfoot", "caption", "colgroup", "script", "style", "option", "br", "hr", "label", "dialog"]);
const FIELDS = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=submit]):not([type=button]),select,textarea";
const TOOLS = 8;

// Rows among the children: a Map from child to [kind, row number], or null.
function rowsAmong(parent, children) {
  const kinds = new Map();
  for (const child of children) {
    const tag = tagOf(child);
    if (PARTS.has(tag)) continue;
    // A class such as card-5 identifies the row, not the kind.
    const kind = [tag, attr(child, "role"), ...classTokens(child)].filter(Boolean).join(".").replace(/\d+/g, "#");
    let members = kinds.get(kind);
    if (!members) kinds.set(kind, (members = []));
    members.push(child);
  }
  let rows = null;
  for (const [kind, members] of kinds) {
    const tag = tagOf(members[0]);
    const least = tag === "tr" && isDataTable(parent) ? 1 : 3;
    if (members.length < least || !alike(members, tag)) continue;
    rows ??= new Map();
    members.forEach((member, row) => rows.set(member, [kind, row]));
  }
  return rows;
}

function isDataTable(parent) {
  const table = closestOf(parent, "table");
  return tagOf(parent) !== "thead" && table !== null && queryIn(table, "th") !== null;
}

function alike(members, tag) {
  if (tag === "tr") return members.some((row) => queryIn(row, CONTROLS));
  if (tag === "button" || tag === "input" || tag === "select" || tag === "textarea") return members.length >= TOOLS;
  const shapes = new Map();
  let most = 0;
  for (const member of members) {
    const shape = shapeOf(member, tag);
    const count = (shapes.get(shape) ?? 0) + 1;
    shapes.set(shape, count);
    if (count > most) most = count;
  }
  const usual = [...shapes.keys()].find((shape) => shapes.get(shape) === most);
  return usual !== "" && most * 2 >= members.length;
}

// Kinds of controls within a row, in order of first appearance; "" for a row that is none.
function shapeOf(row, tag) {
  if (queryIn(row, NO_ROW)) return "";
  const kinds = new Set();
  if (tag === "a" && readAttribute(row, "href") !== null) kinds.add("a");
  const found = row.querySelectorAll(CONTROLS);
  for (let place = 0; place < found.length && place < 60; place++) {
    const control = found[place];
    const role = attr(control, "role");
    if (role === "presentation" || role === "none") continue;
    kinds.add(role || tagOf(control));
  }
  // Fields below each other are a form, each a separate question.
  if (!kinds.has("a") && queryIn(row, FIELDS)) return "";
  return [...kinds].sort().join(" ");
}
