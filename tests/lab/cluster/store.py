# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored state of the lab's control plane, in a directory beside those of the nodes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import LabError

DIRECTORY = "control_plane"
"""No node has this name: a host name has no underscore."""

FILE = "control_plane.json"


@dataclass(frozen=True)
class Ports:
    """Ports of 127.0.0.1, one for each program."""

    api: int
    etcd: int
    etcd_peer: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True)
class ControlPlane:
    """A control plane that was started; its processes may have ended.

    ``uuid`` marks its processes, ``release`` is like 1.35.4, ``programs`` are files by the programs' names.
    """

    directory: Path
    uuid: str
    release: str
    ports: Ports
    programs: Mapping[str, Path]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig (group ``system:masters``)."""
        return self.directory / "kubeconfig"

    @property
    def pki(self) -> Path:
        """kubeadm's certificatesDir."""
        return self.directory / "pki"

    @property
    def url(self) -> str:
        """URL of the API server on this host."""
        return f"https://127.0.0.1:{self.ports.api}"

    def log(self, name: str) -> Path:
        """The log of a program of the control plane."""
        return self.directory / f"{name}.log"

    def user_kubeconfig(self, program: str) -> Path:
        """The kubeconfig of a program of the control plane."""
        return self.directory / f"{program}.kubeconfig"


class ClusterStore:
    """The one control plane below ``root``, the lab's state directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / DIRECTORY

    def find(self) -> ControlPlane | None:
        """The control plane; None when none exists."""
        path = self.directory / FILE
        try:
            values = json.loads(path.read_text())
            programs = {name: Path(file) for name, file in values["programs"].items()}
            return ControlPlane(self.directory, values["uuid"], values["release"], Ports(**values["ports"]), programs)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            remedy = "end the processes that run in this directory and delete it"
            raise LabError(f"{path} cannot be read: {error!r}; {remedy}") from error

    def load(self) -> ControlPlane:
        """The control plane; LabError when none exists."""
        plane = self.find()
        if plane is None:
            raise LabError(f"there is no control plane in {self.root}: `cluster up` starts one")
        return plane

    def create(self, uuid: str, release: str, ports: Ports, programs: Mapping[str, Path]) -> ControlPlane:
        """Store a new control plane in a directory that only this user can enter. Call it under ``lock``."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(mode=0o700)
        values = {
            "uuid": uuid,
            "release": release,
            "ports": asdict(ports),
            "programs": {name: str(file) for name, file in programs.items()},
        }
        partial = self.directory / f".{FILE}.{os.getpid()}"
        partial.write_text(json.dumps(values, indent=1) + "\n")
        partial.rename(self.directory / FILE)
        return ControlPlane(self.directory, uuid, release, ports, programs)

    def remove(self) -> None:
        """Delete the files of a control plane whose processes have ended."""
        shutil.rmtree(self.directory, ignore_errors=True)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Only one process starts or ends a control plane at a time."""
        with (self.root / ".cluster.lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield
