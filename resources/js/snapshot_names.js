// Roles and accessible names, by WAI-ARIA 1.2, HTML-AAM and accname 1.2, as far as a control needs them.
// Everything here runs in an isolated world: page scripts can neither see nor replace any of it.  But a page can
// name a field of a form "childNodes"; so forms are only read through the prototypes' own accessors.

const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner.prototype, name).get;
const firstChildOf = Function.prototype.call.bind(getter(Node, "firstChild"));
const nextSiblingOf = Function.prototype.call.bind(getter(Node, "nextSibling"));
const shadowRootOf = Function.prototype.call.bind(getter(Element, "shadowRoot"));
const tagOf = Function.prototype.call.bind(getter(Element, "localName"));
const rootOf = Function.prototype.call.bind(Node.prototype.getRootNode);
const readAttribute = Function.prototype.call.bind(Element.prototype.getAttribute);
const queryIn = Function.prototype.call.bind(Element.prototype.querySelector);
const hasAttributes = Function.prototype.call.bind(Element.prototype.hasAttributes);
const closestOf = Function.prototype.call.bind(Element.prototype.closest);

const attr = (element, name) => readAttribute(element, name) ?? "";
// Most texts are squeezed already, and looking is cheaper than replacing every space by itself.
const LOOSE = /[^\S ]|[\u200b\u200e\u200f\ufeff]| {2}|^ | $/;
const squeeze = (text) => (LOOSE.test(text) ? text.replace(/[\s\u200b\u200e\u200f\ufeff]+/g, " ").trim() : text);
const cut = (text, most) => (text.length > most ? text.slice(0, most) : text);

const NAME_LIMIT = 300;

const ROLE_OF_TAG = {
  address: "group", article: "article", aside: "complementary", blockquote: "blockquote", button: "button",
  canvas: "canvas", caption: "caption", code: "code", datalist: "none", dd: "definition", del: "deletion",
  details: "group", dfn: "term", dialog: "dialog", dl: "list", dt: "term", em: "emphasis",
  fieldset: "group", figcaption: "caption", figure: "figure", footer: "contentinfo", h1: "heading", h2: "heading",
  h3: "heading", h4: "heading", h5: "heading", h6: "heading", header: "banner", hr: "separator", iframe: "iframe",
  frame: "iframe", img: "image", ins: "insertion", label: "label", legend: "legend", li: "listitem", main: "main",
  mark: "mark", menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group", option: "option",
  output: "status", p: "paragraph", pre: "pre", progress: "progressbar", search: "search", section: "region",
  select: "combobox", strong: "strong", sub: "subscript", summary: "summary", sup: "superscript", svg: "image",
  table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup", th: "columnheader",
  thead: "rowgroup", time: "time", tr: "row", ul: "list", video: "video", audio: "audio",
};

const ROLE_OF_INPUT = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", checkbox: "checkbox",
  radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", hidden: "none",
};

const KNOWN_ROLES = new Set(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid " +
    "gridcell group heading image img insertion link list listbox listitem log main mark marquee math menu menubar " +
    "menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar " +
    "radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status " +
    "strong subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree " +
    "treegrid treeitem").split(" ")
);

const NAMED_BY_CONTENT = new Set(
  ("button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row " +
    "rowheader summary switch tab tooltip treeitem").split(" ")
);

const INTERACTIVE = new Set(
  ("button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider " +
    "spinbutton summary switch tab textbox treeitem").split(" ")
);

const TEXT_LIKE = new Set(["textbox", "searchbox", "spinbutton", "combobox"]);

// Role of an element; "generic" and "none" are meaningless.
function roleOf(element, tag) {
  const told = readAttribute(element, "role");
  if (told) {
    for (const word of told.toLowerCase().split(/\s+/)) {
      if (!KNOWN_ROLES.has(word)) continue;
      if (word === "img") return "image";
      if ((word === "none" || word === "presentation") && isFocusable(element, tag)) break;
      return word === "presentation" ? "none" : word;
    }
  }
  return nativeRole(element, tag);
}

