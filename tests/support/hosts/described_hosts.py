# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of the field as one YAML file each: what they hold, what they answer, and what must be said of them.

``tests/unit/fixtures/hosts/NAME.yml``::

    rule: which rule of the field this host stands for, and its source
    like: NAME                  # begin with another host; mappings are merged key by key, lists and texts replaced
    files: {PATH: TEXT}         # null removes an inherited one; a text ends with a line end as files do
    links: {PATH: TARGET}
    processes:
      NAME: {pid: 812, argv: [/usr/bin/kubelet, ...], cgroup: "0::/system.slice/kubelet.service", comm: kubelet,
             before_files: false}   # comm: the key unless given; before_files: it started before the files changed
    kubeadm_patches: FOLDER     # the folder of patches that kubeadm is given
    live: {SECTION: {...}}      # what only a running node answers, merged into the snapshot that the tree gives
    expect:                     # written by hand from the rule
      verdict: aligned
      driver: systemd
      source: the source of the driver
      codes: [CODE, ...]        # of all findings; may be left out of a host that others begin with
    flip: {say: what is changed, verdict: misaligned, files: ..., processes: ..., live: ...}

Where ``NAME.snapshot.json`` lies beside it, the host was recorded on a node: it has no files, links and processes, and
a change has ``edits: {PATH: {OLD: NEW}}`` of the recorded texts instead, and ``emptied: [SECTION]``. ``origins.yml``
names the node, and says of all other hosts why they were written by hand.

For these the tree is built in a folder, and the code that runs on nodes takes its snapshot there; /proc of the
processes is made of ``processes``. The whole facts document is compared with ``NAME.facts.json``, which
``write_golden`` writes.
A file whose name begins with ``_`` is only there to begin with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.collect import collect
from ansible_collections.volcano.colocation.tests.support.hosts import recorded_hosts

HOSTS = Path(__file__).parents[2] / "unit" / "fixtures" / "hosts"
NAMES = tuple(sorted(path.stem for path in HOSTS.glob("[!_]*.yml")))
TREE = ("files", "links", "processes")
"""What only a host that was written by hand has."""
INPUTS = (*TREE, "edits", "emptied", "live")
STAT = "{pid} ({comm}) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 {ticks} 0 0"
HOUR = 360_000
"""Clock ticks; the processes of a host start this long after its boot, which is the moment its files are made."""


@dataclass(frozen=True)
class Described:
    """A host's description with what it inherits, and its change."""

    name: str
    host: Mapping[str, Any]

    @property
    def expect(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.host["expect"]
        return found

    @property
    def flip(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.host["flip"]
        return found

    @property
    def golden(self) -> Path:
        return HOSTS / f"{self.name}.facts.json"

    @property
    def is_recorded(self) -> bool:
        return "snapshot" in self.host


def merged(base: Any, over: Any) -> Any:
    """``over`` on top of ``base``: mappings key by key, everything else replaced."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    return {**base, **{key: merged(base.get(key), value) for key, value in over.items()}}


def described(name: str) -> Described:
    """The host of a name, with what it inherits."""
    return Described(name, _inherited(name))


def _inherited(name: str) -> dict[str, Any]:
    own: dict[str, Any] = yaml.safe_load((HOSTS / f"{name}.yml").read_text(encoding="utf-8"))
    snapshot = HOSTS / f"{name}{recorded_hosts.SUFFIX}"
    if snapshot.exists():
        own["snapshot"] = snapshot
    if "like" not in own:
        return own
    # What is expected of another host, and its change, are no part of what one begins with.
    base = {key: value for key, value in _inherited(own["like"]).items() if key not in ("expect", "flip", "rule")}
    whole: dict[str, Any] = merged(base, own)
    return whole


def snapshot_of(host: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The recorded snapshot, or that which the node-side code takes of the host's tree; with its live answers."""
    if "snapshot" in host:
        found = recorded_hosts.edited(recorded_hosts.load(host["snapshot"]), host.get("edits", {}))
        found.update({section: {} for section in host.get("emptied", ())})
    else:
        _build(host, folder)
        found = collect(Host(str(folder)), (), host.get("kubeadm_patches"))
    whole: dict[str, Any] = merged(found, {"root": "/", **host.get("live", {})})
    return whole


def flipped(host: Described) -> Mapping[str, Any]:
    """The description with its one change."""
    changed: Mapping[str, Any] = merged(host.host, {key: each for key, each in host.flip.items() if key in INPUTS})
    return changed


def _build(host: Mapping[str, Any], folder: Path) -> None:
    files = {path: text for path, text in host.get("files", {}).items() if text is not None}
    files.setdefault("/proc/uptime", "0.00 0.00\n")
    for name, process in host.get("processes", {}).items():
        if process is not None:
            files.update(_process(name, process))
    for path, text in files.items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
    for path, target in host.get("links", {}).items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def _process(name: str, process: Mapping[str, Any]) -> dict[str, str]:
    home, comm = f"/proc/{process['pid']}", process.get("comm", name)
    ticks = 0 if process.get("before_files") else HOUR
    return {
        f"{home}/comm": comm + "\n",
        f"{home}/cmdline": "".join(f"{word}\0" for word in process["argv"]),
        f"{home}/cgroup": process["cgroup"] + "\n",
        f"{home}/stat": STAT.format(pid=process["pid"], comm=comm, ticks=ticks),
    }
