# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of settings by cgroup, with the values before them: /var/lib/volcano-colocation/qos.json on the node."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Tuple

from ..errors import ColocationError
from ..host import Clock, Host
from ..state import document_schema
from ..state.atomic_file import remove_if_present, sync_directory
from ..state.files import file_error, make_private_directory, read_private, write_private
from ..state.node_lock import hold
from ..state.store import STATE_DIRECTORY, require_own_directory
from ..systemd.dbus_values import Property
from .codec import Backend
from .registry import knob

SIGNATURES = ("t", "b", "s", "ay", "a(st)")


def _number(value: Any) -> bool:
    return isinstance(value, int)


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_number, value))


def _pairs(value: Any, second: Any) -> bool:
    """Whether the value is a list of pairs: a text, and an item that ``second`` accepts."""
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and document_schema.text(pair[0]) and second(pair[1])
        for pair in value
    )


def _limits(value: Any) -> bool:
    return _pairs(value, lambda limit: limit is None or _number(limit))


def _value(value: Any) -> bool:
    """Whether the value is a knob.Value in JSON, in which tuples are lists."""
    return value is None or _number(value) or document_schema.text(value) or _numbers(value) or _pairs(value, _limits)


def _cgroup(value: Any) -> bool:
    return document_schema.text(value) and "\0" not in value and set(value.split("/")).isdisjoint(("", ".", ".."))


def _root(value: Any) -> bool:
    return document_schema.text(value) and value.startswith("/") and "\0" not in value


def _files(value: Any) -> bool:
    return isinstance(value, dict) and all(
        "/" not in name and document_schema.text(text) for name, text in value.items()
    )


def _knob(value: Any) -> bool:
    try:
        return document_schema.text(value) and bool(knob(value))
    except ColocationError:
        return False


def _property_value(value: Any) -> bool:
    return _number(value) or document_schema.text(value) or _pairs(value, _number)


SHAPE = {
    "settings": [
        {
            "cgroup_root": _root,
            "cgroup": _cgroup,
            "knob": _knob,
            "wanted": _value,
            "before": _value,
            "texts": _files,
            "stored": [
                {
                    "name": document_schema.text,
                    "signature": lambda value: value in SIGNATURES,
                    "value": _property_value,
                },
            ],
            "backend": lambda value: value in [backend.value for backend in Backend],
            "persistent": document_schema.boolean,
            "boot": document_schema.text,
            "?pod": document_schema.text,
        }
    ]
}


FILE = f"{STATE_DIRECTORY}/qos.json"
LOCK = f"{STATE_DIRECTORY}/qos.lock"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SCHEMA = 1
LOCK_TIMEOUT = 60.0
"""Seconds to wait for another run on this node; a run takes a few."""

Key = Tuple[str, str, str]
"""Cgroup root, cgroup, knob."""


@dataclass(frozen=True)
class RecordedSetting:
    """One setting, with the state before the collection first set it.

    ``before`` is the value in the kernel's files, whose texts are ``texts``; ``stored`` has systemd's properties.
    ``boot`` is the boot in which the setting was last applied; a setting that is not persistent ends with that boot.
    ``pod`` is namespace/name if the target was a pod with a name.
    """

    root: str
    cgroup: str
    knob: str
    desired: Any
    before: Any
    texts: Mapping[str, str]
    stored: tuple[Property, ...]
    backend: Backend
    persistent: bool
    boot: str
    pod: str = ""

    @property
    def key(self) -> Key:
        return self.root, self.cgroup, self.knob


Record = Mapping[Key, RecordedSetting]


