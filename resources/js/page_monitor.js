// State of a page before an action, and its changes afterwards.  It runs beside the capture script
// (``sitelore``) in the same isolated world, adds nothing to the page, and leaves nothing behind but observers.

const up = (node) => node.assignedSlot ?? node.parentElement ?? (node.getRootNode().host ?? null);

function within(outer, node) {
  for (let at = node; at; at = up(at)) if (at === outer) return true;
  return false;
}

function hitAt(x, y) {
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

const short = (text, most) => text.replace(/\s+/g, " ").trim().slice(0, most);

// ---- what changed -------------------------------------------------------------------------------------------------

const IDLE_APART = 150;
const OFTEN = 3; // late effects of an action may change a node once more, or twice
const LATELY = 10000;
const MOST_KEPT = 4000;
const PASSING = /focus|hover|ripple|active-?ring|touched|untouched|dirty|pristine/i;
const UNSEEN = new Set(["SCRIPT", "STYLE", "LINK", "META", "NOSCRIPT", "TEMPLATE", "TITLE", "BASE"]);
const FIELDS = "input:not([type=hidden]),select,textarea,[contenteditable]";

const watched = new WeakSet();
const noise = new WeakMap();
let acting = false;
let goal = null;
let delivered = false;
let fresh = null;
let before = null;
let touched = false;

function forget() {
  fresh = { attributes: new Map(), texts: new Map(), added: new Set(), removed: new Map(), count: 0 };
}

const placeOf = (node) => (node.nodeType === 1 ? node : node.parentElement ?? node.getRootNode().host ?? document.documentElement);

function noisy(node) {
  for (let at = placeOf(node), depth = 0; at && depth < 4; at = at.parentElement, depth++) {
    const known = noise.get(at);
    if (known !== undefined && known.times >= OFTEN && performance.now() - known.last < LATELY) return true;
    const role = at.getAttribute("role");
    if (role === "timer" || role === "marquee") return true;
  }
  return false;
}

function heard(node) {
  const place = placeOf(node);
  const now = performance.now();
  const known = noise.get(place);
  if (known === undefined) noise.set(place, { times: 1, last: now });
  else if (now - known.last > IDLE_APART) {
    known.times++;
    known.last = now;
  }
}

function keep(change) {
  if (++fresh.count > MOST_KEPT) return;
  const target = change.target;
  if (change.type === "attributes") {
    let old = fresh.attributes.get(target);
    if (old === undefined) fresh.attributes.set(target, (old = new Map()));
    if (!old.has(change.attributeName)) old.set(change.attributeName, change.oldValue);
  } else if (change.type === "characterData") {
    if (!fresh.texts.has(target)) fresh.texts.set(target, change.oldValue);
  } else {
    for (const node of change.addedNodes) if (!fresh.removed.delete(node)) fresh.added.add(node);
    for (const node of change.removedNodes) if (!fresh.added.delete(node)) fresh.removed.set(node, target);
  }
}

function received(changes) {
  if (changes.length) touched = true;
  for (const change of changes) {
    if (acting) keep(change);
    else heard(change.target);
  }
}

const observer = new MutationObserver(received);

// Collects every document and shadow root from this one down, and observes each from now on.
function observe(root, found = []) {
  found.push(root);
  if (!watched.has(root)) {
    watched.add(root);
    observer.observe(root, {
      subtree: true, childList: true, characterData: true, characterDataOldValue: true, attributes: true, attributeOldValue: true,
    });
    root.addEventListener("scroll", (event) => { if (event.target.nodeType === 1) scrollers.add(event.target); }, { capture: true, passive: true });
  }
  for (const element of root.querySelectorAll("*")) if (element.shadowRoot) observe(element.shadowRoot, found);
  return found;
}

const scrollers = new Set();

function scrolling(element) {
  const style = getComputedStyle(element);
  const down = element.scrollHeight > element.clientHeight + 1 && /auto|scroll|overlay/.test(style.overflowY);
  const right = element.scrollWidth > element.clientWidth + 1 && /auto|scroll|overlay/.test(style.overflowX);
  return down || right;
}

function places() {
  const seen = new Map([[document, `${Math.round(scrollX)} ${Math.round(scrollY)}`]]);
  for (const element of scrollers) {
    if (element.isConnected) seen.set(element, `${Math.round(element.scrollLeft)} ${Math.round(element.scrollTop)}`);
    else scrollers.delete(element);
  }
  return seen;
}

function valueOf(field) {
  if (field.localName === "select") return [...field.selectedOptions].map((option) => option.index).join(",");
  if (field.localName === "input" && (field.type === "checkbox" || field.type === "radio")) return String(field.checked);
  if (field.localName === "input" && field.type === "file") return String(field.files.length);
  if (field.localName === "input" || field.localName === "textarea") return field.value;
  return "";
}

function fields(roots) {
  const values = new Map();
  for (const root of roots) for (const field of root.querySelectorAll(FIELDS)) values.set(field, valueOf(field));
  return values;
}

function drawings() {
  const found = [];
  for (const canvas of document.querySelectorAll("canvas")) {
    if (found.length === 3) break;
    try {
      found.push(canvas.width * canvas.height > 4e6 ? "large" : canvas.toDataURL("image/webp", 0.1));
    } catch {
      found.push("tainted");
    }
  }
  return found.join("\n");
}

function focused() {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

const typable = (element) =>
  element !== null && (element.isContentEditable || element.localName === "textarea" || element.localName === "select" ||
    (element.localName === "input" && !/^(button|submit|reset|image|checkbox|radio|file|range|color)$/.test(element.type)));

// Attributes changes from now on to the action; earlier ones are the page's own.
function begin() {
  received(observer.takeRecords());
  const roots = observe(document);
  forget();
  acting = true;
  delivered = false;
  before = {
    url: location.href, values: fields(roots), places: places(), focus: focused(), drawings: drawings(),
    selection: String(getSelection()), stamp: performance.timeOrigin,
  };
}

function shows(node) {
  if (node.nodeType === 3) return node.data.trim() !== "" && (!node.parentElement || node.parentElement.checkVisibility());
  if (node.nodeType !== 1 || UNSEEN.has(node.tagName)) return false;
  if (!node.checkVisibility({ visibilityProperty: true })) return false;
  const box = node.getBoundingClientRect();
  return (box.width > 1 && box.height > 1) || node.textContent.trim() !== "" || node.firstElementChild !== null;
}

const mattered = (node) =>
  node.nodeType === 3 ? node.data.trim() !== "" : node.nodeType === 1 && !UNSEEN.has(node.tagName);

function tells(element, name, old) {
  const now = element.getAttribute(name);
  if (now === old || UNSEEN.has(element.tagName)) return false;
  if (name.startsWith("data-") && !/^data-(state|selected|active|open|value|checked|expanded)$/.test(name)) return false;
  if (name === "id" || name === "for" || name === "aria-activedescendant" || name === "aria-describedby") return false;
  if (name === "class") {
    const was = new Set((old ?? "").split(/\s+/).filter(Boolean));
    const is = new Set((now ?? "").split(/\s+/).filter(Boolean));
    const differing = [...was].filter((token) => !is.has(token)).concat([...is].filter((token) => !was.has(token)));
    return differing.some((token) => !PASSING.test(token));
  }
  if (name === "tabindex") return false;
  return true;
}

// Returns what differs from the beginning of the action; what came and went again does not count.
function changes() {
  received(observer.takeRecords());
  const where = [];
  if (fresh === null || before === null) return null;
  for (const [element, old] of fresh.attributes)
    if (element.isConnected && [...old].some(([name, value]) => tells(element, name, value))) where.push(element);
  for (const [node, old] of fresh.texts) if (node.isConnected && node.data !== old) where.push(node);
  for (const node of fresh.added) if (node.isConnected && shows(node)) where.push(node);
  for (const [node, parent] of fresh.removed) if (!node.isConnected && parent.isConnected && mattered(node) && !twin(node, parent)) where.push(parent);
  const own = where.filter((node) => !noisy(node)).length + (fresh.count > MOST_KEPT ? 1 : 0);
  let values = 0;
  for (const [field, value] of before.values) if (field.isConnected && valueOf(field) !== value) values++;
  const now = places();
  let scrolled = false;
  for (const [place, at] of now) if ((before.places.get(place) ?? "0 0") !== at) scrolled = true;
  const focus = focused();
  return {
    url: location.href, was: before.url, own, noisy: where.length - own, values, scrolled,
    focus: focus !== before.focus && typable(focus), typing: typable(focus),
    drawn: drawings() !== before.drawings, selection: String(getSelection()) !== before.selection, delivered, count: fresh.count,
  };
}

// Whether a text was restored: the same words, in another node.
const twin = (node, parent) => {
  if (node.nodeType !== 3) return false;
  for (const added of fresh.added) if (added.nodeType === 3 && added.parentNode === parent && added.data === node.data) return true;
  return false;
};

function rest() {
  received(observer.takeRecords());
  acting = false;
  touched = false;
  if (!watched.has(document)) observe(document);
}

const untouched = () => {
  received(observer.takeRecords());
  return !touched;
};

for (const type of ["pointerdown", "mousedown", "click", "contextmenu"])
  addEventListener(type, (event) => {
    if (acting && goal !== null && event.isTrusted && event.composedPath().includes(goal)) delivered = true;
  }, { capture: true, passive: true });

// ---- state of an element before an action -------------------------------------------------------------------------

const labelOf = (hit) => {
  const label = hit.closest?.("label");
  return label ? label.control : null;
};

const takes = (element, hit) =>
  hit !== null && (within(element, hit) || labelOf(hit) === element || (element.localName === "label" && element.control === hit)
    || (element.localName === "area" && hit.localName === "img") || (hit.localName === "select" && element.localName === "option"));

function boxes(element) {
  if (element.localName === "area") return areaBoxes(element);
  const found = [...element.getClientRects()].filter((box) => box.width >= 1 && box.height >= 1);
  if (found.length) return found.sort((a, b) => b.width * b.height - a.width * a.height).slice(0, 4);
  for (const child of element.children) {
    const inner = child.getBoundingClientRect();
    if (inner.width >= 1 && inner.height >= 1) return [inner];
  }
  return [];
}

function areaBoxes(area) {
  const map = area.closest("map");
  const image = map && document.querySelector(`img[usemap="#${CSS.escape(map.name)}"]`);
  if (!image) return [];
  const box = image.getBoundingClientRect();
  const numbers = area.coords.split(",").map(Number);
  if (numbers.length < 3 || numbers.some(Number.isNaN)) return [box];
  if (numbers.length === 3) {
    const [x, y, r] = numbers;
    return [new DOMRect(box.x + x - r, box.y + y - r, 2 * r, 2 * r)];
  }
  const xs = numbers.filter((_, at) => at % 2 === 0);
  const ys = numbers.filter((_, at) => at % 2 === 1);
  return [new DOMRect(box.x + Math.min(...xs), box.y + Math.min(...ys), Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys))];
}

const SPOTS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9], [0.15, 0.15], [0.85, 0.85]];

