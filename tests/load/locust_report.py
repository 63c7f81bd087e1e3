"""Start the service, send it the traffic of `locustfile.py` for a while, and leave an HTML report: `make locust`."""

import argparse
import subprocess
import sys
from pathlib import Path

from local_server import default_models, local_server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=default_models(), help="folder of bundles (%(default)s)")
    parser.add_argument("--users", type=int, default=16, help="callers at a time (%(default)s)")
    parser.add_argument("--seconds", type=int, default=60, help="how long (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/locust"), help="where results go (%(default)s)")
    given = parser.parse_args()
    report = given.out.resolve() / "report.html"
    with local_server(given.models.resolve(), given.out / "service.log") as server:
        locust = [sys.executable, "-m", "locust", "--locustfile", str(Path(__file__).parent / "locustfile.py")]
        locust += ["--headless", "--only-summary", "--host", server.url, "--models", str(given.models.resolve())]
        locust += ["--users", str(given.users), "--spawn-rate", str(given.users), "--run-time", f"{given.seconds}s"]
        outcome = subprocess.run([*locust, "--html", str(report)], check=False)
    print(f"written to {report}")
    raise SystemExit(outcome.returncode)


if __name__ == "__main__":
    main()
