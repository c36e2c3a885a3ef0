// Hit testing in this frame: numbers of the last capture's elements and frames under points, the front one first.
// Open shadow roots are entered; nothing is changed.
(points) => {
  const elements = new Map();
  const frames = new Map();
  for (let number = 0, element; (element = sitelore.element(number)) !== null; number++) elements.set(element, number);
  for (let number = 0, frame; (frame = sitelore.frame(number)) !== null; number++) frames.set(frame, number);

  const MOST_SHADOWS = 20;

  // The visual stack: the content of a shadow root comes before its host.
  const stackOf = (root, x, y, depth) => {
    const stack = [];
    for (const element of root.elementsFromPoint(x, y)) {
      if (element.getRootNode() !== root) continue;
      const inner = element.shadowRoot;
      if (inner && depth < MOST_SHADOWS) stack.push(...stackOf(inner, x, y, depth + 1));
      stack.push(element);
    }
    return stack;
  };

  const around = (node) => {
    if (node.assignedSlot) return node.assignedSlot;
    const parent = node.parentNode;
    return parent === null ? null : parent.nodeType === 11 ? parent.host ?? null : parent;
  };

  const cornerOf = (frame) => {
    const rect = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const px = (name) => parseFloat(style[name]) || 0;
    return [rect.x + px("borderLeftWidth") + px("paddingLeft"), rect.y + px("borderTopWidth") + px("paddingTop")];
  };

  const answer = points.map(([x, y]) => {
    const found = [];
    const seen = new Set();
    for (const start of stackOf(document, x, y, 0)) {
      const tag = start.localName;
      if (tag === "iframe" || tag === "frame") {
        found.push([1, frames.get(start) ?? -1]);
        continue;
      }
      // The nearest operable ancestor; a label stands for its control.
      for (let node = start; node !== null && node.nodeType === 1; node = around(node)) {
        const number = elements.get(node) ?? elements.get(node.localName === "label" ? node.control : undefined);
        if (number === undefined) continue;
        if (!seen.has(number)) {
          seen.add(number);
          found.push([0, number]);
        }
        break;
      }
    }
    return found;
  });
  return JSON.stringify({ stacks: answer, corners: [...frames.keys()].map(cornerOf) });
}
