# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of a process that was killed: the node's state after every single call that changes something.

A killed process does nothing any more, so a kill at the n-th call leaves just what the calls before it have done. One
run therefore shows what every kill in it leaves, and each of these moments can be made a node of its own.
"""

from __future__ import annotations

import copy
import os
import stat
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple

import pytest

from ansible_collections.volcano.colocation.tests.support.node.directory_tree import (
    FOLDER,
    IN_MEMORY,
    Tree,
    entry,
    hash_of,
    part_of,
    tree_of,
    unpack,
)
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock, Unit
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess

COUNTED = [
    "link",
    "symlink",
    "rename",
    "replace",
    "unlink",
    "remove",
    "mkdir",
    "rmdir",
    "truncate",
    "chmod",
    "chown",
    "setxattr",
    "removexattr",
    "fchmod",
    "fchown",
    "ftruncate",
    "pwrite",
    "fsync",
    "fdatasync",
]
CREATING = (os.O_CREAT | os.O_TRUNC | os.O_TMPFILE) & ~os.O_DIRECTORY
MADE_AT_BOOT = ("/proc", "/proc/1", "/proc/self", "/run", "/run/systemd", "/run/systemd/system")
OF_PROGRAMS = ("/proc/", "/run/", "/sys/", "/var/lib/kubelet/")
"""Where the simulated programs write."""
CGROUPS = ("/sys", "/sys/fs", "/sys/fs/cgroup")


class Services(Dict[str, Any]):
    """What there is of a node beside its files."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for those that a recovery cannot tell apart."""
        return (repr(sorted(self.items())),)


def nothing() -> None:
    return


class Watched:
    """A simulated node. ``changed`` is called after each of its programs' changes, of which we are told no more.

    ``own``: where its programs write. ``whole``: files that take a write as a whole or not at all, as the kernel's do.
    """

    host: Any
    root: Path
    own: tuple[str, ...] = ("/nowhere/",)
    whole: tuple[str, ...] = ()
    changed: Callable[[], None] = staticmethod(nothing)

    def services(self) -> Services:
        return Services()


