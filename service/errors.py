"""Everything that can go wrong for a caller of the service, as one tree.

    NudgeError                      500 internal_error
    ├── InvalidRequest              400 invalid_request      the request cannot be read at all
    │   ├── InvalidParameter        400 invalid_parameter    one parameter is missing or has a bad value
    │   ├── UnsupportedLanguage     400 unsupported_language no bundle serves this language or pair
    │   ├── UnknownObjective        400 unknown_objective    the pair has no actor of that name
    │   └── TextTooLong             400 text_too_long        more characters than the limit (413 for DeepL clients)
    ├── InvalidKey                  403 invalid_key          missing, unknown or revoked API key
    ├── NotFound                    404 not_found
    ├── MethodNotAllowed            405 method_not_allowed
    ├── BodyTooSlow                 408 body_too_slow        the body did not arrive in time
    ├── BodyTooLarge                413 body_too_large       refused before the body is read
    ├── UnsupportedMediaType        415 unsupported_media_type
    ├── RateLimited                 429 rate_limited         too many requests in a minute; Retry-After
    ├── QuotaExceeded               429 quota_exceeded       the key's characters are used up (456 for DeepL clients)
    ├── Busy                        503 busy                 the queue is full; Retry-After
    ├── NotReady                    503 not_ready            no bundle is loaded (yet), or shutting down; Retry-After
    ├── DeadlineExceeded            504 deadline_exceeded    the request did not finish in its time
    └── CallerGone                  499 caller_gone          the caller hung up; nobody reads this

    StartupError                    not for callers: stops `nudge serve` with its message
    └── SettingsError               settings that cannot be used; carries every problem at once

The constructor takes facts; HTTP happens only in `service.api.failures`, which also maps the exceptions of the engine
and of the bundle loader onto this tree.  A message says what was given, what is allowed and what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class NudgeError(Exception):
    """Base of the tree.  `status` and `code` are the contract with callers; the text of the message is not."""

    status = 500
    code = "internal_error"
    # DeepL's clients give some statuses another meaning; None means the same as `status`.
    deepl_status: int | None = None

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        self.message = message
        self.retry_after_s = retry_after_s
        super().__init__(message)


class InvalidRequest(NudgeError):
    status = 400
    code = "invalid_request"


class InvalidParameter(InvalidRequest):
    """One parameter is missing or has a bad value."""

    code = "invalid_parameter"

    def __init__(self, name: str, given: object, allowed: str) -> None:
        self.name = name
        super().__init__(f"{name}: {_shown(given)} was given, but {allowed}.")

    @classmethod
    def missing(cls, name: str, meaning: str) -> "InvalidParameter":
        error = cls(name, None, meaning)
        error.message = f"{name} is missing: {meaning}."
        return error


class UnsupportedLanguage(InvalidRequest):
    """No bundle serves this language or this pair."""

    code = "unsupported_language"

    @classmethod
    def pair(cls, source: str, target: str, served: Iterable[str]) -> "UnsupportedLanguage":
        return cls(f"No model translates from {_shown(source)} to {_shown(target)}. Served: {_listed(served)}.")

    @classmethod
    def code_of(cls, name: str, given: str, served: Iterable[str]) -> "UnsupportedLanguage":
        return cls(f"{name}: {_shown(given)} is not a served language. Served: {_listed(served)}.")


class UnknownObjective(InvalidRequest):
    """The pair has no actor for this objective."""

    code = "unknown_objective"

    def __init__(self, given: str, pair: str, available: Iterable[str]) -> None:
        names = [*available, "none"]
        hint = nearest(given, names)
        super().__init__(
            f"objective: {_shown(given)} is not an objective of {pair}. Available: {_listed(names)}.{hint}"
            " See /objectives for what each one optimises."
        )


class TextTooLong(InvalidRequest):
    """More characters than the limit."""

    code = "text_too_long"
    deepl_status = 413

    def __init__(self, given: int, limit: int) -> None:
        super().__init__(
            f"The text has {given} characters, but one request may have {limit}. Send it in smaller parts."
        )


class InvalidKey(NudgeError):
    status = 403
    code = "invalid_key"

    def __init__(self, was_given: bool) -> None:
        if was_given:
            message = "This API key is not known or was revoked. Ask the operator of this service for another one."
        else:
            message = (
                "This service needs an API key, and none was given. Send it as the parameter api_key or in the header"
                " Authorization: DeepL-Auth-Key <key>."
            )
        super().__init__(message)


class NotFound(NudgeError):
    status = 404
    code = "not_found"


class MethodNotAllowed(NudgeError):
    status = 405
    code = "method_not_allowed"


class BodyTooSlow(NudgeError):
    status = 408
    code = "body_too_slow"

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"The body did not arrive within {limit_s:g} s. Send it again, faster or in parts.")


class BodyTooLarge(NudgeError):
    status = 413
    code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The body is larger than {limit_bytes} bytes, which is the limit. Send the text in parts.")


class UnsupportedMediaType(NudgeError):
    status = 415
    code = "unsupported_media_type"

    def __init__(self, given: str) -> None:
        super().__init__(
            f"The body has the content type {_shown(given)}. Send application/json,"
            " application/x-www-form-urlencoded or multipart/form-data."
        )


class RateLimited(NudgeError):
    status = 429
    code = "rate_limited"

    def __init__(self, per_minute: int, retry_after_s: float) -> None:
        super().__init__(f"More than {per_minute} requests in a minute. Slow down, then try again.", retry_after_s)


class QuotaExceeded(NudgeError):
    status = 429
    code = "quota_exceeded"
    deepl_status = 456

    def __init__(self, used: int, limit: int, retry_after_s: float) -> None:
        super().__init__(
            f"This request does not fit into the key's {limit} characters a month ({used} are used)."
            " Wait for the next month, or ask the operator for a larger quota.",
            retry_after_s,
        )


class Busy(NudgeError):
    status = 503
    code = "busy"


class NotReady(NudgeError):
    status = 503
    code = "not_ready"


class DeadlineExceeded(NudgeError):
    status = 504
    code = "deadline_exceeded"


class CallerGone(NudgeError):
    """The caller hung up.  The status is nginx's, and only the log and the metrics see it."""

    status = 499
    code = "caller_gone"

    def __init__(self) -> None:
        super().__init__("The caller hung up before the answer was ready.")


class StartupError(Exception):
    """The service cannot start; the message is for the operator."""


class SettingsError(StartupError):
    """Settings that cannot be used.  `problems` holds one line for each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(
            f"{len(problems)} problem(s) in the settings\n" + "\n".join(f"  - {line}" for line in problems)
        )


def nearest(given: str, names: Iterable[str]) -> str:
    """' Did you mean …?' when one of the names is close to what was given, else ''."""
    close = get_close_matches(given, list(names), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _shown(given: object) -> str:
    """What the caller gave, short enough for a message and never more than one line."""
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…'"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing yet"
