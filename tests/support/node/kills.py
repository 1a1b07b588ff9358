# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's state after every call that changes something: what a killed process leaves behind.

A kill at the n-th call leaves the effects of the calls before it. One run therefore yields the state after every
possible kill, and each of these moments can be re-created as a separate node.
"""

from __future__ import annotations

import copy
import os
import stat
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple

import pytest

from ansible_collections.volcano.colocation.tests.support.node.directory_tree import (
    DIRECTORY,
    IN_MEMORY,
    Tree,
    entry,
    hash_of,
    is_draft,
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
    """The state of a node besides its files."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for services that a recovery cannot distinguish."""
        return (repr(sorted(self.items())),)


def nothing() -> None:
    return


class Watched:
    """A simulated node. ``changed`` is called, without arguments, after each change by its programs.

    ``own``: where its programs write. ``whole``: files whose writes are atomic, as those of the kernel.
    """

    host: Any
    root: Path
    own: tuple[str, ...] = ("/nowhere/",)
    whole: tuple[str, ...] = ()
    changed: Callable[[], None] = staticmethod(nothing)

    def services(self) -> Services:
        return Services()


class Moment(NamedTuple):
    """The state of a node between two calls. ``disks``: possible trees after a power cut."""

    call: str
    tree: Tree
    disks: tuple[Tree, ...]
    services: Services
    files: int

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for moments that a recovery cannot distinguish, except for drafts, which it removes."""
        return (*self.services.key, self.files)

    @property
    def exact_key(self) -> tuple[Any, ...]:
        """Equal for moments that a recovery cannot distinguish at all."""
        return (*self.key, frozenset(filter(is_draft, self.tree)))


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
    """Re-create the moment as a node in an empty directory."""
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
    """Return the node at boot with one of its disks: no processes, cgroups or memory contents; no unit started yet."""
    tree = {path: node_entry for path, node_entry in disk.items() if not path.startswith((*IN_MEMORY, "/sys"))}
    tree.update(dict.fromkeys((*MADE_AT_BOOT, *CGROUPS), DIRECTORY))
    tree.update((path, moment.tree[path]) for path in ("/proc/1/comm", "/proc/self/mountinfo"))
    services = NodeServices(moment.services, containers=[], sandboxes=[], listens=False, now=FakeClock().now)
    services["units"] = {name: Unit("inactive", "dead", 0) for name in moment.services["units"]}
    return Moment(f"{moment.call}, power cut", tree, (), services, hash_of(tree))


class Recorder:
    """Records every moment of a node within ``record``, with its disks if ``disk`` is set."""

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
        """Record the moments of ``work``; return its result."""
        with monkeypatch.context() as patched:
            self._listen(patched)
            result = work()
        # The recorded tree is complete: COUNTED lacks no call that writes.
        tree = tree_of(self._simulation.root)
        missed = {path for path in {*tree, *self._tree} if tree.get(path) != self._tree.get(path)}
        assert not missed, sorted(missed)
        return result

    def _listen(self, patched: pytest.MonkeyPatch) -> None:
        for name in COUNTED:
            patched.setattr(os, name, self._counted(name, getattr(os, name)))
        patched.setattr(os, "open", self._counted_open(os.open))
        patched.setattr(os, "write", self._torn_write(os.write))
        patched.setattr(self._simulation, "changed", self._program)
        respond = getattr(self._simulation.host, "_respond", None)
        if respond is not None:
            patched.setattr(self._simulation.host, "_respond", self._unwatched(respond))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            places = [] if self._quiet else [self._place(argument, named.get("dir_fd")) for argument in arguments[:2]]
            result = call(*arguments, **named)
            if self._disk is not None and name in ("fsync", "fdatasync") and places != [""]:
                self._disk.fsync(arguments[0])
            self._after(name, places)
            return result

        return counted

    def _counted_open(self, call: Callable[..., int]) -> Callable[..., int]:
        def counted(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
            handle = call(path, flags, *arguments, **named)
            place = self._place(path, named.get("dir_fd")) if flags & CREATING else ""
            if place and not self._takes_it_whole(place):
                self._after("open", [place])
            return handle

        return counted

    def _torn_write(self, call: Callable[..., int]) -> Callable[..., int]:
        """Replace a write by two, with a moment after the first half."""

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

    def _place(self, target: Any, directory: int | None = None) -> str:
        """Return the path of a path or an open file; empty if it is not in the node's tree."""
        if directory is not None and isinstance(target, str) and not target.startswith("/"):
            above = self._place(directory)
            return f"{above}/{target}" if above else ""
        if isinstance(target, int):
            try:
                target = os.readlink(f"/proc/self/fd/{target}")
            except OSError:
                return ""
        return target if isinstance(target, str) and target.startswith(self._root + "/") else ""

    def _unwatched(self, respond: Callable[..., Any]) -> Callable[..., Any]:
        """Do not record the calls of a program: it is a separate process, which is not killed."""

        def unwatched(argv: tuple[str, ...]) -> Any:
            self._quiet = True
            try:
                return respond(argv)
            finally:
                self._quiet = False

        return unwatched

    def _program(self) -> None:
        self.calls += 1
        previous = self._tree
        self._tree = {
            path: node_entry for path, node_entry in self._tree.items() if not path.startswith(self._simulation.own)
        }
        for directory in self._simulation.own:
            inside = Path(self._root + directory.rstrip("/"))
            entries = tree_of(inside) if inside.is_dir() else {}
            self._tree.update((directory.rstrip("/") + path, node_entry) for path, node_entry in entries.items())
        self._files = hash_of(self._tree)
        self._services = self._simulation.services()
        self._note("a program or the runtime")
        if self._disk is not None and self._tree != previous:
            self._disk.keep_all()

    def _after(self, call: str, places: list[str]) -> None:
        if self._quiet:
            return
        self.calls += 1
        names = [place[len(self._root) :] for place in places if place]
        # A list, because every name must be refreshed.
        changed = [name for name in names if self._refresh(name)]
        if changed or (call == "fsync" and self._disk is not None):
            self._note(f"{call} {' '.join(names)}")

    def _refresh(self, name: str) -> bool:
        """Read the entry again; return True if it changed."""
        current, previous = entry(self._root + name), self._tree.pop(name, None)
        if previous is not None:
            self._files ^= part_of(name, previous)
        if current is not None:
            self._tree[name] = current
            self._files ^= part_of(name, current)
        if current != previous and any(
            node_entry is not None and stat.S_ISDIR(node_entry.mode) for node_entry in (current, previous)
        ):
            self._refresh_below(name)
        return current != previous

    def _refresh_below(self, name: str) -> None:
        """Read again the content of a directory that was created, renamed or deleted."""
        previous_paths = [path for path in self._tree if path.startswith(name + "/")]
        directory = Path(self._root + name)
        current_paths = [name + path for path in tree_of(directory)] if directory.is_dir() else []
        for path in {*previous_paths, *current_paths}:
            self._refresh(path)

    def _note(self, call: str) -> None:
        tree = dict(self._tree)
        disks = () if self._disk is None else (tree, self._disk.tree())
        self.moments.append(Moment(f"call {self.calls}, {call}", tree, disks, self._services, self._files))
