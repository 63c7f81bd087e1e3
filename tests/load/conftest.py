"""The load tests' modules import each other as scripts do, by the folder they lie in."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
