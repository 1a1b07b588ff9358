# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit that rolls back an open transaction at boot, before the runtime and kubelet start.

The unit exists only while a transaction is open. systemd is not reloaded when the unit is created or deleted: it is
needed only from the next boot, and a reload would reset every cgroup file that was written directly (systemd#40438).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from ..cri.node_access import Node
from ..host import Host
from ..state import atomic_file
from ..state.files import file_error, missing_directories
from ..state.plan_document import Plan
from ..state.store import STATE_DIRECTORY

NAME = "volcano-colocation-recover.service"
UNIT_DIRECTORY = "/etc/systemd/system"
UNIT_FILE = f"{UNIT_DIRECTORY}/{NAME}"
WANTS = f"{UNIT_DIRECTORY}/multi-user.target.wants"
LINK = f"{WANTS}/{NAME}"
COMMAND = "recover-at-boot"

# Units that start pods, as packages and installers name them.
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

# systemd.unit(5): Before= orders jobs of the same boot; it may name units that do not exist.
_TEXT = """\
# Written by the Ansible collection volcano.colocation, which removes it after the transaction.
[Unit]
Description=Roll back an interrupted change of this node (volcano.colocation)
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


class DeferredToBoot(BaseException):
    """The node is shutting down: the transaction stays open until the unit rolls it back at the next boot.

    This is not an error of a step.
    """


def render_unit(engine: str, plan: Plan) -> str:
    """The unit file for an engine; the unit uses the current Python interpreter."""
    units = {service.unit for service in (plan.kubelet, plan.runtime) if service is not None}
    touched = {os.path.dirname(path) for path in (*(edit.path for edit in plan.files), *plan.checkpoints)}
    mounts = {path for path in touched if not any(character in path for character in " \t\\\"'%")}
    return _TEXT.format(
        before=" ".join(sorted(units | set(STARTERS))),
        mounts=" ".join(sorted(mounts | {engine, STATE_DIRECTORY})),
        python=sys.executable,
        engine=engine,
        command=COMMAND,
    )


def enable(node: Node, plan: Plan) -> None:
    """Durably enable the roll-back at the next boot; it applies if the transaction is still open then."""
    if not node.engine:
        return
    try:
        _write_unit(node.host, render_unit(node.engine, plan).encode("utf-8"))
        _make_link(node.host)
    except OSError as error:
        action = "create the unit that rolls back the transaction after a power cut"
        raise file_error(error, UNIT_FILE, action) from error


def disable(host: Host) -> None:
    """Delete the unit. If that fails, the unit has nothing to do at the next boot, and deletes itself."""
    with suppress(OSError):
        if atomic_file.remove_if_present(host.path(LINK)):
            atomic_file.sync_directory(host.real_path(WANTS))
            _remove_if_empty(host)
    with suppress(OSError):
        for directory in (os.path.dirname(UNIT_DIRECTORY), UNIT_DIRECTORY):
            atomic_file.remove_if_present(atomic_file.temporary_path(host.real_path(directory), UNIT_FILE))
        if atomic_file.remove_if_present(host.path(UNIT_FILE)):
            atomic_file.sync_directory(host.real_path(UNIT_DIRECTORY))


def is_enabled(host: Host) -> bool:
    """Whether an open transaction is rolled back at the next boot."""
    return host.lexists(LINK) and host.lexists(UNIT_FILE)


def defer_if_shutting_down(node: Node) -> None:
    """DeferredToBoot if the node is shutting down: systemd then starts no unit, and stops the running ones."""
    if not is_enabled(node.host):
        return
    if node.host.run(["systemctl", "is-system-running"]).stdout.strip() == "stopping":
        raise DeferredToBoot


def _write_unit(host: Host, content: bytes) -> None:
    target = host.path(UNIT_FILE)
    _make_directories(host, UNIT_FILE)
    if not os.path.lexists(target):
        atomic_file.create(target, content, _set_mode)
        return
    with open(target, "rb") as stream:
        if stream.read() == content:
            return
    stages = [host.real_path(os.path.dirname(UNIT_DIRECTORY)), host.real_path(UNIT_DIRECTORY)]
    atomic_file.replace(target, content, stages, _set_mode, lambda: None)


def _set_mode(handle: int) -> None:
    os.fchmod(handle, 0o644)


def _make_link(host: Host) -> None:
    """Create the link like systemctl enable, which would also reload all units."""
    _make_directories(host, LINK)
    with suppress(FileExistsError):
        os.symlink(UNIT_FILE, host.path(LINK))
    atomic_file.sync_directory(host.real_path(WANTS))


def _make_directories(host: Host, path: str) -> None:
    for directory in missing_directories(host, path):
        os.mkdir(host.path(directory), 0o755)
        os.chmod(host.path(directory), 0o755)  # noqa: S103 - a directory of systemd, readable like the others
        atomic_file.sync_directory(host.real_path(os.path.dirname(directory)))


def _remove_if_empty(host: Host) -> None:
    """Like systemctl disable: systemd src/shared/install.c remove_marked_symlinks_fd."""
    with suppress(OSError):
        os.rmdir(host.path(WANTS))
        atomic_file.sync_directory(host.real_path(UNIT_DIRECTORY))
