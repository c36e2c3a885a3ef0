// One walk over all rendered content, including shadow roots and slots; nothing on the page is changed.
// The answer is compact: each string is in a table once, everything else refers to it by index (see frame_decoder.py).

const SKIPPED = new Set(["script", "style", "template", "noscript", "head", "meta", "link", "title", "base", "param", "source", "track"]);
const LANDMARKS = new Set(
  ("banner navigation main complementary contentinfo search form region dialog alertdialog menu menubar tablist " +
    "tabpanel toolbar tree").split(" ")
);
const STRUCTURAL = new Set([...LANDMARKS, "article", "document", "application", "feed", "figure", "grid", "group", "list",
  "log", "radiogroup", "table", "treegrid", "heading", "paragraph", "note", "tooltip"]);
const NAMED = new Set([...NAMED_BY_CONTENT, ...INTERACTIVE, ...LANDMARKS, "image", "group", "figure", "table", "progressbar",
  "meter", "radiogroup", "alert", "status", "iframe", "canvas"]);
NAMED.delete("row"); // its cells have the same text

const MOST_NODES = 120000;
const MOST_DEPTH = 900;
const MOST_TEXT = 300000;
const MOST_HEADINGS = 80;
const MARK = "\u0001";
const FLAG = { inShadow: 1, submits: 2, inLive: 4, inAdvert: 8, visible: 16, listens: 32, met: 64 };

const FEW_CHILDREN = 12;
const SPREAD = /[^\S ]|\u0001| {2}/;
const namespaceOf = Function.prototype.call.bind(getter(Element, "namespaceURI"));
const plainTags = new Map();

function isPlain(tag) {
  let plain = plainTags.get(tag);
  if (plain === undefined) plainTags.set(tag, (plain = /^[a-z][a-z0-9-]*$/.test(tag)));
  return plain;
}

// Context of everything inside an element, passed down the walk.
class Around {
  constructor(outer) {
    const known = outer !== null;
    this.depth = known ? outer.depth : 0;
    this.level = known ? outer.level : 0;
    this.landmarks = known ? outer.landmarks : [];
    this.repeat = known ? outer.repeat : "";
    this.row = known ? outer.row : 0;
    this.name = known ? outer.name : "";
    this.shadow = known && outer.shadow;
    this.live = known && outer.live;
    this.advert = known && outer.advert;
    this.hidden = known && outer.hidden;
    this.clipped = known && outer.clipped;
    this.inert = known && outer.inert;
    this.silent = known && outer.silent;
    this.scrolled = known && outer.scrolled;
    this.pointer = known && outer.pointer;
    this.inControl = known && outer.inControl;
  }
}

class Look {
  constructor(limit, ears, yielding = false) {
    this.yielding = yielding;
    this.limit = limit;
    this.ears = ears;
    this.kept = [];
    this.frames = [];
    this.strings = [];
    this.numbers = new Map();
    this.landmarkSets = [];
    this.landmarkNumbers = new Map();
    this.paths = [];
    this.pathNumbers = new Map();
    this.places = new Map();
    this.records = [];
    this.frameRecords = [];
    this.lines = [];
    this.text = [];
    this.textLength = 0;
    this.headings = [];
    this.found = 0;
    this.nodes = 0;
    this.inert = 0;
    this.canvas = 0;
    this.cutShort = "";
    this.modal = topModal();
    this.focused = deepFocus();
  }

  number(string) {
    let number = this.numbers.get(string);
    if (number === undefined) {
      number = this.strings.push(string) - 1;
      this.numbers.set(string, number);
    }
    return number;
  }

  children(parent, around) {
    const shadow = parent.nodeType === 1 ? shadowRootOf(parent) : null;
    if (shadow) {
      this.siblings(shadow, nodesOf(shadow), Object.assign(new Around(around), { shadow: true }));
    } else if (parent.nodeType === 1 && tagOf(parent) === "slot" && parent.assignedNodes().length) {
      const nodes = parent.assignedNodes({ flatten: true });
      this.siblings(parent, nodes, Object.assign(new Around(around), { shadow: rootOf(nodes[0]) !== document }));
    } else {
      this.siblings(parent, nodesOf(parent), around);
    }
  }

