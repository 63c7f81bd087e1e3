/** Calls to the service.  Whatever goes wrong becomes a Failure; only an abort stays what it is. */

import { readEvents } from "./events.js";
import { Failure } from "./failures.js";

/** @typedef {import("./types.js").Answer} Answer */

const KEY_NAME = "nudge.key";

export class Api {
  constructor() {
    /** Kept for this tab only. */
    this.key = readKey();
  }

  /** @param {string} key */
  useKey(key) {
    this.key = key;
    try {
      sessionStorage.setItem(KEY_NAME, key);
    } catch { /* then it lasts until the page is left */ }
  }

  /**
   * What is served, and within which limits.
   * @returns {Promise<import("./types.js").Catalog>}
   */
  async catalog() {
    const [limits, languages, objectives] = await Promise.all(
      ["frontend/settings", "languages", "objectives"].map(async (path) => (await this.#fetch(path)).json()),
    );
    return { limits, languages, pairs: objectives.pairs };
  }

  /**
   * @param {object} request
   * @param {AbortSignal} signal
   * @returns {Promise<Answer>}
   */
  async translate(request, signal) {
    return (await this.#post(request, signal)).json();
  }

  /**
   * The events of a translation as they come; the last one is `done` with the whole answer.
   * @param {object} request
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<{name: string, data: any}>}
   */
  async *stream(request, signal) {
    const response = await this.#post({ ...request, stream: true }, signal);
    let isDone = false;
    try {
      for await (const event of readEvents(response.body)) {
        if (event.name === "error") throw Failure.fromEvent(event.data);
        isDone = event.name === "done";
        yield event;
      }
    } catch (error) {
      throw asFailure(error);
    }
    if (!isDone) throw new Failure("unreachable", "The answer broke off.", { retryAfterS: 2 });
  }

  /**
   * @param {object} request
   * @param {AbortSignal} signal
   */
  #post(request, signal) {
    const headers = { "Content-Type": "application/json" };
    return this.#fetch("translate", { method: "POST", headers, body: JSON.stringify(request), signal });
  }

  /**
   * @param {string} path
   * @param {RequestInit} [options]
   */
  async #fetch(path, options = {}) {
    const headers = new Headers(options.headers);
    if (this.key) headers.set("Authorization", `Bearer ${this.key}`);
    let response;
    try {
      response = await fetch(new URL(path, document.baseURI), { ...options, headers });
    } catch (error) {
      throw asFailure(error);
    }
    if (!response.ok) throw await Failure.fromResponse(response);
    return response;
  }
}

/** @param {unknown} error */
function asFailure(error) {
  const isKnown = error instanceof Failure || (error instanceof DOMException && error.name === "AbortError");
  return isKnown ? error : Failure.unreachable();
}

function readKey() {
  try {
    return sessionStorage.getItem(KEY_NAME) ?? "";
  } catch {
    return "";
  }
}
