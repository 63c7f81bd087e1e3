/** What is wrong, what happens next, and a way to try again; and the same in a word at the top of the page. */

import { byId } from "./dom.js";

/** Tries after which the wait is longest: 2, 4, 8, 16, 30 seconds. */
const LONGEST_WAIT_S = 30;
/** A short translation is no news. */
const WORKING_AFTER_MS = 300;
const STATUS = {
  starting: "Starting",
  busy: "Busy",
  unreachable: "Unreachable",
  refused: "Refused",
  failed: "Failed",
};

export class Banner {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./api.js").Api} api
   * @param {() => void} retry
   */
  constructor(store, api, retry) {
    this.store = store;
    this.retry = retry;
    this.timer = 0;
    this.tries = 0;
    byId("retry").addEventListener("click", () => this.#retryNow());
    byId("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      api.useKey(byId("key").value.trim());
      this.#retryNow();
    });
    addEventListener("online", () => {
      if (store.state.failure?.kind === "unreachable") this.#retryNow();
    });
    store.watch(["failure"], () => this.#draw());
    mountStatus(store);
  }

  #draw() {
    clearInterval(this.timer);
    const { failure } = this.store.state;
    const banner = byId("banner");
    banner.hidden = failure === null;
    if (failure === null) {
      this.tries = 0;
      return;
    }
    banner.dataset.kind = failure.kind;
    setText("banner-title", failure.title);
    setText("banner-message", failure.message);
    setText("banner-id", failure.requestId && failure.kind !== "starting" ? `request ${failure.requestId}` : "");
    setText("banner-countdown", "");
    byId("key-form").hidden = !failure.needsKey;
    byId("retry").hidden = failure.needsKey;
    if (failure.retryAfterS !== null) this.#countDown(this.#wait(failure));
  }

  /**
   * What the service asked for; if it cannot be reached, longer each time.
   * @param {import("./failures.js").Failure} failure
   */
  #wait(failure) {
    if (failure.kind !== "unreachable") return Math.ceil(failure.retryAfterS);
    this.tries += 1;
    return Math.min(LONGEST_WAIT_S, 2 ** this.tries);
  }

  /** @param {number} seconds */
  #countDown(seconds) {
    const end = performance.now() + 1_000 * seconds;
    const tick = () => {
      const left = Math.ceil((end - performance.now()) / 1_000);
      if (left <= 0) this.#retryNow();
      else setText("banner-countdown", `Trying again in ${left} s`);
    };
    this.timer = setInterval(tick, 250);
    tick();
  }

  #retryNow() {
    clearInterval(this.timer);
    setText("banner-countdown", "Trying…");
    this.retry();
  }
}

/**
 * Only what differs is written, or a screen reader would read the alert again at every try.
 * @param {string} id
 * @param {string} text
 */
function setText(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** @param {import("./state.js").Store} store */
function mountStatus(store) {
  let timer = 0;
  const show = (kind, words) => {
    byId("status").dataset.kind = kind;
    setText("status-text", words);
  };
  const draw = () => {
    clearTimeout(timer);
    const { failure, catalog, status } = store.state;
    if (failure) show(failure.kind, STATUS[failure.kind]);
    else if (!catalog) show("loading", "Connecting");
    else if (status === "working") timer = setTimeout(() => show("working", "Translating"), WORKING_AFTER_MS);
    else show("ready", "Ready");
  };
  store.watch(["failure", "catalog", "status"], draw);
  draw();
}
