# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recordings of older states, and directories, nodes and clusters re-created from them."""

from __future__ import annotations

import base64
import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Container, Sandbox
from ansible_collections.volcano.colocation.tests.support.node.simulation import Unit
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess

FIXTURES = Path(__file__).parents[1] / "unit" / "fixtures" / "upgrade"
STATES = tuple(sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
"""Commits, and tags once there are releases."""


@functools.cache
def recording(state: str, name: str) -> Any:
    """Return one file of a state's recordings; do not change it."""
    return json.loads((FIXTURES / state / f"{name}.json").read_text(encoding="utf-8"))


def unpack(tree: Mapping[str, Mapping[str, Any]], root: Path) -> Path:
    """Re-create a recorded tree in a directory that is empty or missing."""
    root.mkdir(exist_ok=True)
    for name in sorted(tree):
        path, entry = root / name.lstrip("/"), tree[name]
        if "link" in entry:
            path.symlink_to(entry["link"])
            continue
        content = content_of(entry)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content)
        os.chmod(path, int(entry["mode"], 8))
    return root


def content_of(entry: Mapping[str, Any]) -> bytes | None:
    """The bytes of a recorded file; None for a directory."""
    if "zeros" in entry:
        return bytes(entry["zeros"])
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    return str(entry["text"]).encode("utf-8") if "text" in entry else None


def node(document: Mapping[str, Any], root: Path) -> InProcess:
    """Re-create a recorded node of the simulation."""
    unpack(document["tree"], root)
    simulation = InProcess(root)
    simulation.units = {name: Unit(active, sub, pid) for name, (active, sub, pid) in document["units"].items()}
    simulation.runtime.sandboxes = [Sandbox(**sandbox) for sandbox in document["sandboxes"]]
    simulation.runtime.containers = [Container(**container) for container in document["containers"]]
    simulation.runtime.config = document["config"]
    simulation.next_pid = document["next_pid"]
    if document["listens"]:
        simulation.listen()
    return simulation


def fill(server: Server, document: Mapping[str, Any]) -> Server:
    """Return the API server with only the recorded objects."""
    server.objects = {(kind, space, name): dict(stored) for kind, space, name, stored in document["objects"]}
    server.version, server.apis = document["version"], tuple(document["apis"])
    return server
