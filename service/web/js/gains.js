/** What an objective was measured to gain, in a badge and in a sentence. */

import { displayName } from "./catalog.js";
import { create } from "./dom.js";

/** @typedef {import("./types.js").Gain} Gain */

const LOWER_IS_BETTER = new Set(["perplexity", "ter"]);
/** Neither up nor down is better: what is wanted is up to the objective. */
const NEUTRAL = new Set(["length_ratio"]);
/** Objectives that are measured by a metric of another name. */
const METRICS = { perplexity: "log_probability" };
/** The usual bound for calling a difference significant. */
const SIGNIFICANT_P = 0.05;

/**
 * The gain in what the objective aims for, else the first.
 * @param {import("./types.js").Objective} objective
 * @returns {Gain|undefined}
 */
export function mainGain({ name, gains }) {
  return gains.find(({ metric }) => metric === name) ?? gains.find(({ metric }) => metric === METRICS[name]) ?? gains[0];
}

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
    title: `${gain.test_set}: ${gainWords(gain)}`,
  }, `${formatDifference(difference)} ${displayName(gain.metric)}`);
}

/**
 * "BLEU 40.1 → 41.0 (beam 41.3), p = 0.002"
 * @param {Gain} gain
 */
export function gainWords(gain) {
  const beam = gain.beam === null ? "" : ` (beam ${format(gain.beam)})`;
  return `${displayName(gain.metric)} ${format(gain.greedy)} → ${format(gain.actor)}${beam}${chance(gain)}`;
}

/**
 * What the objective gained, in a sentence for each test set.
 * @param {import("./types.js").Objective} objective
 * @returns {Array<Node|string>}
 */
export function measuredWords(objective) {
  if (objective.name === "none") return ["Plain decoding: the frozen model alone, no actor."];
  if (objective.gains.length === 0) return [`${displayName(objective.name)} has no measured gain in this bundle.`];
  const testSets = [...new Set(objective.gains.map((gain) => gain.test_set))];
  return testSets.map((testSet) => create("span", {},
    create("span", { class: "measured-on" }, `Plain greedy → with this actor, on ${testSet}`),
    ...objective.gains.filter((gain) => gain.test_set === testSet).map((gain) => create("span", { class: "measure" }, gainWords(gain)))));
}

/** @param {Gain} gain */
function chance(gain) {
  if (gain.p === null) return "";
  return gain.p < 0.001 ? ", p < 0.001" : `, p = ${Number(gain.p.toPrecision(2))}`;
}

/** @param {number} value */
function format(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 1 ? 3 : size < 10 ? 2 : 1).replace("-", "−");
}

/** @param {number} difference */
function formatDifference(difference) {
  const size = Math.abs(difference);
  return (difference < 0 ? "−" : "+") + size.toFixed(size < 0.095 ? 3 : size < 0.995 ? 2 : 1);
}
