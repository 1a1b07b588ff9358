# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `lab build` builds: root file systems, the kernel of user-mode Linux, and the images of the tests' nodes."""

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
"""Suite, kubelet and containerd of nodes that `make test` boots beside those of the suites' own containerd."""


def specifications(suites: Iterable[Suite], kubelet: str, containerd: str) -> Iterator[NodeSpec]:
    """A node for each image. Which driver or cgroup version a node gets does not change its image."""
    default = (kubelet, containerd) == (DEFAULT_KUBELET, DEBIAN_CONTAINERD)
    chosen = tuple(suites)
    for suite in chosen or tuple(Suite):
        yield _node(suite, kubelet, containerd)
    if default and not chosen:
        for further in FURTHER:
            yield _node(*further)


def build(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    """Build what is missing. Where user-mode Linux cannot run a node, say why QEMU emulates it."""
    desired = tuple(specs)
    _build_roots(cache, desired)
    emulated = [spec for spec in desired if engines.choose(cache, spec) is Engine.QEMU]
    if emulated:
        _build_user_mode_kernel(cache, emulated[0])
    _build_images(desired)


def build_without_kernel(cache: Cache, specs: Iterable[NodeSpec]) -> None:
    """The same for the engine that works already: the kernel of user-mode Linux takes minutes to build."""
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
