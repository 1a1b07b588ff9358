# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was set on which cgroup and what was there before, kept on the node: /var/lib/volcano-colocation/qos.json."""

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
    """A list of [text, what ``second`` takes]."""
    return isinstance(value, list) and all(
        isinstance(each, list) and len(each) == 2 and document_schema.text(each[0]) and second(each[1])
        for each in value
    )


def _limits(value: Any) -> bool:
    return _pairs(value, lambda limit: limit is None or _number(limit))


def _value(found: Any) -> bool:
    """knob.Value as JSON has it: its tuples are lists."""
    return found is None or _number(found) or document_schema.text(found) or _numbers(found) or _pairs(found, _limits)


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
"""Seconds to wait for another run on this node, which takes a few."""

Key = Tuple[str, str, str]
"""Cgroup root, cgroup, knob."""


@dataclass(frozen=True)
class RecordedSetting:
    """One setting. ``before`` is what the kernel's files, ``texts``, said and ``stored`` what systemd held before us.

    ``boot`` is the boot in which it was last applied; one that is not persistent ends with that boot.
    ``pod`` is namespace/name where that was asked for.
    """

    root: str
    cgroup: str
    knob: str
    wanted: Any
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
    """Every setting that still counts; ColocationError for a record that cannot be read."""
    require_own_directory(host, STATE_DIRECTORY)
    try:
        document = json.loads(read_private(host.path(FILE)).decode("utf-8"))
        schema = document["schema"]
        where = document_schema.find_mismatch(document, SHAPE) if schema == SCHEMA else ""
        entries = [_entry(each) for each in document["settings"]] if schema == SCHEMA and not where else []
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise file_error(error, FILE, "read it") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage_error() from error
    if where:
        raise _damage_error(where)
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            FILE,
        )
    boot = boot_id(host)
    return {entry.key: entry for entry in entries if entry.persistent or entry.boot == boot}


def _damage_error(where: str = "") -> ColocationError:
    said = "it is damaged" + (f" ({where})" if where else "")
    return ColocationError(said, "Move it away: what was set stays as it is until the next boot", FILE)


def save(host: Host, record: Record) -> None:
    """Durably write the record; an empty one has no file."""
    path = host.path(FILE)
    make_private_directory(host.path(STATE_DIRECTORY))
    if not record:
        if remove_if_present(path):
            sync_directory(host.path(STATE_DIRECTORY))
        return
    document = {"schema": SCHEMA, "settings": [_document(record[key]) for key in sorted(record)]}
    write_private(path, json.dumps(document, separators=(",", ":")).encode("utf-8"))


def boot_id(host: Host) -> str:
    """The kernel's name of this boot, random(4); empty where there is none."""
    try:
        return host.read(BOOT_ID).strip()
    except OSError:
        return ""


@contextmanager
def hold_record(host: Host, clock: Clock, patience: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold the record against whoever else sets or applies it on this node; LockHeld when that does not end in time.

    What others than the unit that applies it do, they do under ``node_lock``, which they take before.
    """
    with hold(host.path(LOCK), "QoS settings", clock, patience):
        yield


def settings_of_root(record: Record, root: str) -> dict[str, dict[str, RecordedSetting]]:
    """By cgroup and knob: what was set below one cgroup root."""
    found: dict[str, dict[str, RecordedSetting]] = {}
    for entry in record.values():
        if entry.root == root:
            found.setdefault(entry.cgroup, {})[entry.knob] = entry
    return found


def has_persistent(record: Record) -> bool:
    """Whether anything in it is to be applied again at the next boot."""
    return any(entry.persistent for entry in record.values())


def _document(entry: RecordedSetting) -> dict[str, Any]:
    return {
        "cgroup_root": entry.root,
        "cgroup": entry.cgroup,
        "knob": entry.knob,
        "wanted": entry.wanted,
        "before": entry.before,
        "texts": dict(entry.texts),
        "stored": [_property(each) for each in entry.stored],
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
        tuple(_parse_property(each) for each in document["stored"]),
        Backend(document["backend"]),
        bool(document["persistent"]),
        document["boot"],
        document.get("pod", ""),
    )


def _property(held: Property) -> dict[str, Any]:
    value = held.value.hex() if isinstance(held.value, bytes) else held.value
    return {"name": held.name, "signature": held.signature, "value": value}


def _parse_property(document: dict[str, Any]) -> Property:
    value = document["value"]
    held = bytes.fromhex(value) if document["signature"] == "ay" else _to_tuples(value)
    return Property(document["name"], document["signature"], held)


def _to_tuples(value: Any) -> Any:
    """JSON knows lists only; the values of knobs are tuples."""
    return tuple(_to_tuples(each) for each in value) if isinstance(value, list) else value
