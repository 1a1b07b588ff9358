# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and check the options of systemd_slice before the node's state is observed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping

from ..cgroup import slice_names
from ..errors import ColocationError
from ..host import Host
from . import cgroup_controllers
from .properties import Setting, parse_settings
from .property_values import Machine

POSSIBLE_CPUS = "/sys/devices/system/cpu/possible"
_TASK_LIMITS = ("/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max")


@dataclass(frozen=True)
class Request:
    """``present``: the slice must exist; ``persistent``: with a managed file.

    ``named``: names of the settings in the options; the other settings enable controllers.
    """

    name: str
    present: bool
    persistent: bool
    settings: tuple[Setting, ...]
    description: str
    before: tuple[str, ...]
    controllers: tuple[str, ...]
    named: frozenset[str]

    @property
    def controller_unit(self) -> cgroup_controllers.ControllerUnit | None:
        return cgroup_controllers.controller_unit(self.name, self.controllers)


def read_machine(host: Host) -> Machine:
    """The base of percentages on this node: src/basic/limits-util.c. All values are 0 in an image."""
    limits = [_number(host, path) for path in _TASK_LIMITS]
    pages = os.sysconf("SC_PHYS_PAGES") if host.live else 0
    return Machine(pages, os.sysconf("SC_PAGE_SIZE"), min(limits))


def parse_request(host: Host, parameters: Mapping[str, Any]) -> Request:
    """The request of the module's options; a ColocationError names the option, its value and the expected format."""
    name = parameters["name"]
    reason = slice_names.name_problem(name)
    if reason:
        raise ColocationError(f"name: {name!r} is not the name of a slice", f"It {reason}")
    controllers = cgroup_controllers.validate_controllers(parameters["controllers"])
    properties = cgroup_controllers.enabling_properties(controllers, parameters["properties"], _possible(host))
    return Request(
        name,
        parameters["state"] == "present",
        parameters["persistent"],
        parse_settings(properties, read_machine(host)),
        parameters["description"] or f"Slice {name}",
        tuple(parameters["before"]),
        controllers,
        frozenset(parameters["properties"]),
    )


def _number(host: Host, path: str) -> int:
    try:
        return int(host.read(path))
    except (OSError, ValueError):
        return 0


def _possible(host: Host) -> str:
    try:
        return host.read(POSSIBLE_CPUS).strip()
    except OSError:
        return ""