  siblings(parent, nodes, around) {
    if (nodes.length === 0) return;
    let rows = null;
    if (around.repeat === "" && nodes.length > 2) {
      const elements = nodes.filter((node) => node.nodeType === 1 && !SKIPPED.has(tagOf(node)));
      if (elements.length) rows = rowsAmong(parent.nodeType === 1 ? parent : parent.host ?? document.documentElement, elements);
    } else if (around.repeat === "" && parent.nodeType === 1 && tagOf(parent) === "tbody") {
      rows = rowsAmong(parent, nodes.filter((node) => node.nodeType === 1));
    }
    const kind = rows === null ? "" : kindOf(parent);
    for (const node of nodes) {
      const type = node.nodeType;
      if (type === 3) this.words(node, around);
      else if (type === 1) {
        const row = rows === null ? undefined : rows.get(node);
        this.element(node, row === undefined ? around : Object.assign(new Around(around), { repeat: `${kind}>${row[0]}`, row: row[1] }));
      }
    }
  }

  words(node, around) {
    if (around.hidden) return;
    const data = node.data;
    const words = squeeze(data);
    if (!words) {
      if (data && this.text.length) this.text.push(" ");
      return;
    }
    if (this.textLength < MOST_TEXT) {
      this.text.push(SPREAD.test(data) ? data.replace(/[\s\u0001]+/g, " ") : data);
      this.textLength += data.length;
    }
    if (words !== around.name && !around.silent) this.lines.push(`${"\t".repeat(around.depth)}StaticText ${quoted(words)}`);
  }

  element(element, around) {
    const tag = tagOf(element);
    if (SKIPPED.has(tag)) return;
    if (this.yielding && (this.nodes & 15) === 0 && navigator.scheduling?.isInputPending?.()) throw INTERRUPTED;
    if (++this.nodes > MOST_NODES || around.level > MOST_DEPTH) {
      this.cutShort ||= this.nodes > MOST_NODES ? "the page is too long to be read whole" : "the page is nested too deep to be read whole";
      return;
    }
    const style = getComputedStyle(element);
    const shows = element.checkVisibility(RENDERED);
    if (!shows && style.display === "none") return;
    if (around.level && readAttribute(element, "aria-hidden") === "true") return;
    const role = roleOf(element, tag);
    const inside = this.surroundings(element, tag, role, style, around, shows);
    const block = BLOCKS.has(tag) || !INLINE.test(style.display);
    if (block) this.text.push(tag === "td" || tag === "th" ? "\t" : "\n");
    const control = this.controlOf(element, tag, role, style, around, inside) ?? this.ears?.control(element, tag, role, style, around) ?? null;
    const named = NAMED.has(control?.role ?? role);
    const name = named ? nameOf(element, tag, control?.role ?? role) : "";
    let number = -1;
    if (control !== null) {
      if (control.hears === undefined) inside.inControl = true; // else the content would get another identity
      number = this.keep(element, tag, control, name, inside, style);
    }
    if (LANDMARKS.has(role)) inside.landmarks = [...around.landmarks, landmarkOf(element, role)];
    if (role === "heading" && name && !inside.hidden && this.headings.length < MOST_HEADINGS) this.headings.push(name);
    const shown = !inside.hidden && !inside.silent && (number >= 0 || !(role === "generic" || role === "none"));
    if (shown) {
      this.lines.push("\t".repeat(around.depth) + lineOf(control?.role ?? role, name, number) + (control?.properties ?? ""));
      inside.depth = around.depth + 1;
      inside.name = name;
    }
    if (tag === "iframe" || tag === "frame") this.frame(element, inside, style);
    else if (tag === "select") this.options(element, inside);
    else if (tag === "canvas") this.canvas += seen(element.getBoundingClientRect());
    else if (tag === "svg") this.drawing(element, inside);
    else if (tag !== "textarea" && tag !== "video" && tag !== "audio" && tag !== "object") this.children(element, inside);
    if (tag === "br") this.text.push("\n");
    if (block) this.text.push("\n");
  }

