"""API keys over HTTP: who is let in, how often, how much."""

import deepl
import httpx
import pytest

from service.keys.gate import Gate
from service.keys.store import add_key, revoke_key
from service.settings import Settings


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    tokens = {"free": add_key(path, "free")[0]}
    tokens["slow"] = add_key(path, "slow", requests_per_minute=3)[0]
    tokens["small"] = add_key(path, "small", characters_per_month=20)[0]
    tokens["stream"] = add_key(path, "stream", characters_per_month=10_000)[0]
    tokens["gone"] = add_key(path, "gone")[0]
    return path, tokens


@pytest.fixture(scope="module")
def guarded(start_server, keys):
    return start_server(keys_file=keys[0])


def ask(server, token=None, path="/translate", **fields):
    headers = {"Authorization": f"DeepL-Auth-Key {token}"} if token else {}
    body = {"text": ["Ta netu."], "target_lang": "XB"} if path.startswith("/v2") else {"q": "Ta netu.", "target": "xb"}
    return server.post(path, json=body | fields, headers=headers)


@pytest.mark.parametrize("path", ["/translate", "/v2/translate"])
def test_without_a_key_or_with_a_wrong_one_nobody_is_let_in(guarded, path):
    assert ask(guarded, path=path).status_code == 403
    assert ask(guarded, "wrong", path=path).status_code == 403
    assert ask(guarded, "nudge_00000000_" + "x" * 43, path=path).status_code == 403


def test_a_key_is_taken_from_header_body_or_query(guarded, keys):
    token = keys[1]["free"]
    assert ask(guarded, token).status_code == 200
    assert ask(guarded, api_key=token).status_code == 200
    assert guarded.post("/translate", params={"q": "a", "target": "xb", "api_key": token}).status_code == 200
    assert guarded.get("/v2/usage", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_detect_and_usage_need_a_key_but_languages_do_not(guarded):
    assert guarded.post("/detect", json={"q": "a"}).status_code == 403
    assert guarded.get("/v2/usage").status_code == 403
    assert guarded.get("/languages").status_code == 200
    assert guarded.get("/frontend/settings").json()["keyRequired"] is True


def test_requests_beyond_the_limit_are_told_when_to_come_back(guarded, keys):
    codes = [ask(guarded, keys[1]["slow"]).status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    response = ask(guarded, keys[1]["slow"])
    assert response.json()["code"] == "rate_limited"
    assert 1 <= int(response.headers["retry-after"]) <= 60


def test_characters_beyond_the_quota_are_refused_in_both_dialects(guarded, keys):
    token = keys[1]["small"]
    failed = ask(guarded, token, q="x" * 20, objective="nonsense")
    assert failed.status_code == 400  # and costs nothing
    assert ask(guarded, token, q="Ta netu. Ta netu.").status_code == 200
    header = {"Authorization": f"DeepL-Auth-Key {token}"}
    assert guarded.get("/v2/usage", headers=header).json() == {"character_count": 17, "character_limit": 20}
    native = ask(guarded, token)
    assert (native.status_code, native.json()["code"]) == (429, "quota_exceeded")
    assert ask(guarded, token, path="/v2/translate").status_code == 456
    with pytest.raises(deepl.QuotaExceededException):
        deepl.Translator(token, server_url=guarded.url).translate_text("Ta netu.", target_lang="XB")


def test_the_deepl_client_sees_a_wrong_key_as_an_authorization_error(guarded):
    with pytest.raises(deepl.AuthorizationException):
        deepl.Translator("wrong", server_url=guarded.url).get_usage()


def test_a_key_revoked_while_the_service_runs_is_refused(guarded, keys):
    path, tokens = keys
    assert ask(guarded, tokens["gone"]).status_code == 200
    revoke_key(path, "gone")
    guarded.wait_until(lambda: ask(guarded, tokens["gone"]).status_code == 403, 10)


def test_a_key_is_never_logged(guarded, keys):
    log = guarded.log()
    assert not any(token in log or token.split("_", 2)[2] in log for token in keys[1].values())
    assert '"key"' in log  # its id is


def test_usage_survives_a_restart(start_server, tmp_path):
    path = tmp_path / "keys.json"
    token, _ = add_key(path, "ann")
    first = start_server(keys_file=path)
    assert ask(first, token).status_code == 200
    assert first.stop() == 0
    second = start_server(keys_file=path)
    header = {"Authorization": f"DeepL-Auth-Key {token}"}
    assert second.get("/v2/usage", headers=header).json()["character_count"] == len("Ta netu.")


def test_addresses_without_a_key_have_a_limit_of_their_own(start_server):
    server = start_server(requests_per_minute=2)
    codes = [server.post("/translate", json={"q": "a", "target": "xb"}).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert server.get("/languages").status_code == 200


def test_keys_may_be_optional(start_server, keys):
    server = start_server(keys_file=keys[0], key_required=False)
    assert ask(server).status_code == 200
    assert ask(server, "wrong").status_code == 403


def test_who_hangs_up_after_some_sentences_has_used_his_characters(guarded, keys, toy_sentences):
    headers = {"Authorization": f"DeepL-Auth-Key {keys[1]['stream']}"}

    def used() -> int:
        return guarded.get("/v2/usage", headers=headers).json()["character_count"]

    text = " ".join(toy_sentences(40, seed=5))
    body = {"q": text, "source": "xa", "target": "xb", "stream": True}
    with httpx.stream("POST", guarded.url + "/translate", json=body, headers=headers, timeout=60) as response:
        for line in response.iter_lines():
            if line == "event: sentence":
                break
    assert used() == len(text)


def test_an_address_cannot_be_taken_for_a_key():
    gate = Gate(Settings())
    assert gate.identify(None, "key:0000000a").name == "address:key:0000000a"
