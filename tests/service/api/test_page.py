"""The page at /: our own files under a strict policy, and no way around the API's own answers."""

import re

import pytest

from service.app import WEB_FOLDER


def test_the_page_is_served_with_a_strict_policy(server):
    response = server.get("/")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_every_file_of_the_page_is_served(server):
    for path in WEB_FOLDER.rglob("*"):
        if path.is_file():
            response = server.get("/" + path.relative_to(WEB_FOLDER).as_posix())
            assert response.status_code == 200
            assert response.content == path.read_bytes()


def test_the_page_loads_nothing_from_elsewhere(server):
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", server.get("/").text)


@pytest.mark.parametrize("path", ["/js/../../settings.py", "/js/%2e%2e/%2e%2e/settings.py", "/../settings.py", "/js/"])
def test_nothing_else_is_served(server, path):
    assert server.get(path).status_code in (404, 405)


def test_the_page_does_not_hide_methods_the_api_refuses(server):
    assert server.post("/").status_code == 405
    assert server.get("/detect").status_code == 405


def test_the_page_can_be_turned_off(start_server):
    assert start_server(page=False).get("/").status_code == 404
