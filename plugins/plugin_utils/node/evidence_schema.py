# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of documents from a node or a file, which are checked against it before they are interpreted."""

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
"""Matches all keys of a mapping or all items of a list."""

FILES = {ANY: {"kind": TEXT, "?text": TEXT, "?error": TEXT, "?remedy": TEXT, "?ctime": NUMBER, "?mtime": NUMBER}}
FILE = FILES[ANY]
UNREAD = {"?error": TEXT, "?remedy": TEXT, "?left_out": NUMBER}
DIRECTORY = {"folder": TEXT + NOTHING, "exists": SWITCH + NOTHING, "paths": [TEXT], **UNREAD}
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
        "?kubeadm_patches": ({"folder": TEXT, "kind": TEXT, "paths": [TEXT], "files": FILES, **UNREAD}, None),
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
    "?writers": {
        "?rubik": ({"cgroup_driver": TEXT + NOTHING, "features": [TEXT]}, None),
        "?tuned": ({"profiles": [TEXT], "cpu_affinity": TEXT, "isolated_cores": {ANY: TEXT}}, None),
    },
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
"""``?``: optional. Keys that are not listed are not checked. (shape, None): the shape or null."""

_NAMES = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a mapping"}


def snapshot_schema_error(snapshot: Mapping[str, Any]) -> str | None:
    """Description of the first error in a snapshot; None without errors, and None if required sections are missing."""
    whole = all(isinstance(snapshot.get(name), Mapping) for name in SNAPSHOT_SCHEMA if name[0] != "?")
    return first_schema_error(snapshot, SNAPSHOT_SCHEMA) if whole else None


def first_schema_error(document: Any, shape: Any) -> str | None:
    """Description of the first difference of a document from a shape such as SNAPSHOT_SCHEMA; None if it matches."""
    return next(
        (f"the document{error}" if error[0] == " " else error for error in _schema_errors(document, shape, "")), None
    )


def _schema_errors(value: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, tuple):
        yield from _of_kinds(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place} is {_name(value)}, not a list"
            return
        for number, item in enumerate(value):
            yield from _schema_errors(item, shape[0], f"{place}[{number}]")
    elif not isinstance(value, Mapping):
        yield f"{place} is {_name(value)}, not a mapping"
    else:
        for key, inner in shape.items():
            yield from _entries(value, key, inner, place)


def _entries(mapping: Mapping[str, Any], key: str, inner: Any, place: str) -> Iterator[str]:
    name = key.removeprefix("?")
    if key == ANY:
        for entry, value in mapping.items():
            yield from _schema_errors(value, inner, f"{place}.{entry}".lstrip("."))
    elif name in mapping:
        yield from _schema_errors(mapping[name], inner, f"{place}.{name}".lstrip("."))
    elif name == key:
        yield f"{place} lacks {key}"


def _of_kinds(value: Any, kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[-1] is None:
        if value is not None:
            yield from _schema_errors(value, kinds[0], place)
    elif (isinstance(value, bool) and bool not in kinds and object not in kinds) or not isinstance(value, kinds):
        yield f"{place} is {_name(value)}, not {_NAMES.get(kinds[0], 'this')}"


def _name(value: Any) -> str:
    return "nothing" if value is None else _NAMES.get(type(value), type(value).__name__)


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
"""The shape of the response without a transaction."""


def checked_snapshot(document: Any, source: str) -> dict[str, Any]:
    """A snapshot document with a valid shape; SnapshotError that begins with ``source`` for an invalid one."""
    if not isinstance(document, dict):
        raise SnapshotError(f"{source}: not a snapshot document")
    with snapshot_errors(source, "snapshot"):
        require_sections(document)
    wrong = snapshot_schema_error(document)
    if wrong:
        raise SnapshotError(f"{source}: {wrong}")
    return document


def transaction_defect(transaction: Any) -> str | None:
    """The first error in the shape of a node's response about a transaction; None without errors."""
    is_none = isinstance(transaction, Mapping) and transaction.get("state") == "none"
    wrong = first_schema_error(transaction, _NONE if is_none else _TRANSACTION)
    recovered = None if wrong or is_none else transaction.get("recovered")
    if recovered and recovered.get("at_boot") and "to_prove" not in recovered:
        return "recovered lacks to_prove"
    return wrong


def interpret_snapshot(source: str, snapshot: Mapping[str, Any]) -> NodeFacts:
    """The facts of a live node's snapshot; SnapshotError that begins with ``source`` if it cannot be interpreted."""
    with snapshot_errors(source, "snapshot"):
        return interpret(snapshot)


@contextmanager
def snapshot_errors(source: str, kind: str) -> Iterator[None]:
    """Turn errors while a document is interpreted into a SnapshotError that names ``source`` and the part."""
    try:
        yield
    except ProfileError:
        raise
    except SnapshotError as error:
        raise SnapshotError(f"{source}: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        # The schema has only what all snapshots have; other errors of the shape appear when it is interpreted.
        subject = _subject(error.__traceback__)
        raise SnapshotError(f"{source}: not a {kind} that can be read: {shape_error(error)}, {subject}") from error


def shape_error(error: Exception) -> str:
    """What is wrong with a document whose interpretation failed."""
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else "a value has another type than expected"


def _subject(trace: TracebackType | None) -> str:
    """The part of a node that was being interpreted, from the name of the file in the traceback."""
    name = "document"
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        name = path.stem.replace("_", " ") if path.parent.name in ("facts", "rules", "plan", "assessment") else name
        trace = trace.tb_next
    return f"reading its {name}"