function spotOn(element) {
  let cover = null;
  let seen = false;
  for (const box of boxes(element)) {
    for (const [across, along] of SPOTS) {
      const x = box.x + box.width * across;
      const y = box.y + box.height * along;
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      seen = true;
      const hit = hitAt(x, y);
      if (takes(element, hit)) return { x, y, hit, cover: null, seen };
      cover ??= hit;
    }
  }
  return { x: 0, y: 0, hit: null, cover, seen };
}

function numbers() {
  const known = new Map();
  for (let at = 0; ; at++) {
    const element = sitelore.element(at);
    if (element === null) return known;
    known.set(element, at);
  }
}

// Describes what lies on top: its words and the numbers of the operable elements in it.
function describe(cover) {
  const known = numbers();
  let holder = cover;
  for (let at = cover; at && at !== document.body && at !== document.documentElement; at = up(at)) {
    const position = getComputedStyle(at).position;
    if (position === "fixed" || position === "absolute" || position === "sticky" || /dialog/.test(at.getAttribute("role") ?? at.localName)) holder = at;
  }
  let number = -1;
  for (let at = cover; at; at = up(at)) if (known.has(at)) { number = known.get(at); break; }
  const inside = [];
  for (const [element, at] of known) if (inside.length < 60 && within(holder, element)) inside.push(at);
  const name = short(cover.getAttribute("aria-label") || holder.getAttribute("aria-label") || cover.textContent || holder.textContent || "", 60);
  return { tag: cover.localName, name, number, inside };
}

