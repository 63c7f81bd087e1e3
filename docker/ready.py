"""Exit with 0 if the service in this container would serve a request now; otherwise say why not, and exit with 1."""

import os
import sys
from http.client import HTTPConnection, HTTPException

connection = HTTPConnection("127.0.0.1", int(os.environ.get("NUDGE_PORT", "8000")), timeout=3)
try:
    connection.request("GET", "/ready")
    answer = connection.getresponse()
    print(answer.read().decode(errors="replace"))
    sys.exit(0 if answer.status == 200 else 1)
except (OSError, HTTPException) as error:
    print(f"no answer: {error}")
    sys.exit(1)
