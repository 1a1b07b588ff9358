# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's records on a generated node, complete or damaged, and systems whose files must not be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from . import texts
from .entries import DIRECTORY, OUTSIDE, PIPE, Entry, file, link

Entries = dict[str, Entry]
STATE = "var/lib/volcano-colocation"
ID = "20261121T013455-1a2b3c4d"
TRANSACTION = f"{STATE}/transactions/{ID}"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
PATH = "/etc/sysctl.d/90-volcano-colocation-agent.conf"
NEVER: dict[str, Any] = {
    "path": PATH,
    "backup": None,
    "sha256": None,
    "mode": 0o644,
    "uid": 0,
    "gid": 0,
    "xattrs": {},
    "folders": [],
}
"""The record of a file that did not exist."""
COMMITTED = {**NEVER, "backup": EMPTY, "sha256": EMPTY}
LEDGER = {
    "schema": 1,
    "last": ID,
    "folders": [],
    "targets": {
        PATH: {
            "section": "sysctl",
            "kind": "file",
            "original": NEVER,
            "committed": COMMITTED,
            "first": ID,
            "last": ID,
            "earlier": [],
        }
    },
}
JOURNAL = {
    "schema": 1,
    "id": ID,
    "state": "committed",
    "plan": {},
    "before": {"kubelet_runs": False, "runtime_runs": False, "kubelet_healthy": False, "pods": {}},
    "files": [NEVER],
    "written": [PATH],
    "checkpoints": [],
    "ledger": [],
    "entered": True,
    "begun": [],
    "undone": [],
    "step": "",
    "steps": [],
    "gate": [],
    "error": None,
    "recovered": None,
}
RESULT: dict[str, Any] = {
    "id": ID,
    "state": "committed",
    "step": "",
    "steps": [],
    "error": None,
    "gate": [],
    "recovered": None,
}
SETTING = {
    "cgroup_root": "/sys/fs/cgroup",
    "cgroup": "system.slice",
    "knob": "cpu_weight",
    "wanted": 200,
    "before": 100,
    "texts": {"cpu.weight": "100"},
    "stored": [],
    "backend": "file",
    "persistent": True,
    "boot": "",
    "pod": "",
}
RECORDS: dict[str, bytes] = {
    f"{STATE}/ledger.json": json.dumps(LEDGER).encode(),
    f"{STATE}/originals/{EMPTY}": b"",
    f"{TRANSACTION}/journal.json": json.dumps(JOURNAL).encode(),
    f"{TRANSACTION}/result.json": json.dumps(RESULT).encode(),
    f"{STATE}/qos.json": json.dumps({"schema": 1, "settings": [SETTING]}).encode(),
    f"{STATE}/images.json": json.dumps({"schema": 1, "images": [{"name": "a", "id": "b"}]}).encode(),
    f"{STATE}/lock": b"",
}
KINDS = (DIRECTORY, PIPE, link(OUTSIDE), link("none"), link("ledger.json"), file(b""), file(b"[]"))
SYSTEMS = (
    'ID=talos\nPRETTY_NAME="Talos (v1.9.0)"\n',
    "ID=bottlerocket\n",
    "ID=flatcar\n",
    "ID=cos\n",
    'ID="rhcos"\nVARIANT_ID=coreos\n',
    "ID=nixos\n",
    "ID=ubuntu-core\n",
    'ID="\nVARIANT_ID=',
)
DISK = "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
MOUNTS = (
    DISK + "29 28 8:2 / /usr ro - squashfs /dev/sda2 ro\n",
    DISK + "29 28 8:2 / /etc ro - squashfs /dev/sda2 ro\n",
    DISK + "29 28 0:30 / /etc rw - tmpfs tmpfs rw\n",
    DISK + "29 28 8:2 / /var ro - ext4 /dev/sda2 ro\n",
    "28 1 0:20 / / rw - tmpfs tmpfs rw\n",
    "28 1 8:1 / / ro\n - - -\n",
)


def add_records(random: Random, entries: Entries) -> None:
    """Add records to a third of the trees; in most of these at least one is damaged."""
    if random.random() > 0.35:
        return
    for path, data in RECORDS.items():
        entries.setdefault(path, file(data, 0o600))
    for path in random.sample(sorted(RECORDS), random.choice((0, 1, 1, 2))):
        entries[path] = random.choice((_shortened, _redated, _replaced, _of_other_values))(random, entries[path])


def add_unchangeable_system(random: Random, entries: Entries) -> None:
    """Add the name or a mount of a system that must not be changed, in a fifth of the trees."""
    if random.random() > 0.2:
        return
    if random.random() < 0.5:
        entries["etc/os-release"] = file(random.choice(SYSTEMS))
    else:
        entries["proc/self/mountinfo"] = file(random.choice(MOUNTS))


Change = Callable[[Random, Entry], Entry]


def _shortened(random: Random, entry: Entry) -> Entry:
    return file(random.choice(texts.DAMAGES)(random, entry.data), entry.mode)


def _redated(random: Random, entry: Entry) -> Entry:
    schema = random.choice((b'"schema": 2', b'"schema": "1"', b'"schema": null', b'"scheme": 1'))
    return file(entry.data.replace(b'"schema": 1', schema), entry.mode)


def _replaced(random: Random, _entry: Entry) -> Entry:
    return random.choice(KINDS)


def _of_other_values(random: Random, entry: Entry) -> Entry:
    """Replace one value of a document with one of another type."""
    try:
        document = json.loads(entry.data)
    except ValueError:
        return file(b"x", entry.mode)
    value: Any = random.choice((None, 5, -1, "x", "../../x", [], {}, [[]], True, 1e300))
    document[random.choice(sorted(document))] = value
    return file(json.dumps(document), entry.mode)
