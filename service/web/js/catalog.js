/** Questions to what is served: which targets a source has, which pair a choice means, what a pair can aim for. */

/**
 * @typedef {import("./types.js").Catalog} Catalog
 * @typedef {import("./types.js").Pair} Pair
 * @typedef {import("./types.js").State} State
 */

/**
 * @param {Catalog} catalog
 * @param {string} code
 */
export function languageName(catalog, code) {
  return catalog.languages.find((language) => language.code === code)?.name ?? code;
}

/** @param {Catalog} catalog */
export function sourceCodes(catalog) {
  return catalog.languages.filter((language) => language.targets.length).map((language) => language.code);
}

/**
 * What a source can be translated to; with "auto", all there is.
 * @param {Catalog} catalog
 * @param {string} source
 */
export function targetCodes(catalog, source) {
  const targets = catalog.languages
    .filter((language) => source === "auto" || language.code === source)
    .flatMap((language) => language.targets);
  return [...new Set(targets)].sort();
}

/**
 * @param {Catalog} catalog
 * @param {string} source
 * @param {string} target
 */
export function isServed(catalog, source, target) {
  return targetCodes(catalog, source).includes(target);
}

/**
 * The source language as far as it is known: chosen, detected, or null.
 * @param {State} state
 */
export function knownSource(state) {
  if (state.source !== "auto") return state.source;
  return state.text.trim() ? state.answer?.detectedLanguage?.language ?? null : null;
}

/**
 * The pair that a choice of languages means.  As long as nothing is detected, the first one with that target.
 * @param {State} state
 * @returns {Pair|null}
 */
export function currentPair(state) {
  const pairs = (state.catalog?.pairs ?? []).filter((pair) => pair.target === state.target);
  return pairs.find((pair) => pair.source === knownSource(state)) ?? pairs[0] ?? null;
}

/**
 * The names in a blend and their weights: "bleu:0.7,chrf:0.3", "bleu", "none".
 * @param {string} objective
 * @returns {Array<[string, number]>}
 */
export function parseBlend(objective) {
  if (objective === "none" || !objective) return [];
  return objective.split(",").map((part) => {
    const [name, weight] = part.split(":");
    return [name, weight === undefined ? 1 : Number(weight)];
  });
}

/** @param {string} objective */
export function isBlend(objective) {
  return objective.includes(":");
}

/**
 * Whether the pair has an actor for everything the objective names.
 * @param {Pair} pair
 * @param {string} objective
 */
export function hasObjective(pair, objective) {
  const names = pair.objectives.map(({ name }) => name);
  return parseBlend(objective).every(([name, weight]) => names.includes(name) && weight >= 0 && weight <= 2);
}

const NAMES = { none: "Plain", bleu: "BLEU", chrf: "chrF", bleu2: "BLEU-2", npad: "NPAD" };

/**
 * A name as people write it: "BLEU", "chrF", "Concise".
 * @param {string} name
 */
export function displayName(name) {
  return NAMES[name] ?? (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll(/[_-]/g, " ");
}

/**
 * "BLEU", or "BLEU 0.7 + chrF 0.3".
 * @param {string} objective
 */
export function objectiveName(objective) {
  const parts = parseBlend(objective);
  if (!isBlend(objective)) return displayName(parts[0]?.[0] ?? "none");
  return parts.filter(([, weight]) => weight > 0).map(([name, weight]) => `${displayName(name)} ${weight}`).join(" + ") || "Plain";
}
