# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated pods, the same in each run, and the collection's names of their cgroups by keys of cgroups/main.go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup import kubelet_names
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    QosClass,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.tests.judges.chance import Chance

PREFIXES = {"containerd": ("cri-containerd", ""), "cri-o": ("crio", "crio-"), "docker": ("docker", "")}
"""Prefixes of scopes and of directories that each runtime passes to runc."""
HEXADECIMAL = "0123456789abcdef"
ROOTS = ("/", "", "/a", "/kube", "/a/b", "/a-b", "/a/b-c/d", "/system", "/volcano/online", "/x_y", "relative/root")
ODD_ROOTS = ("//a", "/a//b", "/a/", "/kube.slice", "/a:b", "/\u00e4", "/a b", "/cpu.x", "/a/../b", "/./a")
ODD_UIDS = ("", "a/b", "a_b", "..", "a b", "UID", "a--b", "-a", "\u00e4", "a.slice", "a:b")


@dataclass(frozen=True)
class Pod:
    """A pod on a node, and one of its containers."""

    root: str
    driver: Driver
    qos: QosClass
    uid: str
    runtime: str
    container: str

    @property
    def question(self) -> dict[str, Any]:
        """The request of the Go program for this pod."""
        prefix, directory = PREFIXES[self.runtime]
        request = {"Root": self.root, "Driver": self.driver.value, "Qos": self.qos.value, "UID": self.uid}
        return {**request, "Prefix": prefix, "Folder": directory, "ID": self.container}


def pods(count: int) -> Iterator[Pod]:
    """``count`` pods; one of eight has an unusual root or UID."""
    for number in range(count):
        chance = Chance(f"pod {number}")
        uid = _uid(chance)
        yield Pod(
            root=chance.one(ODD_ROOTS if chance.happens(0.08) else ROOTS),
            driver=chance.one(tuple(Driver)),
            qos=chance.one(tuple(QosClass)),
            uid=chance.one(ODD_UIDS) if chance.happens(0.05) else uid,
            runtime=chance.one(tuple(PREFIXES)),
            container=_text(chance, 64),
        )


def _uid(chance: Chance) -> str:
    """A UID as the API server makes it, or that of a static pod: a hash without dashes."""
    if chance.happens(0.2):
        return _text(chance, 32)
    return "-".join(_text(chance, length) for length in (8, 4, 4, 4, 12))


def _text(chance: Chance, length: int) -> str:
    return "".join(chance.one(HEXADECIMAL) for _index in range(length))


def collection_names(pod: Pod) -> dict[str, str] | None:
    """The collection's names, with the keys of the Go program; None where it expects no such cgroup."""
    try:
        path = KubeletTree(pod.driver, pod.root).pod(pod.qos, pod.uid)
        container = kubelet_names.container_cgroup(path, pod.runtime, pod.container)
    except ColocationError:
        return None
    names = {"Pod": path, "Container": container}
    if pod.driver is Driver.SYSTEMD:
        parents = path.split("/")
        names |= {"Unit": parents[-1], "Parent": parents[-2] if len(parents) > 1 else "-.slice"}
    return names
