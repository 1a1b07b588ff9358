# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts on containerd's files: one type for containerd's own and for the collection's."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_tables import NRI as NRI_KEYS
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.containerd_schema import (
    DEFAULT_NRI_SOCKET,
    RUNC_TYPES,
)
from ansible_collections.volcano.colocation.tests.judges.containerd_files import CRI, NRI
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import Containerd

tomllib = importlib.import_module("tomllib")

SYSTEMD, CGROUPFS, UNDECODED = "systemd", "cgroupfs", "no pod can be made"
CHUNK = 200
DEFAULT_KEY = "max_container_log_line_size"
"""A key of the CRI plugin that every release dumps, unless the plugin is disabled."""
DEPRECATED = {"untrusted": "untrusted_workload_runtime", "default": "default_runtime"}
"""Handlers that 1.x reads from deprecated tables."""
PARTS = {CRI[2], CRI[3], "io.containerd.cri.v1.images"}
"""Plugins of 2.x that serve the CRI: the service and the plugins that it calls."""
QUICK = {"GOMAXPROCS": "1", "GOGC": "off"}
"""The program prints and ends: a second thread and garbage collection would cost more than they save."""


@dataclass(frozen=True)
class Verdict:
    """``error`` keeps containerd from starting, ``codes`` are the collection's; other fields are values in effect.

    ``handlers``: drivers of the handlers of runc type; ``untyped``: handlers without a type, which cannot start a pod.
    """

    error: str | None = None
    codes: frozenset[str] = frozenset()
    cri: bool = True
    handlers: Mapping[str, str | None] = field(default_factory=dict)
    untyped: tuple[str, ...] = ()
    default: str = ""
    nri: bool = False
    nri_socket: str = ""


def dumps(containerd: Containerd, paths: Iterable[Path]) -> dict[Path, subprocess.CompletedProcess[bytes]]:
    """Results of ``containerd config dump`` for main files."""

    def run(path: Path) -> subprocess.CompletedProcess[bytes]:
        argv = [str(containerd.path), "--config", str(path), "config", "dump"]
        return subprocess.run(argv, capture_output=True, check=False, env={**os.environ, **QUICK}, cwd="/")

    files = list(paths)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(files, pool.map(run, files), strict=True))


def containerd_verdicts(containerd: Containerd, options: Path, paths: Iterable[Path]) -> dict[Path, Verdict]:
    """containerd's verdict on each main file; ``options`` is the program that decodes handlers' options as it does."""
    results = dumps(containerd, paths)
    started = {path: result.stdout for path, result in results.items() if result.returncode == 0}
    tables = {path: tomllib.loads(text.decode()) for path, text in started.items()}
    with_cri = {path: text for path, text in started.items() if DEFAULT_KEY in _cri(containerd, tables[path])}
    decoded = _decoded(options, with_cri)
    verdicts = {}
    for path, result in results.items():
        if path in started:
            verdicts[path] = _verdict(containerd, tables[path], decoded.get(path))
        else:
            verdicts[path] = Verdict(error=result.stderr.decode(errors="replace").strip()[-400:])
    return verdicts


def _decoded(options: Path, dumps: Mapping[Path, bytes]) -> dict[Path, dict[str, dict[str, Any]]]:
    decoded: dict[Path, dict[str, dict[str, Any]]] = {}
    written = {path.with_suffix(".dump"): path for path in dumps}
    for target, path in written.items():
        target.write_bytes(dumps[path])
    names = [str(target) for target in written]
    for start in range(0, len(names), CHUNK):
        text = subprocess.run([str(options), *names[start : start + CHUNK]], capture_output=True, check=True).stdout
        decoded |= {written[Path(name)]: handlers for name, handlers in json.loads(text).items()}
    return decoded


def _cri(containerd: Containerd, values: Mapping[str, Any]) -> Mapping[str, Any]:
    table: Mapping[str, Any] = values["plugins"].get(CRI[2 if containerd.major < 2 else 3], {})
    return table


def _verdict(
    containerd: Containerd, values: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]] | None
) -> Verdict:
    """``options`` is None where the CRI plugin is disabled: the dump then has its table as written in the file."""
    table = _cri(containerd, values)["containerd"] if options is not None else {}
    tables, default = dict(table.get("runtimes", {})), table.get("default_runtime_name", "")
    # ValidatePluginConfig of pkg/cri/config/config.go: it runs when the CRI plugin of 1.x starts, not for a dump.
    for name in DEPRECATED:
        if name in (options or {}) and name not in tables:
            tables[name] = table[DEPRECATED[name]]
            default = name if name == "default" else default
    kinds = {name: handler.get("runtime_type", "") for name, handler in tables.items()}
    nri = values["plugins"].get(NRI, {})
    # If NRI is disabled as a plugin, the dump has its table as written in the file, without defaults.
    nri_on = set(NRI_KEYS) <= set(nri)
    return Verdict(
        cri=options is not None and not (containerd.major > 1 and PARTS & set(values["disabled_plugins"])),
        handlers={name: _word((options or {})[name]) for name, kind in kinds.items() if kind in RUNC_TYPES},
        untyped=tuple(sorted(name for name, kind in kinds.items() if not kind)),
        default=default,
        nri=nri_on and not nri["disable"],
        nri_socket=_socket(nri["socket_path"]) if nri_on else "",
    )


def _socket(path: str) -> str:
    """Where NRI's pkg/adaptation listens when containerd runs in ``/``, as systemd starts it; empty means the default.

    toOptions of internal/nri/config.go, up to 1.7 of pkg/nri/config.go.
    """
    return os.path.normpath(os.path.join("/", path or DEFAULT_NRI_SOCKET))


def _word(decoded: Mapping[str, Any]) -> str:
    if decoded["Error"]:
        return UNDECODED
    return SYSTEMD if decoded["SystemdCgroup"] else CGROUPFS
