# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting, restarting and ending nodes; the command line calls these functions."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from . import disk, engines, initrd, kubernetes, node_files, ssh
from .base_files import archive
from .cache import Cache
from .containerd import obtain_containerd
from .errors import LabError
from .kernel_line import kernel_line
from .machine import INITRD, SERIAL_LOG, Machine
from .paths import cache_root, state_root
from .progress import Progress
from .readiness import Wait, await_boot, await_ssh, await_status
from .spec import Engine, NodeSpec, Suite, validate
from .store import Node, Store


@dataclass(frozen=True)
class Parts:
    """The files and the engine that boot a node."""

    boot: disk.Boot
    kubelet: kubernetes.Kubelet | None
    engine: Engine


def store() -> Store:
    """The nodes of this user's lab."""
    return Store(state_root())


def build(spec: NodeSpec) -> Parts:
    """The parts that boot a node of ``spec``, built unless the cache has them."""
    cache = Cache(cache_root())
    kubelet = kubernetes.obtain_kubelet(cache, spec.kubelet)
    engine = engines.choose(cache, spec)
    node_image = disk.image(
        cache, spec.suite, kernel_suite(spec, engine), kubelet, obtain_containerd(cache, spec.containerd)
    )
    boot = disk.without_disk(cache, node_image, engine) if spec.root else disk.obtain(cache, node_image, engine)
    return Parts(boot, kubelet, engine)


def kernel_suite(spec: NodeSpec, engine: Engine) -> Suite:
    """The release whose kernel modules a node's disk has. User-mode Linux needs none of them."""
    return spec.suite if engine is Engine.UML else spec.kernel_suite


def unpack(spec: NodeSpec, directory: Path) -> None:
    """Write the root file system of a node of ``spec`` into a new directory, without the files of its first boot."""
    validate(spec)
    if directory.exists():
        raise LabError(f"{directory} exists already: name a new directory")
    cache = Cache(cache_root())
    kubelet = kubernetes.obtain_kubelet(cache, spec.kubelet)
    node_image = disk.image(cache, spec.suite, spec.kernel_suite, kubelet, obtain_containerd(cache, spec.containerd))
    version = kubelet.version if kubelet else None
    fixed = node_files.fixed_files(spec, node_image.containerd_config, version)
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise LabError(f"cannot create {directory}: {error.strerror}") from error
    with tempfile.TemporaryDirectory() as work:
        log = cache.scratch("logs") / f"image-{directory.name}.log"
        disk.unpack(node_image, archive(fixed, node_files.links(spec, version)), directory, Path(work), log)


def up(spec: NodeSpec, wait: Wait = Wait.PODS) -> Node:
    """A running node of ``spec``, started unless it runs; LabError when a different node of that name runs."""
    validate(spec)
    if spec.root and not Path(spec.root).is_dir():
        raise LabError(f"directory {spec.root} does not exist: create it with `image`")
    parts = build(spec)
    progress = Progress(spec.name)
    with store().lock():
        node = _find_existing(spec, progress) or _start(spec, parts, progress)
    return _await_state(node, wait, progress)


def down(name: str) -> None:
    """Stop a node's machine and delete its files."""
    known = store()
    with known.lock():
        node = known.load(name)
        node.connection.close()
        engines.end(node.directory, node.uuid, node.engine)
        known.remove(node)


def reboot(name: str, wait: Wait = Wait.PODS) -> Node:
    """Restart a node by systemd, and wait until it answers again."""
    node = running(name)
    # The connection may break before the command returns.
    with contextlib.suppress(LabError):
        node.connection.run("systemctl reboot")
    return _come_back(node, wait)


def reset(name: str, wait: Wait = Wait.PODS) -> Node:
    """Restart a node as after a power cut: data that its kernel had not written to disk is lost."""
    node = running(name)
    engines.reset(_machine(node), node.engine)
    return _come_back(node, wait)


def running(name: str) -> Node:
    """A node whose machine runs; LabError when it does not."""
    node = store().load(name)
    if node.pid is None:
        raise LabError(f"the machine of node {name} has ended; its console is in {node.directory / SERIAL_LOG}")
    return node


def _await_state(node: Node, wait: Wait, progress: Progress) -> Node:
    """Wait until the node has reached ``wait``; the node with the facts from then."""
    if wait is Wait.NOTHING:
        return node
    await_ssh(node, progress)
    seconds = {"ssh": round(progress.elapsed, 1)}
    status = await_status(node, wait, progress)
    seconds[wait.value] = round(progress.elapsed, 1)
    return store().save(
        dataclasses.replace(node, boot_id=status.boot_id, seconds=tuple(seconds.items()), containers=status.containers)
    )


def _come_back(node: Node, wait: Wait) -> Node:
    node.connection.close()
    progress = Progress(node.name)
    if wait is not Wait.NOTHING:
        await_boot(node, progress)
    return _await_state(node, wait, progress)


def _find_existing(spec: NodeSpec, progress: Progress) -> Node | None:
    """The running node of that name; the files of a node whose machine has ended are removed."""
    known = store()
    if spec.name not in known.names():
        return None
    node = known.load(spec.name)
    if node.pid is None:
        progress.say("its machine has ended; starting a new node of this name")
        engines.end(node.directory, node.uuid, node.engine)
        known.remove(node)
        return None
    if node.spec != spec:
        raise LabError(f"node {spec.name} runs with another specification: take it down first")
    progress.say("runs already")
    return node


def _start(spec: NodeSpec, parts: Parts, progress: Progress) -> Node:
    known = store()
    key = ssh.lab_key(known.root)
    node = known.create(spec, str(uuid.uuid4()))
    try:
        _write_files(node, parts, key.with_suffix(".pub").read_text())
        node = dataclasses.replace(
            node,
            engine=parts.engine,
            kubelet_release=parts.kubelet.release if parts.kubelet else "",
            kernel=str(parts.boot.kernel),
            base_disk=str(parts.boot.disk or node.directory / disk.DISK),
        )
        port = engines.start(dataclasses.replace(_machine(node), seed=parts.boot.seed), parts.engine)
    except BaseException:
        engines.end(node.directory, node.uuid, parts.engine)
        known.remove(node)
        raise
    progress.say(f"started ({parts.engine.value}), ssh at 127.0.0.1:{port}; waiting for it")
    return known.save(dataclasses.replace(node, port=port))


def _machine(node: Node) -> Machine:
    return Machine(
        name=node.name,
        uuid=node.uuid,
        directory=node.directory,
        kernel=Path(node.kernel),
        kernel_line=kernel_line(node.spec, node.engine),
        base=Path(node.base_disk),
        subnet=node.subnet,
        cpus=node.spec.cpus,
        memory=node.spec.memory,
        numa=node.spec.numa,
    )


def _write_files(node: Node, parts: Parts, public_key: str) -> None:
    spec, version = node.spec, parts.kubelet.version if parts.kubelet else None
    identity = node_files.Identity(node.address, node.resolver, node.uuid.replace("-", ""), public_key)
    files, links = node_files.own_files(spec, identity, version), {}
    if parts.boot.disk:
        files.update(node_files.fixed_files(spec, parts.boot.containerd_config, version))
        links = node_files.links(spec, version)
    hardware = f"ADDRESS={node.address}\nGATEWAY={node.gateway}\n{engines.hardware(parts.engine)}"
    common = parts.boot.initrd.read_bytes()
    (node.directory / INITRD).write_bytes(common + initrd.node_part(hardware, files, links))
    if not parts.boot.disk:
        disk.write(Path(spec.root), node.directory / disk.DISK, node.directory / "disk.log")
