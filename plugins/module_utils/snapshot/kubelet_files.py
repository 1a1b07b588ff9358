# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about every file that can set kubelet's values: drop-ins, its unit, and the environment files of that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..host import Host
from .files import capture
from .path_pattern import expanded, is_pattern
from .unit_file import environment, environment_files, settings, words

UNIT = "kubelet.service"
UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
"""systemd.unit(5), the strongest first."""
ENVIRONMENT_FILES = ("/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet")
"""Where kubeadm and the packages of Debian and Red Hat keep flags; looked at even when no unit names them."""
DROPIN_VARIABLE = "KUBELET_CONFIG_DROPIN_DIR_ALPHA"
MAX_DROPINS = 64
MAX_UNIT_FILES = 32
MAX_ENVIRONMENT_FILES = 16
PATTERN = "pattern"
"""The kind of what stands in ``files`` under the name of a pattern."""
MAX_TEXT = 1 << 22
_MAX_ENTRIES = 4096
_MAX_DEPTH = 16


def walk(host: Host, folder: str, depth: int = 0) -> Iterator[str]:
    """Paths below a folder in the order of Go's filepath.WalkDir: lexical, links to folders not followed.

    A folder is given too, with a slash at its end.
    """
    for name in host.list(folder):
        path = folder.rstrip("/") + "/" + name
        if host.is_folder(path) and not host.is_link(path):
            yield path + "/"
            if depth < _MAX_DEPTH:
                yield from walk(host, path, depth + 1)
        else:
            yield path


def dropins(host: Host, folder: str | None) -> dict[str, Any]:
    """``{folder, exists, paths, left_out}`` of --config-dir: its ``*.conf`` files as kubelet takes them, bounded."""
    found: dict[str, Any] = {"folder": folder, "exists": None, "paths": [], "left_out": 0}
    if not folder or not os.path.isabs(folder):
        return found
    found["exists"] = host.is_folder(folder)
    try:
        for seen, path in enumerate(walk(host, folder)):
            # filepath.Ext: what follows the last dot, so that a file named .conf counts too
            if not path.endswith(".conf"):
                pass
            elif len(found["paths"]) < MAX_DROPINS:
                found["paths"].append(path)
            else:
                found["left_out"] += 1
            if seen >= _MAX_ENTRIES:
                break
    except OSError as error:
        found["error"] = str(error.strerror or error)
    return found


def unit_paths(host: Host, unit: Mapping[str, str]) -> list[str]:
    """kubelet's unit file, then its drop-ins in systemd's order: as systemd says, else as its search path gives."""
    if unit.get("FragmentPath"):
        return [unit["FragmentPath"], *unit.get("DropInPaths", "").split()][:MAX_UNIT_FILES]
    fragment = next((path for path in _in_unit_folders(UNIT) if host.lexists(path)), None)
    by_name: dict[str, str] = {}
    for folder in _in_unit_folders(UNIT + ".d"):
        for name in _names(host, folder):
            if name.endswith(".conf"):
                by_name.setdefault(name, folder + "/" + name)
    return ([fragment] if fragment else []) + [by_name[name] for name in sorted(by_name)][: MAX_UNIT_FILES - 1]


def _in_unit_folders(name: str) -> list[str]:
    return [folder + "/" + name for folder in UNIT_FOLDERS]


def _names(host: Host, folder: str) -> list[str]:
    try:
        return host.list(folder)
    except OSError:
        return []


def environment_paths(texts: list[str], patterns: Mapping[str, list[str] | None]) -> list[str]:
    """The environment files that unit files name, then the well-known ones; one with a specifier is left out."""
    found: list[str] = []
    for path in environment_names(texts):
        found += (patterns[path] or []) if path in patterns else [path]
    return list(dict.fromkeys([*found, *ENVIRONMENT_FILES]))[:MAX_ENVIRONMENT_FILES]


def environment_names(texts: list[str]) -> list[str]:
    """What stands in EnvironmentFile= of unit files and needs no specifier of systemd.unit(5) to be read."""
    named = [path.lstrip("-") for text in texts for path in environment_files(text)]
    return [path for path in named if path.startswith("/") and "%" not in path]


def environment_patterns(host: Host, texts: list[str]) -> dict[str, list[str] | None]:
    """The files of each EnvironmentFile= with a pattern, systemd.exec(5); None where they are too many."""
    return {
        path: expanded(host, path, MAX_ENVIRONMENT_FILES - len(ENVIRONMENT_FILES))
        for path in environment_names(texts)
        if is_pattern(path)
    }


def described_patterns(patterns: Mapping[str, list[str] | None], taken: list[str]) -> dict[str, Any]:
    """An entry of ``files`` for each pattern: that all of its files were taken along, or why not."""
    found: dict[str, Any] = {}
    for path, matching in patterns.items():
        found[path] = {"kind": PATTERN}
        if matching is None or not set(matching) <= set(taken):
            found[path]["error"] = "not taken along: more than %d environment files" % MAX_ENVIRONMENT_FILES
    return found


def dropin_variable(host: Host, pid: int | None) -> bool | None:
    """Whether the running kubelet has the variable that 1.28 and 1.29 want for --config-dir; nothing else is taken."""
    if pid is None:
        return None
    try:
        block = host.read_bytes("/proc/%d/environ" % pid)
    except OSError:
        return None
    return any(each.startswith(DROPIN_VARIABLE.encode() + b"=") for each in block.split(b"\0"))


def captured(host: Host, paths: list[str]) -> dict[str, Any]:
    """``capture`` of each path, until together they have more text than any node needs."""
    found: dict[str, Any] = {}
    taken = 0
    for path in paths:
        found[path] = capture(host, path)
        taken += len(found[path].get("text", ""))
        if taken > MAX_TEXT:
            found[path].pop("text", None)
            found[path]["error"] = "not taken along: these files have more than %d bytes together" % MAX_TEXT
    return found


def unit_sources(host: Host, unit: Mapping[str, str]) -> dict[str, Any]:
    """``{unit_files, environment_files, files}``: where the flags of the next start stand."""
    units = unit_paths(host, unit)
    files = captured(host, units)
    texts = [files[path].get("text", "") for path in units]
    patterns = environment_patterns(host, texts)
    variables = environment_paths(texts, patterns)
    files.update({**captured(host, variables), **described_patterns(patterns, variables)})
    return {"unit_files": units, "environment_files": variables, "files": files}


def written_words(found: Mapping[str, Any]) -> list[str]:
    """All words of ``unit_sources`` that kubelet may be started with: they tell where its files are when none runs."""
    texts = [found["files"][path].get("text", "") for path in found["unit_files"]]
    written = [value for text in texts for key, value in settings(text) if key in ("ExecStart", "Environment")]
    for path in found["environment_files"]:
        written += environment(found["files"][path].get("text", "")).values()
    # Environment=NAME="--a --b" is one word with two flags in it
    return [word for value in written for each in words(value) for word in re.sub(r"^\w+=", "", each).split()]


def dropin_sources(host: Host, folder: str | None) -> dict[str, Any]:
    """``{config_dir, files}``: the drop-ins of --config-dir with their texts."""
    found = dropins(host, folder)
    return {"config_dir": found, "files": captured(host, found["paths"])}
