"""The modules of this folder can be imported from its tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
