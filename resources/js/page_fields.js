// Fields, lists, check boxes and sliders: constraints and content.  Joined with page_monitor.js into one script.

function siteloreFields() {
  const TAKES_TEXT = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit])" +
    ":not([type=reset]):not([type=image]):not([type=file]),textarea,select,[contenteditable=''],[contenteditable=true]";
  const BOXES = "input[type=checkbox],input[type=radio],[role=checkbox],[role=radio],[role=switch]";

// The element itself, the control of its label, or the only field within it.
  function standing(number, kinds) {
    const element = sitelore.element(number);
    if (element === null || element.matches(kinds) || element.isContentEditable) return element;
    if (element.localName === "label" && element.control) return element.control;
    const inner = [...element.querySelectorAll(kinds), ...(element.shadowRoot?.querySelectorAll(kinds) ?? [])];
    const shown = inner.filter((one) => one.checkVisibility());
    return inner.length === 1 ? inner[0] : shown.length === 1 ? shown[0] : element;
  }

  const field = (number) => standing(number, TAKES_TEXT);
  const box = (number) => standing(number, BOXES);
  const fileField = (number) => standing(number, "input[type=file]");

  function facts(number) {
    const element = field(number);
    if (element === null) return null;
    const told = (name) => element.getAttribute(name) ?? "";
    const known = element.localName === "input" || element.localName === "textarea";
    return {
      kind: kindOf(element), takes: known || element.isContentEditable || element.localName === "select",
      placeholder: told("placeholder"), pattern: told("pattern"), title: told("title"), min: told("min"), max: told("max"), step: told("step"),
      maxlength: known && element.maxLength >= 0 ? element.maxLength : -1, inputmode: told("inputmode"), autocomplete: told("autocomplete"),
      name: `${told("name")} ${told("id")}`, language: element.closest("[lang]")?.lang ?? "", readonly: known && element.readOnly,
      disabled: disabled(element), own: element === sitelore.element(number),
    };
  }

  function content(number) {
    const element = field(number);
    return element === null ? "" : element.isContentEditable ? element.innerText : valueOf(element);
  }

  // Index of the first text that the field accepts, -1 for none; tried on a copy that is not in the page.
  function pick(number, texts) {
    const element = field(number);
    if (element === null || element.localName !== "input") return 0;
    const trial = element.cloneNode();
    for (let at = 0; at < texts.length; at++) {
      let text = texts[at];
      trial.value = text;
      if (text !== "" && trial.value === "") continue;
      if (element.type === "color" && trial.value !== text.toLowerCase()) continue;
      const off = trial.validity;
      if (!off.badInput && !off.typeMismatch && !off.patternMismatch && !off.rangeUnderflow && !off.rangeOverflow && !off.stepMismatch) return at;
    }
    return -1;
  }

  function colour(text) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = "#010203";
    pen.fillStyle = text;
    return pen.fillStyle === "#010203" ? "" : pen.fillStyle;
  }

  function selectAll(number) {
    const element = field(number);
    if (element === null) return false;
    element.focus({ preventScroll: true });
    if (element.isContentEditable) {
      const range = document.createRange();
      range.selectNodeContents(element);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    } else element.select?.();
    return focused() === element;
  }

  function choices(number) {
    const element = field(number);
    if (element === null || element.localName !== "select") return null;
    return [...element.options].map((option) => ({
      label: short(option.label || option.text, 300), value: option.value, off: option.disabled || option.parentElement.disabled === true, chosen: option.selected,
    }));
  }

  function ticked(number) {
    const element = box(number);
    if (element === null) return null;
    if (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) return element.checked;
    for (const name of ["aria-checked", "aria-pressed", "aria-selected"]) {
      const told = element.getAttribute(name);
      if (told !== null) return told === "true";
    }
    return null;
  }

  // Selects part of an element's text, from one character to another; -1 is its end.
  function mark(number, start, end) {
    const element = sitelore.element(number);
    if (element === null) return false;
    if (element.localName === "textarea" || (element.localName === "input" && element.selectionStart !== null)) {
      element.focus();
      element.setSelectionRange(start, end < 0 ? element.value.length : end);
      return start <= element.value.length;
    }
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let passed = 0;
    let begun = false;
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (!begun && start <= passed + node.length) {
        range.setStart(node, Math.max(0, start - passed));
        begun = true;
      }
      if (begun) {
        range.setEnd(node, end < 0 ? node.length : Math.max(range.startContainer === node ? range.startOffset : 0, Math.min(node.length, end - passed)));
        if (end >= 0 && end <= passed + node.length) break;
      }
      passed += node.length;
    }
    if (!begun || range.collapsed) return false;
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return true;
  }

  const TRACKS = "[class*=slider],[class*=Slider],[class*=range],[class*=track],[class*=rail]";

  // A slider: its handle, its track, and its attributes.
  function slider(number) {
    const element = sitelore.element(number);
    if (element === null) return null;
    const native = [element, ...element.querySelectorAll("input[type=range]"), ...(element.shadowRoot?.querySelectorAll("input[type=range]") ?? [])]
      .find((one) => one.localName === "input" && one.type === "range");
    if (native) return { native: true, now: Number(native.value), min: Number(native.min || 0), max: Number(native.max || 100), step: Number(native.step) || 1 };
    const handle = handleOf(element);
    const told = (name) => (handle.hasAttribute(name) ? Number(handle.getAttribute(name)) : null);
    const track = handle.parentElement?.closest(TRACKS) ?? handle.parentElement ?? handle;
    const grip = handle.getBoundingClientRect();
    const rail = track.getBoundingClientRect();
    const upright = handle.getAttribute("aria-orientation") === "vertical" || rail.height > rail.width * 1.5;
    return {
      native: false, now: told("aria-valuenow"), min: told("aria-valuemin"), max: told("aria-valuemax"), step: null, upright,
      grip: [grip.x, grip.y, grip.width, grip.height], rail: [rail.x, rail.y, rail.width, rail.height],
    };
  }

  function handleOf(element) {
    if (element.getAttribute("role") === "slider" || /handle|thumb/i.test(element.getAttribute("class") ?? "")) return element;
    return element.querySelector("[role=slider],[class*=handle],[class*=thumb]") ?? element.shadowRoot?.querySelector("[role=slider],[class*=thumb]") ?? element;
  }

  const rangeField = (number) => {
    const element = sitelore.element(number);
    if (element === null || (element.localName === "input" && element.type === "range")) return element;
    return element.querySelector("input[type=range]") ?? element.shadowRoot?.querySelector("input[type=range]") ?? element;
  };

  function grasp(number) {
    const handle = handleOf(sitelore.element(number));
    handle.focus({ preventScroll: true });
    return focused() === handle;
  }

  // Standalone numbers on the page, in texts and fields: one of them may show a slider's value.
  let shown = [];
  function readings() {
    shown = [];
    const walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null && shown.length < 400; node = walker.nextNode())
      if (/\d/.test(node.data) && node.data.length < 60) shown.push(node.parentElement);
    for (const one of document.querySelectorAll("input,output")) if (shown.length < 500 && one.type !== "password") shown.push(one);
    return read();
  }
  const read = () => shown.map((one) => short((one.localName === "input" ? one.value : one.textContent) ?? "", 60));

  return {
    field, box, fileField, facts, content, pick, colour, selectAll, choices, ticked, mark, slider, rangeField, grasp, readings, read, short, focused,
  };
}
