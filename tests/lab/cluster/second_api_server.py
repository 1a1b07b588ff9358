# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another API server of a running control plane, with other arguments and the same store."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import LabError
from ..ports import free_ports
from . import components, control_plane, daemons, kubeadm
from .store import ControlPlane

TIMEOUT = 120.0
Arguments = Callable[[Sequence[str]], Sequence[str]]


@contextmanager
def second_api_server(plane: ControlPlane, directory: Path, arguments: Arguments) -> Iterator[Path]:
    """Start it with changed arguments and end it again; the administrator's kubeconfig. ``directory`` has its log."""
    (port,) = free_ports(1)
    other = replace(plane, uuid=str(uuid.uuid4()), ports=replace(plane.ports, api=port))
    component = components.api_server(other)
    component = replace(component, argv=tuple(arguments(component.argv)))
    log = directory / "kube-apiserver.log"
    kubeconfig = directory / "second.kubeconfig"
    kubeadm.write_secret(kubeconfig, plane.kubeconfig.read_text().replace(plane.url, other.url))
    daemons.start(component, other.uuid, directory, log)
    try:
        _wait(plane, kubeconfig, log)
        yield kubeconfig
    finally:
        daemons.end(other.uuid)


def _wait(plane: ControlPlane, kubeconfig: Path, log: Path) -> None:
    ready = [*control_plane.kubectl_argv(plane), f"--kubeconfig={kubeconfig}", "get", "--raw", "/readyz"]
    deadline = time.monotonic() + TIMEOUT
    while subprocess.run(ready, capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            raise LabError(f"the second API server is not ready after {TIMEOUT:.0f} s; its log is {log}")
        time.sleep(0.2)
