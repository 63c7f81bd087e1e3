"""The README names every setting, error code and route there is."""

from pathlib import Path

import pytest

from service import errors
from service.settings import Settings

README = (Path(__file__).parents[2] / "service" / "README.md").read_text()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_table_with_its_meaning(name):
    assert f"| `{name}` |" in README
    assert Settings.model_fields[name].description in README


def test_every_error_code_is_explained():
    def codes(base):
        for child in base.__subclasses__():
            yield child.code
            yield from codes(child)

    assert [code for code in codes(errors.NudgeError) if f"`{code}`" not in README] == ["caller_gone"]


def test_every_address_is_listed(server):
    for path in server.get("/openapi.json").json()["paths"]:
        assert f"{path}`" in README or f"{path}," in README
