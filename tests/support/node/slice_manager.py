# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A systemd that manages slices: it reads unit files and drop-ins from real directories and prints results as busctl.

It does what src/core/unit.c and dbus-cgroup.c do, as far as the engine depends on it: files are read when a unit is
loaded and at daemon-reload, SetUnitProperties leaves 50-PROPERTY.conf below /run/systemd/system.control, and an active
unit keeps what it was loaded with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost, Refusal

DEFAULTS: dict[str, Any] = {"CPUWeight": INFINITY, "MemoryHigh": INFINITY, "TasksMax": INFINITY, "MemoryLow": 0}
"""The only properties that this systemd supports."""
CONTROL = "run/systemd/system.control"
MANAGER = "/org/freedesktop/systemd1"
V2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
FIELDS = ("LoadState", "ActiveState", "SubState", "FragmentPath", "ControlGroup")


@dataclass
class Slice:
    active: bool = False
    fragment: str = ""
    drop_ins: list[str] = field(default_factory=list)
    values: dict[str, int] = field(default_factory=dict)


@dataclass
class Systemd:
    """``pinned``: slices that slices.target wants since boot, so that they stay loaded while they are inactive."""

    root: Path
    slices: dict[str, Slice] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)
    refused: str = ""
    transient: bool = False

    def __post_init__(self) -> None:
        self.host = AnsweringHost(self.root, self.respond)
        self.write("proc/self/mountinfo", V2)
        self.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
        for directory in ("etc/systemd/system", "run/systemd"):
            (self.root / directory).mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    @property
    def verbs(self) -> list[str]:
        """The verb or method of each command."""
        return [
            argv[8 - 1] if argv[0] == "busctl" else argv[-3 if argv[-2] == "--" else -1] for argv in self.host.commands
        ]

    def respond(self, argv: Sequence[str]) -> str:
        if argv[0] == "busctl":
            return self._call(argv[5], argv[7], argv[9:])
        if argv[-1] == "daemon-reload":
            if self.refused == "daemon-reload":
                raise Refusal("Access denied\n")
            for name in self.slices:
                self._load(name)
            return ""
        verb, name = argv[-3], argv[-1]
        if self.refused == verb:
            raise Refusal(f"Job for {name} failed.\n")
        self._job(verb, name)
        return ""

    def loaded(self, name: str) -> Slice:
        unit = self.slices.get(name)
        if unit is None or not (unit.active or name in self.pinned):
            self._load(name)
        return self.slices[name]

    def _load(self, name: str) -> None:
        unit = self.slices.setdefault(name, Slice())
        paths = [self.root / place / name for place in ("etc/systemd/system", "usr/lib/systemd/system")]
        path = next((candidate for candidate in paths if candidate.is_file()), paths[0])
        drop_ins = sorted(
            (drop_in.name, drop_in)
            for place in ("etc/systemd/system", "etc/systemd/system.control", CONTROL)
            for drop_in in (self.root / place / f"{name}.d").glob("*.conf")
        )
        unit.drop_ins = [f"/{drop_in.relative_to(self.root)}" for _name, drop_in in drop_ins]
        unit.fragment = f"/{path.relative_to(self.root)}" if path.is_file() else ""
        unit.values = dict(DEFAULTS)
        for file in [path, *(file for _name, file in drop_ins)]:
            for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
                key, _equals, value = line.partition("=")
                if key in DEFAULTS:
                    unit.values[key] = int(value) if value.isdigit() else INFINITY

    def _job(self, verb: str, name: str) -> None:
        self.loaded(name).active = verb == "start"
        directory = self.root / "sys/fs/cgroup" / _cgroup_directory(name)
        if verb == "start":
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "cgroup.procs").touch()
            (directory / "cgroup.controllers").write_text("cpu memory pids\n")
        elif directory.is_dir():
            for file in directory.iterdir():
                file.unlink()
            directory.rmdir()

    def _call(self, path: str, method: str, words: Sequence[str]) -> str:
        if self.refused == method:
            raise Refusal("Call failed: Permission denied\n")
        if method == "GetAll":
            return self._properties(path)
        assert method == "SetUnitProperties"
        name, runtime, _count, *values = words
        assert runtime == "true"
        unit = self.loaded(name)
        for key, signature, value in zip(values[::3], values[1::3], values[2::3]):
            if key not in DEFAULTS:
                raise Refusal(f"Call failed: Cannot set property {key}, or unknown property.\n")
            assert signature == "t"
            unit.values[key] = int(value)
            self.write(f"{CONTROL}/{name}.d/50-{key}.conf", f"[Slice]\n{key}={value}\n")
            drop_in = f"/{CONTROL}/{name}.d/50-{key}.conf"
            unit.drop_ins = sorted({*unit.drop_ins, drop_in})
        return ""

    def _properties(self, path: str) -> str:
        escaped = path[len(MANAGER + "/unit/") :]
        name = escaped.replace("_2d", "-").replace("_2e", ".")
        unit = self.loaded(name)
        files = [*unit.drop_ins, *filter(None, [unit.fragment])]
        stale = any(not (self.root / file.lstrip("/")).is_file() for file in files)
        active = "active" if unit.active else "inactive"
        group = "/" + _cgroup_directory(name) if unit.active else ""
        texts = zip(FIELDS, ("loaded", active, active, unit.fragment, group))
        parts = [f'"{key}" s "{value}"' for key, value in texts]
        parts += [f'"{key}" t {value}' for key, value in unit.values.items()]
        parts.append(f'"NeedDaemonReload" b {str(stale).lower()}')
        parts.append(f'"Transient" b {str(self.transient).lower()}')
        parts.append(
            " ".join(['"DropInPaths" as', str(len(unit.drop_ins)), *(f'"{drop_in}"' for drop_in in unit.drop_ins)])
        )
        return f"a{{sv}} {len(parts)} {' '.join(parts)}\n"


def _cgroup_directory(name: str) -> str:
    stem = name[: -len(".slice")].split("-")
    return "/".join("-".join(stem[: count + 1]) + ".slice" for count in range(len(stem)))
