# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the checkout, and the environment that every tool is called with."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGE = "ansible_collections.volcano.colocation.tests.run"
CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = CHECKOUT / ".cache"
LOGS = CACHE / "logs"
DEV = CACHE / "dev"
"""The checkout under its collection name, by a link that tests/setup makes."""

INSTALLED = CACHE / "collections"
"""The collection as a user has it: built, then installed from the tarball."""


def nodes_of(stage: str) -> Path:
    """Where the lab keeps the nodes of a stage: neither those of a stage beside it nor a developer's are its own."""
    return CACHE / "nodes" / stage


def stage_environment(base: Mapping[str, str], stage: str) -> dict[str, str]:
    """``tool_environment``, with nodes of the stage's own."""
    return {**tool_environment(base), "COLOCATION_LAB_STATE": str(nodes_of(stage))}


def tool_environment(base: Mapping[str, str]) -> dict[str, str]:
    """``base`` with our own tools first on PATH, the collection found, no colours, and caches inside the checkout."""
    # Without compiled modules every `ansible-playbook` takes two CPU seconds more.
    kept = {name: value for name, value in base.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "ANSIBLE_COLLECTIONS_PATH": str(DEV),
        "ANSIBLE_HOME": str(CACHE / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        # A unix socket's path is limited to 107 bytes; a checkout's may be long.
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(Path.home() / ".ansible" / "cp"),
        "NO_COLOR": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), base.get("PATH", os.defpath)]),
        "PY_COLORS": "0",
        "PYTHONPATH": str(DEV),
        "PYTHONPYCACHEPREFIX": str(CACHE / "pycache"),
        "PYTHONUNBUFFERED": "1",
    }
