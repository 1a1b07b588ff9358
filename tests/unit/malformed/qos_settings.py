# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos: its options, its record on the node, and the node's files that its values depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RECORD = "/var/lib/volcano-colocation/qos.json"
ONLINE, MEMINFO = "/sys/devices/system/cpu/online", "/proc/meminfo"
CHECKPOINT = "/var/lib/kubelet/cpu_manager_state"
SLICE = {"slice": "system.slice"}
PIDS = {**SLICE, "settings": {"pids_max": 10}}
ABSENT = object()
TASKS, BYTES = "Use a whole number (tasks) from 1", "Use bytes from 4096"
MOVE = "Move the file away: the settings stay in effect until the next boot"


@dataclass(frozen=True)
class QosCase:
    """``files`` replace those of a node with cgroup v2 and the systemd driver."""

    options: Mapping[str, Any]
    says: tuple[str, ...]
    files: Mapping[str, str | bytes]


def _option(message: str, **options: Any) -> QosCase:
    return QosCase({**PIDS, **options}, (message,), {})


def _target(message: str, **target: Any) -> QosCase:
    return QosCase({"settings": {"pids_max": 10}, **target}, (message,), {})


def _setting(knob: str, value: Any, message: str, *more: str) -> QosCase:
    return QosCase({**SLICE, "settings": {knob: value}}, (message, *more), {})


def _record(text: str | bytes, message: str = "it is damaged. " + MOVE) -> QosCase:
    return QosCase(PIDS, (f"{RECORD}: {message}",), {RECORD: text})


ENTRY: Mapping[str, Any] = {
    "cgroup_root": "/cgroups",
    "cgroup": "system.slice",
    "knob": "cpu_weight",
    "wanted": 200,
    "before": 100,
    "texts": {"cpu.weight": "100"},
    "stored": [],
    "backend": "file",
    "persistent": True,
    "boot": "first-boot",
    "pod": "",
}
"""The record as the module writes it."""


def document(entry: Mapping[str, Any]) -> str:
    return json.dumps({"schema": 1, "settings": [entry]})


def _entry(key: str, value: Any, where: str = "") -> QosCase:
    entry = {name: field for name, field in {**ENTRY, key: value}.items() if field is not ABSENT}
    return _record(document(entry), f"it is damaged (settings[0].{where or key}). {MOVE}")


def _node(path: str, text: str, message: str, **options: Any) -> QosCase:
    return QosCase(options, (f"{path}: {message}",), {path: text})


def _pinned(text: str | bytes) -> QosCase:
    """If a file cannot be read, the module assumes that pods are pinned."""
    options = {"qos_class": "besteffort", "settings": {"cpuset_cpus": "0-1"}}
    return QosCase(options, ("cpuset_cpus: under the static CPU manager",), {CHECKPOINT: text})


def _percent(message: str, knob: str = "cpu_quota", **limits: Any) -> QosCase:
    return QosCase({**SLICE, "settings": {knob: "50%"}, **limits}, (message,), {})


