/** The one place that knows what the page shows: a plain object, changed by patches, watched by whoever draws it. */

/** @typedef {import("./types.js").State} State */

/** @returns {State} */
export function initialState() {
  return {
    catalog: null,
    text: "",
    source: "auto",
    target: "",
    objective: "none",
    strength: 1,
    decoder: "greedy",
    beamSize: 5,
    samples: 10,
    alternatives: 0,
    influence: true,
    status: "idle",
    preview: null,
    answer: null,
    answeredText: "",
    failure: null,
  };
}

export class Store {
  /** @param {State} state */
  constructor(state) {
    /** @readonly */
    this.state = state;
    /** @type {Array<{keys: Set<string>, draw: (state: State) => void}>} */
    this.watchers = [];
  }

  /**
   * Change some values; those who watch one that really changed are told, in the order in which they came.
   * @param {Partial<State>} patch
   */
  update(patch) {
    const changed = Object.keys(patch).filter((key) => !Object.is(patch[key], this.state[key]));
    if (changed.length === 0) return;
    Object.assign(this.state, patch);
    for (const { keys, draw } of this.watchers) {
      if (changed.some((key) => keys.has(key))) draw(this.state);
    }
  }

  /**
   * Call `draw` whenever one of the values changes.
   * @param {Array<keyof State>} keys
   * @param {(state: State) => void} draw
   */
  watch(keys, draw) {
    this.watchers.push({ keys: new Set(keys), draw });
  }
}
