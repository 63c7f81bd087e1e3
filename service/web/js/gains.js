/** What an objective was measured to gain, in a badge and in a sentence. */

import { displayName } from "./catalog.js";
import { create } from "./dom.js";

/** @typedef {import("./types.js").Gain} Gain */

const LOWER_IS_BETTER = new Set(["perplexity", "ter"]);
/** Neither up nor down is better: what is wanted is up to the objective. */
const NEUTRAL = new Set(["length_ratio"]);
/** The usual bound for calling a difference significant. */
const SIGNIFICANT_P = 0.05;

/**
 * "+0.9 BLEU", green only if it is better and not by chance.
 * @param {Gain} gain
 */
export function gainBadge(gain) {
  const difference = gain.actor - gain.greedy;
  const isSure = gain.p === null || gain.p < SIGNIFICANT_P;
  const isBetter = LOWER_IS_BETTER.has(gain.metric) ? difference < 0 : difference > 0;
  const isJudged = isSure && difference !== 0 && !NEUTRAL.has(gain.metric);
  return create("span", {
    class: "gain",
    "data-better": isJudged && isBetter,
    "data-worse": isJudged && !isBetter,
    title: gainWords(gain),
  }, `${formatDifference(difference)} ${displayName(gain.metric)}`);
}

/**
 * "tatoeba-test: BLEU 40.1 → 41.0 (beam 41.3), p = 0.002"
 * @param {Gain} gain
 */
export function gainWords(gain) {
  const beam = gain.beam === null ? "" : ` (beam ${format(gain.beam)})`;
  return `${gain.test_set}: ${displayName(gain.metric)} ${format(gain.greedy)} → ${format(gain.actor)}${beam}${chance(gain)}`;
}

/**
 * The objective in a sentence: what it aims for, what it gained, what it costs.
 * @param {import("./types.js").Objective} objective
 * @returns {Array<Node|string>}
 */
export function measuredWords(objective) {
  if (objective.name === "none") return ["Plain decoding: no actor, the frozen model alone."];
  if (objective.gains.length === 0) return [`${displayName(objective.name)} has no measured gain in this bundle.`];
  return objective.gains.flatMap((gain, index) => {
    const beam = gain.beam === null ? "" : ` (beam ${format(gain.beam)})`;
    return [
      index ? " · " : "Measured with greedy decoding: ",
      `${gain.test_set} ${displayName(gain.metric)} `,
      create("strong", {}, `${format(gain.greedy)} → ${format(gain.actor)}`),
      `${beam}${chance(gain)}`,
    ];
  });
}

/** @param {Gain} gain */
function chance(gain) {
  if (gain.p === null) return "";
  return gain.p < 0.001 ? ", p < 0.001" : `, p = ${Number(gain.p.toPrecision(2))}`;
}

/** @param {number} value */
function format(value) {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

/** @param {number} difference */
function formatDifference(difference) {
  const digits = Math.abs(difference).toFixed(Math.abs(difference) < 1 ? 2 : 1);
  return (difference < 0 ? "−" : "+") + digits;
}
