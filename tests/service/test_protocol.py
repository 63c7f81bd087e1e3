"""The head of a request has a bound, and what is no HTTP gets an answer like any other."""

import json
import socket
from urllib.parse import urlsplit

import pytest


def send(server, data: bytes) -> tuple[str, dict[str, str]]:
    """What the service says to raw bytes: the status line and the JSON."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        received = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:  # it has hung up already
            pass
        try:
            while part := connection.recv(65536):
                received += part
        except ConnectionResetError:
            pass
    head, _, body = received.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].decode(), json.loads(body)


@pytest.mark.parametrize(
    "head", [b"GET /health HTTP/1.1\r\nX-Long: " + b"a" * 3_000_000, b"GET /translate?q=" + b"a" * 3_000_000]
)
def test_a_head_without_end_is_refused(server, head):
    status, answer = send(server, head)
    assert status.startswith(("HTTP/1.1 431", "HTTP/1.1 400"))
    assert answer["code"] in ("head_too_large", "invalid_request")


def test_what_is_no_http_is_refused_in_json(server):
    status, answer = send(server, b"\x16\x03\x01 hello\r\n\r\n")
    assert status.startswith("HTTP/1.1 400")
    assert answer["code"] == "invalid_request"


def test_long_bodies_and_many_requests_on_one_connection_are_fine(server):
    body = json.dumps({"q": "Ta netu. " * 5_000, "source": "xa", "target": "xb"}).encode()
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % len(
        body
    )
    small = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        received = b""
        connection.sendall(head + b"\r\n" + body + small * 2_000 + last)
        while part := connection.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 200") == 2_002
