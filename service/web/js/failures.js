/** What can go wrong between the page and the service, in words for people. */

/** @typedef {"starting"|"busy"|"unreachable"|"refused"|"failed"} FailureKind */

const TITLES = {
  starting: "The service is starting.",
  busy: "The service is busy.",
  unreachable: "The service cannot be reached.",
  refused: "The service refused this.",
  failed: "Something went wrong.",
};
/** Nobody watches a countdown for longer than this; a quota may take weeks. */
const LONGEST_WAIT_S = 120;
const DEFAULT_WAIT_S = 2;

export class Failure extends Error {
  /**
   * @param {FailureKind} kind
   * @param {string} message
   * @param {{code?: string, requestId?: string, retryAfterS?: number|null}} [facts]
   */
  constructor(kind, message, { code = "", requestId = "", retryAfterS = null } = {}) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.requestId = requestId;
    /** Seconds until it is worth trying again by itself; null if it is not. */
    this.retryAfterS = retryAfterS !== null && retryAfterS <= LONGEST_WAIT_S ? retryAfterS : null;
  }

  get title() {
    return TITLES[this.kind];
  }

  get needsKey() {
    return this.code === "invalid_key";
  }

  /** Nothing answered at all. */
  static unreachable() {
    return new Failure("unreachable", "Check the connection, or whether it is running.", { retryAfterS: DEFAULT_WAIT_S });
  }

  /**
   * From an answer that is not a success.
   * @param {Response} response
   */
  static async fromResponse(response) {
    const body = await response.json().catch(() => ({}));
    const header = Number(response.headers.get("Retry-After"));
    return Failure.fromBody(response.status, body, header > 0 ? header : null);
  }

  /**
   * From the last event of a stream that broke off.
   * @param {{error?: string, code?: string, request_id?: string}} body
   */
  static fromEvent(body) {
    const status = { busy: 503, not_ready: 503, deadline_exceeded: 504, rate_limited: 429 }[body.code ?? ""] ?? 500;
    return Failure.fromBody(status, body, null);
  }

  /**
   * @param {number} status
   * @param {{error?: string, code?: string, request_id?: string}} body
   * @param {number|null} retryAfterS
   */
  static fromBody(status, body, retryAfterS) {
    const code = body.code ?? "";
    const kind = kindOf(status, code);
    const mayWait = kind === "starting" || kind === "busy";
    return new Failure(kind, body.error ?? `It answered with status ${status}.`, {
      code,
      requestId: body.request_id ?? "",
      retryAfterS: mayWait ? retryAfterS ?? DEFAULT_WAIT_S : null,
    });
  }
}

/**
 * @param {number} status
 * @param {string} code
 * @returns {FailureKind}
 */
function kindOf(status, code) {
  if (code === "not_ready") return "starting";
  if (code === "quota_exceeded") return "refused";
  if (status === 429 || status === 503) return "busy";
  // A proxy in front of a service that is away.
  if (status === 502) return "unreachable";
  return status >= 500 ? "failed" : "refused";
}
