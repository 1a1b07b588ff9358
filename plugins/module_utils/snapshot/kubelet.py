# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about kubelet: its program, its configuration, its checkpoints and whether it answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..host import Host
from .configz import configz
from .files import capture, describe
from .kubelet_files import UNIT, dropin_sources, dropin_variable, unit_sources, written_words
from .kubelet_healthz import healthz, place
from .processes import option
from .static_pods import static_pods

DEFAULT_CONFIG = "/var/lib/kubelet/config.yaml"
DEFAULT_ROOT = "/var/lib/kubelet"
PROGRAMS = (
    "/usr/bin/kubelet",
    "/usr/local/bin/kubelet",
    "/opt/bin/kubelet",
    "/bin/kubelet",
    "/var/lib/rancher/rke2/bin/kubelet",
)
EMBEDDED_FOLDER = "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d"
EMBEDDED_DEFAULTS = EMBEDDED_FOLDER + "/00-k3s-defaults.conf"
"""k3s writes its defaults there at each start since 1.32 and starts its kubelet with this folder (k3s#2116)."""
API_PORT = 10250


def _program(host: Host, argv: list[str]) -> str | None:
    candidates = (argv[0], *PROGRAMS) if argv and os.path.isabs(argv[0]) else PROGRAMS
    return next((path for path in candidates if describe(host, path)["kind"] in ("regular", "symlink")), None)


def _embedded(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any]:
    """The drop-ins of a kubelet inside k3s; none where a kubelet of its own runs, or k3s made no such folder."""
    made = not processes and describe(host, EMBEDDED_DEFAULTS)["kind"] == "regular"
    return dropin_sources(host, EMBEDDED_FOLDER if made else None)


def _api_port(argv: list[str]) -> int:
    value = option(argv, "--port") or ""
    return int(value) if value.isdecimal() and len(value) < 6 and 0 < int(value) < 65536 else API_PORT


def kubelet(
    host: Host, processes: list[dict[str, Any]], units: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, Any]:
    """Everything found of kubelet; ``files`` holds its configuration, checkpoints and flag files by path."""
    argv = processes[0]["argv"] if processes else []
    starts = unit_sources(host, (units or {}).get(UNIT, {}))
    given = argv or written_words(starts)
    config = option(given, "--config") or DEFAULT_CONFIG
    root = (option(given, "--root-dir") or DEFAULT_ROOT).rstrip("/")
    checkpoints = [root + "/cpu_manager_state", root + "/memory_manager_state"]
    program = _program(host, argv)
    version = host.run([program, "--version"]) if program and host.live else None
    folder = dropin_sources(host, option(given, "--config-dir"))
    embedded = _embedded(host, processes)
    answering = host.live and bool(processes or embedded["config_dir"]["folder"])
    own = {path: capture(host, path) for path in (config, *checkpoints)}
    written = [each.get("text", "") for each in (own[config], *folder["files"].values())]
    asked = place(argv, [*written, *(each.get("text", "") for each in embedded["files"].values())])
    return {
        "processes": processes,
        "program": program,
        "version": version.stdout.strip() if version and version.rc == 0 else None,
        "program_seconds": round(version.seconds, 3) if version else 0.0,
        "config_path": config,
        "config_dir": folder["config_dir"],
        "embedded_dir": embedded["config_dir"],
        "dropin_variable": dropin_variable(host, processes[0]["pid"] if processes else None),
        "unit_files": starts["unit_files"],
        "environment_files": starts["environment_files"],
        "checkpoint_path": checkpoints[0],
        "memory_checkpoint_path": checkpoints[1],
        "static_pods": static_pods(host, given, written),
        "healthz": healthz(asked) if answering and asked else None,
        "configz": configz(("127.0.0.1", _api_port(argv))) if answering else None,
        "files": {**starts["files"], **folder["files"], **embedded["files"], **own},
    }
