# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about every file that can set kubelet's values: drop-ins, its unit, the environment files of that.

What these files say of a field is a hint where to look on the node. They are read on the controller.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..host import Host
from ..systemd.unit_syntax import (
    environment_files,
    expand_pattern,
    is_pattern,
    parse_environment,
    section_settings,
    split_words,
)
from .file_evidence import capture

_VALUE = r"[ \t]*:[ \t]*[\"']?([^\"'#\s,}]+)"


def hints(text: str, *names: str, indent: str = r"[ \t]*") -> list[tuple[str, str]]:
    """(name, value) of each of these fields of the top level that has a plain value, in JSON or YAML.

    A key of YAML is taken for a field wherever its line begins with ``indent``: a node has no YAML library.
    """
    document = _json(text)
    if document is not None:
        found = [(name, document.get(name)) for name in names]
        return [(name, str(value)) for name, value in found if isinstance(value, (str, int)) and value != ""]
    pattern = r"^%s[\"']?(%s)[\"']?%s" % (indent, "|".join(map(re.escape, names)), _VALUE)
    return [(each[0], each[1]) for each in re.findall(pattern, text, re.MULTILINE)]


def _json(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None for any other text."""
    body = text.lstrip("\ufeff \t\r\n")
    if not body.startswith("{"):
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


UNIT = "kubelet.service"
UNIT_DIRECTORIES = (
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


def walk(host: Host, directory: str, depth: int = 0) -> Iterator[str]:
    """Paths below a directory in the order of Go's filepath.WalkDir: lexical, links to directories not followed.

    A directory is given too, with a slash at its end.
    """
    for name in host.list(directory):
        path = directory.rstrip("/") + "/" + name
        if host.is_directory(path) and not host.is_symlink(path):
            yield path + "/"
            if depth < _MAX_DEPTH:
                yield from walk(host, path, depth + 1)
        else:
            yield path


def dropins(host: Host, directory: str | None) -> dict[str, Any]:
    """``{folder, exists, paths, left_out}`` of --config-dir: its ``*.conf`` files as kubelet takes them, bounded."""
    found: dict[str, Any] = {"folder": directory, "exists": None, "paths": [], "left_out": 0}
    if not directory or not os.path.isabs(directory):
        return found
    found["exists"] = host.is_directory(directory)
    try:
        for seen, path in enumerate(walk(host, directory)):
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
    fragment = next((path for path in _in_unit_directories(UNIT) if host.lexists(path)), None)
    by_name: dict[str, str] = {}
    for directory in _in_unit_directories(UNIT + ".d"):
        for name in _names(host, directory):
            if name.endswith(".conf"):
                by_name.setdefault(name, directory + "/" + name)
    return ([fragment] if fragment else []) + [by_name[name] for name in sorted(by_name)][: MAX_UNIT_FILES - 1]


def _in_unit_directories(name: str) -> list[str]:
    return [directory + "/" + name for directory in UNIT_DIRECTORIES]


def _names(host: Host, directory: str) -> list[str]:
    try:
        return host.list(directory)
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
        path: expand_pattern(host, path, MAX_ENVIRONMENT_FILES - len(ENVIRONMENT_FILES))
        for path in environment_names(texts)
        if is_pattern(path)
    }


def describe_patterns(patterns: Mapping[str, list[str] | None], taken: list[str]) -> dict[str, Any]:
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


def capture_all(host: Host, paths: list[str]) -> dict[str, Any]:
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
    files = capture_all(host, units)
    texts = [files[path].get("text", "") for path in units]
    patterns = environment_patterns(host, texts)
    variables = environment_paths(texts, patterns)
    files.update({**capture_all(host, variables), **describe_patterns(patterns, variables)})
    return {"unit_files": units, "environment_files": variables, "files": files}


def start_words(found: Mapping[str, Any]) -> list[str]:
    """All words of ``unit_sources`` that kubelet may be started with: they tell where its files are when none runs."""
    texts = [found["files"][path].get("text", "") for path in found["unit_files"]]
    written = [value for text in texts for key, value in section_settings(text) if key in ("ExecStart", "Environment")]
    for path in found["environment_files"]:
        written += parse_environment(found["files"][path].get("text", "")).values()
    # Environment=NAME="--a --b" is one word with two flags in it
    return [word for value in written for each in split_words(value) for word in re.sub(r"^\w+=", "", each).split()]


def dropin_sources(host: Host, directory: str | None) -> dict[str, Any]:
    """``{config_dir, files}``: the drop-ins of --config-dir with their texts."""
    found = dropins(host, directory)
    return {"config_dir": found, "files": capture_all(host, found["paths"])}
