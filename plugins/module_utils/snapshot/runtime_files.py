# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the files of container runtimes: containerd's with what they import, CRI-O's, docker's.

A node has no TOML parser. More is collected here than needed; the controller decides which of it is relevant.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from typing import Any

from ..host import Host
from .file_evidence import capture, describe
from .process_evidence import command_line_option

CONTAINERD_CONFIG = "/etc/containerd/config.toml"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CONTAINERD_DROP_INS = "/etc/containerd/conf.d"
CONTAINERD_PROGRAMS = (
    "/usr/bin/containerd",
    "/usr/local/bin/containerd",
    "/var/lib/rancher/k3s/data/current/bin/containerd",
    "/var/lib/rancher/rke2/bin/containerd",
)
# Installers whose containerd does not listen at the address in its command line and file.
_SOCKETS_BY_CONFIG = (
    ("/rancher/", "/run/k3s/containerd/containerd.sock"),
    ("/docker/containerd/", "/run/docker/containerd/containerd.sock"),
)

_SET = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]")
"""Patterns that Go's filepath.Match and Python's fnmatch interpret differently: ``[^a]``, ``[!a]`` and backslashes."""

MAX_FILES = 64
MAX_BYTES = 1 << 20
"""Bytes of text after which no further file is collected, because the controller parses all of them."""
MAX_DIRECTORIES = 256

_IMPORTS = re.compile("^\ufeff?[ \t]*[\"']?imports[\"']?[ \t]*=[ \t]*\\[", re.MULTILINE | re.IGNORECASE)
"""Also after a byte order mark, which containerd 1.x ignores."""
_ITEM = re.compile(r"""(?:\s|,|\#[^\n]*)*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')""")
_ADDRESS = re.compile(
    r"^[ \t]*address[ \t]*=[ \t]*[\"']([^\"'\n]+/containerd\.sock)[\"']", re.MULTILINE | re.IGNORECASE
)
_RELEVANT = re.compile(
    r"[ \t]*(version|disabled_plugins|default_runtime_name|runtime_type|SystemdCgroup|BinaryName|disable|socket_path)"
    r"[ \t]*=[ \t]*(\[.*\]|[^\[{\s].*)",
    re.IGNORECASE,
)
"""In any letter case: options of a handler are dumped as the file spells them (module_utils/containerd_fields.py)."""
_RELEVANT_TABLE = re.compile(r"\[plugins\..*(?:\.containerd|\.runtimes\..+|io\.containerd\.nri\.v1\.nri[\"'])\]")


def import_patterns(text: str) -> list[str]:
    """The strings of all arrays named ``imports``, in any table; extra strings are harmless."""
    patterns: list[str] = []
    for start in _IMPORTS.finditer(text):
        item = _ITEM.match(text, start.end())
        while item and len(patterns) < MAX_FILES:
            patterns.append(_unescape(item.group(1)) if item.group(1) is not None else item.group(2))
            item = _ITEM.match(text, item.end())
    return patterns


def _unescape(text: str) -> str:
    """The value of a TOML string in double quotes, with the escapes that TOML shares with JSON."""
    try:
        value: str = json.loads('"' + text + '"', strict=False)
    except ValueError:
        return text
    return text if "\0" in value else value


def _widen_pattern(pattern: str) -> str:
    """An fnmatch pattern that matches at least all names that Go's pattern matches."""
    return _SET.sub("?", pattern).replace("[", "?")


class _Imports:
    """Files that are imported, directly or indirectly, within limits. Their order has no meaning."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._bytes = 0
        self._listed_directories = 0
        self.files: dict[str, Any] = {}
        self.cut = False

    def follow(self, path: str) -> None:
        pending = [path]
        while pending:
            path = pending.pop(0)
            if path in self.files:
                continue
            if len(self.files) >= MAX_FILES or self._bytes > MAX_BYTES:
                self.cut = True
                return
            self.files[path] = capture(self._host, path)
            text = self.files[path].get("text", "")
            self._bytes += len(text)
            for pattern in import_patterns(text):
                pending += self._matches(os.path.normpath(os.path.join(os.path.dirname(path), pattern)))

    def _matches(self, pattern: str) -> list[str]:
        """Go's filepath.Glob, which containerd calls only for patterns with a ``*``."""
        if "*" not in pattern:
            return [pattern]
        paths = [""]
        for part in pattern.split("/")[1:]:
            if any(character in part for character in "*?[\\"):
                paths = [
                    directory + "/" + name
                    for directory in paths
                    for name in self._names(directory)
                    if fnmatch.fnmatchcase(name, _widen_pattern(part))
                ]
            else:
                paths = [directory + "/" + part for directory in paths]
        return [path for path in paths if describe(self._host, path)["kind"] != "missing"]

    def _names(self, directory: str) -> list[str]:
        self._listed_directories += 1
        if self._listed_directories > MAX_DIRECTORIES:
            self.cut = True
            return []
        try:
            return self._host.list(directory or "/")
        except (OSError, ValueError):
            return []


