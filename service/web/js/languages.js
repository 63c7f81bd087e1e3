/** From which language to which, what was detected, and swapping the two. */

import { currentPair, isServed, knownSource, languageName, sourceCodes, targetCodes } from "./catalog.js";
import { announce, byId, create } from "./dom.js";

/** @typedef {import("./types.js").State} State */

/** @param {import("./state.js").Store} store */
export function mountLanguages(store) {
  const source = byId("source");
  const target = byId("target");
  const detected = byId("detected");
  const swap = byId("swap");

  source.addEventListener("change", () => {
    const { catalog, target: old } = store.state;
    const targets = targetCodes(catalog, source.value);
    store.update({ source: source.value, target: targets.includes(old) ? old : targets[0] });
  });
  target.addEventListener("change", () => store.update({ target: target.value }));
  swap.addEventListener("click", () => swapLanguages(store));

  const drawChoices = () => {
    const { catalog } = store.state;
    if (!catalog) return;
    const name = (code) => create("option", { value: code }, languageName(catalog, code));
    source.replaceChildren(create("option", { value: "auto" }, "Detect language"), ...sourceCodes(catalog).map(name));
    target.replaceChildren(...targetCodes(catalog, store.state.source).map(name));
    source.value = store.state.source;
    target.value = store.state.target;
  };
  const drawDetected = () => {
    detected.textContent = detectedWords(store.state);
    const { from, to, isPossible } = swapped(store.state);
    swap.disabled = !isPossible;
    const { catalog } = store.state;
    swap.title = isPossible || !catalog || !to ? "Swap languages (Alt S)"
      : `No model translates from ${languageName(catalog, from)} to ${languageName(catalog, to)}`;
  };
  store.watch(["catalog", "source", "target"], drawChoices);
  store.watch(["catalog", "source", "target", "answer", "text"], drawDetected);
}

/** @param {State} state */
function detectedWords(state) {
  const found = state.answer?.detectedLanguage;
  if (state.source !== "auto" || !found || !state.text.trim()) return "";
  const sure = found.confidence > 0 ? `, ${found.confidence} %` : "";
  return `Detected: ${languageName(state.catalog, found.language)}${sure}`;
}

/** @param {State} state */
function swapped(state) {
  const from = state.target;
  const to = knownSource(state) ?? currentPair(state)?.source ?? "";
  return { from, to, isPossible: Boolean(state.catalog && to && isServed(state.catalog, from, to)) };
}

/**
 * The translation becomes the text; if it is not there yet, only the languages change places.
 * @param {import("./state.js").Store} store
 */
export function swapLanguages(store) {
  const { state } = store;
  const { from, to, isPossible } = swapped(state);
  if (!isPossible) return;
  const isAnswered = state.answer !== null && state.answeredText === state.text && state.status === "done";
  store.update({ source: from, target: to, text: isAnswered ? state.answer.translatedText : state.text });
  announce(`From ${languageName(state.catalog, from)} to ${languageName(state.catalog, to)}`);
}
