"""The cluster extra: a clear word when it is missing, and bad arguments refused."""

import importlib.util

import pytest
from pydantic import ValidationError

from service.cluster import ClusterArguments, build_cluster_app
from service.errors import StartupError


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_it_says_what_to_install():
    with pytest.raises(StartupError, match=r"nudge-translate\[cluster\]"):
        build_cluster_app({})


def test_arguments_come_as_strings_and_unknown_ones_are_refused():
    assert ClusterArguments.model_validate({"replicas": "4"}).replicas == 4
    with pytest.raises(ValidationError):
        ClusterArguments.model_validate({"replica": "4"})
