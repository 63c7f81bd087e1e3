/** From opening the page to the first answer, and back to it after a failure. */

import { Failure } from "./failures.js";
import { fitToCatalog } from "./share.js";

export class Session {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./api.js").Api} api
   * @param {import("./translator.js").Translator} translator
   * @param {(problem: string) => void} tell
   */
  constructor(store, api, translator, tell) {
    this.store = store;
    this.api = api;
    this.translator = translator;
    this.tell = tell;
  }

  /**
   * Ask what is served, fit the wish to it, and translate.  Also the way back after a failure: bundles come and go.
   * @param {Partial<import("./types.js").State>} wish
   * @param {boolean} isLink  whether somebody asked for it: then they are told if it is not served
   */
  async begin(wish = {}, isLink = false) {
    try {
      this.store.update({ catalog: await this.api.catalog() });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.store.update({ failure: error });
      return;
    }
    this.apply(wish, isLink);
    await this.translator.run();
  }

  /**
   * Show what an address or an earlier visit asks for, as far as it is served.
   * @param {Partial<import("./types.js").State>} wish
   * @param {boolean} isLink
   */
  apply(wish, isLink) {
    const { patch, problem } = fitToCatalog(this.store.state, wish);
    this.store.update(patch);
    this.tell(isLink ? problem : "");
  }
}