const ACTIVE = /(^|[\s_-])(is-)?(active|selected|checked|pressed|expanded|current|open|on)([\s_-]|$)/i;

function activity(element) {
  const told = ["aria-pressed", "aria-checked", "aria-selected", "aria-expanded", "aria-current", "open", "data-state"]
    .map((name) => `${name}=${element.getAttribute(name)}`);
  const box = element.localName === "label" ? element.control : element;
  told.push(`checked=${box?.checked ?? ""}`, `class=${ACTIVE.test(element.getAttribute("class") ?? "")}`);
  return told.join(" ");
}

const disabled = (element) => {
  const own = element.localName === "label" && element.control ? element.control : element;
  return own.matches(":disabled") || own.getAttribute("aria-disabled") === "true" || own.closest("[inert]") !== null;
};

function kindOf(element) {
  if (element.isContentEditable) return "editable";
  if (element.localName === "input") return `input ${element.type}`;
  return element.localName;
}

function probe(number, bring) {
  const element = sitelore.element(number);
  if (element === null || !element.isConnected) return { gone: true };
  goal = element;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const facts = {
    gone: false, kind: kindOf(element), disabled: disabled(element), readonly: element.readOnly === true || element.getAttribute("aria-readonly") === "true",
    hidden: boxes(element).length === 0 || !element.checkVisibility({ visibilityProperty: true }), pointless: style.pointerEvents === "none",
    active: activity(element), rect: [box.x, box.y, box.width, box.height], size: element.localName === "select" ? element.size : 0,
    multiple: element.multiple === true, role: element.getAttribute("role") ?? "",
  };
  if (facts.hidden) return facts;
  let spot = spotOn(element);
  if (bring && spot.hit === null) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    spot = spotOn(element);
  }
  if (spot.hit !== null) goal = spot.hit;
  const now = element.getBoundingClientRect();
  Object.assign(facts, {
    spot: spot.hit === null ? null : [spot.x, spot.y], outside: !spot.seen, rect: [now.x, now.y, now.width, now.height],
    cover: spot.hit === null && spot.cover !== null ? describe(spot.cover) : null,
  });
  return facts;
}

