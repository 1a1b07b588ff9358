# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of the checkout, and the environment of every tool."""

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
"""The checkout under its collection name, by a link that tests/setup creates."""

INSTALLED = CACHE / "collections"
"""The collection as a user installs it: built, then installed from the tarball."""


def nodes_of(stage: str) -> Path:
    """The lab's directory for the nodes of a stage, separate from those of other stages and of a developer."""
    return CACHE / "nodes" / stage


def stage_environment(base: Mapping[str, str], stage: str) -> dict[str, str]:
    """``tool_environment`` with separate nodes for the stage."""
    return {**tool_environment(base), "COLOCATION_LAB_STATE": str(nodes_of(stage))}


def tool_environment(base: Mapping[str, str]) -> dict[str, str]:
    """``base`` with the project's tools first on PATH, the collection, no colours, and caches in the checkout."""
    # Without compiled modules every `ansible-playbook` takes two CPU seconds more.
    variables = {name: value for name, value in base.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **variables,
        "ANSIBLE_COLLECTIONS_PATH": str(DEV),
        "ANSIBLE_HOME": str(CACHE / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        # The path of a unix socket has at most 107 bytes; the checkout's path may be long.
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(Path.home() / ".ansible" / "cp"),
        "NO_COLOR": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), base.get("PATH", os.defpath)]),
        "PY_COLORS": "0",
        "PYTHONPATH": str(DEV),
        "PYTHONPYCACHEPREFIX": str(CACHE / "pycache"),
        "PYTHONUNBUFFERED": "1",
    }
