# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Property tests: the same examples in each CI run, no deadline on shared CPUs, findings kept in .cache."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir


def load_profile() -> None:
    set_hypothesis_home_dir(str(Path(__file__).resolve().parents[2] / ".cache" / "hypothesis"))
    settings.register_profile("developer", deadline=None)
    settings.register_profile("ci", deadline=None, derandomize=True)
    settings.load_profile("ci" if os.environ.get("CI") else "developer")
