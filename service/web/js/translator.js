/** Translates as you type: waits for a pause, gives up the request before, shows the answer as it is decoded. */

import { Failure } from "./failures.js";
import { Preview } from "./preview.js";
import { countCharacters, requestOf } from "./request.js";

const TYPING_PAUSE_MS = 220;
const SETTING_PAUSE_MS = 40;

export class Translator {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./api.js").Api} api
   */
  constructor(store, api) {
    this.store = store;
    this.api = api;
    this.timer = 0;
    /** @type {AbortController|null} */
    this.controller = null;
    /** The request that the shown answer belongs to. */
    this.answered = {};
    store.watch(["text"], () => this.schedule(TYPING_PAUSE_MS));
    store.watch(
      ["source", "target", "objective", "strength", "decoder", "beamSize", "samples", "alternatives", "influence"],
      () => this.schedule(SETTING_PAUSE_MS),
    );
  }

  /** @param {number} pauseMs */
  schedule(pauseMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), pauseMs);
  }

  /** Translate what there is now; `again` also if the answer is there already. */
  async run({ again = false } = {}) {
    clearTimeout(this.timer);
    const { state } = this.store;
    if (!state.catalog) return;
    const request = requestOf(state);
    if (!again && state.status === "done" && isCovered(request, this.answered)) {
      this.controller?.abort();
      this.store.update({ preview: null, failure: null });
      return;
    }
    this.controller?.abort();
    this.controller = null;
    if (!state.text.trim()) {
      this.answered = {};
      this.store.update({ status: "idle", answer: null, answeredText: "", preview: null, failure: null });
    } else if (countCharacters(state.text) > state.catalog.limits.charLimit) {
      this.store.update({ status: "idle", preview: null, failure: null }); // the counter says so
    } else {
      await this.#translate(request);
    }
  }

  /** @param {ReturnType<typeof requestOf>} request */
  async #translate(request) {
    const controller = new AbortController();
    this.controller = controller;
    this.store.update({ status: "working", preview: null });
    try {
      const answer = await this.#stream(request, controller.signal);
      this.answered = request;
      this.store.update({ status: "done", answer, answeredText: request.q, preview: null, failure: null });
    } catch (error) {
      if (controller.signal.aborted) return; // a newer request has taken over
      if (!(error instanceof Failure)) throw error;
      this.store.update({ status: "failed", preview: null, failure: error });
    } finally {
      if (this.controller === controller) this.controller = null;
    }
  }

  /**
   * @param {ReturnType<typeof requestOf>} request
   * @param {AbortSignal} signal
   */
  async #stream(request, signal) {
    const preview = new Preview(request.q);
    let answer = null;
    let frame = 0;
    const show = () => {
      frame = 0;
      if (!signal.aborted) this.store.update({ preview: String(preview) });
    };
    try {
      for await (const event of this.api.stream(request, signal)) {
        // Read on to the end: a body that is left unread costs the connection.
        if (event.name === "done") answer = event.data;
        preview.add(event);
        if (!frame && !preview.isEmpty) frame = requestAnimationFrame(show);
      }
    } finally {
      cancelAnimationFrame(frame);
    }
    return answer;
  }
}

/**
 * Whether an answered request tells all that another one would: explanations may be more than was asked for.
 * @param {object} request
 * @param {object} answered
 */
function isCovered(request, answered) {
  const { explain: wanted, ...rest } = request;
  const { explain: given, ...rest2 } = answered;
  return JSON.stringify(rest) === JSON.stringify(rest2) && (!wanted || Boolean(given));
}
