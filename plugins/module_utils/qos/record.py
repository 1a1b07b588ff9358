# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was set on which cgroup and what was there before, kept on the node: /var/lib/volcano-colocation/qos.json."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Tuple

from ..errors import ColocationError
from ..host import Host
from ..systemd.property import Property
from ..transaction import shape
from ..transaction.clock import Clock
from ..transaction.durable import sync_folder, unlink_if_there
from ..transaction.files import private_folder, read_private, refused, write_private
from ..transaction.lock import hold
from ..transaction.store import STATE_FOLDER, require_own
from .conversion import Backend
from .record_shape import SHAPE

FILE = f"{STATE_FOLDER}/qos.json"
LOCK = f"{STATE_FOLDER}/qos.lock"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SCHEMA = 1
PATIENCE = 60.0
"""Seconds to wait for another run on this node, which takes a few."""

Key = Tuple[str, str, str]
"""Cgroup root, cgroup, knob."""


@dataclass(frozen=True)
class Entry:
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


Record = Mapping[Key, Entry]


def load(host: Host) -> dict[Key, Entry]:
    """Every setting that still counts; ColocationError for a record that cannot be read."""
    require_own(host, STATE_FOLDER)
    try:
        document = json.loads(read_private(host.path(FILE)).decode("utf-8"))
        schema = document["schema"]
        where = shape.wrong(document, SHAPE) if schema == SCHEMA else ""
        entries = [_entry(each) for each in document["settings"]] if schema == SCHEMA and not where else []
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise refused(error, FILE, "read it") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged() from error
    if where:
        raise _damaged(where)
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            FILE,
        )
    boot = boot_id(host)
    return {entry.key: entry for entry in entries if entry.persistent or entry.boot == boot}


def _damaged(where: str = "") -> ColocationError:
    said = "it is damaged" + (f" ({where})" if where else "")
    return ColocationError(said, "Move it away: what was set stays as it is until the next boot", FILE)


def save(host: Host, record: Record) -> None:
    """Durably write the record; an empty one has no file."""
    path = host.path(FILE)
    private_folder(host.path(STATE_FOLDER))
    if not record:
        if unlink_if_there(path):
            sync_folder(host.path(STATE_FOLDER))
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
def alone(host: Host, clock: Clock, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the record against whoever else sets or applies it on this node; LockHeld when that does not end in time.

    What others than the unit that applies it do, they do in their ``turn``, which they take before.
    """
    with hold(host.path(LOCK), "QoS settings", clock, patience):
        yield


def of_root(record: Record, root: str) -> dict[str, dict[str, Entry]]:
    """By cgroup and knob: what was set below one cgroup root."""
    found: dict[str, dict[str, Entry]] = {}
    for entry in record.values():
        if entry.root == root:
            found.setdefault(entry.cgroup, {})[entry.knob] = entry
    return found


def lasting(record: Record) -> bool:
    """Whether anything in it is to be applied again at the next boot."""
    return any(entry.persistent for entry in record.values())


def _document(entry: Entry) -> dict[str, Any]:
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


def _entry(document: dict[str, Any]) -> Entry:
    return Entry(
        document["cgroup_root"],
        document["cgroup"],
        document["knob"],
        _frozen(document["wanted"]),
        _frozen(document["before"]),
        dict(document["texts"]),
        tuple(_of_property(each) for each in document["stored"]),
        Backend(document["backend"]),
        bool(document["persistent"]),
        document["boot"],
        document.get("pod", ""),
    )


def _property(held: Property) -> dict[str, Any]:
    value = held.value.hex() if isinstance(held.value, bytes) else held.value
    return {"name": held.name, "signature": held.signature, "value": value}


def _of_property(document: dict[str, Any]) -> Property:
    value = document["value"]
    held = bytes.fromhex(value) if document["signature"] == "ay" else _frozen(value)
    return Property(document["name"], document["signature"], held)


def _frozen(value: Any) -> Any:
    """JSON knows lists only; the values of knobs are tuples."""
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value