def load(host: Host) -> dict[Key, RecordedSetting]:
    """Every setting that has not ended; ColocationError for a record that cannot be read."""
    require_own_directory(host, STATE_DIRECTORY)
    try:
        document = json.loads(read_private(host.path(FILE)).decode("utf-8"))
        schema = document["schema"]
        mismatch = document_schema.find_mismatch(document, SHAPE) if schema == SCHEMA else ""
        entries = [_entry(fields) for fields in document["settings"]] if schema == SCHEMA and not mismatch else []
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise file_error(error, FILE, "read it") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage_error() from error
    if mismatch:
        raise _damage_error(mismatch)
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            FILE,
        )
    boot = boot_id(host)
    return {entry.key: entry for entry in entries if entry.persistent or entry.boot == boot}


def _damage_error(mismatch: str = "") -> ColocationError:
    message = "it is damaged" + (f" ({mismatch})" if mismatch else "")
    return ColocationError(message, "Move the file away: the settings stay in effect until the next boot", FILE)


def save(host: Host, record: Record) -> None:
    """Write the record durably; delete the file of an empty record."""
    path = host.path(FILE)
    make_private_directory(host.path(STATE_DIRECTORY))
    if not record:
        if remove_if_present(path):
            sync_directory(host.path(STATE_DIRECTORY))
        return
    document = {"schema": SCHEMA, "settings": [_document(record[key]) for key in sorted(record)]}
    write_private(path, json.dumps(document, separators=(",", ":")).encode("utf-8"))


def boot_id(host: Host) -> str:
    """The kernel's id of this boot, random(4); empty where the file is missing."""
    try:
        return host.read(BOOT_ID).strip()
    except OSError:
        return ""


@contextmanager
def hold_record(host: Host, clock: Clock, timeout: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold the record's lock, so that no other process changes or applies it; LockHeld after ``timeout`` seconds.

    Every caller except the unit that applies the record takes ``node_lock`` first.
    """
    with hold(host.path(LOCK), "QoS settings", clock, timeout):
        yield


def settings_of_root(record: Record, root: str) -> dict[str, dict[str, RecordedSetting]]:
    """Recorded settings below one cgroup root, by cgroup and knob."""
    by_cgroup: dict[str, dict[str, RecordedSetting]] = {}
    for entry in record.values():
        if entry.root == root:
            by_cgroup.setdefault(entry.cgroup, {})[entry.knob] = entry
    return by_cgroup


def has_persistent(record: Record) -> bool:
    """Whether the record has a setting that must be applied again at the next boot."""
    return any(entry.persistent for entry in record.values())


def _document(entry: RecordedSetting) -> dict[str, Any]:
    return {
        "cgroup_root": entry.root,
        "cgroup": entry.cgroup,
        "knob": entry.knob,
        "wanted": entry.desired,
        "before": entry.before,
        "texts": dict(entry.texts),
        "stored": [_property(unit_property) for unit_property in entry.stored],
        "backend": entry.backend.value,
        "persistent": entry.persistent,
        "boot": entry.boot,
        "pod": entry.pod,
    }


def _entry(document: dict[str, Any]) -> RecordedSetting:
    return RecordedSetting(
        document["cgroup_root"],
        document["cgroup"],
        document["knob"],
        _to_tuples(document["wanted"]),
        _to_tuples(document["before"]),
        dict(document["texts"]),
        tuple(_parse_property(fields) for fields in document["stored"]),
        Backend(document["backend"]),
        bool(document["persistent"]),
        document["boot"],
        document.get("pod", ""),
    )


def _property(unit_property: Property) -> dict[str, Any]:
    value = unit_property.value.hex() if isinstance(unit_property.value, bytes) else unit_property.value
    return {"name": unit_property.name, "signature": unit_property.signature, "value": value}


def _parse_property(document: dict[str, Any]) -> Property:
    value = document["value"]
    property_value = bytes.fromhex(value) if document["signature"] == "ay" else _to_tuples(value)
    return Property(document["name"], document["signature"], property_value)


def _to_tuples(value: Any) -> Any:
    """The value with tuples in place of lists: values of knobs are tuples, which JSON does not have."""
    return tuple(_to_tuples(item) for item in value) if isinstance(value, list) else value