def dump_excerpt(dump: str) -> str:
    """The lines of ``containerd config dump`` about handlers and NRI; others may contain registry passwords."""
    lines, relevant = [], True
    for line in dump.splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            relevant = _RELEVANT_TABLE.fullmatch(stripped) is not None
            if relevant:
                lines.append(stripped)
        elif relevant and _RELEVANT.fullmatch(line):
            lines.append(stripped)
    return "\n".join(lines) + "\n"


def _dump(host: Host, program: str, config: str) -> dict[str, Any]:
    result = host.run([program, "--config", config, "config", "dump"])
    if result.rc != 0:
        lines = result.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else "no answer", "seconds": round(result.seconds, 3)}
    return {"text": dump_excerpt(result.stdout), "seconds": round(result.seconds, 3)}


def listen_address(host: Host, argv: list[str]) -> str:
    """Path of the socket that a containerd with this command line serves."""
    named = command_line_option(argv, "--address", "-a")
    config = command_line_option(argv, "--config", "-c") or CONTAINERD_CONFIG
    if not named:
        match = _ADDRESS.search(capture(host, config).get("text", ""))
        named = match.group(1) if match else None
    return named or next((socket for part, socket in _SOCKETS_BY_CONFIG if part in config), CONTAINERD_SOCKET)


def sort_by_endpoint(host: Host, processes: list[dict[str, Any]], endpoint: str) -> list[dict[str, Any]]:
    """The processes, the one that serves ``endpoint`` first: docker and k3s each run a separate containerd."""
    socket_path = endpoint.replace("/var/run/", "/run/")
    if len(processes) < 2:
        return processes
    return sorted(
        processes,
        key=lambda process: (
            not socket_path.endswith(listen_address(host, process["argv"]).replace("/var/run/", "/run/"))
        ),
    )


def containerd_files(host: Host, argv: list[str], program: str | None) -> dict[str, Any]:
    """``{config_path, files, import_limit, dump}``: the main file, its imports and the drop-ins in conf.d."""
    config = command_line_option(argv, "--config", "-c") or CONTAINERD_CONFIG
    imports = _Imports(host)
    imports.follow(config)
    imported = len(imports.files) > 1
    for name in _drop_ins(host):
        imports.follow(CONTAINERD_DROP_INS + "/" + name)
    evidence: dict[str, Any] = {"config_path": config, "files": imports.files}
    if imports.cut:
        evidence["import_limit"] = True
    # Costs a process, so only if files are merged: only containerd itself shows how it merges them.
    if program and host.live and (imported or len(imports.files) > 1):
        evidence["dump"] = _dump(host, program, config)
    return evidence


def _drop_ins(host: Host) -> list[str]:
    try:
        return [name for name in host.list(CONTAINERD_DROP_INS) if name.endswith(".toml")]
    except OSError:
        return []


def containerd_program(host: Host, argv: list[str]) -> str | None:
    """The program of a running containerd, else from the usual paths; k3s and RKE2 start containerd without a path."""
    config = command_line_option(argv, "--config", "-c") or CONTAINERD_CONFIG
    rancher = [path for path in CONTAINERD_PROGRAMS if path.startswith("/".join(config.split("/")[:5]) + "/")]
    candidates = (*(argv[:1] if argv and os.path.isabs(argv[0]) else ()), *rancher, *CONTAINERD_PROGRAMS)
    return next((path for path in candidates if describe(host, path)["kind"] in ("regular", "symlink")), None)


CRIO_CONFIG = "/etc/crio/crio.conf"
CRIO_DROP_INS = "/etc/crio/crio.conf.d"
CRIO_SOCKET = "/var/run/crio/crio.sock"
CRIO_PROGRAMS = ("/usr/bin/crio", "/usr/local/bin/crio")
MAX_CRIO_DROP_INS = 64


def crio(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """All evidence about CRI-O; None on a node without it."""
    argv = processes[0]["argv"] if processes else []
    config = command_line_option(argv, "--config", "-c") or CRIO_CONFIG
    directory = (command_line_option(argv, "--config-dir", "-d") or CRIO_DROP_INS).rstrip("/")
    program = next((path for path in CRIO_PROGRAMS if describe(host, path)["kind"] in ("regular", "symlink")), None)
    try:
        names = host.list(directory)[:MAX_CRIO_DROP_INS]
    except (OSError, ValueError):
        names = []
    if not processes and program is None:
        return None
    return {
        "processes": processes,
        "program": program,
        "config_path": config,
        "files": {path: capture(host, path) for path in (config, *(directory + "/" + name for name in names))},
    }


DOCKER_CONFIG = "/etc/docker/daemon.json"


def docker(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """``{processes, config_path, config}`` of a running dockerd; None on a node without one."""
    if not processes:
        return None
    config = command_line_option(processes[0]["argv"], "--config-file") or DOCKER_CONFIG
    return {"processes": processes, "config_path": config, "config": capture(host, config)}
