"""The file of API keys.  It holds hashes only: a key is shown once, when it is made.

A key is `nudge_<id>_<secret>` with 32 random bytes of secret, so one sha256 is enough: there is no password to guess.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.errors import StartupError

FILE_VERSION = 1
MAX_NAME = 100


class ApiKey(BaseModel):
    """What is known of a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    name: str = Field(min_length=1, max_length=MAX_NAME)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    created: datetime
    revoked: datetime | None = None
    requests_per_minute: int = Field(0, ge=0, description="0 = no limit")
    characters_per_month: int = Field(0, ge=0, description="0 = no limit")


class KeyFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int = FILE_VERSION
    keys: list[ApiKey] = []


class KeyStore:
    """Reads the file again whenever it has changed, so that a revoked key is refused without a restart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._by_id: dict[str, ApiKey] = {}
        self.reload()

    def reload(self) -> None:
        """Read the file if it has changed; a broken one keeps the keys of the last good one and raises."""
        status = self.path.stat()
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._by_id = {key.id: key for key in read_key_file(self.path).keys}
            self._stamp = stamp

    def find(self, token: str) -> ApiKey | None:
        """The key that `token` is, unless it is unknown or revoked."""
        prefix, _, rest = token.partition("_")
        key = self._by_id.get(rest.partition("_")[0]) if prefix == "nudge" else None
        # An unknown id takes as long as a wrong secret.
        expected = key.sha256 if key else "0" * 64
        is_right = hmac.compare_digest(_hash(token), expected)
        return key if key and is_right and key.revoked is None else None


def read_key_file(path: Path) -> KeyFile:
    """Read a key file; StartupError if it is not one."""
    try:
        file = KeyFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StartupError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        details = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))
        raise StartupError(f"{path} is not a file of API keys: {details}") from None
    if file.version != FILE_VERSION:
        raise StartupError(f"{path} has version {file.version}; this release reads version {FILE_VERSION}")
    return file


def add_key(path: Path, name: str, requests_per_minute: int = 0, characters_per_month: int = 0) -> tuple[str, ApiKey]:
    """Make a key, append it to the file (created if missing) and return it with its token."""
    if not 1 <= len(name) <= MAX_NAME:
        raise StartupError(f"a key's name has 1 to {MAX_NAME} characters, and {name!r} has {len(name)}")
    file = read_key_file(path) if path.exists() else KeyFile()
    if any(key.name == name and key.revoked is None for key in file.keys):
        raise StartupError(f"there is a key named {name!r} already; revoke it first, or choose another name")
    identifier = secrets.token_hex(4)
    token = f"nudge_{identifier}_{secrets.token_urlsafe(32)}"
    key = ApiKey(
        id=identifier,
        name=name,
        sha256=_hash(token),
        created=datetime.now(UTC),
        requests_per_minute=requests_per_minute,
        characters_per_month=characters_per_month,
    )
    file.keys.append(key)
    write_atomically(path, file.model_dump_json(indent=2))
    return token, key


def revoke_key(path: Path, name_or_id: str) -> ApiKey:
    """Mark a key as revoked."""
    file = read_key_file(path)
    for index, key in enumerate(file.keys):
        if name_or_id in (key.id, key.name) and key.revoked is None:
            file.keys[index] = key.model_copy(update={"revoked": datetime.now(UTC)})
            write_atomically(path, file.model_dump_json(indent=2))
            return file.keys[index]
    active = ", ".join(key.name for key in file.keys if key.revoked is None) or "none"
    raise StartupError(f"{name_or_id!r} is not the name or id of an active key; active keys: {active}")


def write_atomically(path: Path, content: str) -> None:
    """Write a file that only its owner may read; a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