function nativeRole(element, tag) {
  switch (tag) {
    case "a":
    case "area":
      return readAttribute(element, "href") === null ? "generic" : "link";
    case "input": {
      const type = element.type;
      if (type === "checkbox" && readAttribute(element, "switch") !== null) return "switch";
      const role = ROLE_OF_INPUT[type] ?? "textbox";
      return (role === "textbox" || role === "searchbox") && readAttribute(element, "list") !== null ? "combobox" : role;
    }
    case "select":
      return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "img":
      return readAttribute(element, "alt") === "" ? "none" : "image";
    case "svg":
      return readAttribute(element, "aria-label") || queryIn(element, ":scope > title") ? "image" : "none";
    case "header":
    case "footer":
      return closestOf(element, "article,aside,main,nav,section,[role=main],[role=article],[role=region]")
        ? "generic" : ROLE_OF_TAG[tag];
    case "section":
      return namedByAuthor(element) ? "region" : "generic";
    case "form":
      return namedByAuthor(element) ? "form" : "generic";
    case "th":
      return attr(element, "scope") === "row" ? "rowheader" : "columnheader";
    case "summary":
      return element.parentElement && tagOf(element.parentElement) === "details" ? "summary" : "generic";
  }
  const role = ROLE_OF_TAG[tag];
  if (role !== undefined) return role;
  return isEditingHost(element) ? "textbox" : "generic";
}

function isEditingHost(element) {
  const value = readAttribute(element, "contenteditable");
  return value !== null && value.toLowerCase() !== "false";
}

function isFocusable(element, tag) {
  if (readAttribute(element, "tabindex") !== null) return true;
  if (tag === "a" || tag === "area") return readAttribute(element, "href") !== null;
  return tag === "button" || tag === "select" || tag === "textarea" || (tag === "input" && element.type !== "hidden");
}

const namedByAuthor = (element) =>
  attr(element, "aria-label").trim() !== "" || attr(element, "aria-labelledby") !== "" || attr(element, "title") !== "";

// The accessible name; "" if there is none.
function nameOf(element, tag, role) {
  return cut(squeeze(rawName(element, tag, role)), NAME_LIMIT);
}

function rawName(element, tag, role) {
  const labelledBy = referenced(element, "aria-labelledby");
  if (labelledBy.trim()) return labelledBy;
  // A custom field named by its content would take the name of the last chosen option.
  if (TEXT_LIKE.has(role) && tag !== "input" && tag !== "select" && tag !== "textarea" && refersToItself(element)) return "";
  const label = attr(element, "aria-label");
  if (label.trim()) return label;
  const native = nativeName(element, tag);
  if (native.trim()) return native;
  if (NAMED_BY_CONTENT.has(role)) {
    const content = contentOf(element, 0);
    if (content.trim()) return content;
  }
  const title = attr(element, "title");
  if (title.trim() && !(TEXT_LIKE.has(role) && squeeze(element.textContent) === squeeze(title))) return title;
  return TEXT_LIKE.has(role) ? attr(element, "placeholder") || attr(element, "aria-placeholder") : "";
}

function referenced(element, attribute) {
  const ids = attr(element, attribute);
  if (!ids) return "";
  const root = rootOf(element);
  const parts = [];
  for (const id of ids.split(/\s+/)) {
    const other = id && root.getElementById ? root.getElementById(id) : null;
    if (other && (other !== element || !TEXT_LIKE.has(attr(element, "role")))) parts.push(attr(other, "aria-label") || ownName(other) || contentOf(other, 0, true));
  }
  return parts.join(" ");
}

const refersToItself = (element) => {
  const id = attr(element, "id");
  return id !== "" && attr(element, "aria-labelledby").split(/\s+/).includes(id);
};

const ownName = (element) => (tagOf(element) === "img" ? attr(element, "alt") : "");

const LABELLED = new Set(["input", "select", "textarea", "button", "meter", "output", "progress"]);

function nativeName(element, tag) {
  if (LABELLED.has(tag)) {
    const said = labelsOf(element);
    if (said.trim()) return said;
  }
  switch (tag) {
    case "input":
      if (element.type === "submit") return element.value || attr(element, "title") || "Submit";
      if (element.type === "reset") return element.value || attr(element, "title") || "Reset";
      if (element.type === "button") return element.value;
      if (element.type === "image") return attr(element, "alt") || attr(element, "value") || attr(element, "title") || "Submit";
      return "";
    case "img":
    case "area":
      return attr(element, "alt");
    case "svg":
      return queryIn(element, ":scope > title")?.textContent ?? "";
    case "fieldset":
      return queryIn(element, ":scope > legend")?.textContent ?? "";
    case "table":
      return queryIn(element, ":scope > caption")?.textContent ?? "";
    case "figure":
      return queryIn(element, ":scope > figcaption")?.textContent ?? "";
  }
  return "";
}

