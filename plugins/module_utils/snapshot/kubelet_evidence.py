# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about kubelet: program, configuration, checkpoints, static pods, kubeadm's patches, endpoints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..host import Host
from .file_evidence import capture, describe, list_names, read_error
from .kubelet_endpoints import configz, healthz, healthz_address
from .kubelet_files import UNIT, capture_all, dropin_sources, dropin_variable, hints, start_words, unit_sources, walk
from .process_evidence import command_line_option

STATIC_PODS_FLAG = "--pod-manifest-path"
STATIC_PODS_FIELD = "staticPodPath"
DIRECTORY_LIMIT = 8
NAME_LIMIT = 200


def static_pods(host: Host, words: list[str], texts: Iterable[str]) -> dict[str, Any]:
    """By static pod directory in kubelet's command line or files: at most NAME_LIMIT file names, sorted."""
    named = [
        command_line_option(words, STATIC_PODS_FLAG),
        *(value for text in texts for _name, value in hints(text, STATIC_PODS_FIELD)),
    ]
    directories = sorted(
        {directory.rstrip("/") for directory in named if directory and os.path.isabs(directory)} - {""}
    )
    return {directory: _file_names(host, directory) for directory in directories[:DIRECTORY_LIMIT]}


def _file_names(host: Host, directory: str) -> list[str]:
    """Files only: kubelet does not read subdirectories (kubernetes pkg/kubelet/config/file.go)."""
    return [name for name in list_names(host, directory)[:NAME_LIMIT] if not host.is_directory(directory + "/" + name)]


PATCH_TARGET = "kubeletconfiguration"
EXTENSIONS = (".json", ".yaml")
MAX_PATCHES = 64
_MAX_PATCH_ENTRIES = 4096


def kubeadm_patches(host: Host, directory: str) -> dict[str, Any]:
    """``{folder, kind, paths, left_out, files}``, paths in the order in which kubeadm applies them.

    cmd/kubeadm/app/util/patches/patches.go: filepath.Walk, with subdirectories; the directory must not be a link.
    """
    patches: dict[str, Any] = {
        "folder": directory,
        "kind": describe(host, directory)["kind"],
        "paths": [],
        "left_out": 0,
    }
    if patches["kind"] == "directory":
        try:
            _list_patches(host, directory, patches)
        except OSError as error:
            patches.update(read_error(error))
    patches["files"] = capture_all(host, patches["paths"])
    return patches


def _list_patches(host: Host, directory: str, patches: dict[str, Any]) -> None:
    for position, path in enumerate(walk(host, directory)):
        name = path.rpartition("/")[2]
        if not name.startswith(PATCH_TARGET) or not name.endswith(EXTENSIONS):
            continue
        if len(patches["paths"]) < MAX_PATCHES and position < _MAX_PATCH_ENTRIES:
            patches["paths"].append(path)
        else:
            patches["left_out"] += 1


DEFAULT_CONFIG = "/var/lib/kubelet/config.yaml"
DEFAULT_ROOT = "/var/lib/kubelet"
PROGRAMS = (
    "/usr/bin/kubelet",
    "/usr/local/bin/kubelet",
    "/opt/bin/kubelet",
    "/bin/kubelet",
    "/var/lib/rancher/rke2/bin/kubelet",
)
EMBEDDED_DIRECTORY = "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d"
EMBEDDED_DEFAULTS = EMBEDDED_DIRECTORY + "/00-k3s-defaults.conf"
"""k3s writes its defaults there at each start since 1.32 and starts its kubelet with this directory (k3s#2116)."""
API_PORT = 10250


def _program(host: Host, argv: list[str]) -> str | None:
    candidates = (argv[0], *PROGRAMS) if argv and os.path.isabs(argv[0]) else PROGRAMS
    return next((path for path in candidates if describe(host, path)["kind"] in ("regular", "symlink")), None)


def _embedded_drop_ins(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any]:
    """The drop-ins of a kubelet inside k3s; none if a separate kubelet runs or k3s did not create the directory."""
    made = not processes and describe(host, EMBEDDED_DEFAULTS)["kind"] == "regular"
    return dropin_sources(host, EMBEDDED_DIRECTORY if made else None)


def _api_port(argv: list[str]) -> int:
    value = command_line_option(argv, "--port") or ""
    return int(value) if value.isdecimal() and len(value) < 6 and 0 < int(value) < 65536 else API_PORT


def kubelet(
    host: Host, processes: list[dict[str, Any]], units: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, Any]:
    """All evidence about kubelet; ``files`` has its configuration, checkpoints and flag files by path."""
    argv = processes[0]["argv"] if processes else []
    starts = unit_sources(host, (units or {}).get(UNIT, {}))
    words = argv or start_words(starts)
    config = command_line_option(words, "--config") or DEFAULT_CONFIG
    root = (command_line_option(words, "--root-dir") or DEFAULT_ROOT).rstrip("/")
    checkpoints = [root + "/cpu_manager_state", root + "/memory_manager_state"]
    program = _program(host, argv)
    version = host.run([program, "--version"]) if program and host.live else None
    directory = dropin_sources(host, command_line_option(words, "--config-dir"))
    embedded = _embedded_drop_ins(host, processes)
    answering = host.live and bool(processes or embedded["config_dir"]["folder"])
    own = {path: capture(host, path) for path in (config, *checkpoints)}
    written = [file.get("text", "") for file in (own[config], *directory["files"].values())]
    asked = healthz_address(argv, [*written, *(file.get("text", "") for file in embedded["files"].values())])
    return {
        "processes": processes,
        "program": program,
        "version": version.stdout.strip() if version and version.rc == 0 else None,
        "program_seconds": round(version.seconds, 3) if version else 0.0,
        "config_path": config,
        "config_dir": directory["config_dir"],
        "embedded_dir": embedded["config_dir"],
        "dropin_variable": dropin_variable(host, processes[0]["pid"] if processes else None),
        "unit_files": starts["unit_files"],
        "environment_files": starts["environment_files"],
        "checkpoint_path": checkpoints[0],
        "memory_checkpoint_path": checkpoints[1],
        "static_pods": static_pods(host, words, written),
        "healthz": healthz(asked) if answering and asked else None,
        "configz": configz(("127.0.0.1", _api_port(argv))) if answering else None,
        "files": {**starts["files"], **directory["files"], **embedded["files"], **own},
    }