  // Context of everything inside an element.
  surroundings(element, tag, role, style, around, shows) {
    const inside = new Around(around), told = hasAttributes(element);
    inside.level++;
    inside.hidden = around.clipped || (!shows && (style.visibility !== "visible" || style.display !== "contents"));
    if (!around.live && (told || LIVE_ROLES.has(role)) && isLive(element, role)) inside.live = true;
    if (told && !around.advert && isAdvert(element, tag)) inside.advert = true;
    if (told && !around.inert && readAttribute(element, "inert") !== null) inside.inert = true;
    if (this.modal !== null && element === this.modal) inside.inert = false;
    inside.silent = inside.inert && !(this.modal !== null && element.contains(this.modal));
    // What shows its overflow is neither scrolled nor clipped; fields scroll whatever their style says.
    const overflow = style.overflowY, scrolls = (overflow !== "visible" && overflow !== "clip") || tag === "input" || tag === "select";
    if (scrolls && !around.scrolled && around.level > 1 && (element.scrollTop !== 0 || element.scrollLeft !== 0)) inside.scrolled = true;
    if (overflow !== "visible" && !around.clipped && !UNCLIPPED.has(tag) && (element.offsetHeight < 2 || element.offsetWidth < 2)
      && style.display !== "inline") {
      inside.clipped = inside.hidden = true;
    }
    return inside;
  }

  // Role and kind of an operable element, or null.
  controlOf(element, tag, role, style, around, inside) {
    if (INTERACTIVE.has(role)) return { role, listens: false };
    if (!around.inControl && !UNPOINTED.has(tag)) inside.pointer = style.cursor === "pointer";
    if (tag === "label") return proxied(element);
    if (tag === "html" || tag === "body" || tag === "iframe" || role === "none") return null;
    const tabindex = readAttribute(element, "tabindex");
    const told = readAttribute(element, "onclick") !== null;
    const reachable = tabindex !== null && element.tabIndex >= 0 && !STRUCTURAL.has(role) && !around.inControl;
    const pointed = inside.pointer && !around.pointer && !around.inControl && !STRUCTURAL.has(role)
      && queryIn(element, CONTROLS) === null;
    return told || reachable || pointed ? { role, listens: true } : null;
  }

