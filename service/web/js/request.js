/** The request for what the page is set to, and the same for a terminal. */

/** @typedef {import("./types.js").State} State */

/** Explaining costs a second row of the batch and a long answer: not for whole documents. */
export const EXPLAINED_CHARACTERS = 5_000;

/**
 * Characters as the service counts them: code points.
 * @param {string} text
 */
export function countCharacters(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * The body of POST /translate.
 * @param {State} state
 */
export function requestOf(state) {
  const hasActor = state.objective !== "none";
  return {
    q: state.text,
    source: state.source,
    target: state.target,
    objective: state.objective,
    ...(hasActor && state.strength !== 1 && { strength: state.strength }),
    decoder: state.decoder,
    ...(state.decoder === "beam" && { beam_size: state.beamSize }),
    ...(state.decoder === "npad" && { samples: state.samples }),
    ...(state.alternatives > 0 && { alternatives: state.alternatives }),
    ...(isExplained(state) && { explain: true }),
  };
}

/** @param {State} state */
export function isExplained(state) {
  return state.influence && state.objective !== "none" && state.text.length <= EXPLAINED_CHARACTERS;
}

/**
 * The same request as a command for a POSIX shell.
 * @param {object} request
 * @param {string} address  of the service, with a slash at the end
 * @param {boolean} hasKey
 */
export function curlOf(request, address, hasKey) {
  return [
    `curl ${quote(new URL("translate", address).href)}`,
    `-H ${quote("Content-Type: application/json")}`,
    ...(hasKey ? ['-H "Authorization: Bearer $NUDGE_KEY"'] : []),
    `-d ${quote(JSON.stringify(request))}`,
  ].join(" \\\n  ");
}

/** @param {string} argument */
function quote(argument) {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
