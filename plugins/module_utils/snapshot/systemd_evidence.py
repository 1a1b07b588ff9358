# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about systemd: its version, and the units of kubelet, the runtimes and other writers of cgroups."""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .file_evidence import kernel_text, list_names

NODE_UNITS = ("kubelet.service", "containerd.service")
OTHER_UNITS = (
    "crio.service",
    "docker.service",
    "cri-docker.service",
    "k3s.service",
    "k3s-agent.service",
    "rke2-server.service",
    "rke2-agent.service",
    "isulad.service",
    "systemd-oomd.service",
    "tuned.service",
    "rubik.service",
    "volcano-config-service.service",
    "kubepods.slice",
    "kubepods-burstable.slice",
    "kubepods-besteffort.slice",
    "system.slice",
    "-.slice",
)
"""Reported only if systemd has loaded them."""
PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "MainPID",
    "NRestarts",
    "KillMode",
    "Delegate",
    "FragmentPath",
    "DropInPaths",
    "ControlGroup",
    "UnitFileState",
    "NeedDaemonReload",
    "ManagedOOMSwap",
    "ManagedOOMMemoryPressure",
    "ManagedOOMPreference",
)
_LIBRARY = re.compile(r"libsystemd-shared-(\S+?)\.so(?: \(deleted\))?$", re.MULTILINE)
"""An upgraded library stays mapped after its file is deleted."""
_LIBRARY_DIRECTORIES = ("/usr/lib/systemd", "/usr/lib64/systemd", "/lib/systemd")


def parse_show(text: str) -> list[dict[str, str]]:
    """Blocks of ``systemctl show``, one a unit, separated by an empty line."""
    blocks = (block.splitlines() for block in text.strip().split("\n\n"))
    return [dict(line.partition("=")[::2] for line in block if "=" in line) for block in blocks]


def mapped_version(proc_maps: str) -> str | None:
    """The version of the library that PID 1 has loaded. The installed one may be newer until the next boot."""
    match = _LIBRARY.search(proc_maps)
    return match[1] if match else None


def installed_version(host: Host) -> str | None:
    """The version in the name of the installed library, which all systemd programs link since 233."""
    triplets = ["/usr/lib/%s/systemd" % name for name in list_names(host, "/usr/lib") if "-linux-" in name]
    libraries = [name for directory in (*_LIBRARY_DIRECTORIES, *triplets) for name in list_names(host, directory)]
    return next((match[1] for match in map(_LIBRARY.search, libraries) if match), None)


def _query_version(host: Host) -> str | None:
    result = host.run(["systemctl", "show", "--property=Version"])
    return parse_show(result.stdout)[0].get("Version") if result.rc == 0 else None


def _version(host: Host) -> str | None:
    """A systemctl call shows either the manager or units; PID 1's memory map saves the second call."""
    return mapped_version(kernel_text(host, "/proc/1/maps") or "") or _query_version(host)


def _is_relevant(unit: dict[str, str]) -> bool:
    return "Id" in unit and (unit["Id"] in NODE_UNITS or unit.get("LoadState") == "loaded")


def services(host: Host) -> dict[str, Any]:
    """``{version, installed, units: {name: {property: value}}}``; no units in an image or if PID 1 is not systemd."""
    installed = installed_version(host)
    if not host.live:
        return {"version": None, "installed": installed, "units": {}}
    result = host.run(["systemctl", "show", "--property=" + ",".join(PROPERTIES), "--", *NODE_UNITS, *OTHER_UNITS])
    units = {unit["Id"]: unit for unit in parse_show(result.stdout) if _is_relevant(unit)} if result.rc == 0 else {}
    return {"version": _version(host), "installed": installed, "units": units}
