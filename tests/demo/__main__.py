# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python tests/demo` from any directory; `make demo` calls it. ``--record`` writes the screens into the pages."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# Run as a directory: the path needs the collection instead of this directory (tests/setup makes the link).
sys.path[0] = str(Path(__file__).resolve().parents[2] / ".cache" / "dev")

sys.exit(import_module("ansible_collections.volcano.colocation.tests.demo.demo_run").main(sys.argv[1:]))
