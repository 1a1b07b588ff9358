# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit that undoes an open transaction at boot, before the runtime and kubelet start; it is there only meanwhile.

systemd is not told to read its units again, neither for the one that comes nor for the one that goes: the unit counts
from the next boot on, and a reload would put back every cgroup file that was written raw (systemd#40438).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from ..host import Host
from . import durable
from .files import missing_folders, refused
from .node import Node
from .plan import Plan
from .store import STATE_FOLDER

NAME = "volcano-colocation-recover.service"
FOLDER = "/etc/systemd/system"
UNIT_FILE = f"{FOLDER}/{NAME}"
WANTS = f"{FOLDER}/multi-user.target.wants"
LINK = f"{WANTS}/{NAME}"
COMMAND = "recover-at-boot"

# What starts pods, by the names its packages and installers give it.
STARTERS = (
    "containerd.service",
    "crio.service",
    "cri-docker.service",
    "docker.service",
    "k0scontroller.service",
    "k0sworker.service",
    "k3s-agent.service",
    "k3s.service",
    "kubelet.service",
    "rke2-agent.service",
    "rke2-server.service",
    "snap.k8s.containerd.service",
    "snap.k8s.kubelet.service",
    "snap.microk8s.daemon-containerd.service",
    "snap.microk8s.daemon-kubelite.service",
)

# systemd.unit(5): Before= holds for jobs of the same boot; a unit that is not there is no harm.
_TEXT = """\
# Written by the Ansible collection volcano.colocation, which removes it when the transaction has ended.
[Unit]
Description=Undo the change of this node that was cut off (volcano.colocation)
After=local-fs.target
Before={before}
RequiresMountsFor={mounts}

[Service]
Type=oneshot
ExecStart={python} -I -B {engine} {command}
TimeoutStartSec=300
UMask=0077
SyslogIdentifier=volcano-colocation

[Install]
WantedBy=multi-user.target
"""


class LeftToBoot(BaseException):
    """The node goes down: the transaction stays open, and the unit undoes it at the next boot. No error of a step."""


def text(engine: str, plan: Plan) -> str:
    """The unit's text for an engine, run by the interpreter that runs this."""
    units = {service.unit for service in (plan.kubelet, plan.runtime) if service is not None}
    touched = {os.path.dirname(path) for path in (*(edit.path for edit in plan.files), *plan.checkpoints)}
    mounts = {path for path in touched if not any(each in path for each in " \t\\\"'%")}
    return _TEXT.format(
        before=" ".join(sorted(units | set(STARTERS))),
        mounts=" ".join(sorted(mounts | {engine, STATE_FOLDER})),
        python=sys.executable,
        engine=engine,
        command=COMMAND,
    )


def arm(node: Node, plan: Plan) -> None:
    """Have the transaction undone at the next boot, unless it has ended by then. Durable when it returns."""
    if not node.engine:
        return
    try:
        _put(node.host, text(node.engine, plan).encode("utf-8"))
        _enable(node.host)
    except OSError as error:
        action = "make the unit that undoes the transaction after a power cut"
        raise refused(error, UNIT_FILE, action) from error


def disarm(host: Host) -> None:
    """Take the unit away. One that cannot be is no harm: it finds nothing to do, and takes itself away."""
    with suppress(OSError):
        if durable.unlink_if_there(host.path(LINK)):
            durable.sync_folder(host.real_path(WANTS))
            _remove_if_empty(host)
    with suppress(OSError):
        for folder in (os.path.dirname(FOLDER), FOLDER):
            durable.unlink_if_there(durable.temporary(host.real_path(folder), UNIT_FILE))
        if durable.unlink_if_there(host.path(UNIT_FILE)):
            durable.sync_folder(host.real_path(FOLDER))


def armed(host: Host) -> bool:
    """Whether an open transaction is undone at the next boot."""
    return host.lexists(LINK) and host.lexists(UNIT_FILE)


def leave_if_going_down(node: Node) -> None:
    """LeftToBoot when the node shuts down: systemd refuses to start a unit then, and stops those that run."""
    if not armed(node.host):
        return
    if node.host.run(["systemctl", "is-system-running"]).stdout.strip() == "stopping":
        raise LeftToBoot


def _put(host: Host, content: bytes) -> None:
    target = host.path(UNIT_FILE)
    _make_folders(host, UNIT_FILE)
    if not os.path.lexists(target):
        durable.create(target, content, _dress)
        return
    with open(target, "rb") as stream:
        if stream.read() == content:
            return
    stages = [host.real_path(os.path.dirname(FOLDER)), host.real_path(FOLDER)]
    durable.replace(target, content, stages, _dress, lambda: None)


def _dress(handle: int) -> None:
    os.fchmod(handle, 0o644)


def _enable(host: Host) -> None:
    """As systemctl enable does, which would also make systemd read all units again."""
    _make_folders(host, LINK)
    with suppress(FileExistsError):
        os.symlink(UNIT_FILE, host.path(LINK))
    durable.sync_folder(host.real_path(WANTS))


def _make_folders(host: Host, path: str) -> None:
    for folder in missing_folders(host, path):
        os.mkdir(host.path(folder), 0o755)
        os.chmod(host.path(folder), 0o755)  # noqa: S103 - systemd's, readable as its others
        durable.sync_folder(host.real_path(os.path.dirname(folder)))


def _remove_if_empty(host: Host) -> None:
    """As systemctl disable does: systemd src/shared/install.c remove_marked_symlinks_fd."""
    with suppress(OSError):
        os.rmdir(host.path(WANTS))
        durable.sync_folder(host.real_path(FOLDER))