class Moment(NamedTuple):
    """All there is of a node between two calls. ``disks`` are trees of which a power cut leaves one."""

    call: str
    tree: Tree
    disks: tuple[Tree, ...]
    services: Services
    files: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for moments that a recovery cannot tell apart."""
        return (*self.services.key, self.files)


class NodeServices(Services):
    """Units, the runtime and the clock."""

    @property
    def key(self) -> tuple[Any, ...]:
        units = tuple(sorted((name, unit.active, unit.sub) for name, unit in self["units"].items()))
        pods = tuple(sorted(sandbox.name for sandbox in self["sandboxes"]))
        return units, pods, repr(self["config"]), self["listens"]


class Killed(InProcess, Watched):
    """A node whose processes are killed."""

    own = OF_PROGRAMS

    def services(self) -> Services:
        return NodeServices(
            units=copy.deepcopy(self.units),
            sandboxes=list(self.runtime.sandboxes),
            containers=list(self.runtime.containers),
            config=self.runtime.config,
            listens=self.server is not None,
            next_pid=self.next_pid,
            now=self.clock.now,
        )


def node_of(moment: Moment, root: Path) -> Killed:
    """The moment as a node in an empty folder."""
    unpack(moment.tree, root)
    simulation = Killed(root)
    services = moment.services
    simulation.units = copy.deepcopy(services["units"])
    simulation.runtime.sandboxes = list(services["sandboxes"])
    simulation.runtime.containers = list(services["containers"])
    simulation.runtime.config = services["config"]
    simulation.next_pid = services["next_pid"]
    simulation.clock.now = services["now"]
    if services["listens"]:
        simulation.listen()
    return simulation


def booting(moment: Moment, disk: Tree) -> Moment:
    """The node when it boots with one of its disks: no process, no cgroup, nothing in memory; no unit started yet."""
    tree = {path: kept for path, kept in disk.items() if not path.startswith((*IN_MEMORY, "/sys"))}
    tree.update(dict.fromkeys((*MADE_AT_BOOT, *CGROUPS), FOLDER))
    tree.update((path, moment.tree[path]) for path in ("/proc/1/comm", "/proc/self/mountinfo"))
    services = NodeServices(moment.services, containers=[], sandboxes=[], listens=False, now=FakeClock().now)
    services["units"] = {name: Unit("inactive", "dead", 0) for name in moment.services["units"]}
    return Moment(f"{moment.call}, power cut", tree, (), services, hash_of(tree))


class Recorder:
    """Every moment of what is done to a node within ``record``, with its disks when one is given."""

    def __init__(self, simulation: Watched, disk: Disk | None = None) -> None:
        self.moments: list[Moment] = []
        self.calls = 0
        self._simulation = simulation
        self._root = str(simulation.root)
        self._disk = disk
        self._quiet = False
        self._tree = tree_of(simulation.root)
        self._files = hash_of(self._tree)
        self._services = simulation.services()
        self._note("nothing")

    def record(self, monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> Any:
        """What ``work`` returns."""
        with monkeypatch.context() as patched:
            self._listen(patched)
            answer = work()
        # Nothing was changed behind our back: no call that writes is missing above.
        found = tree_of(self._simulation.root)
        missed = {path for path in {*found, *self._tree} if found.get(path) != self._tree.get(path)}
        assert not missed, sorted(missed)
        return answer

    def _listen(self, patched: pytest.MonkeyPatch) -> None:
        for name in COUNTED:
            patched.setattr(os, name, self._counted(name, getattr(os, name)))
        patched.setattr(os, "open", self._counted_open(os.open))
        patched.setattr(os, "write", self._torn_write(os.write))
        patched.setattr(self._simulation, "changed", self._program)
        answer = getattr(self._simulation.host, "_answer", None)
        if answer is not None:
            patched.setattr(self._simulation.host, "_answer", self._unwatched(answer))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            places = [] if self._quiet else [self._place(each, named.get("dir_fd")) for each in given[:2]]
            answer = call(*given, **named)
            if self._disk is not None and name in ("fsync", "fdatasync") and places != [""]:
                self._disk.fsync(given[0])
            self._after(name, places)
            return answer

        return counted

    def _counted_open(self, call: Callable[..., int]) -> Callable[..., int]:
        def counted(path: Any, flags: int, *given: Any, **named: Any) -> int:
            handle = call(path, flags, *given, **named)
            place = self._place(path, named.get("dir_fd")) if flags & CREATING else ""
            if place and not self._takes_it_whole(place):
                self._after("open", [place])
            return handle

        return counted

    def _torn_write(self, call: Callable[..., int]) -> Callable[..., int]:
        """A write of which the file has only the first half for a moment."""

        def torn(handle: int, data: Any) -> int:
            view, place = memoryview(data), self._place(handle)
            parts = [view] if self._takes_it_whole(place) else [view[: len(view) // 2], view[len(view) // 2 :]]
            for part in parts:
                written = call(handle, part)
                assert written == len(part)
                self._after("write", [place])
            return len(view)

        return torn

    def _takes_it_whole(self, place: str) -> bool:
        return place[len(self._root) :].startswith(self._simulation.whole or "\0")

    def _place(self, given: Any, folder: int | None = None) -> str:
        """Path of a path or an open file; empty for anything that is not in the node's tree."""
        if folder is not None and isinstance(given, str) and not given.startswith("/"):
            above = self._place(folder)
            return f"{above}/{given}" if above else ""
        if isinstance(given, int):
            try:
                given = os.readlink(f"/proc/self/fd/{given}")
            except OSError:
                return ""
        return given if isinstance(given, str) and given.startswith(self._root + "/") else ""

    def _unwatched(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """A program is a process of its own: its calls are not the ones we are killed in."""

        def unwatched(argv: tuple[str, ...]) -> Any:
            self._quiet = True
            try:
                return answer(argv)
            finally:
                self._quiet = False

        return unwatched

    def _program(self) -> None:
        self.calls += 1
        former = self._tree
        self._tree = {path: kept for path, kept in self._tree.items() if not path.startswith(self._simulation.own)}
        for folder in self._simulation.own:
            inside = Path(self._root + folder.rstrip("/"))
            found = tree_of(inside) if inside.is_dir() else {}
            self._tree.update((folder.rstrip("/") + path, kept) for path, kept in found.items())
        self._files = hash_of(self._tree)
        self._services = self._simulation.services()
        self._note("a program or the runtime")
        if self._disk is not None and self._tree != former:
            self._disk.keep_all()

    def _after(self, call: str, places: list[str]) -> None:
        if self._quiet:
            return
        self.calls += 1
        names = [place[len(self._root) :] for place in places if place]
        # A list, because every one of them has to be looked at.
        changed = [name for name in names if self._refresh(name)]
        if changed or (call == "fsync" and self._disk is not None):
            self._note(f"{call} {' '.join(names)}")

    def _refresh(self, name: str) -> bool:
        """Whether the call left something else there."""
        kept, former = entry(self._root + name), self._tree.pop(name, None)
        if former is not None:
            self._files ^= part_of(name, former)
        if kept is not None:
            self._tree[name] = kept
            self._files ^= part_of(name, kept)
        if kept != former and any(each is not None and stat.S_ISDIR(each.mode) for each in (kept, former)):
            self._refresh_below(name)
        return kept != former

    def _refresh_below(self, name: str) -> None:
        """A folder came or went by its name, with all that is in it."""
        gone = [path for path in self._tree if path.startswith(name + "/")]
        folder = Path(self._root + name)
        there = [name + path for path in tree_of(folder)] if folder.is_dir() else []
        for path in {*gone, *there}:
            self._refresh(path)

    def _note(self, call: str) -> None:
        tree = dict(self._tree)
        disks = () if self._disk is None else (tree, self._disk.tree())
        self.moments.append(Moment(f"call {self.calls}, {call}", tree, disks, self._services, self._files))
