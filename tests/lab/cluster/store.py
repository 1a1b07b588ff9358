# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's memory of its control plane: one folder, beside those of the nodes."""

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

FOLDER = "control_plane"
"""No node has this name: a host name has no underscore."""

FILE = "control_plane.json"


@dataclass(frozen=True)
class Ports:
    """Ports of 127.0.0.1, one each."""

    api: int
    etcd: int
    etcd_peer: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True)
class ControlPlane:
    """A control plane that was started, running or not.

    ``uuid`` marks its processes, ``release`` is like 1.35.4, ``programs`` are files by the programs' names.
    """

    folder: Path
    uuid: str
    release: str
    ports: Ports
    programs: Mapping[str, Path]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's (group ``system:masters``)."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """kubeadm's certificatesDir."""
        return self.folder / "pki"

    @property
    def url(self) -> str:
        """The API server as this host reaches it."""
        return f"https://127.0.0.1:{self.ports.api}"

    def log(self, name: str) -> Path:
        """What a program of the control plane says."""
        return self.folder / f"{name}.log"

    def user_kubeconfig(self, program: str) -> Path:
        """The kubeconfig of a program of the control plane."""
        return self.folder / f"{program}.kubeconfig"


class ClusterStore:
    """The one control plane below ``root``, the lab's state folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER

    def find(self) -> ControlPlane | None:
        """The control plane that was started and not taken down."""
        path = self.folder / FILE
        try:
            values = json.loads(path.read_text())
            programs = {name: Path(file) for name, file in values["programs"].items()}
            return ControlPlane(self.folder, values["uuid"], values["release"], Ports(**values["ports"]), programs)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            remedy = "end the processes that run in its folder, and remove that"
            raise LabError(f"{path} cannot be read: {error!r}; {remedy}") from error

    def load(self) -> ControlPlane:
        """The same; LabError when there is none."""
        found = self.find()
        if found is None:
            raise LabError(f"there is no control plane in {self.root}: `cluster up` starts one")
        return found

    def create(self, uuid: str, release: str, ports: Ports, programs: Mapping[str, Path]) -> ControlPlane:
        """A folder that only this user can enter. Call it under ``lock``."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        values = {
            "uuid": uuid,
            "release": release,
            "ports": asdict(ports),
            "programs": {name: str(file) for name, file in programs.items()},
        }
        partial = self.folder / f".{FILE}.{os.getpid()}"
        partial.write_text(json.dumps(values, indent=1) + "\n")
        partial.rename(self.folder / FILE)
        return ControlPlane(self.folder, uuid, release, ports, programs)

    def remove(self) -> None:
        """Forget a control plane whose processes have ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Only one process starts or ends a control plane at a time."""
        with (self.root / ".cluster.lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield
