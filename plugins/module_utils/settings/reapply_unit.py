# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit that applies the record again at boot and whenever kubelet starts; it exists while a setting is recorded.

kubelet re-creates its slices at boot without the settings that were made at runtime.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from enum import Enum

from ..errors import ColocationError
from ..host import Host
from ..state import atomic_file, files, installed_engine
from ..state.journal import unfinished_journals
from ..state.store import Store
from .cgroup_state import Node
from .record import Record, has_persistent

UNIT = "volcano-colocation-qos.service"
UNIT_FILE = f"/etc/systemd/system/{UNIT}"
LINK = f"{installed_engine.ENGINE_DIRECTORY}/{installed_engine.QOS_LINK}"
"""The path of the engine in the unit, independent of the engine's version."""
TIMEOUT = 90.0

# Without -B: compiling the engine takes longer than everything else that the unit does at boot.
# WantedBy=kubelet.service: systemd.unit(5), started whenever kubelet is, also by Restart= of kubelet's own unit.
_TEXT = """\
# Written by the Ansible collection volcano.colocation, which removes it with the last setting.
[Unit]
Description=Apply the recorded QoS settings of cgroups again (volcano.colocation)
After=kubelet.service containerd.service crio.service

[Service]
Type=oneshot
ExecStart={python} -I {engine} qos
SyslogIdentifier=volcano-colocation-qos

[Install]
WantedBy=multi-user.target kubelet.service
"""
_WANTING_UNITS = ("multi-user.target", "kubelet.service")


def render_unit() -> str:
    """The unit file, with the Python interpreter that runs this code."""
    return _TEXT.format(python=sys.executable, engine=LINK)


class UnitAction(Enum):
    """The change that the unit needs."""

    NONE = "none"
    INSTALL = "install"
    REMOVE = "remove"


def plan_unit_action(node: Node, record: Record) -> UnitAction:
    """The change so that the unit exists exactly while it is needed; NONE on a node without systemd."""
    if node.bus is None:
        return UnitAction.NONE
    if has_persistent(record):
        return UnitAction.NONE if is_installed(node.host) else UnitAction.INSTALL
    return UnitAction.REMOVE if is_present(node.host) else UnitAction.NONE


def require_writable(host: Host, task: UnitAction) -> None:
    """FileRefused if the engine or the unit cannot be written. Nothing is created."""
    if task is UnitAction.INSTALL:
        for path in (LINK, UNIT_FILE):
            files.probe_write(host, path, b"")


def reconcile_unit(host: Host, task: UnitAction) -> None:
    """Apply the change ``task`` to the unit."""
    if task is UnitAction.INSTALL:
        install_unit(host)
    elif task is UnitAction.REMOVE:
        remove_unit(host)


def is_installed(host: Host) -> bool:
    """Whether the unit, its links and the engine are installed and current."""
    try:
        same = host.read(UNIT_FILE) == render_unit()
    except OSError:
        return False
    return (
        same
        and all(host.lexists(path) for path in _links())
        and _engine(host) == installed_engine.engine_path(installed_engine.sources())
    )


def install_unit(host: Host) -> None:
    """Install the engine, write the unit and enable it. Nothing is started."""
    engine = installed_engine.install_engine(host)
    _link(host, engine)
    target = host.path(UNIT_FILE)
    try:
        atomic_file.remove_if_present(target)
        atomic_file.create(target, render_unit().encode("utf-8"), lambda handle: os.fchmod(handle, 0o644))
    except OSError as error:
        raise files.file_error(error, UNIT_FILE, "write it") from error
    # This also reloads systemd: the links in kubelet.service.wants take effect at the next start of kubelet.
    _systemctl(host, "enable", UNIT)


def remove_unit(host: Host) -> None:
    """Undo ``install_unit``; the engine of an unfinished transaction stays. The caller holds ``node_lock``.

    The link is deleted last, except for its directory: while the link exists, the next run deletes the remaining files.
    """
    if host.lexists(UNIT_FILE):
        _systemctl(host, "disable", "--no-reload", UNIT)
        atomic_file.remove_if_present(host.path(UNIT_FILE))
    _systemctl(host, "daemon-reload")
    engine = _engine(host)
    if engine is not None and not unfinished_journals(Store(host)):
        shutil.rmtree(host.path(engine), ignore_errors=True)
    for link in (_staged_link(host), host.path(LINK)):
        atomic_file.remove_if_present(link)
    with suppress(OSError):
        os.rmdir(host.path(installed_engine.ENGINE_DIRECTORY))


def is_present(host: Host) -> bool:
    """Whether the unit file or the link exists."""
    return host.lexists(UNIT_FILE) or host.lexists(LINK)


def _links() -> list[str]:
    return [f"/etc/systemd/system/{wanting}.wants/{UNIT}" for wanting in _WANTING_UNITS]


def _engine(host: Host) -> str | None:
    """Path of the installed engine to which the link points; None without a link or an engine."""
    try:
        target = host.readlink(LINK)
    except OSError:
        return None
    return (
        f"{installed_engine.ENGINE_DIRECTORY}/{target}"
        if host.is_directory(f"{installed_engine.ENGINE_DIRECTORY}/{target}")
        else None
    )


def _link(host: Host, engine: str) -> None:
    staged = _staged_link(host)
    atomic_file.remove_if_present(staged)
    os.symlink(os.path.basename(engine), staged)
    os.replace(staged, host.path(LINK))


def _staged_link(host: Host) -> str:
    """Real path of the temporary link, before its rename."""
    return host.path(f"{LINK}.new")


def _systemctl(host: Host, *arguments: str) -> None:
    result = host.run(["systemctl", *arguments], timeout=TIMEOUT)
    if result.rc != 0:
        reason = " ".join(result.stderr.split()) or f"exit status {result.rc}"
        raise ColocationError(f"systemctl {' '.join(arguments)} failed: {reason}", "Check systemd on this node")
