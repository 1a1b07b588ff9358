# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python tests/bench …` from any directory; `make bench` calls it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# Python puts tests/bench on the path; the collection must be there instead (tests/setup creates the link).
sys.path[0] = str(Path(__file__).resolve().parents[2] / ".cache" / "dev")

sys.exit(import_module("ansible_collections.volcano.colocation.tests.bench.cli").main(sys.argv[1:]))
