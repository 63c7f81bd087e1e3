"""uvicorn's HTTP protocol, with a bound on the head of a request and refusals in the shape of our other errors."""

import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# More than any client sends; a text that is longer than this belongs into the body.
MAX_HEAD_BYTES = 64 * 1024


class BoundedHttpProtocol(HttpToolsProtocol):
    """Counts what has come while the head is not complete.  (The body has a bound of its own, see `RequestScope`.)"""

    _is_in_head = True
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_in_head:
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(
                "431 Request Header Fields Too Large",
                "head_too_large",
                f"The address and headers are longer than {MAX_HEAD_BYTES} bytes. Send the text in the body of a POST.",
            )

    def on_message_begin(self) -> None:
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head, self._head_bytes = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        # Nearly always before the app has begun: then `RequestScope` need not watch the body come.
        self.scope["state"]["has_whole_body"] = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn says in plain text to whatever is no HTTP."""
        self._refuse("400 Bad Request", "invalid_request", f"{msg} Its address may be too long, or it is not HTTP.")

    def _refuse(self, status: str, code: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps({"error": message, "code": code, "request_id": ""}).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()
