"""The same app on Ray Serve, for more machines than one.

    pip install 'nudge-translate[cluster]'
    serve run service.cluster:build_cluster_app replicas=4

Settings come from the environment, as for `nudge serve`.  Every replica is a whole service with its own engines:
requests are spread over replicas, and batched within one.  On one machine `nudge serve` is faster.
"""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from service.app import create_app
from service.errors import StartupError
from service.log import configure_logging
from service.settings import Settings, load_settings


class ClusterArguments(BaseModel):
    """What `serve run` takes as key=value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    replicas: int = Field(1, ge=1, description="services to run")
    cpus: float = Field(1.0, gt=0, description="cores for each replica")
    ongoing_requests: int = Field(200, ge=1, description="requests a replica takes before others are asked")


def build_cluster_app(arguments: dict[str, Any]) -> Any:
    """The Ray Serve application; StartupError if ray is not installed or a setting is wrong."""
    try:
        from ray import serve
    except ImportError as error:
        raise StartupError(
            "Ray Serve is not installed: install it with `pip install 'nudge-translate[cluster]'`, or use"
            " `nudge serve`, which is faster on one machine."
        ) from error
    given = ClusterArguments.model_validate(arguments)
    settings = load_settings()  # here, so that a bad setting stops the start and not each replica

    def build_app() -> FastAPI:
        """Runs in the replica's process: engines have threads and cannot travel."""
        return build_replica(settings)

    deployment = serve.deployment(
        name="nudge",
        num_replicas=given.replicas,
        ray_actor_options={"num_cpus": given.cpus},
        max_ongoing_requests=given.ongoing_requests,
    )
    return deployment(serve.ingress(build_app)()).bind()


def build_replica(settings: Settings) -> FastAPI:
    """One replica: the app with its own log."""
    configure_logging(settings.log_format, settings.log_level)
    return create_app(settings)
