// Additional facts of a thorough capture: event listeners, drawn shapes, the appearance of nameless elements.
//
// Everything found here is marked by ``hears`` and nothing else, so that a page's identity is the same with and
// without it.

// Elements whose listeners an agent could trigger; listeners.py queries the same elements in the same order.
const HEARABLE =
  ":not(html,head,head *,body,script,style,br,option,template,noscript,a[href],button,input,select,textarea)";
const HEARD = { c: "click", p: "press", h: "hover", d: "drop", s: "scroll" };
const MOVERS = /^(move|grab|grabbing|crosshair|all-scroll|\w+-resize)$/;
const LISTS = new Set(["ul", "ol", "dl", "table", "tbody", "tr"]);
const SECTIONS = "main,h1,form,nav,[role=main],[role=navigation]";
const NATIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,[onclick]";
const SHAPES = "circle,ellipse,rect,line,polyline,polygon,path,text,image,use";
const UNDRAWN = "defs,clipPath,mask,symbol,pattern,marker";
const MOST_SHAPES = 150;
const FEW_SHAPES = 40;
const LEAST_DRAWING = 30;
const LEAST_SCROLL = 8;

// Elements with their listeners, from "number of elements;index:kinds,index:kinds,"; null if the page changed
// between the two walks.
function heardOf(told) {
  const heard = new Map();
  if (told === "") return heard;
  const [total, places] = told.split(";");
  const all = document.querySelectorAll(HEARABLE);
  if (all.length !== Number(total)) return null;
  for (const entry of (places ?? "").split(",")) {
    const [place, kinds] = entry.split(":");
    if (kinds) heard.set(all[Number(place)], [...new Set(kinds)].sort().join(""));
  }
  return heard;
}

class Ears {
  constructor(heard) {
    this.heard = heard;
  }

  // Kind of an element that is operable though no control by role, cursor or attribute; null for any other.
  control(element, tag, role, style, around) {
    if (tag === "html" || tag === "body" || tag === "iframe" || tag === "frame" || tag === "label") return null;
    let hears = this.own(element, tag, around);
    if (!hears && !around.inControl) {
      const moved = MOVERS.test(style.cursor) && style.cursor !== getComputedStyle(element.parentElement).cursor;
      if (readAttribute(element, "draggable") === "true" || moved) hears = "p";
      else if (tag === "canvas" && element.offsetWidth >= LEAST_DRAWING && element.offsetHeight >= LEAST_DRAWING) hears = "c";
      else if (scrolls(element, style)) hears = "s";
    }
    return hears ? { role: tag === "svg" || role === "none" ? "image" : role, listens: false, hears } : null;
  }

  own(element, tag, around) {
    const hears = this.heard.get(element);
    if (!hears) return "";
    const children = element.childElementCount;
    if (hears === "h") return around.inControl || children > 0 ? "" : hears;
    if (children === 1 && INTERACTIVE.has(roleOf(element.firstElementChild, tagOf(element.firstElementChild)))) return "";
    if (children === 0) return hears;
    const controls = queryIn(element, CONTROLS) !== null;
    if (LISTS.has(tag) && alikeIn(element) && queryIn(element, NATIVE) === null) {
      // One listener for a whole list: its entries are the targets.
      for (const child of element.children) if (!this.heard.has(child)) this.heard.set(child, hears);
      return "";
    }
    // Such as a window that is raised when pressed.
    if (controls && (!hears.includes("c") || LANDMARKS.has(roleOf(element, tag)))) return "";
    return controls && (large(element) || queryIn(element, SECTIONS)) ? "" : hears;
  }

