# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O's file and drop-ins: invalid TOML, values that CRI-O does not decode, paths that are not files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, Text, as_it_is

DIRECTORY = "etc/crio/crio.conf.d"
SITE, OWN_DROP_IN, MAIN = f"{DIRECTORY}/10-crio.conf", f"{DIRECTORY}/99-volcano-colocation.conf", "etc/crio/crio.conf"
GOOD = '[crio.runtime]\ndefault_runtime = "crun"\n'
NODE: dict[str, Text] = {"usr/bin/containerd": None, "etc/containerd/config.toml": None, "usr/bin/crio": "", SITE: GOOD}
OPTIONS = {"cgroup_driver": "cgroupfs", "nri": {"enabled": True}}
CORRECT = "Until then the file is not changed."
TYPE = "CRI-O does not start with it"


def _at(line: int | None, message: str, text: Text, name: str = SITE, spoil: Callable[[Path], Any] = as_it_is) -> Case:
    place = f"/{name}" if line is None else f"/{name}:{line}"
    return Case(
        "crio_config", OPTIONS, (f"Nothing was changed. {place}: {message}", CORRECT), {**NODE, name: text}, spoil
    )


def _type(line: int, key: str, desired: str, text: str) -> Case:
    return _at(line, f"{key} is not {desired}; {TYPE}. Correct the value or delete the key. {CORRECT}", text)


def _runtime(key: str, desired: str, line: str) -> Case:
    return _type(3, f"crio.runtime.{key}", desired, f"{GOOD}{line}\n")


def _nri(key: str, desired: str, value: str) -> Case:
    return _type(4, f"crio.nri.{key}", desired, f"{GOOD}[crio.nri]\n{key} = {value}\n")


def _directory(root: Path) -> None:
    (root / OWN_DROP_IN).mkdir()


def _link(root: Path) -> None:
    (root / OWN_DROP_IN).symlink_to("10-crio.conf")


CASES = {
    "no TOML": _at(1, "a table header without its closing bracket", "[crio\n"),
    "no value": _at(2, "a missing value", "[crio.runtime]\ncgroup_manager =\n"),
    "key twice": _at(
        3,
        "key 'crio.runtime.cgroup_manager' is set twice, first in line 2",
        '[crio.runtime]\ncgroup_manager = "systemd"\ncgroup_manager = "cgroupfs"\n',
    ),
    "text without end": _at(2, "a text without its closing quote", '[crio.runtime]\ncgroup_manager = "systemd\n'),
    "YAML": _at(1, "a key without an equals sign", "crio:\n  runtime: {}\n"),
    "bytes": _at(1, "a line that is neither a key", bytes(range(128, 256))),
    "nested without end": _at(None, "nested too deeply", "a = " + "[" * 5000 + "]" * 5000),
    "main file is not TOML": _at(1, "", "[crio\n", MAIN),
    "own drop-in is not TOML": _at(1, "", "[crio\n", OWN_DROP_IN),
    "own drop-in is a directory": Case(
        "crio_config", OPTIONS, (f"/{OWN_DROP_IN}: is a directory, not a regular file",), NODE, _directory
    ),
    "our drop-in is a link": Case("crio_config", OPTIONS, (f"/{OWN_DROP_IN}: is a symbolic link",), NODE, _link),
    "manager is a number": _type(2, "crio.runtime.cgroup_manager", "a string", "[crio.runtime]\ncgroup_manager = 5\n"),
    "manager is a list": _runtime("cgroup_manager", "a string", 'cgroup_manager = ["systemd"]'),
    "manager is a switch": _runtime("cgroup_manager", "a string", "cgroup_manager = true"),
    "manager is a table": _type(3, "crio.runtime.cgroup_manager", "a string", f"{GOOD}[crio.runtime.cgroup_manager]\n"),
    "monitor's cgroup is a switch": _runtime("conmon_cgroup", "a string", "conmon_cgroup = false"),
    "default handler is a number": _type(
        2, "crio.runtime.default_runtime", "a string", "[crio.runtime]\ndefault_runtime=1"
    ),
    "handlers are a list": _runtime("runtimes", "a table", 'runtimes = ["crun"]'),
    "handler is a text": _runtime("runtimes.crun", "a table", 'runtimes.crun = "/usr/bin/crun"'),
    "handler's monitor is a number": _type(
        4,
        "crio.runtime.runtimes.crun.monitor_cgroup",
        "a string",
        f"{GOOD}[crio.runtime.runtimes.crun]\nmonitor_cgroup = 0\n",
    ),
    "handler's type in braces": _runtime(
        "runtimes.crun.runtime_type", "a string", "runtimes.crun = {runtime_type = 1}"
    ),
    "crio is a text": _type(1, "crio", "a table", 'crio = "x"\n'),
    "crio is a list of tables": _type(2, "crio", "a table", "# managed\n[[crio]]\nlog_dir = 1\n"),
    "runtime is a text": _type(2, "crio.runtime", "a table", '[crio]\nruntime = "crun"\n'),
    "runtime is a list of tables": _type(1, "crio.runtime", "a table", "[[crio.runtime]]\n"),
    "NRI is a switch": _type(2, "crio.nri", "a table", "[crio]\nnri = true\n"),
    "NRI's switch is a text": _nri("enable_nri", "true or false", '"true"'),
    "NRI's switch is a number": _nri("enable_nri", "true or false", "1"),
    "NRI's other switch is a text": _nri("nri_disable_connections", "true or false", '"no"'),
    "NRI's socket is a number": _nri("nri_listen", "a string", "5"),
    "NRI's directory is a list": _nri("nri_plugin_dir", "a string", '["/opt"]'),
    "NRI's directory of files is a switch": _nri("nri_plugin_config_dir", "a string", "true"),
    "NRI's time is a switch": _nri("nri_plugin_request_timeout", "a time", "true"),
    "NRI's time is a fraction": _nri("nri_plugin_registration_timeout", "a time", "0.5"),
    "our drop-in with another type": _at(
        2, f"crio.runtime.cgroup_manager is not a string; {TYPE}", "[crio.runtime]\ncgroup_manager = 1\n", OWN_DROP_IN
    ),
}