  keep(element, tag, control, name, inside, style) {
    this.found++;
    if (this.kept.length >= this.limit) return -1;
    const number = this.kept.push(element) - 1;
    const owner = control.owner ?? element;
    const ownerTag = control.owner ? tagOf(control.owner) : tag;
    const form = formOf(owner);
    const rect = control.rect ?? rectOf(element);
    const visible = rect !== null && !inside.hidden && !inside.inert && !away(rect, inside.scrolled) && !faded(element, ownerTag, style);
    const names = namesOf(owner);
    const states = statesOf(owner, ownerTag, control.role, this.focused, names);
    const value = valueOf(owner, ownerTag, control.role, this.ears ? 2000 : 200);
    if (inside.inert) this.inert++;
    const shownName = name || (control.listens || control.hears ? cut(squeeze(contentOf(element, 0)), 80) : "");
    const label = ownerTag === "input" || ownerTag === "select" || ownerTag === "textarea" ? cut(squeeze(labelsOf(owner)), 120) : "";
    const text = (LABELLED.has(ownerTag) && ownerTag !== "button") || TEXT_LIKE.has(control.role) ? "" : cut(squeeze(element.textContent.slice(0, 2000)), 200);
    const options = optionsOf(owner, ownerTag);
    const attributes = attributesOf(owner, names, shownName === "");
    const kinds = control.hears ?? this.ears?.heard.get(element) ?? "";
    const hears = kinds === "" ? "" : [...kinds].map((kind) => HEARD[kind] ?? "").filter(Boolean).join(" ");
    const unspoken = this.ears ? this.unspoken(element, control, attributes, shownName, hears) : "";
    this.records.push([
      this.number(control.role), this.number(shownName), this.number(tag),
      states, rect === null ? null : rect.map((value) => Math.round(value * 10) / 10),
      this.landmarks(inside.landmarks),
      (inside.shadow ? FLAG.inShadow : 0) | (submitsForm(owner, ownerTag, form) ? FLAG.submits : 0) |
        (inside.live ? FLAG.inLive : 0) | (inside.advert ? FLAG.inAdvert : 0) | (visible ? FLAG.visible : 0) |
        (control.listens ? FLAG.listens : 0) | (this.ears && visible && meets(element, owner, rect) ? FLAG.met : 0),
      this.number(addressOf(element, tag)), this.number(attr(element, "target")),
      this.number(form === null ? "" : formName(owner, form)),
      this.number(ownerTag === "input" || ownerTag === "button" ? owner.type : ""),
      this.number(value),
      options.map((option) => this.number(option)),
      this.number(control.owner ? testIdOf(element) || testIdOf(owner, names) : testIdOf(element, names)),
      attributes.map((word) => this.number(word)),
      this.number(label === name ? "" : label), this.number(text === name ? "" : text), this.path(element),
      this.number(inside.repeat), inside.row, this.number(hears),
    ]);
    control.properties = propertiesOf(element, control.role, states, value) + unspoken;
    return number;
  }

  // Additional facts of a thorough capture, for the element's line in the tree; also added to its attributes.
  unspoken(element, control, attributes, name, hears) {
    let line = hears.includes("scroll") ? ", scrollable" : "";
    const add = (word, value) => {
      if (!value) return false;
      attributes.push(word, value);
      line += `, ${word}=${quoted(value)}`;
      return true;
    };
    if (name !== "") add("looks", control.looks);
    else {
      const look = control.hears !== undefined && add("looks", control.looks ?? lookOfBox(element, getComputedStyle(element)));
      if (!add("near", nearOf(element, control.role)) && !look) add("hint", hintOf(element));
    }
    return line;
  }

  // Shapes of a drawing: operable ones are numbered, the others only described.
  drawing(svg, around) {
    if (!this.ears || around.hidden || around.silent) return;
    for (const [shape, hears] of this.ears.drawing(svg, around)) {
      const tag = tagOf(shape);
      const box = shape.getBoundingClientRect();
      const rect = box.width + box.height > 0 ? [box.x, box.y, Math.max(box.width, 1), Math.max(box.height, 1)] : null;
      const name = cut(squeeze(attr(shape, "aria-label") || queryIn(shape, ":scope > title")?.textContent || (tag === "text" ? shape.textContent : "")), 80);
      const role = tag === "text" ? "StaticText" : "image";
      const looks = lookOfShape(shape, tag);
      const control = { role: tag === "text" ? "text" : "image", listens: false, hears, rect, looks, properties: looks && `, looks=${quoted(looks)}` };
      const number = hears && rect ? this.keep(shape, tag, control, name, around, getComputedStyle(shape)) : -1;
      const indent = "\t".repeat(around.depth);
      if (name || looks || number >= 0) this.lines.push(indent + lineOf(number >= 0 ? control.role : role, name, number) + control.properties);
    }
  }

  landmarks(words) {
    let number = this.landmarkNumbers.get(words); // one array stands for everything inside a landmark
    if (number === undefined) {
      const key = words.join("\n");
      number = this.landmarkNumbers.get(key);
      if (number === undefined) number = this.landmarkSets.push(words.map((word) => this.number(word))) - 1;
      this.landmarkNumbers.set(key, number);
      this.landmarkNumbers.set(words, number);
    }
    return number;
  }

