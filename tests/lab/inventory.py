# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ansible inventory of the lab's nodes, written as JSON, which is valid YAML."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .store import Node


def render(nodes: Sequence[Node]) -> str:
    """The nodes as group ``lab``."""
    hosts = {node.name: _variables(node) for node in nodes}
    return json.dumps({"all": {"children": {"lab": {"hosts": hosts}}}}, indent=2) + "\n"


def write(nodes: Sequence[Node], path: Path) -> Path:
    """Write the inventory atomically."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(render(nodes))
    partial.rename(path)
    return path


def _variables(node: Node) -> dict[str, Any]:
    connection = node.connection
    return {
        "ansible_host": "127.0.0.1",
        "ansible_port": node.port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(connection.key),
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_args": shlex.join(connection.options),
        "lab_node": node.facts(),
    }
