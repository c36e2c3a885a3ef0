// Focus, dialogs, landmarks, boxes, frames; and the format of a line of the tree.

const nodesOf = (parent) => {
  const nodes = [];
  for (let child = firstChildOf(parent); child !== null; child = nextSiblingOf(child)) nodes.push(child);
  return nodes;
};

const kindOf = (parent) =>
  parent.nodeType === 1 ? [tagOf(parent), attr(parent, "role"), ...classTokens(parent)].filter(Boolean).join(".") : "shadow";

function deepFocus() {
  let focused = document.activeElement;
  while (focused && shadowRootOf(focused)?.activeElement) focused = shadowRootOf(focused).activeElement;
  return focused;
}

function topModal() {
  const open = document.querySelectorAll("dialog:modal");
  return open.length ? open[open.length - 1] : null;
}

// The label of a check box that is not rendered represents it.
function proxied(label) {
  const owner = label.control;
  if (!owner || tagOf(owner) !== "input" || !["checkbox", "radio", "file"].includes(owner.type)) return null;
  if (owner.checkVisibility({ visibilityProperty: true })) {
    const rect = owner.getBoundingClientRect();
    if (rect.width > 1 && rect.height > 1 && !away([rect.x, rect.y, rect.width, rect.height])) return null;
  }
  return { role: roleOf(owner, "input"), listens: false, owner };
}

function landmarkOf(element, role) {
  let name = squeeze(attr(element, "aria-label") || referenced(element, "aria-labelledby"));
  if (!name && (role === "dialog" || role === "alertdialog")) {
    const heading = queryIn(element, "h1,h2,h3,h4,h5,[role=heading]");
    name = heading ? squeeze(contentOf(heading, 0)) : "";
  }
  return name ? `${role}:${cut(name, 80)}` : role;
}

function rectOf(element) {
  let rect = element.getBoundingClientRect();
  if (rect.width < 1 || rect.height < 1) {
    // A line without height of its own may contain a floating image.
    rect = null;
    for (let child = firstChildOf(element); child !== null && rect === null; child = nextSiblingOf(child)) {
      if (child.nodeType !== 1) continue;
      const box = child.getBoundingClientRect();
      if (box.width >= 1 && box.height >= 1) rect = box;
    }
    if (rect === null && tagOf(element) === "area") rect = imageOf(element)?.getBoundingClientRect() ?? null;
    if (rect === null) return null;
  }
  return [rect.x, rect.y, rect.width, rect.height];
}

function imageOf(area) {
  const map = closestOf(area, "map");
  return map ? rootOf(area).querySelector(`img[usemap="#${CSS.escape(attr(map, "name"))}"]`) : null;
}

// Out of scrolling reach (within a scrolled container one can scroll back), or as small as screen-reader-only text.
const away = (rect, scrolled = false) =>
  (!scrolled && ((rect[0] + rect[2] <= 0 && rect[0] + rect[2] + scrollX <= 0) || (rect[1] + rect[3] <= 0 && rect[1] + rect[3] + scrollY <= 0)))
  || (rect[2] <= 1.5 && rect[3] <= 1.5);

// Permanently transparent; a check box drawn by its label is transparent and still the click target.
const faded = (element, tag, style) =>
  !element.checkVisibility({ opacityProperty: true }) && !(tag === "input" && style.opacity === "0");

const RENDERED = { visibilityProperty: true };
const BLOCKS = new Set(("address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form " +
  "h1 h2 h3 h4 h5 h6 header hr html li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul").split(" "));
const UNPOINTED = new Set(["html", "body", "main", "header", "footer", "nav", "form", "ul", "ol", "table", "tbody", "thead", "select"]);
const UNCLIPPED = new Set(["html", "body", "input", "br", "svg"]);

const seen = (rect) =>
  Math.max(0, Math.min(rect.right, innerWidth) - Math.max(rect.x, 0)) *
  Math.max(0, Math.min(rect.bottom, innerHeight) - Math.max(rect.y, 0));

function frameName(element) {
  const name = attr(element, "name");
  if (name && !isMadeUp(name)) return cut(name, 80);
  const id = attr(element, "id");
  if (id && !isMadeUp(id)) return cut(id, 80);
  if (readAttribute(element, "srcdoc") !== null) return "srcdoc";
  return cut(pathWithin(element.src), 120) || "frame";
}

const ODD = /[\ue000-\uf8ff\u0000-\u001f\\']|^\s|\s$/;

// Formats a string as Python does.
function quoted(words) {
  if (!ODD.test(words)) return `'${words}'`;
  const plain = words.replace(/[\ue000-\uf8ff\u0000-\u001f]/g, "").replaceAll("\\", "\\\\").trim();
  return plain.includes("'") && !plain.includes('"') ? `"${plain}"` : `'${plain.replaceAll("'", "\\'")}'`;
}

const lineOf = (role, name, number) => `${number >= 0 ? `[${number}] ` : ""}${role} ${quoted(name)}`;

const CHECKED = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);

function propertiesOf(element, role, bits, value) {
  let line = value ? `, value=${quoted(value)}` : "";
  if (CHECKED.has(role)) line += `, checked='${bits & BIT.checked ? "true" : "false"}'`;
  if (bits === 0) return line;
  if (bits & BIT.disabled) line += ", disabled=True";
  if (bits & BIT.focused) line += ", focused";
  if (bits & BIT.haspopup) line += `, hasPopup='${popupOf(element)}'`;
  if (bits & (BIT.expanded | BIT.collapsed)) line += `, expanded=${bits & BIT.expanded ? "True" : "False"}`;
  if (bits & BIT.pressed) line += ", pressed='true'";
  if (bits & BIT.required) line += ", required";
  if (bits & BIT.readonly) line += ", readonly";
  if (bits & BIT.selected) line += ", selected";
  return line;
}

function popupOf(element) {
  const told = attr(element, "aria-haspopup");
  return told === "true" ? "menu" : cut(told.replace(/\W/g, ""), 12);
}
