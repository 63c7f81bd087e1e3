/** The address of what the page shows.  Everything is in the fragment, which browsers never send: no log sees the text. */

import { isServed, currentPair, hasObjective } from "./catalog.js";

/** @typedef {import("./types.js").State} State */

/** Mail programs and chats break longer addresses. */
const LONGEST_FRAGMENT = 8_000;
/** @type {import("./types.js").Decoder[]} */
const DECODERS = ["greedy", "beam", "npad"];

/**
 * @param {State} state
 * @returns {{fragment: string, hasText: boolean}}  without the text if that is too long for an address
 */
export function toFragment(state) {
  const values = new URLSearchParams({ source: state.source, target: state.target });
  if (state.objective !== "none") values.set("objective", state.objective);
  if (state.strength !== 1) values.set("strength", String(state.strength));
  if (state.decoder !== "greedy") values.set("decoder", state.decoder);
  if (state.decoder === "beam") values.set("beam_size", String(state.beamSize));
  if (state.decoder === "npad") values.set("samples", String(state.samples));
  if (state.alternatives) values.set("alternatives", String(state.alternatives));
  const bare = `#${values}`;
  if (!state.text) return { fragment: bare, hasText: true };
  values.set("text", state.text);
  const whole = `#${values}`;
  return whole.length > LONGEST_FRAGMENT ? { fragment: bare, hasText: false } : { fragment: whole, hasText: true };
}

/**
 * What an address asks for.  What makes no sense is left out: an address may come from anywhere.
 * @param {string} fragment
 * @returns {Partial<State>}
 */
export function fromFragment(fragment) {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {Partial<State>} */
  const patch = {};
  for (const name of ["text", "source", "target", "objective"]) {
    if (values.has(name)) patch[name] = values.get(name);
  }
  if (Object.keys(patch).length === 0) return {};
  // What an address does not say is as it is at first, so that the same address shows the same thing.
  patch.text ??= "";
  patch.source ??= "auto";
  patch.objective ??= "none";
  patch.decoder = DECODERS.find((name) => name === values.get("decoder")) ?? "greedy";
  patch.strength = numberIn(values.get("strength"), 0, 2) ?? 1;
  patch.alternatives = wholeIn(values.get("alternatives"), 0, 9) ?? 0;
  const beamSize = wholeIn(values.get("beam_size"), 1, 10);
  const samples = wholeIn(values.get("samples"), 1, 16);
  if (beamSize !== null) patch.beamSize = beamSize;
  if (samples !== null) patch.samples = samples;
  if (patch.decoder === "greedy") patch.alternatives = 0;
  return patch;
}

/**
 * Fit wishes, from an address or an earlier visit, to what is served.
 * @param {State} state
 * @param {Partial<State>} wish
 * @returns {{patch: Partial<State>, problem: string}}  the problem in words, "" if there is none
 */
export function fitToCatalog(state, wish) {
  const { languages, limits } = state.catalog;
  const patch = { ...state, ...wish };
  const problems = [];
  const isSource = patch.source === "auto" || languages.some(({ code }) => code === patch.source);
  if (!isSource || !isServed(state.catalog, patch.source, patch.target)) {
    if (wish.target) problems.push(`no model translates from ${patch.source} to ${patch.target}`);
    patch.source = "auto";
    if (!isServed(state.catalog, "auto", patch.target)) patch.target = limits.language.target.code;
  }
  const pair = currentPair(patch);
  if (pair && !hasObjective(pair, patch.objective)) {
    problems.push(`${patch.objective} is not an objective of ${pair.source}-${pair.target}`);
    patch.objective = pair.default;
  }
  patch.beamSize = Math.min(patch.beamSize, limits.maxBeamSize);
  patch.samples = Math.min(patch.samples, limits.maxSamples);
  patch.alternatives = Math.min(patch.alternatives, limits.maxAlternatives);
  const { text, source, target, objective, strength, decoder, beamSize, samples, alternatives } = patch;
  const problem = problems.length ? `This link asks for something that is not served: ${problems.join("; ")}.` : "";
  return { patch: { text, source, target, objective, strength, decoder, beamSize, samples, alternatives }, problem };
}

/**
 * @param {string|null} text
 * @param {number} low
 * @param {number} high
 */
function numberIn(text, low, high) {
  const value = text ? Number(text) : NaN;
  return value >= low && value <= high ? value : null;
}

/**
 * @param {string|null} text
 * @param {number} low
 * @param {number} high
 */
function wholeIn(text, low, high) {
  const value = numberIn(text, low, high);
  return Number.isInteger(value) ? value : null;
}
