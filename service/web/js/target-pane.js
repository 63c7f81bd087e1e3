/** The translation: as it streams, when it is there, and what is known about it. */

import { currentPair, languageName } from "./catalog.js";
import { copyWith } from "./clipboard.js";
import { announce, byId, create, icon } from "./dom.js";
import { factsOf } from "./facts.js";
import { drawWords } from "./influence.js";
import { EXPLAINED_CHARACTERS, isExplained } from "./request.js";

/** @typedef {import("./types.js").State} State */

/** A screen reader is told when typing has come to rest. */
const ANNOUNCE_AFTER_MS = 900;
const ANNOUNCED_CHARACTERS = 400;

/** @param {import("./state.js").Store} store */
export function mountTargetPane(store) {
  const pane = byId("target-pane");
  const output = byId("output");
  const copy = byId("copy");

  const drawText = () => {
    const { state } = store;
    const { answer, preview, status } = state;
    const text = preview ?? answer?.translatedText ?? "";
    output.lang = state.target;
    if (preview === null && answer?.explain && isExplained(state)) drawWords(output, answer);
    else output.textContent = text;
    output.toggleAttribute("data-streaming", preview !== null);
    output.setAttribute("aria-busy", String(status === "working"));
    if (text) output.removeAttribute("data-empty");
    else output.dataset.empty = "Translation";
    const isOld = answer !== null && state.answeredText !== state.text && status === "idle";
    pane.toggleAttribute("data-stale", Boolean(text) && preview === null && (isOld || status === "failed" || status === "working"));
    copy.disabled = !text || preview !== null;
  };
  const drawFacts = () => {
    const { state } = store;
    byId("facts").replaceChildren(...(state.answer ? factsOf(state.answer, currentPair(state)) : []));
    const notes = state.answer ? notesOf(state) : [];
    byId("notes").textContent = notes.join(" ");
    byId("notes").hidden = notes.length === 0;
    drawAlternatives(state.answer?.alternatives ?? [], state.target);
  };
  store.watch(["answer", "preview", "status", "influence", "objective"], drawText);
  store.watch(["answer", "influence"], drawFacts);
  copy.addEventListener("click", () => copyWith(copy, store.state.answer?.translatedText ?? ""));

  let timer = 0;
  store.watch(["answer"], ({ answer }) => {
    clearTimeout(timer);
    if (!answer) return;
    timer = setTimeout(() => announce(answer.translatedText.slice(0, ANNOUNCED_CHARACTERS)), ANNOUNCE_AFTER_MS);
  });
  drawText();
}

/** @param {State} state */
function notesOf(state) {
  const { answer } = state;
  const notes = [];
  if (answer.model === null && answer.translatedText.trim()) {
    notes.push(`This is ${languageName(state.catalog, answer.target)} already; nothing was changed.`);
  }
  if (answer.truncated) notes.push("A sentence reached the length limit and may be incomplete.");
  if (answer.repetitive) notes.push("A sentence began to repeat itself and was stopped.");
  if (state.influence && state.objective !== "none" && state.text.length > EXPLAINED_CHARACTERS) {
    notes.push(`Words are coloured up to ${EXPLAINED_CHARACTERS.toLocaleString("en")} characters.`);
  }
  return notes;
}

/**
 * @param {string[]} alternatives
 * @param {string} language
 */
function drawAlternatives(alternatives, language) {
  byId("alternatives").hidden = alternatives.length === 0;
  byId("alternatives-list").replaceChildren(...alternatives.map((text) => {
    const button = create("button", { class: "button small", type: "button", "aria-label": "Copy this alternative" }, icon("copy"), create("span", {}, "Copy"));
    button.addEventListener("click", () => copyWith(button, text));
    return create("li", {}, create("span", { dir: "auto", lang: language }, text), button);
  }));
}
