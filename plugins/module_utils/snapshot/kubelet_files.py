# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about every file that can set kubelet's values: drop-ins, its unit, and the unit's environment files.

On the node, fields in these files are only hints about which other files to collect. The controller parses them.
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
from .file_evidence import capture, read_error

_VALUE = r"[ \t]*:[ \t]*[\"']?([^\"'#\s,}]+)"


def hints(text: str, *names: str, indent: str = r"[ \t]*") -> list[tuple[str, str]]:
    """(name, value) of each of these top-level fields with a scalar value, in JSON or YAML.

    In YAML every line that begins with ``indent`` and a name counts as a field: the node has no YAML library.
    """
    document = _json(text)
    if document is not None:
        values = [(name, document.get(name)) for name in names]
        return [(name, str(value)) for name, value in values if isinstance(value, (str, int)) and value != ""]
    pattern = r"^%s[\"']?(%s)[\"']?%s" % (indent, "|".join(map(re.escape, names)), _VALUE)
    return [(match[0], match[1]) for match in re.findall(pattern, text, re.MULTILINE)]


def _json(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None for any other text."""
    body = text.lstrip("\ufeff \t\r\n")
    if not body.startswith("{"):
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


UNIT = "kubelet.service"
UNIT_DIRECTORIES = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
"""systemd.unit(5), highest precedence first."""
ENVIRONMENT_FILES = ("/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet")
"""Flag files of kubeadm and of the packages of Debian and Red Hat; read even if no unit names them."""
DROPIN_VARIABLE = "KUBELET_CONFIG_DROPIN_DIR_ALPHA"
MAX_DROPINS = 64
MAX_UNIT_FILES = 32
MAX_ENVIRONMENT_FILES = 16
PATTERN = "pattern"
"""The kind of an entry of ``files`` whose key is a pattern."""
MAX_TEXT = 1 << 22
_MAX_ENTRIES = 4096
_MAX_DEPTH = 16


def walk(host: Host, directory: str, depth: int = 0) -> Iterator[str]:
    """Paths below a directory in the order of Go's filepath.WalkDir: lexical, links to directories not followed.

    Directories are listed too, with a slash at the end.
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
    """``{folder, exists, paths, left_out}`` of --config-dir; at most MAX_DROPINS ``*.conf`` in kubelet's order."""
    listing: dict[str, Any] = {"folder": directory, "exists": None, "paths": [], "left_out": 0}
    if not directory or not os.path.isabs(directory):
        return listing
    listing["exists"] = host.is_directory(directory)
    try:
        for position, path in enumerate(walk(host, directory)):
            # Go's filepath.Ext returns the text from the last dot, so a file named .conf counts too
            if not path.endswith(".conf"):
                pass
            elif len(listing["paths"]) < MAX_DROPINS:
                listing["paths"].append(path)
            else:
                listing["left_out"] += 1
            if position >= _MAX_ENTRIES:
                break
    except OSError as error:
        listing.update(read_error(error))
    return listing


def unit_paths(host: Host, unit: Mapping[str, str]) -> list[str]:
    """kubelet's unit file, then its drop-ins in systemd's order: from systemd, else from its search path."""
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
    """The environment files that unit files name, then the well-known ones; paths with a specifier are skipped."""
    paths: list[str] = []
    for path in environment_names(texts):
        paths += (patterns[path] or []) if path in patterns else [path]
    return list(dict.fromkeys([*paths, *ENVIRONMENT_FILES]))[:MAX_ENVIRONMENT_FILES]


def environment_names(texts: list[str]) -> list[str]:
    """The paths in EnvironmentFile= of unit files that have no specifier of systemd.unit(5)."""
    named = [path.lstrip("-") for text in texts for path in environment_files(text)]
    return [path for path in named if path.startswith("/") and "%" not in path]


def environment_patterns(host: Host, texts: list[str]) -> dict[str, list[str] | None]:
    """The files that match each EnvironmentFile= with a pattern, systemd.exec(5); None where there are too many."""
    return {
        path: expand_pattern(host, path, MAX_ENVIRONMENT_FILES - len(ENVIRONMENT_FILES))
        for path in environment_names(texts)
        if is_pattern(path)
    }


def describe_patterns(patterns: Mapping[str, list[str] | None], captured: list[str]) -> dict[str, Any]:
    """An entry of ``files`` for each pattern, with an error if not all of its files were collected."""
    entries: dict[str, Any] = {}
    for path, matching in patterns.items():
        entries[path] = {"kind": PATTERN}
        if matching is None or not set(matching) <= set(captured):
            entries[path]["error"] = "not taken along: more than %d environment files" % MAX_ENVIRONMENT_FILES
    return entries


def dropin_variable(host: Host, pid: int | None) -> bool | None:
    """Whether the running kubelet has the variable that 1.28 and 1.29 require for --config-dir; reads nothing else."""
    if pid is None:
        return None
    try:
        block = host.read_bytes("/proc/%d/environ" % pid)
    except OSError:
        return None
    return any(assignment.startswith(DROPIN_VARIABLE.encode() + b"=") for assignment in block.split(b"\0"))


def capture_all(host: Host, paths: list[str]) -> dict[str, Any]:
    """``capture`` of each path, without the texts of files beyond MAX_TEXT bytes in total."""
    files: dict[str, Any] = {}
    size = 0
    for path in paths:
        files[path] = capture(host, path)
        size += len(files[path].get("text", ""))
        if size > MAX_TEXT:
            files[path].pop("text", None)
            files[path]["error"] = "not taken along: these files have more than %d bytes together" % MAX_TEXT
    return files


def unit_sources(host: Host, unit: Mapping[str, str]) -> dict[str, Any]:
    """``{unit_files, environment_files, files}``: the files that contain the flags of the next start."""
    units = unit_paths(host, unit)
    files = capture_all(host, units)
    texts = [files[path].get("text", "") for path in units]
    patterns = environment_patterns(host, texts)
    variables = environment_paths(texts, patterns)
    files.update({**capture_all(host, variables), **describe_patterns(patterns, variables)})
    return {"unit_files": units, "environment_files": variables, "files": files}


def start_words(sources: Mapping[str, Any]) -> list[str]:
    """All words of ``unit_sources`` that can be kubelet's flags: they locate its files when it is not running."""
    texts = [sources["files"][path].get("text", "") for path in sources["unit_files"]]
    written = [value for text in texts for key, value in section_settings(text) if key in ("ExecStart", "Environment")]
    for path in sources["environment_files"]:
        written += parse_environment(sources["files"][path].get("text", "")).values()
    # Environment=NAME="--a --b" is one word with two flags in it
    return [word for value in written for text in split_words(value) for word in re.sub(r"^\w+=", "", text).split()]


def dropin_sources(host: Host, directory: str | None) -> dict[str, Any]:
    """``{config_dir, files}``: the drop-ins of --config-dir with their texts."""
    listing = dropins(host, directory)
    return {"config_dir": listing, "files": capture_all(host, listing["paths"])}
