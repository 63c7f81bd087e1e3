/** What the browser remembers between visits: settings, never text. */

const NAME = "nudge.settings";
/** @type {Array<keyof import("./types.js").State>} */
const REMEMBERED = ["source", "target", "objective", "strength", "decoder", "beamSize", "samples", "influence"];

/** @returns {Partial<import("./types.js").State>} */
export function loadPreferences() {
  try {
    const saved = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return Object.fromEntries(REMEMBERED.filter((key) => key in saved).map((key) => [key, saved[key]]));
  } catch {
    return {}; // storage is shut off, or holds something else
  }
}

/** @param {import("./state.js").Store} store */
export function keepPreferences(store) {
  store.watch(REMEMBERED, (state) => {
    try {
      localStorage.setItem(NAME, JSON.stringify(Object.fromEntries(REMEMBERED.map((key) => [key, state[key]]))));
    } catch { /* then nothing is remembered */ }
  });
}