  // Index of an element's path: [path of its parent, tag, position among siblings of that tag, their count, id, crossing].
  path(element) {
    const known = this.pathNumbers.get(element);
    if (known !== undefined) return known;
    const parent = element.parentNode;
    const crosses = parent !== null && parent.nodeType === 11 && parent.host !== undefined;
    const above = crosses ? this.path(parent.host) : parent !== null && parent.nodeType === 1 ? this.path(parent) : -1;
    const tag = tagOf(element);
    const [place, of] = this.place(parent, element, tag);
    const id = attr(element, "id");
    const unique = id && !isMadeUp(id) && rootOf(element).getElementById?.(id) === element;
    const plain = isPlain(tag) && namespaceOf(element) === "http://www.w3.org/1999/xhtml";
    const number = this.paths.push([
      above, this.number(tag), place, of, this.number(unique ? CSS.escape(id) : ""), (crosses ? 1 : 0) | (plain ? 0 : 2),
    ]) - 1;
    this.pathNumbers.set(element, number);
    return number;
  }

  place(parent, element, tag) {
    if (parent === null) return [1, 1];
    let places = this.places.get(parent);
    if (places === undefined) {
      // The usual parent has few children: counting them is cheaper than a table.
      let place = 0, of = 0, children = 0, child = firstChildOf(parent);
      for (; child !== null && children <= FEW_CHILDREN; child = nextSiblingOf(child)) {
        if (child.nodeType !== 1) continue;
        children++;
        if (tagOf(child) === tag) of++;
        if (child === element) place = of;
      }
      if (child === null) return [place || 1, of || 1];
      places = new Map();
      const counts = new Map();
      for (let child = firstChildOf(parent); child !== null; child = nextSiblingOf(child)) {
        if (child.nodeType !== 1) continue;
        const own = tagOf(child);
        const place = (counts.get(own) ?? 0) + 1;
        counts.set(own, place);
        places.set(child, place);
      }
      places.counts = counts;
      this.places.set(parent, places);
    }
    return [places.get(element) ?? 1, places.counts.get(tag) ?? 1];
  }

  frame(element, inside, style) {
    const rect = element.getBoundingClientRect();
    if (inside.hidden || inside.inert || rect.width * rect.height < 400 || away([rect.x, rect.y, rect.width, rect.height])) return;
    const number = this.frames.push(element) - 1;
    const px = (name) => parseFloat(style[name]) || 0;
    this.text.push(`\n${MARK}${number}${MARK}\n`);
    this.lines.push(`${"\t".repeat(inside.depth)}${MARK}${number}${MARK}`);
    this.frameRecords.push({
      before: this.kept.length,
      name: frameName(element),
      source: cut(element.src || "", 500),
      x: rect.x + px("borderLeftWidth") + px("paddingLeft"),
      y: rect.y + px("borderTopWidth") + px("paddingTop"),
      landmarks: inside.landmarks,
      advert: inside.advert,
    });
  }

  options(select, inside) {
    if (inside.hidden || inside.silent) return;
    const indent = "\t".repeat(inside.depth);
    for (let place = 0; place < select.length && place < MOST_OPTIONS; place++) {
      const option = select.item(place);
      this.lines.push(`${indent}option ${quoted(squeeze(option.text))}${option.selected ? ", selected" : ""}`);
    }
  }
}

const CAPTCHA =
  "iframe[src*=recaptcha i],iframe[src*=hcaptcha i],iframe[src*='challenges.cloudflare' i],iframe[src*=arkoselabs i]," +
  ".g-recaptcha,.h-captcha,.cf-turnstile,#cf-challenge-running,#challenge-form,[id*=captcha i],[class*=captcha i],img[src*=captcha i],input[name*=captcha i]";

