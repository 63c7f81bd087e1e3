/** Score, confidence and time of an answer, as people read them. */

import { create } from "./dom.js";

const SCORE_MEANING = "Mean log-probability of a token, under the model as it decoded: with an objective, as the actor"
  + " nudges it. 0 is the highest.";

/**
 * @param {import("./types.js").Answer} answer
 * @param {import("./types.js").Pair|null} pair
 * @returns {HTMLElement[]}  groups for a <dl>
 */
export function factsOf(answer, pair) {
  const { score, confidence, timing } = answer;
  const rows = [];
  if (confidence !== null) {
    rows.push(["Confidence", `${Math.round(100 * confidence)} %`, pair?.confidence ? `Calibrated: ${pair.confidence}.` : ""]);
  }
  if (score !== null) rows.push(["Score", formatScore(score), SCORE_MEANING]);
  rows.push(["Time", formatTime(timing.total_ms), `In the service: ${timing.tokens} tokens, ${formatTime(timing.queue_ms)} in the queue, ${formatTime(timing.decode_ms)} decoding.`]);
  return rows.map(([name, value, meaning]) =>
    create("div", { title: meaning || null }, create("dt", {}, name), create("dd", {}, value)));
}

/** @param {number} score */
export function formatScore(score) {
  return score.toFixed(score > -0.1 ? 3 : 2).replace("-", "−");
}

/** @param {number} milliseconds */
export function formatTime(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
