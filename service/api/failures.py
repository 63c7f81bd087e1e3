"""The one place where an error becomes a response.

Native routes answer `{"error", "code", "request_id"}`; the DeepL routes under /v2 answer `{"message"}`, the only shape
DeepL's clients can read.  A caller never sees a traceback: an unexpected error is logged in full under its request id,
and the answer carries that id only.
"""

import math
import traceback

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from service import errors
from service.bundle.errors import PairNotServed
from service.engine import errors as engine_errors

log = structlog.get_logger("nudge.api")


def to_nudge_error(error: Exception) -> errors.NudgeError:
    """The error of our tree that says the same; NudgeError itself for what nobody foresaw."""
    match error:
        case errors.NudgeError():
            return error
        case engine_errors.Overloaded(retry_after_s=wait_s):
            return errors.Busy(
                f"The queue is full. Try again in about {max(1, math.ceil(wait_s))} s.", retry_after_s=wait_s
            )
        case engine_errors.DeadlineExceeded():
            return errors.DeadlineExceeded(
                "The translation did not finish in time. Send less text at once, ask for a smaller beam or for greedy"
                " decoding, or try again when the service is less busy."
            )
        case engine_errors.EngineClosed() | engine_errors.Cancelled():
            return errors.NotReady("The model is being replaced or the service is stopping. Try again.", 1.0)
        case PairNotServed(source=source, target=target, available=available):
            return errors.UnsupportedLanguage.pair(source, target, [f"{a}-{b}" for a, b in available])
        case HTTPException(status_code=404):
            return errors.NotFound("There is nothing at this address. /docs lists what there is.")
        case HTTPException(status_code=405):
            return errors.MethodNotAllowed("This address does not take this method. /docs lists what it takes.")
        case HTTPException(status_code=status, detail=detail) if status < 500:
            return errors.InvalidRequest(str(detail))
    return errors.NudgeError("Something went wrong on our side. Tell the operator the request id.")


def failure_body(error: errors.NudgeError, request_id: str, is_deepl: bool) -> dict[str, str]:
    """The JSON of an error."""
    if is_deepl:
        return {"message": f"{error.message} (request {request_id})"}
    return {"error": error.message, "code": error.code, "request_id": request_id}


def failure_response(error: Exception, path: str, request_id: str) -> JSONResponse:
    """The response for any exception; logs the ones that are our fault."""
    known = to_nudge_error(error)
    if known.status == 500:
        log.error("request_failed", **describe(error))
    is_deepl = is_deepl_path(path)
    status = known.deepl_status or known.status if is_deepl else known.status
    headers = {}
    if known.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(known.retry_after_s)))
    if isinstance(error, HTTPException) and error.headers:
        headers |= error.headers  # Allow, with a 405
    return JSONResponse(failure_body(known, request_id, is_deepl), status, headers)


def describe(error: BaseException) -> dict[str, object]:
    """What went wrong and where, for the log.  Not the message: it may quote what the user sent."""
    frames = traceback.extract_tb(error.__traceback__)
    return {"error": type(error).__name__, "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]}


async def handle_failure(request: Request, error: Exception) -> JSONResponse:
    """Starlette's exception handler."""
    return failure_response(error, request.url.path, request.state.request_id)


def is_deepl_path(path: str) -> bool:
    return path == "/v2" or path.startswith("/v2/")