function showsCaptcha() {
  for (const element of document.querySelectorAll(CAPTCHA)) {
    const rect = element.getBoundingClientRect();
    const badge = closestOf(element, ".grecaptcha-badge") !== null;
    if (!badge && rect.width > 20 && rect.height > 10 && element.checkVisibility({ visibilityProperty: true })) return true;
  }
  return false;
}

let last = null;
const INTERRUPTED = new Error("interrupted");

// With ``told`` (the answer in listeners.py) the capture is thorough; "" is returned where it is ``yielding`` and input
// for the page arrives meanwhile, which else would wait for it.
function look(limit, top, told = null, yielding = false) {
  try {
    return lookNow(limit, top, told, yielding);
  } catch (error) {
    if (error !== INTERRUPTED) throw error;
    return "";
  }
}

function lookNow(limit, top, told, yielding) {
  forgetTexts();
  const heard = told === null ? null : heardOf(told);
  const walk = new Look(limit, told === null ? null : new Ears(heard ?? new Map()), yielding);
  const root = document.documentElement;
  const title = squeeze(document.title?.toString?.() ?? "");
  if (root !== null) {
    const around = new Around(null);
    around.inert = walk.modal !== null;
    if (top) {
      walk.lines.push(`RootWebArea ${quoted(title)}${document.hasFocus() && (walk.focused === document.body || walk.focused === null) ? ", focused" : ""}`);
      around.depth = 1;
    }
    walk.element(root, around);
  }
  last = walk;
  const scroller = document.scrollingElement ?? root;
  const entry = performance.getEntriesByType("navigation")[0];
  return JSON.stringify({
    url: location.href, origin: self.origin, title, language: cut(attr(root ?? new Image(), "lang"), 20), status: entry?.responseStatus ?? 0,
    viewport: [innerWidth, innerHeight], size: [scroller?.scrollWidth ?? 0, scroller?.scrollHeight ?? 0],
    strings: walk.strings, landmarks: walk.landmarkSets, paths: walk.paths, elements: walk.records, frames: walk.frameRecords,
    headings: walk.headings, lines: walk.lines.join("\n"), text: tidy(walk.text.join("")), found: walk.found, nodes: walk.nodes,
    inert: walk.inert, cutShort: walk.cutShort, captcha: showsCaptcha(),
    heard: told === null || heard !== null, canvas: walk.canvas / Math.max(1, innerWidth * innerHeight),
  });
}

// The operable element around a node, told as by ``look`` but without a walk over the page; null for none.
function describe(node) {
  forgetTexts();
  const walk = new Look(1, null);
  const chain = [];
  for (let at = node; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host ?? null) chain.unshift(at);
  let around = new Around(null), found = null;
  around.inert = walk.modal !== null;
  for (const element of chain) {
    const tag = tagOf(element), style = getComputedStyle(element), role = roleOf(element, tag);
    const inside = walk.surroundings(element, tag, role, style, around, element.checkVisibility(RENDERED));
    inside.shadow = rootOf(element) !== document;
    const control = walk.controlOf(element, tag, role, style, around, inside);
    if (control !== null) {
      inside.inControl = true;
      found = [element, tag, control, inside, style];
    }
    if (LANDMARKS.has(role)) inside.landmarks = [...around.landmarks, landmarkOf(element, role)];
    around = inside;
  }
  if (found === null) return null;
  const [element, tag, control, inside, style] = found;
  const name = NAMED.has(control.role) ? nameOf(element, tag, control.role) : "";
  walk.keep(element, tag, control, name, inside, style);
  return JSON.stringify({
    origin: self.origin, strings: walk.strings, landmarks: walk.landmarkSets, paths: walk.paths, elements: walk.records, frames: [],
  });
}

const tidy = (text) => text.replace(/[^\S\n]+/g, " ").replace(/ ?\n[\s]*/g, "\n").trim();

globalThis.sitelore = {
  look,
  describe,
  element: (number) => last?.kept[number] ?? null,
  frame: (number) => last?.frames[number] ?? null,
};
