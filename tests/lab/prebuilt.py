# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets of `lab build`: root file systems, the kernel of user-mode Linux, and the images of the tests' nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from . import engines, nodes, root
from .cache import Cache
from .errors import LabError
from .kubernetes import obtain_pause
from .progress import Progress
from .spec import DEBIAN_CONTAINERD, DEFAULT_KUBELET, CgroupMode, Driver, Engine, NodeSpec, Suite
from .uml import kernel
from .uml.availability import obstacle

FURTHER = ((Suite.TRIXIE, DEFAULT_KUBELET, "2.4"), (Suite.TRIXIE, "1.37", "2.4"))
"""Suite, kubelet and containerd of the nodes of `make test` that do not use the suite's containerd."""


def specifications(suites: Iterable[Suite], kubelet: str, containerd: str) -> Iterator[NodeSpec]:
    """A node for each image. Driver and cgroup version do not change the image."""
    default = (kubelet, containerd) == (DEFAULT_KUBELET, DEBIAN_CONTAINERD)
    chosen = tuple(suites)
    for suite in chosen or tuple(Suite):
        yield _node(suite, kubelet, containerd)
    if default and not chosen:
        for further in FURTHER:
            yield _node(*further)


def build(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    """Build missing files; where user-mode Linux cannot run a node, print why QEMU emulates it."""
    desired = tuple(specs)
    build_systems(cache, desired)
    _build_images(desired)


def build_systems(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    """Build the missing files that contain no Kubernetes program: root file systems and user-mode Linux."""
    desired = tuple(specs)
    _build_roots(cache, desired)
    emulated = [spec for spec in desired if engines.choose(cache, spec) is Engine.QEMU]
    if emulated:
        _build_user_mode_kernel(cache, emulated[0])


def build_without_kernel(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    """Build missing files, without the kernel of user-mode Linux, which takes minutes to build."""
    desired = tuple(specs)
    _build_roots(cache, desired)
    _build_images(desired)


def _build_roots(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    with ThreadPoolExecutor() as pool:
        suites = {suite for spec in specs for suite in (spec.suite, spec.kernel_suite)}
        roots = [pool.submit(root.obtain, cache, suite) for suite in sorted(suites)]
        pool.submit(obtain_pause, cache).result()
        for build in roots:
            build.result()


def _build_images(specs: Iterable[NodeSpec]) -> None:
    for spec in specs:
        nodes.build(spec)


def _build_user_mode_kernel(cache: Cache, spec: NodeSpec) -> None:
    try:
        kernel.obtain(cache)
        reason = obstacle(cache, spec)
    except LabError as error:
        reason = str(error)
    if reason:
        Progress("user-mode Linux").say(f"not available, QEMU emulates nodes, which takes longer: {reason}")


def _node(suite: Suite, kubelet: str, containerd: str) -> NodeSpec:
    return NodeSpec(
        name="prebuilt",
        suite=suite,
        cgroup=CgroupMode.V2,
        kubelet_driver=Driver.SYSTEMD,
        runtime_driver=Driver.SYSTEMD,
        kubelet=kubelet,
        containerd=containerd,
    )
