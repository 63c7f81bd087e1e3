"""One error shape, security headers on every answer, request ids, limits on bodies."""

import socket

import httpx
import pytest


def test_unknown_addresses_and_methods(server):
    missing = server.get("/nowhere")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    wrong = server.get("/detect")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/v2/nowhere", "/v2"])
def test_deepl_addresses_fail_in_the_shape_of_deepl(server, path):
    response = server.get(path)
    assert response.status_code == 404
    assert set(response.json()) == {"message"}


@pytest.mark.parametrize("path", ["/health", "/docs", "/nowhere", "/metrics", "/translate"])
def test_security_headers_are_on_every_answer(server, path):
    headers = server.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "server" not in headers


def test_a_request_id_is_kept_if_it_is_harmless_and_made_if_not(server):
    assert server.get("/health", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    made = server.get("/health", headers={"X-Request-ID": "a b\tc" + "d" * 100}).headers["x-request-id"]
    assert len(made) == 16


def test_cors_is_off_unless_set(server):
    response = server.get("/health", headers={"Origin": "https://example.org"})
    assert not any(name.startswith("access-control") for name in response.headers)


def test_cors_lets_in_the_origins_that_are_set(start_server):
    server = start_server(cors_origins="https://example.org")
    good = server.get("/nowhere", headers={"Origin": "https://example.org"})
    assert good.headers["access-control-allow-origin"] == "https://example.org"
    bad = server.get("/health", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in bad.headers


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(server):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = (
            "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n"
        )
        connection.sendall(head.encode())  # and not a byte of the body
        answer = ""
        while not answer.endswith("}"):
            answer += connection.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 413")
    assert '"code":"body_too_large"' in answer


def test_a_body_that_turns_out_too_large_is_refused(server):
    response = httpx.post(server.url + "/translate", content=(b"x" * 65536 for _ in range(100)), timeout=60)
    assert response.status_code == 413
    assert response.json()["code"] == "body_too_large"
    deepl = httpx.post(server.url + "/v2/translate", content=(b"x" * 65536 for _ in range(100)), timeout=60)
    assert (deepl.status_code, set(deepl.json())) == (413, {"message"})


def test_log_lines_carry_the_request_id_and_never_the_text(server):
    secret = "Gugugaga secretsentence"
    response = server.post(
        "/translate",
        params={"api_key": "nudge_00000000_secretkey"},
        json={"q": secret, "source": "xa", "target": "xb"},
        headers={"X-Request-ID": "find-me"},
    )
    answer = response.json()["translatedText"]
    assert response.status_code == 200
    server.wait_until(lambda: "find-me" in server.log())
    (line,) = [line for line in server.log_lines() if line.get("request_id") == "find-me"]
    assert (line["route"], line["status"], line["characters"]) == ("/translate", 200, len(secret))
    log = server.log()
    assert "secretsentence" not in log
    assert "secretkey" not in log
    assert len(answer) < 10 or answer not in log
