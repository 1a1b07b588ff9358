# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""engine.py DIRECTORY: writes the engine that a module installs, from the module's files on PYTHONPATH."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.state.installed_engine import sources

for name, text in sources().items():
    path = Path(sys.argv[1]) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
