// Begins the one episode of a page of MiniWoB++ as soon as it has loaded: seeded, without its time limit of 10 s.
//
// The reward of the first episode stands: a page that is loaded again can't better it.
(function setup(seed, milliseconds) {
  if (globalThis !== globalThis.top) return;
  const HIDDEN = "#reward-display, #click-canvas, #sync-task-cover { display: none !important }";
  const KEY = "sitelore-miniwob-reward:" + location.pathname;

  function keep(reward) {
    try {
      if (sessionStorage.getItem(KEY) === null) sessionStorage.setItem(KEY, String(reward));
    } catch {
      // a page without storage keeps its reward as long as it stands
    }
  }

  function begin() {
    if (typeof core === "undefined" || typeof core.startEpisodeReal !== "function") return;
    Object.defineProperty(globalThis, "sitelore_first_reward", {
      get() {
        const kept = sessionStorage.getItem(KEY);
        return kept === null ? null : Number(kept);
      },
    });
    const style = document.createElement("style");
    style.textContent = HIDDEN;
    document.head.append(style);
    const end = core.endEpisode;
    core.endEpisode = function endEpisode(...given) {
      const before = core.EP_TIMER;
      const told = end.apply(core, given);
      if (before !== null) keep(WOB_RAW_REWARD_GLOBAL);
      return told;
    };
    Math.seedrandom(seed);
    core.EPISODE_MAX_TIME = milliseconds;
    if (core.cover_div == null) core.startEpisode();
    core.startEpisodeReal();
    clearInterval(core.CD_TIMER); // it would change the page every second
    core.startEpisode = () => {}; // no later click begins another episode
  }

  addEventListener("load", () => setTimeout(begin, 0)); // after the page's own listener
})
