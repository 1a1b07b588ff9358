# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python tests/faults …` from any folder; `make test-faults` calls it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# Run as a folder: not the folder itself but the collection has to be on the path (tests/setup makes the link).
sys.path[0] = str(Path(__file__).resolve().parents[2] / ".cache" / "dev")

sys.exit(import_module("ansible_collections.volcano.colocation.tests.faults.cli").main(sys.argv[1:]))
