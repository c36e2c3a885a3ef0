// Resolves to true once the document has been unchanged for `quiet` ms, to false after `most` ms.
//
// It is watched for `least` ms in any case; `acted` says that an action was just done, so that idleness is counted from
// now on; otherwise from the end of loading.  Runs in an isolated world and changes nothing: it only observes.
// Endless changes are ignored: ticking text, infinite animations, styles that move for more than 1.5 s.
({ quiet, most, least, acted }) =>
  new Promise((resolve) => {
    const STYLE_COUNTS_FOR = 1500;
    const LATE_LOAD = 3000;
    const NATURES = ["class", "style"];
    const WATCHED = [
      ...NATURES, "hidden", "open", "disabled", "href", "role", "tabindex", "checked", "selected",
      "aria-expanded", "aria-hidden", "aria-selected", "aria-checked", "aria-pressed", "aria-label", "aria-busy",
    ];
    const began = performance.now();
    let last = acted ? began : 0;
    let grew = false;
    const observed = new WeakSet();

    const tells = (change) => {
      if (change.type === "attributes") {
        return !NATURES.includes(change.attributeName) || performance.now() - began < STYLE_COUNTS_FOR;
      }
      const nodes = [...change.addedNodes, ...change.removedNodes];
      return nodes.some((node) => node.nodeType === Node.ELEMENT_NODE);
    };
    const observer = new MutationObserver((changes) => {
      if (!changes.some(tells)) return;
      last = performance.now();
      grew = true;
    });
    const watch = (root) => {
      if (!root) return;
      if (!observed.has(root)) {
        observed.add(root);
        observer.observe(root, {
          subtree: true, childList: true, attributes: true, attributeFilter: WATCHED,
        });
      }
      for (const element of root.querySelectorAll("*")) {
        if (element.shadowRoot) watch(element.shadowRoot);
        if (element.tagName === "IFRAME" || element.tagName === "FRAME") {
          try {
            watch(element.contentDocument);
          } catch {
            // cross-origin: only its traffic is visible
          }
        }
      }
    };
    const loadedAt = () => {
      const entry = performance.getEntriesByType("navigation")[0];
      return entry ? Math.max(entry.loadEventEnd, entry.domContentLoadedEventEnd) : 0;
    };
    const moving = () => {
      try {
        return document.getAnimations().some((animation) => {
          const timing = animation.effect && animation.effect.getComputedTiming();
          if (!timing || animation.playState !== "running" || !Number.isFinite(timing.endTime)) return false;
          return timing.endTime - (animation.currentTime || 0) <= STYLE_COUNTS_FOR;
        });
      } catch {
        return false;
      }
    };
    const end = (still) => {
      observer.disconnect();
      resolve(still);
    };
    const look = () => {
      const now = performance.now();
      if (grew) {
        grew = false;
        watch(document);
      }
      const loading = document.readyState !== "complete" && now - began < LATE_LOAD;
      const since = Math.max(last, loadedAt());
      if (now - began < STYLE_COUNTS_FOR && moving()) last = now;
      if (!loading && now - began >= least && now - Math.max(since, last) >= quiet) return end(true);
      if (now - began >= most) return end(false);
      setTimeout(look, 15);
    };
    watch(document);
    look();
  });
