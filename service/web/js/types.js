/**
 * What the service answers and what the page knows, for editors and readers.  No code.
 *
 * @typedef {{code: string, name: string, targets: string[]}} Language
 * @typedef {{test_set: string, metric: string, greedy: number, actor: number, beam: number|null, p: number|null}} Gain
 * @typedef {{name: string, optimises: string, method: string|null, gains: Gain[],
 *            milliseconds_per_token: Record<string, number|null>}} Objective
 * @typedef {{source: string, target: string, model: {name: string, version: string, parameters: number},
 *            default: string, beam_size: number, samples: number, confidence: string|null,
 *            objectives: Objective[]}} Pair
 * @typedef {{charLimit: number, apiKeys: boolean, keyRequired: boolean, maxBeamSize: number, maxSamples: number,
 *            maxAlternatives: number, language: {source: {code: string}, target: {code: string}}}} Limits
 * @typedef {{languages: Language[], pairs: Pair[], limits: Limits}} Catalog
 *
 * @typedef {{text: string, logProbability: number, influence: number}} Token
 * @typedef {{source: string, translatedText: string, tokens: Token[]}} ExplainedSentence
 * @typedef {{translatedText: string, detectedLanguage?: {confidence: number, language: string},
 *            alternatives?: string[], source: string, target: string, objective: string, decoder: string,
 *            score: number|null, confidence: number|null, truncated: boolean, repetitive: boolean,
 *            model: string|null, timing: {total_ms: number, queue_ms: number, decode_ms: number, tokens: number},
 *            explain?: ExplainedSentence[]}} Answer
 *
 * @typedef {"greedy"|"beam"|"npad"} Decoder
 *
 * @typedef {object} State
 * @property {Catalog|null} catalog  null until the service has told what it serves
 * @property {string} text
 * @property {string} source  a code, or "auto"
 * @property {string} target
 * @property {string} objective  as it is sent: "none", "bleu", or a blend "bleu:0.7,chrf:0.3"
 * @property {number} strength
 * @property {Decoder} decoder
 * @property {number} beamSize
 * @property {number} samples
 * @property {number} alternatives
 * @property {boolean} influence  whether words are coloured
 * @property {"idle"|"working"|"done"|"failed"} status
 * @property {string|null} preview  what has been decoded so far, while it streams
 * @property {Answer|null} answer  the last whole answer
 * @property {string} answeredText  the text it is the answer to
 * @property {import("./failures.js").Failure|null} failure
 */
export {};
