/** Words: splitting a text, which of them differ between two texts, and which tokens each is made of. */

/**
 * A text as words and what is between them; joined they are the text.
 * @param {string} text
 * @param {string} language
 * @returns {string[]}
 */
export function splitWords(text, language) {
  if (!("Segmenter" in Intl)) return text.match(/\s+|\S+/g) ?? [];
  return [...new Intl.Segmenter(language, { granularity: "word" }).segment(text)].map(({ segment }) => segment);
}

/**
 * @typedef {{kind: "same"|"added"|"removed", text: string}} Change
 */

/**
 * What became of `before` in `after`, by a longest common subsequence of words.
 * @param {string} before
 * @param {string} after
 * @param {string} language
 * @returns {Change[]}
 */
export function diffWords(before, after, language) {
  const old = withSpace(splitWords(before, language));
  const now = withSpace(splitWords(after, language));
  const lengths = commonLengths(old, now);
  /** @type {Change[]} */
  const changes = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i].word === now[j].word) {
      push(changes, "same", now[j].text);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      push(changes, "removed", old[i].text);
      i += 1;
    } else {
      push(changes, "added", now[j].text);
      j += 1;
    }
  }
  return changes;
}

/**
 * Each word with the space after it, so that a changed word takes its space along.
 * @param {string[]} pieces
 */
function withSpace(pieces) {
  /** @type {Array<{word: string, text: string}>} */
  const words = [];
  for (const piece of pieces) {
    if (!piece.trim() && words.length) words[words.length - 1].text += piece;
    else words.push({ word: piece, text: piece });
  }
  return words;
}

/**
 * lengths[i][j]: the longest common subsequence of old[i…] and now[j…].
 * @param {Array<{word: string}>} old
 * @param {Array<{word: string}>} now
 */
function commonLengths(old, now) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = old[i].word === now[j].word
        ? lengths[i + 1][j + 1] + 1
        : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

/**
 * @param {Change[]} changes
 * @param {Change["kind"]} kind
 * @param {string} text
 */
function push(changes, kind, text) {
  const last = changes.at(-1);
  if (last?.kind === kind) last.text += text;
  else changes.push({ kind, text });
}
