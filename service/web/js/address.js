/** Keeps the address in step with the page, and the page with the address. */

import { copyWith } from "./clipboard.js";
import { byId } from "./dom.js";
import { fromFragment, toFragment } from "./share.js";

/** Browsers refuse more than a few changes a second. */
const PAUSE_MS = 400;

/**
 * @param {import("./state.js").Store} store
 * @param {import("./session.js").Session} session
 */
export function mountAddress(store, session) {
  let timer = 0;
  const write = () => {
    clearTimeout(timer);
    if (store.state.catalog) history.replaceState(null, "", toFragment(store.state).fragment);
  };
  store.watch(
    ["text", "source", "target", "objective", "strength", "decoder", "beamSize", "samples", "alternatives"],
    () => {
      clearTimeout(timer);
      timer = setTimeout(write, PAUSE_MS);
    },
  );
  addEventListener("hashchange", () => {
    if (store.state.catalog) session.apply(fromFragment(location.hash), true);
  });

  const share = byId("share");
  share.addEventListener("click", () => {
    write();
    const { hasText } = toFragment(store.state);
    copyWith(share, location.href, hasText ? "Link copied" : "Copied without the text");
    share.title = hasText ? "" : "The text is too long for an address; the link carries the settings only.";
  });
}