function center(number) {
  const element = sitelore.element(number);
  if (element !== null) element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
}

// Scrolls the nearest container of an element that can be scrolled in that direction.
function scrollAround(number, dx, dy) {
  for (let at = sitelore.element(number); at; at = up(at)) {
    if (!scrolling(at)) continue;
    const was = `${at.scrollLeft} ${at.scrollTop}`;
    scrollers.add(at);
    before.places.set(at, `${Math.round(at.scrollLeft)} ${Math.round(at.scrollTop)}`);
    at.scrollBy({ left: dx, top: dy, behavior: "instant" });
    if (`${at.scrollLeft} ${at.scrollTop}` !== was) return true;
  }
  return false;
}

// Converts a point of a frame's content to this page; also returns what covers it there, if it is not the frame.
function outward(owner, x, y) {
  const frame = sitelore.frame(owner);
  if (frame === null || !frame.isConnected) return null;
  const box = frame.getBoundingClientRect();
  const style = getComputedStyle(frame);
  const scale = frame.offsetWidth ? box.width / frame.offsetWidth : 1;
  const px = (name) => parseFloat(style[name]) || 0;
  const left = box.x + scale * (px("borderLeftWidth") + px("paddingLeft") + x);
  const top = box.y + scale * (px("borderTopWidth") + px("paddingTop") + y);
  const outside = left < 0 || top < 0 || left >= innerWidth || top >= innerHeight;
  const hit = outside ? null : hitAt(left, top);
  return { x: left, y: top, outside, cover: outside || hit === frame ? null : hit === null ? null : describe(hit) };
}

globalThis.siteloreMonitor = {
  begin, changes, rest, untouched, probe, center, outward, scrollAround, ...siteloreFields(),
};
