// Target of a person's input: the element under a point, the focused element, a field's content.
// It runs beside the capture script (``sitelore``) in the same isolated world and changes nothing.  Only while a person
// chooses from a list it is drawn on top of the page, because native pop-ups are in no screenshot of the page.
//
// A press tells what it hit by itself, through the binding ``siteloreTell``, before the page's own listeners: nobody has
// to ask in front of it, and it is known also of a page that the press leaves.

const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

let armed = true;
let generation = 0;
let known = new Map();
let frames = new Map();
let stirred = false;

// Registers the newest capture: elements have its numbers, and changes from now on are recorded.
function rest(number) {
  armed = true;
  generation = number;
  known = new Map();
  frames = new Map();
  for (let at = 0, element; (element = sitelore.element(at)) !== null; at++) known.set(element, at);
  for (let at = 0, frame; (frame = sitelore.frame(at)) !== null; at++) frames.set(frame, at);
  stirred = false;
}

new MutationObserver(() => {
  stirred = list === null;
  listen(); // ``document.open`` takes every listener away
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

const moved = () => generation === 0 || stirred;

function numberOf(node) {
  for (let at = node; at; at = above(at)) {
    const number = known.get(at);
    if (number !== undefined) return number;
  }
  return -1;
}

const CONTROL = "a[href],button,input,select,textarea,summary,[role=button],[role=link],[role=menuitem],[role=option],[role=tab],[role=checkbox]";

// As ``numberOf``, but -1 for a control that came after the capture, within something known.
function pressedNumber(node) {
  for (let at = node; at; at = above(at)) {
    const number = known.get(at);
    if (number !== undefined) return number;
    if (at.matches?.(CONTROL)) return -1;
  }
  return -1;
}

const frameOf = (element) => frames.get(element) ?? -1;

const isFrame = (element) => element !== null && (element.localName === "iframe" || element.localName === "frame");

function under(x, y) {
  let root = document;
  let found = null;
  for (;;) {
    const hit = root.elementFromPoint(x, y);
    if (hit === null || hit === found) return found;
    found = hit;
    if (!hit.shadowRoot) return found;
    root = hit.shadowRoot;
  }
}

function at(x, y) {
  const hit = under(x, y);
  if (hit === null) return { generation, number: -1, frame: -1 };
  if (!isFrame(hit)) return { generation, number: numberOf(hit), frame: -1 };
  const box = hit.getBoundingClientRect();
  const style = getComputedStyle(hit);
  const px = (name) => parseFloat(style[name]) || 0;
  return {
    generation, number: -1, frame: frameOf(hit),
    x: x - box.x - hit.clientLeft - px("paddingLeft"), y: y - box.y - hit.clientTop - px("paddingTop"),
  };
}

const NO_TEXT = /^(button|submit|reset|image|checkbox|radio|file|range|color)$/;
const typable = (element) =>
  element !== null && (element.isContentEditable || element.localName === "textarea" || element.localName === "select" ||
    (element.localName === "input" && !NO_TEXT.test(element.type)));

let field = null;

function deepest() {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

// Returns the focused element, and whether it is the tracked field.
function cursor() {
  const found = deepest();
  if (isFrame(found)) return { generation, number: -1, frame: frameOf(found), typable: false, held: false };
  const writable = typable(found);
  return {
    generation,
    number: found === null || found === document.body ? -1 : numberOf(found),
    frame: -1,
    typable: writable,
    held: writable && found === field,
    many: writable && (found.localName === "textarea" || found.isContentEditable),
    presses: found !== null && (/^(a|button|summary)$/.test(found.localName) || (found.localName === "input" && NO_TEXT.test(found.type)) ||
      /^(button|link|checkbox|radio|switch|tab|menuitem|option)$/.test(found.getAttribute?.("role") ?? "")),
    facts: writable ? factsOf(found) : null,
  };
}

function factsOf(element) {
  const read = (name) => element.getAttribute(name) ?? "";
  return {
    type: element.type ?? "", autocomplete: read("autocomplete"), mode: read("inputmode"), most: Number(read("maxlength")) || 0,
    names: [read("name"), element.id, read("aria-label"), read("placeholder"), ...[...(element.labels ?? [])].map((label) => label.textContent)]
      .join(" ").slice(0, 400),
    dotted: (getComputedStyle(element).webkitTextSecurity ?? "none") !== "none",
  };
}

// Tracks the focused field from now on, wherever the focus goes.
function hold() {
  const found = deepest();
  field = typable(found) ? found : null;
  return field !== null;
}

// Returns the tracked field's content; null once it has left the page.
function held() {
  if (field === null || !field.isConnected) return null;
  if (field.localName === "select") return { chosen: [...field.selectedOptions].map((option) => option.label.trim().slice(0, 200)) };
  return { value: (field.isContentEditable ? field.innerText : field.value ?? "").slice(0, 10000) };
}

let list = null;
let pressed = null;

function shut() {
  list?.host.remove();
  list = null;
}

// Shows the options of the list pressed last, or of the focused one, below it on the page; returns false
// if there are none.
function open(atCursor) {
  shut();
  const select = atCursor ? deepest() : pressed;
  if (select?.localName !== "select" || select.disabled) return false;
  select.focus({ preventScroll: true });
  field = select;
  const box = select.getBoundingClientRect();
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const above = innerHeight - box.bottom < 160 && box.top > innerHeight - box.bottom;
  host.style.cssText = "all:initial;position:fixed;inset:auto;z-index:2147483647;margin:0;padding:0;border:0;background:none;" +
    `left:${Math.max(0, box.left)}px;${above ? `bottom:${innerHeight - box.top}px` : `top:${box.bottom}px`}`;
  const rows = document.createElement("div");
  rows.style.cssText = `font:${getComputedStyle(select).font};min-width:${box.width}px;max-width:90vw;overflow:auto;` +
    `max-height:${Math.max(80, above ? box.top : innerHeight - box.bottom) - 8}px;background:#fff;color:#111;` +
    "border:1px solid #555;box-shadow:0 2px 8px #0005;cursor:default;box-sizing:border-box";
  root.append(rows);
  list = { host, rows, select, at: select.selectedIndex };
  for (const option of select.options) {
    const row = document.createElement("div");
    row.textContent = option.label || "\u00a0";
    row.style.cssText = `padding:3px 10px;white-space:nowrap;${option.disabled ? "color:#888" : ""}`;
    rows.append(row);
  }
  document.documentElement.append(host);
  if (typeof host.showPopover === "function") {
    host.popover = "manual"; // above a modal dialog of the page as well
    host.showPopover();
  }
  point(list.at);
  return true;
}

function point(index) {
  list.at = Math.max(0, Math.min(list.select.options.length - 1, index));
  [...list.rows.children].forEach((row, number) => {
    const option = list.select.options[number];
    row.style.background = number === list.at ? "#1a56db" : "";
    row.style.color = number === list.at ? "#fff" : option?.disabled ? "#888" : "";
  });
  list.rows.children[list.at]?.scrollIntoView({ block: "nearest" });
}

// Returns the chosen label, null if that changes nothing.  Events are sent a moment later: the page may navigate away.
function take() {
  const { select, at } = list;
  const option = select.options[at];
  shut();
  if (!option || option.disabled || option.parentElement.disabled || select.selectedIndex === at) return null;
  select.selectedIndex = at;
  setTimeout(() => {
    select.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  return option.label.trim().slice(0, 200);
}

// Handles input while the list is open: a pressed point, a step up or down, ``take`` or ``shut``.
// Returns whether the list is still open, and what was chosen.
function choose(deed, x = 0, y = 0) {
  let chosen = null;
  if (list === null || !list.select.isConnected) shut();
  else if (deed === "press") {
    const row = [...list.rows.children].findIndex((one) => {
      const box = one.getBoundingClientRect();
      return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    });
    if (row < 0) shut();
    else {
      list.at = row;
      chosen = take();
    }
  } else if (deed === "step") point(list.at + y);
  else if (deed === "scroll") list.rows.scrollTop += y;
  else if (deed === "take") chosen = take();
  else shut();
  return { open: list !== null, chosen };
}

let toldAt = -1;

const isList = (element) => element?.localName === "select" && !element.multiple && element.size < 2;

// Tells what a press hit; a list of choices is opened by its ``mousedown``, in place of the browser's own.
function onPress(event) {
  if (!armed || !event.isTrusted || event.timeStamp === toldAt) return;
  const hit = event.composedPath()[0];
  if (!(hit instanceof Element)) return;
  const lists = event.button === 0 && isList(hit) && !hit.disabled;
  if (lists && event.type === "pointerdown") return;
  toldAt = event.timeStamp;
  const number = pressedNumber(hit);
  const content = held();
  let opened = false;
  if (lists && !event.defaultPrevented) {
    pressed = hit;
    opened = open(false);
    if (opened) event.preventDefault();
  }
  globalThis.siteloreTell?.(JSON.stringify({
    generation, number, lists: opened, x: event.clientX, y: event.clientY, top: window === window.top, url: location.href.slice(0, 4000),
    title: (document.title?.toString?.() ?? "").slice(0, 500), held: content, described: number < 0 ? sitelore.describe?.(hit) ?? null : null,
  }));
}

function listen() {
  addEventListener("pointerdown", onPress, true);
  addEventListener("mousedown", onPress, true);
}

listen();

// Starts or stops telling of presses.
function arm(on) {
  armed = on;
  if (!on) shut();
}

globalThis.siteloreInput = { at, cursor, hold, held, rest, moved, open, choose, arm };
