// Where a person's hands are on the page: what lies under a point, what has the cursor, what a field holds.
// It runs beside the look's script (``sitelore``) in the same world of its own and changes nothing.

const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

let generation = 0;
let known = new Map();
let frames = new Map();
let stirred = false;

// The look just taken is the one of this generation: elements have its numbers, and what changes from now on is noted.
function rest(number) {
  generation = number;
  known = new Map();
  frames = new Map();
  for (let at = 0, element; (element = sitelore.element(at)) !== null; at++) known.set(element, at);
  for (let at = 0, frame; (frame = sitelore.frame(at)) !== null; at++) frames.set(frame, at);
  stirred = false;
}

new MutationObserver(() => { stirred = true; }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

const moved = () => stirred;

function numberOf(node) {
  for (let at = node; at; at = above(at)) {
    const number = known.get(at);
    if (number !== undefined) return number;
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
  if (!isFrame(hit)) return { generation, number: numberOf(hit), frame: -1, select: hit.localName === "select" && !hit.multiple && hit.size < 2 };
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

// What has the cursor, and whether that is the field that is held.
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

// The field that has the cursor is held from now on, whatever happens to the cursor.
function hold() {
  const found = deepest();
  field = typable(found) ? found : null;
  return field !== null;
}

// What the held field holds; null once it has left the page.
function held() {
  if (field === null || !field.isConnected) return null;
  if (field.localName === "select") return { chosen: [...field.selectedOptions].map((option) => option.label.trim().slice(0, 200)) };
  return { value: (field.isContentEditable ? field.innerText : field.value ?? "").slice(0, 10000) };
}

globalThis.siteloreEyes = { at, cursor, hold, held, rest, moved };
