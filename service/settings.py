"""What an operator can set: by an option of `nudge serve`, by environment (`NUDGE_PORT=9000`), or by a TOML file
(`--config`, or `NUDGE_CONFIG`).  An option beats the environment, which beats the file.

Everything is checked before the service starts, every problem is reported in one go, an unknown name is refused, and a
bad value never falls back to a default.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from service.engine.types import MAX_BEAM_SIZE, MAX_NPAD_SAMPLES
from service.errors import SettingsError, nearest

PREFIX = "NUDGE_"
CONFIG_VARIABLE = "NUDGE_CONFIG"
SHIPPED_MODELS = Path(__file__).resolve().parent.parent / "models"


class Settings(BaseSettings):
    """The settings of one server process.  Units are in the names."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=False, validate_default=True
    )

    models: Path = Field(SHIPPED_MODELS, description="folder of bundles, one sub-folder for each pair")
    reload_interval_s: float = Field(2.0, ge=0, le=3600, description="how often to look for changed bundles; 0 = never")

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on; 0.0.0.0 for all")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    shutdown_grace_s: int = Field(30, ge=0, le=3600, description="how long running requests may finish at shutdown")
    forwarded_allow_ips: str = Field(
        "127.0.0.1", description="proxies whose X-Forwarded-For is believed; * for all, if a proxy overwrites it"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="origins allowed by CORS, comma separated; empty = CORS off"
    )

    threads: int = Field(1, ge=1, le=64, description="onnxruntime threads for each pair's engine")
    slots: int = Field(32, ge=1, le=512, description="rows that are decoded together for each pair")
    queue_tokens: int = Field(
        200_000,
        ge=1_000,
        le=100_000_000,
        description="source tokens, times rows (beam size, samples), that may wait for each pair; then 503",
    )
    deadline_s: float = Field(60.0, gt=0, le=3600, description="longest time a request may take; then 504")

    max_characters: int = Field(
        100_000, ge=1, le=10_000_000, description="characters of one request, all texts together"
    )
    max_texts: int = Field(1_000, ge=1, le=100_000, description="texts of one request")
    max_body_bytes: int = Field(
        4_000_000, ge=1_000, le=1_000_000_000, description="size of a request body; refused before it is read"
    )
    body_timeout_s: float = Field(30.0, gt=0, le=3600, description="how long a request body may take to arrive")
    max_beam_size: int = Field(MAX_BEAM_SIZE, ge=1, le=MAX_BEAM_SIZE, description="largest beam a caller may ask for")
    max_samples: int = Field(
        MAX_NPAD_SAMPLES, ge=1, le=MAX_NPAD_SAMPLES, description="most NPAD samples a caller may ask for"
    )
    max_alternatives: int = Field(9, ge=0, le=9, description="most alternatives a caller may ask for")

    keys_file: Path | None = Field(
        None, description="file of hashed API keys, written by `nudge keys`; unset = no keys"
    )
    usage_file: Path | None = Field(None, description="where used characters are kept; unset = beside the keys file")
    key_required: bool = Field(True, description="with a keys file: refuse callers without a key")
    requests_per_minute: int = Field(
        0, ge=0, le=1_000_000, description="limit for each address without a key; 0 = none"
    )

    log_format: Literal["json", "console"] = Field("json", description="one JSON object a line, or coloured text")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least severity that is logged")
    page: bool = Field(True, description="serve the translator page at /")

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("cors_origins")
    @classmethod
    def _origins_have_a_scheme(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        bad = [origin for origin in value if origin != "*" and not origin.startswith(("http://", "https://"))]
        if bad:
            raise ValueError(f"{', '.join(bad)} is no origin; write https://example.org, or * for all")
        return value

    @field_validator("models")
    @classmethod
    def _models_is_a_folder(cls, value: Path) -> Path:
        if not value.is_dir():
            raise ValueError(f"{value} is not a folder; create it, or point it at the folder that holds the bundles")
        return value

    @field_validator("keys_file")
    @classmethod
    def _keys_file_exists(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_file():
            raise ValueError(f"{value} does not exist; create it with `nudge keys add NAME --file {value}`")
        return value

    @model_validator(mode="after")
    def _body_holds_the_characters(self) -> "Settings":
        if self.max_body_bytes < self.max_characters:
            raise ValueError(
                f"max_body_bytes ({self.max_body_bytes}) is smaller than max_characters ({self.max_characters}), so the"
                " longest allowed text could never be sent; raise the one or lower the other"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What comes first wins."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings(config: Path | None = None, **options: Any) -> Settings:
    """Merge the options that are not None over the environment over the file, and check it all.

    SettingsError carries every problem.
    """
    if config is None and os.environ.get(CONFIG_VARIABLE):
        config = Path(os.environ[CONFIG_VARIABLE])
    _check_file(config)

    class FileSettings(Settings):
        model_config = SettingsConfigDict(toml_file=config)

    problems = _unknown_variables()
    try:
        settings = FileSettings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        problems += [_told(dict(entry)) for entry in error.errors()]
    if problems:
        raise SettingsError(problems)
    return settings


def _check_file(path: Path | None) -> None:
    """Refuse a file that cannot be read; pydantic-settings would pass over one that is missing."""
    if path is None:
        return
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path} is not TOML: {error}"]) from error


def _unknown_variables() -> list[str]:
    """One problem for each NUDGE_* variable that is no setting: a typing error must not pass unnoticed."""
    known = [PREFIX + name.upper() for name in Settings.model_fields] + [CONFIG_VARIABLE]
    given = [name for name in os.environ if name.upper().startswith(PREFIX)]
    return [
        f"{name} in the environment is not a setting.{nearest(name.upper(), known)}"
        for name in sorted(given)
        if name.upper() not in known
    ]


def _told(entry: dict[str, Any]) -> str:
    """One line for one of pydantic's findings."""
    name = ".".join(str(part) for part in entry["loc"])
    if entry["type"] == "extra_forbidden":
        return f"{name} is not a setting.{nearest(name, Settings.model_fields)}"
    message = str(entry["msg"]).removeprefix("Value error, ")
    return f"{name}: {message} ({entry['input']!r} was given)" if name else message