KERNELS = "the kernel does not write this content"
CASES = {
    "settings are a list": _option("'settings' is of type list", settings=[1]),
    "settings are a text": _option("'settings' is of type str", settings="x"),
    "unknown setting": _setting("bogus", 1, "'bogus' is not a setting of a cgroup. Use one of cpu_weight,"),
    "setting without a name": _setting("", 1, "'' is not a setting of a cgroup"),
    "number is a word": _setting("pids_max", "many", "pids_max: 'many' is not a whole number", TASKS),
    "number below all": _setting("pids_max", -1, "pids_max: -1 is out of range", TASKS),
    "number beyond all": _setting("pids_max", 10**30, "is out of range", TASKS),
    "number is a list": _setting("pids_max", [1], "pids_max: [1] is not a number or an amount", TASKS),
    "number is a mapping": _setting("pids_max", {"a": 1}, "is not a number or an amount", TASKS),
    "number is a switch": _setting("pids_max", True, "pids_max: true is not a number or an amount", TASKS),
    "number is a fraction": _setting("pids_max", 1.5, "is not a whole number", TASKS),
    "number in two lines": _setting("pids_max", "1\n2", "is not a whole number", TASKS),
    "weight 0": _setting("cpu_weight", 0, "cpu_weight: 0 is out of range. Use a whole number (weight) from 1 to 10000"),
    "weight is not a number": _setting("cpu_weight", "nan", "'nan' is not a whole number"),
    "quota is a word": _setting("cpu_quota", "lots", "cpu_quota: 'lots' is not a Kubernetes quantity", "CPUs, at most"),
    "quota below 0": _setting("cpu_quota", "-5%", "cpu_quota: '-5%'", "CPUs, at most"),
    "burst of a year": _setting("cpu_burst", "1 year", "cpu_burst: '1 year' is not a time such as"),
    "period 0": _setting("cpu_period", "0s", "cpu_period: 0 is out of range"),
    "memory with an absurd exponent": _setting("memory_max", "1e999", "memory_max: ", BYTES),
    "memory in another unit": _setting("memory_max", "5Xi", "memory_max: '5Xi' is not a Kubernetes quantity", BYTES),
    "more than all memory": _setting("memory_max", "101%", "101% is more than 100%", BYTES),
    "CPUs without end": _setting("cpuset_cpus", "0-99999999999", "CPU 99999999999 does not exist"),
    "CPUs backwards": _setting("cpuset_cpus", "3-1", "3-1 runs backwards"),
    "CPUs of words": _setting("cpuset_cpus", ["a"], "'a' is not a CPU list"),
    "switch is a word": _setting("cpu_idle", "maybe", "cpu_idle: 'maybe' is neither true nor false"),
    "devices are a text": _setting("io_max", "x", "io_max: 'x' is not a mapping of devices"),
    "devices are a list": _setting("io_max", [1], "io_max: [1] is not a mapping of devices"),
    "device's limits are a text": _setting("io_max", {"8:0": "x"}, "io_max: 8:0: 'x' is not a mapping of limits"),
    "device's unknown limit": _setting("io_max", {"8:0": {"bogus": 1}}, "is not a mapping of limits"),
    "device's limit is a word": _setting("io_max", {"8:0": {"rbps": "x"}}, "'x' is not a Kubernetes quantity"),
    "device of no name": _setting("io_max", {"x": {"rbps": 1}}, "x is not a block device of this node"),
    "device that is not there": _setting("io_max", {"/dev/none": {"rbps": 1}}, "/dev/none: the device does not exist"),
    "slice is a path": _target("'a/b.slice' is not the name of a slice", slice="a/b.slice"),
    "slice without a name": _target("'' is not the name of a slice", slice=""),
    "slice of another kind": _target("'x.service' is not the name of a slice", slice="x.service"),
    "slice with NUL": _target("is not the name of a slice", slice="a\0.slice"),
    "path through ..": _target(
        "'../etc' is not a path below the cgroup root: it has an empty, . or .. part", path="../etc"
    ),
    "path from the root": _target("'/' is not a path below the cgroup root", path="/"),
    "path of nothing": _target("the root cgroup has no limits", path=""),
    "path with NUL": _target("it has a zero byte", path="a\0b"),
    "path without end": _target("there is no cgroup xxx", path="x" * 5000),
    "UID through ..": _target("'../..' is not the UID of a pod", pod={"uid": "../.."}),
    "UID of nothing": _target("'' is not the UID of a pod", pod={"uid": ""}),
    "pod of nothing": _target("one of the following is required: uid, name", pod={}),
    "pod by two ways": _target("mutually exclusive: uid|namespace", pod={"uid": "1", "name": "x", "namespace": "y"}),
    "unknown class": _target("value of qos_class must be one of", qos_class="bogus"),
    "two targets": _option("mutually exclusive: qos_class|slice", qos_class="burstable"),
    "no target": _target("one of the following is required: qos_class, slice"),
    "settings with state absent": _option("settings are set with state: absent", state="absent"),
    "pods of no class": _option("level: pods is set without qos_class", level="pods"),
    "version of a word": _option("kubelet_version: 'new' is not a version. Write it like 1.31", kubelet_version="new"),
    "root that is not there": _option("/none: is not a cgroup tree", cgroup_root="/none"),
    "root with NUL": _option("is not an absolute path", cgroup_root="x\0"),
    "kubelet's root through ..": _target(
        "is not the path of a cgroup", qos_class="burstable", kubelet_cgroup_root="../x"
    ),
    "misspelt option": _option("Unsupported parameters", bogus=1),
    "CPUs are a word": _percent("'cpus' is of type str", cpus="x"),
    "no CPUs": _percent("cpus: 0.0 is not a number of CPUs. Write it like 64 or 2.5", cpus=0),
    "CPUs below 0": _percent("cpus: -1.0 is not a number of CPUs", cpus=-1),
    "CPUs that are not a number": _percent("cpus: nan is not a number of CPUs", cpus="nan"),
    "CPUs without bound": _percent("cpus: inf is not a number of CPUs", cpus="inf"),
    "memory is a word": _percent(
        "memory: 'x' is not an amount of memory. Write it like 64Gi", "memory_max", memory="x"
    ),
    "memory below 0": _percent("memory: '-1' is not an amount of memory", "memory_max", memory="-1"),
    "memory beyond all": _percent("memory: '1e99999' is not an amount of memory", "memory_max", memory="1e99999"),
    "record empty": _record(""),
    "record of bytes": _record(bytes(range(256))),
    "record cut off": _record(document(ENTRY)[:80]),
    "record of lists without end": _record("[" * 100_000),
    "record is a list": _record("[]"),
    "record of another version": _record('{"schema": 2}', "it has schema 2, and this version reads 1. Use the version"),
    "record without settings": _record('{"schema": 1}', f"it is damaged (settings). {MOVE}"),
    "recorded settings are a mapping": _record('{"schema": 1, "settings": {"a": 1}}', "it is damaged (settings)"),
    "recorded setting is a text": _record('{"schema": 1, "settings": ["x"]}', "it is damaged (settings[0])"),
    "recorded cgroup is a number": _entry("cgroup", 5),
    "recorded cgroup is a list": _entry("cgroup", ["a"]),
    "recorded cgroup is missing": _entry("cgroup", ABSENT),
    "recorded cgroup through ..": _entry("cgroup", "../etc"),
    "recorded cgroup anywhere": _entry("cgroup", "/etc"),
    "recorded cgroup with NUL": _entry("cgroup", "a\0"),
    "recorded root is relative": _entry("cgroup_root", "x"),
    "recorded root is nothing": _entry("cgroup_root", None),
    "recorded root is a list": _entry("cgroup_root", ["/a"]),
    "recorded knob is unknown": _entry("knob", "bogus"),
    "recorded knob is a number": _entry("knob", 5),
    "recorded knob is a list": _entry("knob", ["a"]),
    "recorded value is a mapping": _entry("wanted", {}),
    "recorded value is a fraction": _entry("before", 1.5),
    "recorded value is a list of nothing": _entry("before", [[]]),
    "recorded limits of no device": _entry("before", [["8:0", [["rbps"]]]]),
    "recorded texts are a number": _entry("texts", 5),
    "recorded texts are a list": _entry("texts", ["ab"]),
    "recorded text is a number": _entry("texts", {"cpu.weight": 5}),
    "recorded text of another directory": _entry("texts", {"../../x": "1"}),
    "recorded properties are a number": _entry("stored", 5),
    "recorded property is a number": _entry("stored", [5], "stored[0]"),
    "recorded property without a value": _entry("stored", [{"name": "x", "signature": "t"}], "stored[0].value"),
    "recorded property of no type": _entry(
        "stored", [{"name": "x", "signature": "z", "value": 1}], "stored[0].signature"
    ),
    "recorded property of a number": _entry("stored", [{"name": 5, "signature": "t", "value": 1}], "stored[0].name"),
    "recorded bytes of no number": _record(
        document({**ENTRY, "stored": [{"name": "x", "signature": "ay", "value": "zz"}]}), f"it is damaged. {MOVE}"
    ),
    "recorded backend is unknown": _entry("backend", "x"),
    "recorded switch is a word": _entry("persistent", "yes"),
    "recorded boot is a number": _entry("boot", 5),
    "recorded pod is a number": _entry("pod", 5),
    "online CPUs are words": _node(ONLINE, "x", KERNELS, **SLICE, settings={"cpu_quota": "50%"}),
    "online CPUs cut off": _node(ONLINE, "0-", KERNELS, **SLICE, settings={"cpu_quota": "50%"}),
    "no total of memory": _node(MEMINFO, "MemFree: 1 kB\n", KERNELS, **SLICE, settings={"memory_max": "50%"}),
    "total of memory is a word": _node(MEMINFO, "MemTotal: x kB\n", KERNELS, **SLICE, settings={"memory_max": "50%"}),
    "total of memory cut off": _node(MEMINFO, "MemTotal:", KERNELS, **SLICE, settings={"memory_max": "50%"}),
    "kernel's limit is a word": QosCase(
        {**SLICE, "settings": {"cpu_quota": 1}},
        ("cpu_period: the kernel does not write this: cpu.max 'a b'",),
        {"/cgroups/system.slice/cpu.max": "a b\n"},
    ),
    "checkpoint empty": _pinned(""),
    "checkpoint of bytes": _pinned(bytes(range(256))),
    "checkpoint is a list": _pinned("[]"),
    "checkpoint of lists without end": _pinned("[" * 100_000),
    "checkpoint without a policy": _pinned('{"checksum": 1}'),
}