  // Marks the shapes of a drawing; returns the relevant elements, each with its event kinds ("" is not numbered).
  drawing(svg, around) {
    const box = svg.getBoundingClientRect();
    const shapes = [];
    let live = this.heard.has(svg);
    for (const shape of svg.querySelectorAll(SHAPES)) {
      if (shapes.length >= MOST_SHAPES) break;
      if (closestOf(shape, UNDRAWN) || !shape.checkVisibility(RENDERED)) continue;
      const hears = this.within(shape, svg);
      if (hears) live = true;
      shapes.push([shape, hears]);
    }
    const small = box.width < LEAST_DRAWING || box.height < LEAST_DRAWING;
    if (small || around.inControl) return shapes.filter(([, hears]) => hears);
    if (live) return shapes.map(([shape, hears]) => [shape, hears || "-"]);
    return shapes.length > FEW_SHAPES ? shapes.filter(([shape]) => tagOf(shape) === "text") : shapes;
  }

  within(shape, svg) {
    for (let at = shape; at !== null && at !== svg; at = at.parentElement) {
      const hears = this.heard.get(at);
      if (hears) return hears;
    }
    return "";
  }
}

const alikeIn = (element) => {
  const kinds = new Set();
  for (const child of element.children) kinds.add(tagOf(child));
  return kinds.size === 1;
};

const large = (element) => {
  const rect = element.getBoundingClientRect();
  return seen(rect) > 0.5 * innerWidth * innerHeight;
};

function scrolls(element, style) {
  const down = /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight + LEAST_SCROLL;
  const across = /auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth + LEAST_SCROLL;
  return (down || across) && element.clientHeight > LEAST_SCROLL;
}

// Whether the pointer at an element's position would hit it: inside the visible area and not covered.
function meets(element, owner, rect) {
  if (rect[0] >= innerWidth || rect[1] >= innerHeight || rect[0] + rect[2] <= 0 || rect[1] + rect[3] <= 0) return false;
  const root = rootOf(element);
  const at = (x, y) => {
    const met = root.elementFromPoint?.(x, y) ?? null;
    if (met === null) return false;
    return element.contains(met) || owner.contains(met) || closestOf(met, "label")?.control === owner || hostsOf(met).includes(element);
  };
  const left = Math.max(rect[0], 0), top = Math.max(rect[1], 0);
  const right = Math.min(rect[0] + rect[2], innerWidth), bottom = Math.min(rect[1] + rect[3], innerHeight);
  if (at((left + right) / 2, (top + bottom) / 2)) return true;
  const first = element.getClientRects()[0]; // a link that wraps over two lines has a gap in its middle
  if (first && first.width && at(first.x + first.width / 2, first.y + first.height / 2)) return true;
  // Something small may cover its middle: try a quarter in from each corner.
  const w = (right - left) / 4, h = (bottom - top) / 4;
  return at(left + w, top + h) || at(right - w, bottom - h);
}

const hostsOf = (element) => {
  const hosts = [];
  for (let root = rootOf(element); root.host; root = rootOf(root.host)) hosts.push(root.host);
  return hosts;
};

// -- appearance in words ------------------------------------------------------------------------------------------

const COLOURS = {
  "0,0,0": "black", "255,255,255": "white", "255,0,0": "red", "0,255,0": "lime", "0,0,255": "blue", "255,255,0": "yellow",
  "0,255,255": "cyan", "255,0,255": "magenta", "128,128,128": "gray", "192,192,192": "silver", "128,0,0": "maroon",
  "128,128,0": "olive", "0,128,0": "green", "128,0,128": "purple", "0,128,128": "teal", "0,0,128": "navy",
  "255,165,0": "orange", "255,192,203": "pink", "165,42,42": "brown",
};
const HUES = [[15, "red"], [45, "orange"], [70, "yellow"], [165, "green"], [200, "cyan"], [260, "blue"], [290, "purple"],
  [335, "pink"], [361, "red"]];

