# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of what a node or a file reports; documents are compared with it before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from ..facts.interpreter import SnapshotError, interpret, require_sections
from ..facts.node_state import NodeFacts
from ..profile.validators import ProfileError

TEXT, NUMBER, SWITCH = (str,), (int, float), (bool,)
NOTHING = (type(None),)
ANY = "*"
"""Stands for every key of a mapping, or every item of a list."""

FILES = {ANY: {"kind": TEXT, "?text": TEXT, "?error": TEXT, "?ctime": NUMBER, "?mtime": NUMBER}}
FILE = FILES[ANY]
DIRECTORY = {"folder": TEXT + NOTHING, "exists": SWITCH + NOTHING, "paths": [TEXT]}
PROCESSES = [{"argv": [TEXT], "pid": (int,), "?started_at": NUMBER + NOTHING}]

SNAPSHOT_SCHEMA: dict[str, Any] = {
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
        "?config_dir": DIRECTORY,
        "?embedded_dir": DIRECTORY,
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


def snapshot_schema_error(snapshot: Mapping[str, Any]) -> str | None:
    """The first place where a document is no snapshot, in words; None for one whose sections are not even there."""
    whole = all(isinstance(snapshot.get(name), Mapping) for name in SNAPSHOT_SCHEMA if name[0] != "?")
    return first_schema_error(snapshot, SNAPSHOT_SCHEMA) if whole else None


def first_schema_error(found: Any, shape: Any) -> str | None:
    """The first place where a document is not of a shape such as ``SNAPSHOT``, in words; None where it is."""
    return next((f"the document{each}" if each[0] == " " else each for each in _schema_errors(found, shape, "")), None)


def _schema_errors(found: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, tuple):
        yield from _of_kinds(found, shape, place)
    elif isinstance(shape, list):
        if not isinstance(found, list):
            yield f"{place} is {_name(found)}, not a list"
            return
        for number, each in enumerate(found):
            yield from _schema_errors(each, shape[0], f"{place}[{number}]")
    elif not isinstance(found, Mapping):
        yield f"{place} is {_name(found)}, not a mapping"
    else:
        for key, inner in shape.items():
            yield from _entries(found, key, inner, place)


def _entries(found: Mapping[str, Any], key: str, inner: Any, place: str) -> Iterator[str]:
    name = key.removeprefix("?")
    if key == ANY:
        for each, value in found.items():
            yield from _schema_errors(value, inner, f"{place}.{each}".lstrip("."))
    elif name in found:
        yield from _schema_errors(found[name], inner, f"{place}.{name}".lstrip("."))
    elif name == key:
        yield f"{place} lacks {key}"


def _of_kinds(found: Any, kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[-1] is None:
        if found is not None:
            yield from _schema_errors(found, kinds[0], place)
    elif (isinstance(found, bool) and bool not in kinds and object not in kinds) or not isinstance(found, kinds):
        yield f"{place} is {_name(found)}, not {_NAMES.get(kinds[0], 'this')}"


def _name(found: Any) -> str:
    return "nothing" if found is None else _NAMES.get(type(found), type(found).__name__)


_TRANSACTION: dict[str, Any] = {
    "state": TEXT,
    "id": TEXT,
    "?step": TEXT,
    "?steps": [{"status": TEXT}],
    "?gate": [{"check": TEXT, "detail": TEXT, "status": TEXT}],
    "?error": ({"?step": TEXT, "?message": TEXT, "?node": TEXT}, None),
    "?recovered": ({"id": TEXT, "state": TEXT, "?at_boot": SWITCH, "?to_prove": [TEXT]}, None),
    "?limit": NUMBER,
}
_NONE = {"state": TEXT, "?id": TEXT + NOTHING}
"""The answer when there is no transaction."""


def checked_snapshot(document: Any, source: str) -> dict[str, Any]:
    """A snapshot document whose shape is right; SnapshotError that begins with ``source`` for any other."""
    if not isinstance(document, dict):
        raise SnapshotError(f"{source}: not a snapshot document")
    with snapshot_errors(source, "snapshot"):
        require_sections(document)
    wrong = snapshot_schema_error(document)
    if wrong:
        raise SnapshotError(f"{source}: {wrong}")
    return document


def transaction_defect(answer: Any) -> str | None:
    """The first place where a node's answer about a transaction has the wrong shape; None for the right one."""
    is_none = isinstance(answer, Mapping) and answer.get("state") == "none"
    wrong = first_schema_error(answer, _NONE if is_none else _TRANSACTION)
    recovered = None if wrong or is_none else answer.get("recovered")
    if recovered and recovered.get("at_boot") and "to_prove" not in recovered:
        return "recovered lacks to_prove"
    return wrong


def interpret_snapshot(source: str, snapshot: Mapping[str, Any]) -> NodeFacts:
    """The facts of a live node's snapshot; SnapshotError that begins with ``source`` when it cannot be read."""
    with snapshot_errors(source, "snapshot"):
        return interpret(snapshot)


@contextmanager
def snapshot_errors(source: str, kind: str) -> Iterator[None]:
    """Turns whatever is raised while a document is read into a SnapshotError that names ``source`` and the place."""
    try:
        yield
    except ProfileError:
        raise
    except SnapshotError as error:
        raise SnapshotError(f"{source}: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        # The shape table knows what every snapshot has; other errors of its shape are found here, when it is read.
        cause = f"{type(error).__name__}: {error}"
        subject = _subject(error.__traceback__)
        raise SnapshotError(f"{source}: not a {kind} that can be read: {cause}, {subject}") from error


def _subject(trace: TracebackType | None) -> str:
    """Which part of a node was being read: our files are named after them."""
    name = "document"
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        name = path.stem.replace("_", " ") if path.parent.name in ("facts", "rules", "plan", "assessment") else name
        trace = trace.tb_next
    return f"reading its {name}"
