/** One text under every objective, with plain greedy and beam 5 beside, and what differs from plain greedy. */

import { currentPair, displayName } from "./catalog.js";
import { byId, create, layOut } from "./dom.js";
import { factsOf } from "./facts.js";
import { Failure } from "./failures.js";
import { countCharacters } from "./request.js";
import { diffWords } from "./words.js";

/**
 * @typedef {import("./types.js").Answer} Answer
 * @typedef {import("./types.js").Pair} Pair
 * @typedef {{name: string, detail: string, settings: object}} Variant
 */

/** Longer texts cannot be compared at a glance. */
const LONGEST_TEXT = 1_000;
const BEAM_SIZE = 5;

export class Comparison {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./api.js").Api} api
   */
  constructor(store, api) {
    this.store = store;
    this.api = api;
    this.button = byId("compare");
    this.list = byId("comparisons");
    /** @type {AbortController|null} */
    this.controller = null;
    this.comparedText = "";
    this.button.addEventListener("click", () => this.run());
    store.watch(["text", "catalog", "source", "target"], () => this.#drawState());
  }

  async run() {
    if (this.button.disabled) return;
    const { state } = this.store;
    const pair = currentPair(state);
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.comparedText = comparedKey(state);
    const request = { q: state.text, source: state.source, target: state.target };
    const variants = variantsOf(pair, state.catalog.limits);
    const cards = variants.map(waitingCard);
    this.list.replaceChildren(...cards);
    layOut(this.list, 4);
    this.list.hidden = false;
    this.#drawState();
    this.#say("Comparing…");
    try {
      /** @type {Answer|null} */
      let plain = null;
      // One after the other, or they would share a batch and nobody could tell whose time is whose.
      for (const [index, variant] of variants.entries()) {
        const answer = await this.api.translate({ ...request, ...variant.settings }, controller.signal);
        plain ??= answer;
        cards[index].replaceWith(finishedCard(variant, answer, plain, pair));
      }
      this.#say("Each ran once, one after the other. Scores under an objective are those of the nudged model.");
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      for (const card of this.list.querySelectorAll("[data-waiting]")) card.remove();
      this.#say(`${error.title} ${error.message}`, true);
    }
  }

  /** The button, and whether what is shown belongs to another text. */
  #drawState() {
    const { state } = this.store;
    const count = countCharacters(state.text);
    this.button.disabled = !state.catalog || !state.text.trim() || count > LONGEST_TEXT;
    byId("compare-hint").textContent = count > LONGEST_TEXT
      ? `Up to ${LONGEST_TEXT.toLocaleString("en")} characters can be compared; this text has ${count.toLocaleString("en")}.`
      : `The same text under every objective, with plain greedy and beam ${beamSize(state.catalog)} beside.`;
    const isStale = !this.list.hidden && comparedKey(state) !== this.comparedText;
    this.list.toggleAttribute("data-stale", isStale);
    if (isStale) this.#say("The text or a language has changed since.");
    this.button.textContent = isStale ? "Compare again" : "Compare";
  }

  /**
   * @param {string} words
   * @param {boolean} [isProblem]
   */
  #say(words, isProblem = false) {
    byId("compare-state").textContent = words;
    byId("compare-state").toggleAttribute("data-problem", isProblem);
  }
}

/**
 * Plain greedy first: all others are held against it.
 * @param {Pair} pair
 * @param {import("./types.js").Limits} limits
 * @returns {Variant[]}
 */
export function variantsOf(pair, limits) {
  const size = Math.min(BEAM_SIZE, limits.maxBeamSize);
  const actors = pair.objectives.filter(({ name }) => name !== "none");
  return [
    { name: "Plain", detail: "greedy", settings: { objective: "none", decoder: "greedy" } },
    ...actors.map(({ name }) => ({ name: displayName(name), detail: "greedy", settings: { objective: name, decoder: "greedy" } })),
    { name: "Plain", detail: `beam ${size}`, settings: { objective: "none", decoder: "beam", beam_size: size } },
  ];
}

/** @param {import("./types.js").Catalog|null} catalog */
function beamSize(catalog) {
  return Math.min(BEAM_SIZE, catalog?.limits.maxBeamSize ?? BEAM_SIZE);
}

/** @param {import("./types.js").State} state */
function comparedKey(state) {
  return JSON.stringify([state.text, state.source, state.target]);
}

/** @param {Variant} variant */
function waitingCard(variant) {
  return create("li", { class: "comparison", "data-waiting": true }, heading(variant), create("p", { class: "comparison-text" }, "…"));
}

/**
 * @param {Variant} variant
 * @param {Answer} answer
 * @param {Answer} plain
 * @param {Pair} pair
 */
function finishedCard(variant, answer, plain, pair) {
  const isBaseline = answer === plain;
  const changes = diffWords(plain.translatedText, answer.translatedText, answer.target);
  const tags = { same: "span", added: "ins", removed: "del" };
  const isSame = changes.every(({ kind }) => kind === "same");
  return create("li", { class: "comparison", "data-baseline": isBaseline, "data-same": isSame && !isBaseline },
    heading(variant),
    create("p", { class: "comparison-text", dir: "auto", lang: answer.target },
      // The space after a changed word stays outside of it, or it would be struck out or underlined, too.
      ...changes.flatMap(({ kind, text }) => [create(tags[kind], {}, text.trimEnd()), text.slice(text.trimEnd().length)])),
    ...(isSame && !isBaseline ? [create("p", { class: "sameness" }, "The same words as plain greedy")] : []),
    create("dl", { class: "facts" }, ...factsOf(answer, pair)));
}

/** @param {Variant} variant */
function heading(variant) {
  return create("h3", {}, variant.name, create("span", {}, variant.detail));
}
