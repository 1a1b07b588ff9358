# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored state of the lab's nodes: a directory with a node.json for each."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import process
from .errors import LabError
from .machine import PID, SERIAL_LOG
from .paths import control_root
from .spec import Engine, NodeSpec, from_dict
from .ssh import Connection

NODE = "node.json"
SUBNETS = range(10, 250)


def gateway(subnet: int) -> str:
    """The host's address in a subnet."""
    return f"10.0.{subnet}.2"


@dataclass(frozen=True)
class Node:
    """A node that was started; ``port`` is 0 until its machine runs, ``boot_id`` '' until the node has reported it."""

    spec: NodeSpec
    directory: Path
    uuid: str
    subnet: int
    port: int = 0
    engine: Engine = Engine.AUTO
    kubelet_release: str = ""
    kernel: str = ""
    base_disk: str = ""
    boot_id: str = ""
    seconds: tuple[tuple[str, float], ...] = ()
    containers: tuple[tuple[str, str, str], ...] = ()

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def address(self) -> str:
        """The node's own address; it reaches the host at ``gateway``."""
        return f"10.0.{self.subnet}.15"

    @property
    def gateway(self) -> str:
        return gateway(self.subnet)

    @property
    def resolver(self) -> str:
        return f"10.0.{self.subnet}.3"

    @property
    def connection(self) -> Connection:
        # A different name for each start: the socket of an earlier node of this name may still exist.
        control = control_root() / self.uuid.replace("-", "")[:12]
        return Connection(self.port, self.directory.parent / "id_ed25519", control)

    @property
    def pid(self) -> int | None:
        """Process of the machine; None when it does not run."""
        pid = process.read_pid(self.directory / PID)
        return pid if pid is not None and process.is_machine(pid, self.uuid) else None

    def facts(self) -> dict[str, Any]:
        """All facts about the node, as plain values."""
        return {
            "name": self.name,
            "running": self.pid is not None,
            "pid": self.pid,
            "ssh": {"host": "127.0.0.1", "port": self.port, "user": "root", "key": str(self.connection.key)},
            "spec": self.spec.as_dict(),
            "address": self.address,
            "gateway": self.gateway,
            "engine": self.engine.value,
            "kubelet_version": self.kubelet_release,
            "kernel": self.kernel,
            "base_disk": self.base_disk,
            "boot_id": self.boot_id,
            "seconds": dict(self.seconds),
            "containers": [{"pod": pod, "kind": kind, "cgroup": cgroup} for pod, kind, cgroup in self.containers],
            "folder": str(self.directory),
            "serial_log": str(self.directory / SERIAL_LOG),
            "uuid": self.uuid,
        }


class Store:
    """Directories of nodes below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """Nodes that were started and not taken down, running or not."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{NODE}"))

    def load(self, name: str) -> Node:
        """A node by its name; LabError when it does not exist."""
        try:
            values = json.loads((self.root / name / NODE).read_text())
        except (OSError, ValueError) as error:
            known = ", ".join(self.names()) or "none"
            raise LabError(f"there is no node {name!r} in {self.root} (nodes: {known})") from error
        values["spec"] = from_dict(values["spec"])
        values["engine"] = Engine(values.get("engine", Engine.AUTO))
        values["seconds"] = tuple((step, seconds) for step, seconds in values["seconds"])
        values["containers"] = tuple(tuple(item) for item in values["containers"])
        # Another version of the lab may have written additional fields.
        known_values = {field.name: values[field.name] for field in dataclasses.fields(Node) if field.name in values}
        return Node(directory=self.root / name, **known_values)

    def save(self, node: Node) -> Node:
        """Replace a node's file atomically."""
        values = {
            field.name: getattr(node, field.name) for field in dataclasses.fields(node) if field.name != "directory"
        }
        values["spec"] = node.spec.as_dict()
        partial = node.directory / f".{NODE}.{os.getpid()}"
        partial.write_text(json.dumps(values, indent=1) + "\n")
        partial.rename(node.directory / NODE)
        return node

    def create(self, spec: NodeSpec, uuid: str) -> Node:
        """Create a new node with an empty directory and an unused subnet. Call it under ``lock``."""
        directory = self.root / spec.name
        directory.mkdir(mode=0o700)
        used = {self.load(name).subnet for name in self.names()}
        free = next((subnet for subnet in SUBNETS if subnet not in used), None)
        if free is None:
            raise LabError("too many nodes: all subnets are in use")
        return self.save(Node(spec, directory, uuid, free))

    def remove(self, node: Node) -> None:
        """Delete the files of a node whose VM has ended. Its helper processes may delete some of them concurrently."""
        shutil.rmtree(node.directory, onerror=_ignore_missing)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Only one process adds or removes nodes at a time."""
        with (self.root / ".lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield


def _ignore_missing(_function: object, _path: str, raised: tuple[type[BaseException], BaseException, object]) -> None:
    if not isinstance(raised[1], FileNotFoundError):
        raise raised[1]
