# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands where in every snapshot of schema 1. Live and recorded ones are compared with it before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TEXT, NUMBER, SWITCH = (str,), (int, float), (bool,)
NOTHING = (type(None),)
ANY = "*"
"""Stands for every key of a mapping, or every item of a list."""

FILES = {ANY: {"kind": TEXT, "?text": TEXT, "?error": TEXT, "?ctime": NUMBER, "?mtime": NUMBER}}
FILE = FILES[ANY]
FOLDER = {"folder": TEXT + NOTHING, "exists": SWITCH + NOTHING, "paths": [TEXT]}
PROCESSES = [{"argv": [TEXT], "pid": (int,), "?started_at": NUMBER + NOTHING}]

SNAPSHOT: dict[str, Any] = {
    "system": {
        ANY: (object,),
        "hostname": TEXT + NOTHING,
        "kernel_release": TEXT + NOTHING,
        "pid1": TEXT + NOTHING,
        "?os_release": TEXT + NOTHING,
        "?outer_os_release": TEXT + NOTHING,
        "?filesystems": {ANY: {"leads_to": TEXT, "mount": TEXT, "type": TEXT, "read_only": SWITCH, "volatile": SWITCH}},
    },
    "services": {"version": TEXT + NOTHING, "units": {ANY: {ANY: (object,)}}},
    "cpus": {"online": TEXT + NOTHING, "?sockets": [TEXT]},
    "cgroups": {
        "mountinfo": [TEXT],
        "filesystem_types": {ANY: TEXT},
        "files": {ANY: TEXT + NOTHING},
        "trees": [TEXT],
        "?reserved_controllers": {ANY: TEXT},
    },
    "containers": {},
    "kubelet": {
        "processes": PROCESSES,
        "program": TEXT + NOTHING,
        "version": TEXT + NOTHING,
        "config_path": TEXT,
        "checkpoint_path": TEXT,
        "healthz": TEXT + NOTHING,
        "files": FILES,
        "?config_dir": FOLDER,
        "?embedded_dir": FOLDER,
        "?dropin_variable": SWITCH + NOTHING,
        "?unit_files": [TEXT],
        "?environment_files": [TEXT],
        "?memory_checkpoint_path": TEXT,
        "?static_pods": {ANY: [TEXT]},
        "?kubeadm_patches": ({"folder": TEXT, "kind": TEXT, "paths": [TEXT], "files": FILES}, None),
        "?configz": ({"?status": NUMBER + NOTHING, "?config": {}}, None),
        "?program_seconds": NUMBER,
    },
    "runtime": {
        "processes": PROCESSES,
        "program": TEXT + NOTHING,
        "version": TEXT + NOTHING,
        "config_path": TEXT,
        "files": FILES,
        "nri_sockets": {ANY: {}},
        "?program_seconds": NUMBER,
        "?crio": ({"processes": PROCESSES, "config_path": TEXT, "files": FILES}, None),
        "?docker": ({"processes": PROCESSES, "config_path": TEXT, "config": FILE}, None),
        "cri": {
            "endpoint": TEXT,
            "?error": TEXT,
            "?name": TEXT + NOTHING,
            "?version": TEXT + NOTHING,
            "?runtime_config": {"?cgroup_driver": TEXT + NOTHING, "?error": TEXT + NOTHING},
            "?sandboxes": [{"ready": SWITCH}],
            "?containers": [{"running": SWITCH}],
            "?config": ({"?handlers": {ANY: {"?systemd_cgroup": SWITCH + NOTHING}}}, None),
        },
    },
    "?boot": {ANY: [TEXT]},
    "?writers": {"?rubik": ({"cgroup_driver": TEXT + NOTHING, "features": [TEXT]}, None)},
    "?distribution": {
        "marks": [TEXT],
        "settings": FILES,
        "templates": [TEXT],
        "?template_files": FILES,
        "supervisors": PROCESSES,
    },
    "?unfinished_transactions": [TEXT],
    "?ledger_problem": ({"file": TEXT, "message": TEXT, "remedy": TEXT}, None),
    "?record_problems": [{"record": TEXT, "file": TEXT, "message": TEXT, "remedy": TEXT}],
}
"""``?``: may be missing. Keys that are not named here are nobody's business here. (shape, None): or nothing."""

_NAMES = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a mapping"}


def misshapen(snapshot: Mapping[str, Any]) -> str | None:
    """The first place where a document is no snapshot, in words; None for one whose sections are not even there."""
    whole = all(isinstance(snapshot.get(name), Mapping) for name in SNAPSHOT if name[0] != "?")
    return first_difference(snapshot, SNAPSHOT) if whole else None


def first_difference(found: Any, shape: Any) -> str | None:
    """The first place where a document is not of a shape such as ``SNAPSHOT``, in words; None where it is."""
    return next((f"the document{each}" if each[0] == " " else each for each in _differences(found, shape, "")), None)


def _differences(found: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, tuple):
        yield from _of_kinds(found, shape, place)
    elif isinstance(shape, list):
        if not isinstance(found, list):
            yield f"{place} is {_name(found)}, not a list"
            return
        for number, each in enumerate(found):
            yield from _differences(each, shape[0], f"{place}[{number}]")
    elif not isinstance(found, Mapping):
        yield f"{place} is {_name(found)}, not a mapping"
    else:
        for key, inner in shape.items():
            yield from _entries(found, key, inner, place)


def _entries(found: Mapping[str, Any], key: str, inner: Any, place: str) -> Iterator[str]:
    name = key.removeprefix("?")
    if key == ANY:
        for each, value in found.items():
            yield from _differences(value, inner, f"{place}.{each}".lstrip("."))
    elif name in found:
        yield from _differences(found[name], inner, f"{place}.{name}".lstrip("."))
    elif name == key:
        yield f"{place} lacks {key}"


def _of_kinds(found: Any, kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[-1] is None:
        if found is not None:
            yield from _differences(found, kinds[0], place)
    elif (isinstance(found, bool) and bool not in kinds and object not in kinds) or not isinstance(found, kinds):
        yield f"{place} is {_name(found)}, not {_NAMES.get(kinds[0], 'this')}"


def _name(found: Any) -> str:
    return "nothing" if found is None else _NAMES.get(type(found), type(found).__name__)
