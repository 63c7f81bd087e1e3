/** Words coloured by how much the actor had to do with them, and what is behind each: by mouse, touch or arrow keys. */

import { announce, byId, create } from "./dom.js";
import { explainWords, heatOf } from "./explain.js";

/** @typedef {import("./explain.js").Word} Word */

/** @type {WeakMap<Element, Word>} */
const wordOf = new WeakMap();

/**
 * @param {HTMLElement} output
 * @param {import("./types.js").Answer} answer
 */
export function drawWords(output, answer) {
  hideTooltip(output);
  output.replaceChildren(...explainWords(answer.translatedText, answer.explain ?? [], answer.target).map((word) => {
    if (word.tokens.length === 0) return document.createTextNode(word.text);
    const span = create("span", { class: "word", "data-heat": heatOf(word.influence) }, word.text);
    wordOf.set(span, word);
    return span;
  }));
}

/** @param {HTMLElement} output */
export function mountTooltip(output) {
  output.addEventListener("pointerover", (event) => {
    const span = event.target instanceof Element ? event.target.closest(".word") : null;
    if (span) showTooltip(span);
  });
  // A finger leaves as soon as it is lifted: then the next touch elsewhere ends it.
  output.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") hideTooltip(output);
  });
  addEventListener("pointerdown", (event) => {
    if (!(event.target instanceof Element && event.target.closest(".word"))) hideTooltip(output);
  });
  addEventListener("scroll", () => hideTooltip(output), { passive: true });
  output.addEventListener("blur", () => hideTooltip(output));
  output.addEventListener("scroll", () => hideTooltip(output));
  output.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTooltip(output);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
    if (step && !event.altKey && !event.ctrlKey && !event.metaKey && goToWord(output, step)) event.preventDefault();
  });
}

/**
 * @param {HTMLElement} output
 * @param {number} step
 */
function goToWord(output, step) {
  const words = [...output.querySelectorAll(".word")];
  if (words.length === 0) return false;
  const current = words.findIndex((word) => word.hasAttribute("data-current"));
  const next = current < 0 ? (step > 0 ? 0 : words.length - 1) : Math.min(words.length - 1, Math.max(0, current + step));
  words[current]?.removeAttribute("data-current");
  words[next].setAttribute("data-current", "");
  words[next].scrollIntoView({ block: "nearest" });
  showTooltip(words[next]);
  const word = wordOf.get(words[next]);
  announce(`${word.text}: influence ${formatNats(word.influence)}, probability ${formatChance(word.logProbability)}`);
  return true;
}

/** @param {Element} span */
function showTooltip(span) {
  const tooltip = byId("tooltip");
  const word = wordOf.get(span);
  if (!word) return;
  const rows = word.tokens.map((token) => create("tr", {},
    create("td", {}, token.text.trim() || "·"),
    create("td", {}, formatNats(token.influence)),
    create("td", {}, formatChance(token.logProbability))));
  tooltip.replaceChildren(
    create("strong", {}, `${word.text}: ${describe(word.influence)}`),
    create("table", {},
      create("tr", {}, create("th", {}, "subword"), create("th", {}, "influence"), create("th", {}, "probability")),
      ...rows),
  );
  tooltip.hidden = false;
  const at = span.getClientRects()[0] ?? span.getBoundingClientRect();
  const { width, height } = tooltip.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const isAbove = at.bottom + 8 + height > innerHeight;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${isAbove ? at.top - height - 8 : at.bottom + 8}px`;
}

/** @param {HTMLElement} output */
function hideTooltip(output) {
  byId("tooltip").hidden = true;
  output.querySelector("[data-current]")?.removeAttribute("data-current");
}

/** @param {number} nats */
function describe(nats) {
  return ["the actor changed nothing", "a touch of the actor", "nudged a little", "nudged", "nudged strongly", "the actor's choice"][heatOf(nats)];
}

/** @param {number} nats */
function formatNats(nats) {
  return nats < 0.001 ? "0 nats" : `${nats.toFixed(nats < 0.1 ? 3 : 2)} nats`;
}

/** @param {number} logProbability */
function formatChance(logProbability) {
  const percent = 100 * Math.exp(logProbability);
  return `${percent >= 99.95 ? "100" : percent.toFixed(percent < 1 ? 2 : 1)} %`;
}