// Labels by control, per document or shadow root: a control's own ``labels`` searches the whole page each time.
let labelsOfRoot = new Map();

function labelled(root) {
  let controls = labelsOfRoot.get(root);
  if (controls === undefined) {
    controls = new Map();
    for (const label of root.querySelectorAll?.("label") ?? []) {
      const control = label.control;
      if (control === null) continue;
      if (controls.has(control)) controls.get(control).push(label);
      else controls.set(control, [label]);
    }
    labelsOfRoot.set(root, controls);
  }
  return controls;
}

let textOfLabels = new Map();

function labelsOf(element) {
  let text = textOfLabels.get(element);
  if (text === undefined) textOfLabels.set(element, (text = readLabels(element)));
  return text;
}

function readLabels(element) {
  const labels = labelled(rootOf(element)).get(element);
  if (labels === undefined) return "";
  const parts = [];
  for (const label of labels)
    if (labels.length === 1 || label.checkVisibility()) parts.push(generated(label, "::before") + contentOf(label, 0, false, element) + generated(label, "::after"));
  return parts.join(" ");
}

// Text that a style sheet inserts before or after a label, such as the star of a required field.
function generated(element, where) {
  const content = getComputedStyle(element, where).content;
  return /^".*"$/.test(content) ? content.slice(1, -1) : "";
}

const INLINE = /^(inline|contents|ruby)/;
const DEEP = 40;

// Text content as a screen reader reads it: images by their alternative, fields by their value, without hidden parts.
function contentOf(element, depth, evenHidden = false, without = null) {
  const shadow = shadowRootOf(element);
  const first = shadow ? firstChildOf(shadow) : firstChildOf(element);
  if (first === null) return "";
  if (nextSiblingOf(first) === null && first.nodeType === 3) return first.data;
  if (depth > DEEP) return "";
  let text = "";
  for (let child = first; child !== null; child = nextSiblingOf(child)) {
    if (child.nodeType === 3) text += child.data;
    else if (child.nodeType === 1 && child !== without) text += contentOfChild(child, depth, evenHidden, without);
    if (text.length > 4 * NAME_LIMIT) break;
  }
  return text;
}

function contentOfChild(child, depth, evenHidden, without) {
  const tag = tagOf(child);
  if (tag === "br") return " ";
  if (tag === "script" || tag === "style" || tag === "template" || tag === "noscript") return "";
  if (tag === "slot") return child.assignedNodes().length ? slotted(child, depth, evenHidden, without)
    : contentOf(child, depth + 1, evenHidden, without);
  if (!evenHidden && attr(child, "aria-hidden") === "true") return "";
  const style = getComputedStyle(child);
  if (!evenHidden && (style.display === "none" || style.visibility !== "visible")) return "";
  const label = attr(child, "aria-label");
  const text = label.trim() ? label : embedded(child, tag) ?? contentOf(child, depth + 1, evenHidden, without);
  return INLINE.test(style.display) && !label ? text : ` ${text} `;
}

function slotted(slot, depth, evenHidden, without) {
  return slot.assignedNodes({ flatten: true })
    .map((node) => (node.nodeType === 3 ? node.data : node.nodeType === 1 ? contentOfChild(node, depth + 1, evenHidden, without) : ""))
    .join("");
}

function embedded(element, tag) {
  switch (tag) {
    case "img":
      return attr(element, "alt") || attr(element, "title");
    case "svg":
      return nativeName(element, tag);
    case "input":
      if (element.type === "hidden" || element.type === "password") return "";
      if (element.type === "checkbox" || element.type === "radio") return "";
      return nativeRole(element, tag) === "button" ? nativeName(element, tag) : element.value;
    case "textarea":
      return element.value;
    case "select":
      return element.selectedOptions[0]?.text ?? "";
  }
  return null;
}
