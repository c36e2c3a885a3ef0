"""BrowserGym's own observation of pages, in a process and an environment of its own; run by ``observation.py``.

Reads a JSON line for each page (address, setup script, repetitions), answers with one.  It knows nothing of this
program: it runs where ``browsergym-core`` is installed and this program is not.
"""

import json
import statistics
import sys
import time

from browsergym.core import observation  # pyright: ignore
from browsergym.utils.obs import flatten_axtree_to_str  # pyright: ignore
from playwright.sync_api import sync_playwright

VISIBLE = 0.5
"""Minimum share of an element in view for BrowserGym to call it visible."""

# Full paths as the other side writes them; a label also stands for its control.
DESCRIBE = """names => names.map(bid => {
  const path = element => {
    const steps = [];
    for (let at = element; at && at.nodeType === 1; at = at.parentNode) {
      if (at.parentNode && at.parentNode.nodeType === 11) return "";
      const tag = at.localName;
      const plain = /^[a-z][a-z0-9-]*$/.test(tag) && at.namespaceURI === "http://www.w3.org/1999/xhtml";
      const alike = at.parentNode ? [...at.parentNode.children].filter(other => other.localName === tag) : [at];
      const node = plain ? tag : `*[name()='${tag}']`;
      steps.unshift(alike.length === 1 ? node : `${node}[${alike.indexOf(at) + 1}]`);
    }
    return "/" + steps.join("/");
  };
  const found = document.querySelector(`[bid="${CSS.escape(bid)}"]`);
  if (!found) return null;
  const box = found.getBoundingClientRect();
  const control = found.localName === "label" ? found.control : null;
  return {
    path: path(found), tag: found.localName, box: [box.x, box.y, box.width, box.height],
    control: control ? path(control) : "", words: found.textContent.trim().slice(0, 40),
  };
})"""


def look(page):
    """One observation as BrowserGym's environment makes it, without its picture."""
    observation._pre_extract(page)
    dom = observation.extract_dom_snapshot(page)
    tree = observation.extract_merged_axtree(page)
    more = observation.extract_dom_extra_properties(dom)
    observation._post_extract(page)
    return flatten_axtree_to_str(tree, extra_properties=more), more


def main():
    options = json.loads(sys.argv[1])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(headless=True, **options["launch"])
        width, height = options["size"]
        page = browser.new_context(
            viewport={"width": width, "height": height}, locale="en-GB", timezone_id="UTC"
        ).new_page()
        for line in sys.stdin:
            print(json.dumps(observed(page, json.loads(line))), flush=True)
        browser.close()


def observed(page, asked):
    page.goto(asked["url"])
    if asked["setup"]:
        page.evaluate(*asked["setup"])
    page.wait_for_timeout(asked["rest"] * 1000)
    seconds = []
    for _ in range(asked["rounds"]):
        began = time.perf_counter()
        text, more = look(page)
        seconds.append(time.perf_counter() - began)
    wanted = [
        bid
        for bid, told in more.items()
        if told["clickable"] and (told["visibility"] or 0) >= VISIBLE and told["bbox"]
    ]
    numbered = [bid for bid, told in more.items() if (told["visibility"] or 0) >= VISIBLE and told["bbox"]]
    here = [bid for bid in wanted if bid.isdigit()]  # those in frames have letters in front
    return {
        "text": text,
        "seconds": statistics.median(seconds),
        "targets": [told for told in page.evaluate(DESCRIBE, here) if told],
        "numbered": [
            told["path"]
            for told in page.evaluate(DESCRIBE, [bid for bid in numbered if bid.isdigit()])
            if told
        ],
    }


if __name__ == "__main__":
    main()
