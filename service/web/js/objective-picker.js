/** The objective: a card for each, with what it gained; blends of several; the strength of the nudge. */

import { currentPair, displayName, hasObjective, isBlend, objectiveName, parseBlend } from "./catalog.js";
import { byId, create, layOut } from "./dom.js";
import { gainBadge, mainGain, measuredWords } from "./gains.js";

/**
 * @typedef {import("./types.js").Pair} Pair
 * @typedef {import("./state.js").Store} Store
 */

const BLEND = "blend";
const MAX_WEIGHT = 1;

/** @param {Store} store */
export function mountObjectivePicker(store) {
  const cards = byId("objectives");
  /** @type {Pair|null} */
  let drawn = null;

  cards.addEventListener("change", (event) => {
    const { value } = event.target;
    store.update({ objective: value === BLEND ? evenBlend(currentPair(store.state)) : value });
  });

  const draw = () => {
    const { state } = store;
    const pair = currentPair(state);
    if (!pair) return;
    if (pair !== drawn) {
      drawn = pair;
      cards.replaceChildren(...cardsOf(pair));
      layOut(cards, 3);
    }
    if (!hasObjective(pair, state.objective)) {
      store.update({ objective: pair.default });
      return; // drawn by that
    }
    const chosen = isBlend(state.objective) ? BLEND : state.objective;
    for (const radio of cards.querySelectorAll("input")) radio.checked = radio.value === chosen;
    drawBlend(store, pair);
    drawMeasured(pair, state.objective);
  };
  store.watch(["catalog", "source", "target", "answer", "objective"], draw);
  mountStrength(store);
}

/**
 * Choose by number, as the shortcut does: 1 is the first card.
 * @param {number} number
 */
export function chooseCard(number) {
  const radio = byId("objectives").querySelectorAll("input")[number - 1];
  radio?.click();
  radio?.focus();
}

/** @param {Pair} pair */
function cardsOf(pair) {
  const cards = pair.objectives.map((objective) => {
    const gain = mainGain(objective);
    const aim = objective.name === "none" ? "no actor: the model alone" : objective.optimises;
    return card(objective.name, displayName(objective.name), aim, gain ? [gainBadge(gain)] : []);
  });
  if (pair.objectives.length > 2) cards.push(card(BLEND, "Blend", "several objectives, weighted", []));
  return cards;
}

/**
 * @param {string} value
 * @param {string} name
 * @param {string} aim
 * @param {Node[]} badges
 */
function card(value, name, aim, badges) {
  return create("label", { class: "card" },
    create("input", { type: "radio", name: "objective", value }),
    create("span", { class: "card-face" },
      create("span", { class: "card-name" }, name, ...badges),
      create("span", { class: "card-aim" }, aim)));
}

/** @param {Pair} pair */
function evenBlend(pair) {
  const names = actorNames(pair);
  return names.map((name) => `${name}:${round(1 / names.length)}`).join(",");
}

/**
 * @param {Store} store
 * @param {Pair} pair
 */
function drawBlend(store, pair) {
  const panel = byId("blend");
  const { objective } = store.state;
  panel.hidden = !isBlend(objective);
  if (panel.hidden) return;
  const weights = new Map(parseBlend(objective));
  const names = actorNames(pair);
  if (panel.dataset.names !== names.join()) {
    panel.dataset.names = names.join();
    panel.replaceChildren(...names.map((name) => create("div", { class: "dial" },
      create("label", { for: `weight-${name}` }, displayName(name)),
      create("output", { for: `weight-${name}` }),
      create("input", { id: `weight-${name}`, type: "range", min: 0, max: MAX_WEIGHT, step: 0.05 }))));
    panel.oninput = () => {
      const parts = [...panel.querySelectorAll("input")].map((slider) => `${slider.id.slice("weight-".length)}:${round(Number(slider.value))}`);
      store.update({ objective: parts.join(",") });
    };
  }
  for (const slider of panel.querySelectorAll("input")) {
    const weight = weights.get(slider.id.slice("weight-".length)) ?? 0;
    slider.value = String(weight);
    slider.previousElementSibling.textContent = weight.toFixed(2);
  }
}

/**
 * @param {Pair} pair
 * @param {string} chosen
 */
function drawMeasured(pair, chosen) {
  const objective = pair.objectives.find(({ name }) => name === chosen);
  byId("measured").replaceChildren(...(objective ? measuredWords(objective) : [`A blend: ${objectiveName(chosen)}.`]));
}

/** @param {Store} store */
function mountStrength(store) {
  const slider = byId("strength");
  slider.addEventListener("input", () => store.update({ strength: round(Number(slider.value)) }));
  const draw = () => {
    slider.value = String(store.state.strength);
    slider.disabled = store.state.objective === "none";
    byId("strength-value").textContent = store.state.strength.toFixed(2);
  };
  store.watch(["strength", "objective"], draw);
  draw();
}

/** @param {Pair} pair */
function actorNames(pair) {
  return pair.objectives.map(({ name }) => name).filter((name) => name !== "none");
}

/** @param {number} value */
function round(value) {
  return Math.round(100 * value) / 100;
}
