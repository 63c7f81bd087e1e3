/** Which tokens each word of a translation is made of, and how much the actor had to do with it. */

import { splitWords } from "./words.js";

/**
 * @typedef {import("./types.js").Token} Token
 * @typedef {import("./types.js").ExplainedSentence} ExplainedSentence
 * @typedef {{text: string, tokens: Token[], influence: number, logProbability: number}} Word
 */

/** Upper bounds, in nats, of the colours; beyond the last is the strongest one. */
const HEATS = [0.01, 0.05, 0.2, 0.5, 1];
/** A token is looked for this far ahead; restored text (names, emoji) may lie between two tokens. */
const LOOK_AHEAD = 80;
/** What the token that ends a sentence is called. */
export const END = "end of sentence";

/**
 * The whole text as pieces; those without tokens are spaces and text that was carried over.
 * @param {string} text
 * @param {ExplainedSentence[]} sentences
 * @param {string} language
 * @returns {Word[]}
 */
export function explainWords(text, sentences, language) {
  const spans = tokenSpans(text, sentences);
  let position = 0;
  let next = 0;
  return splitWords(text, language).map((piece) => {
    const end = position + piece.length;
    /** @type {Token[]} */
    const tokens = [];
    // A token may reach over several words; it is told at the first of them.
    while (next < spans.length && spans[next].start < end) {
      tokens.push(spans[next].token);
      next += 1;
    }
    position = end;
    return {
      text: piece,
      tokens,
      influence: sum(tokens.map((token) => token.influence)),
      logProbability: sum(tokens.map((token) => token.logProbability)),
    };
  });
}

/**
 * 0 … 5 for an influence in nats.
 * @param {number} influence
 */
export function heatOf(influence) {
  const heat = HEATS.findIndex((bound) => influence < bound);
  return heat < 0 ? HEATS.length : heat;
}

/**
 * Where in the text each token starts.  A token without visible text goes with the next one, the end of a sentence
 * with the last one.
 * @param {string} text
 * @param {ExplainedSentence[]} sentences
 */
function tokenSpans(text, sentences) {
  /** @type {Array<{start: number, token: Token}>} */
  const spans = [];
  let cursor = 0;
  for (const sentence of sentences) {
    const start = text.indexOf(sentence.translatedText, cursor);
    if (start < 0) continue;
    const end = start + sentence.translatedText.length;
    cursor = start;
    /** @type {Token[]} */
    let waiting = [];
    for (const token of sentence.tokens) {
      const visible = token.text.trim();
      const found = visible ? text.indexOf(visible, cursor) : -1;
      if (found < 0 || found >= end || found > cursor + LOOK_AHEAD) {
        waiting.push(token);
        continue;
      }
      spans.push(...[...waiting, token].map((each) => ({ start: found, token: each })));
      waiting = [];
      cursor = found + visible.length;
    }
    const last = Math.max(start, cursor - 1);
    spans.push(...waiting.map((token) => ({ start: last, token: token.text ? token : { ...token, text: END } })));
    cursor = end;
  }
  return spans;
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
