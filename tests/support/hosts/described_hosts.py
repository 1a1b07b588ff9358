# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of the field as one YAML file each: what they hold, what they answer, and what must be said of them.

``tests/unit/fixtures/hosts/NAME.yml``::

    rule: which rule of the field this host stands for, and its source
    like: NAME                  # inherit from another host; mappings are merged key by key, lists and texts replaced
    files: {PATH: TEXT}         # null removes an inherited one; a text ends with a newline as files do
    links: {PATH: TARGET}
    processes:
      NAME: {pid: 812, argv: [/usr/bin/kubelet, ...], cgroup: "0::/system.slice/kubelet.service", comm: kubelet,
             before_files: false}   # comm: the key unless given; before_files: it started before the files changed
    kubeadm_patches: DIRECTORY     # the directory of patches that is passed to kubeadm
    live: {SECTION: {...}}      # values that only a running node has, merged into the snapshot of the tree
    expect:                     # written by hand from the rule
      verdict: aligned
      driver: systemd
      source: the source of the driver
      codes: [CODE, ...]        # of all findings; may be missing in a host that others inherit from
    flip: {say: what is changed, verdict: misaligned, files: ..., processes: ..., live: ...}

If ``NAME.snapshot.json`` is beside it, the host was recorded on a node: it has no files, links and processes, and a
change has ``edits: {PATH: {OLD: NEW}}`` of the recorded texts instead, and ``emptied: [SECTION]``. ``origins.yml``
names the node, and explains for all other hosts why they were written by hand.

For those the tree is built in a directory, and the code that runs on nodes takes its snapshot there; /proc is built
from ``processes``. The whole facts document is compared with ``NAME.facts.json``, which
``write_golden`` writes.
A file whose name begins with ``_`` is only inherited from.
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
"""Keys that only a host written by hand has."""
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
        expected: Mapping[str, Any] = self.host["expect"]
        return expected

    @property
    def flip(self) -> Mapping[str, Any]:
        change: Mapping[str, Any] = self.host["flip"]
        return change

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
    """Return the host of a name, with what it inherits."""
    return Described(name, _inherited(name))


def _inherited(name: str) -> dict[str, Any]:
    own: dict[str, Any] = yaml.safe_load((HOSTS / f"{name}.yml").read_text(encoding="utf-8"))
    snapshot = HOSTS / f"{name}{recorded_hosts.SUFFIX}"
    if snapshot.exists():
        own["snapshot"] = snapshot
    if "like" not in own:
        return own
    # The expected result and the change of another host are not inherited.
    base = {key: value for key, value in _inherited(own["like"]).items() if key not in ("expect", "flip", "rule")}
    whole: dict[str, Any] = merged(base, own)
    return whole


def snapshot_of(host: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Return the recorded snapshot, or the one that the node-side code takes of the tree, with the ``live`` values."""
    if "snapshot" in host:
        snapshot = recorded_hosts.edited(recorded_hosts.load(host["snapshot"]), host.get("edits", {}))
        snapshot.update({section: {} for section in host.get("emptied", ())})
    else:
        _build(host, directory)
        snapshot = collect(Host(str(directory)), (), host.get("kubeadm_patches"))
    whole: dict[str, Any] = merged(snapshot, {"root": "/", **host.get("live", {})})
    return whole


def flipped(host: Described) -> Mapping[str, Any]:
    """The description with its one change."""
    changed: Mapping[str, Any] = merged(host.host, {key: value for key, value in host.flip.items() if key in INPUTS})
    return changed


def _build(host: Mapping[str, Any], directory: Path) -> None:
    files = {path: text for path, text in host.get("files", {}).items() if text is not None}
    files.setdefault("/proc/uptime", "0.00 0.00\n")
    for name, process in host.get("processes", {}).items():
        if process is not None:
            files.update(_process(name, process))
    for path, text in files.items():
        place = directory / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
    for path, target in host.get("links", {}).items():
        place = directory / path.lstrip("/")
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