// A colour's name; "" for none.
function colourOf(text) {
  const parts = text.match(/[\d.]+/g)?.map(Number);
  if (!parts || parts.length < 3 || (parts.length > 3 && parts[3] < 0.1)) return "";
  const known = COLOURS[parts.slice(0, 3).join(",")];
  if (known) return known;
  const [r, g, b] = parts.map((part) => part / 255);
  const most = Math.max(r, g, b), least = Math.min(r, g, b), light = (most + least) / 2, span = most - least;
  if (span < 0.12) return light > 0.95 ? "white" : light < 0.08 ? "black" : "gray";
  const turn = most === r ? ((g - b) / span) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
  const hue = (turn * 60 + 360) % 360;
  const name = HUES.find(([end]) => hue < end)[1];
  return light > 0.8 ? `light ${name}` : light < 0.25 ? `dark ${name}` : name;
}

const sized = (box) => `${Math.round(box.width)}x${Math.round(box.height)}`;

function shapeName(shape, tag) {
  if (tag === "polygon" || tag === "polyline") {
    const corners = shape.points.numberOfItems;
    return tag === "polyline" ? "line" : corners === 3 ? "triangle" : corners === 4 ? "quadrangle" : `polygon with ${corners} corners`;
  }
  if (tag === "rect") return "rectangle";
  return tag === "use" ? "picture" : tag;
}

// "red circle 20x20"; a line's end points are given in pixels of its frame.
function lookOfShape(shape, tag) {
  const style = getComputedStyle(shape);
  const colour = style.fill === "none" || tag === "line" ? colourOf(style.stroke) : colourOf(style.fill);
  if (tag === "text") return `${colour} ${sized(shape.getBoundingClientRect())}`.trim();
  const matrix = tag === "line" ? shape.getScreenCTM() : null;
  if (matrix) {
    const end = (x, y) => {
      const point = new DOMPoint(x.baseVal.value, y.baseVal.value).matrixTransform(matrix);
      return `(${Math.round(point.x)},${Math.round(point.y)})`;
    };
    return `${colour} line ${end(shape.x1, shape.y1)}-${end(shape.x2, shape.y2)}`.trim();
  }
  return `${colour} ${shapeName(shape, tag)} ${sized(shape.getBoundingClientRect())}`.trim();
}

function lookOfBox(element, style) {
  const colour = colourOf(style.backgroundColor);
  return colour ? `${colour} box ${sized(element.getBoundingClientRect())}` : "";
}

// -- words beside a field without a label ------------------------------------------------------------------------

const FIELD = "input:not([type=hidden]),select,textarea,button,[contenteditable=true]";
const UNNAMED = new Set([...TEXT_LIKE, "checkbox", "radio", "switch", "slider", "listbox"]);
const AFTER = new Set(["checkbox", "radio", "switch"]);
const NEAREST = 4;
const LABEL_LIKE = 60; // characters; a longer text is no label

function nearOf(element, role) {
  if (!UNNAMED.has(role)) return "";
  const first = AFTER.has(role);
  return beside(element, first) || beside(element, !first);
}

// The nearest words before or after, up to another field.
function beside(element, behind) {
  let at = element;
  for (let up = 0; up < NEAREST && at !== null; up++) {
    for (let next = behind ? at.nextSibling : at.previousSibling; next !== null; next = behind ? next.nextSibling : next.previousSibling) {
      const kind = next.nodeType;
      if (kind === 3 && squeeze(next.data)) return squeeze(next.data).length > LABEL_LIKE ? "" : squeeze(next.data);
      if (kind !== 1 || SKIPPED.has(tagOf(next))) continue;
      if (next.matches(FIELD) || queryIn(next, FIELD)) return "";
      const words = next.checkVisibility() ? squeeze(contentOf(next, 0)) : "";
      if (words) return words.length > LABEL_LIKE ? "" : words;
    }
    at = at.parentElement;
    if (at !== null && at.matches("form,fieldset,body,main,dialog,table,ul,ol")) return "";
  }
  return "";
}

// The developers' name for a nameless element: "trash", "ui-slider-handle".
function hintOf(element) {
  const id = attr(element, "id");
  const words = attr(element, "name") || (isMadeUp(id) ? "" : id) || classTokens(element).slice(0, 2).join(" ") || iconOf(element);
  return cut(squeeze(words), 40);
}
