// The document as HTML, as it is now: fields carry what was typed, ticked and chosen; secrets are left out.
//
// The copy lies in a document of its own, where no picture is loaded and no script of a custom element runs.
(function liveHtml() {
  const HIDDEN = new Set(["current-password", "new-password", "cc-number", "cc-csc", "one-time-code"]);
  const FIELDS = "input, textarea, select";

  const isSecret = (field) =>
    field.type === "password" ||
    (field.getAttribute("autocomplete") || "").toLowerCase().split(/\s+/).some((word) => HIDDEN.has(word));

  function setFlag(element, name, on) {
    if (on) element.setAttribute(name, "");
    else element.removeAttribute(name);
  }

  function writeInput(field, copy) {
    if (isSecret(field)) copy.removeAttribute("value");
    else if (field.type === "checkbox" || field.type === "radio") setFlag(copy, "checked", field.checked);
    else if (field.type !== "file") copy.setAttribute("value", field.value);
  }

  function writeSelect(field, copy) {
    const options = copy.querySelectorAll("option");
    field.querySelectorAll("option").forEach((option, at) => setFlag(options[at], "selected", option.selected));
  }

  const root = document.documentElement;
  if (!root) return "";
  const copy = document.implementation.createHTMLDocument("").importNode(root, true);
  const copies = copy.querySelectorAll(FIELDS);
  root.querySelectorAll(FIELDS).forEach((field, at) => {
    const name = field.localName;
    if (name === "input") writeInput(field, copies[at]);
    else if (name === "textarea") copies[at].textContent = isSecret(field) ? "" : field.value;
    else writeSelect(field, copies[at]);
  });
  const kind = document.doctype;
  return (kind ? `<!DOCTYPE ${kind.name}>` : "") + copy.outerHTML;
})()
