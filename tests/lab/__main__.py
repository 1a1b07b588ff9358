# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python3 tests/lab …` from any directory, or `python3 -m tests.lab …` from the checkout root."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:
    # When Python runs the directory, put its parent on the path instead: only the package must be found.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from lab.cli import main
else:
    from .cli import main

sys.exit(main(sys.argv[1:]))
