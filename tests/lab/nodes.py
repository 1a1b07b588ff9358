# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting, restarting and ending nodes: what the command line does, for programs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
import uuid
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List

from . import accel, image, images, initrd, kubernetes, monitor, node_files, process, ssh, vm
from .cache import Cache
from .errors import LabError
from .kernel_line import kernel_line
from .paths import cache_root, state_root
from .progress import Progress
from .spec import Clash, NodeSpec, checked
from .store import Node, Store

SSH_PATIENCE = 240.0
POD_PATIENCE = 300.0
WATCH = (image.GUEST / "watch.py").read_text()


class Wait(Enum):
    """How far a node has to come before its start is over."""

    NOTHING = "none"
    SSH = "ssh"
    PODS = "pods"


@dataclass(frozen=True)
class Parts:
    """What a node is booted from."""

    boot: image.Boot
    kubelet: image.Kubelet


def store() -> Store:
    """The nodes of this user's lab."""
    return Store(state_root())


def build(spec: NodeSpec) -> Parts:
    """Everything a node like ``spec`` boots from, built unless the cache has it."""
    cache = Cache(cache_root())
    kubelet = kubernetes.obtain_kubelet(cache, spec.kubelet)
    archive = images.archive(kubernetes.obtain_pause(cache), image.busybox(cache))
    return Parts(image.obtain(cache, spec.suite, spec.kernel_suite, kubelet, archive), kubelet)


def up(spec: NodeSpec, wait: Wait = Wait.PODS) -> Node:
    """A running node as asked for; LabError when a node of that name runs and is another one."""
    checked(spec)
    parts = build(spec)
    progress = Progress(spec.name)
    known = store()
    with known.lock():
        if spec.name in known.names():
            existing = known.load(spec.name)
            if existing.pid is not None:
                return _same(existing, spec, wait, progress)
            progress.say("its VM has ended; starting a new node in its place")
            known.remove(existing)
        node = _start(known, spec, parts)
    progress.say(f"VM started ({node.accelerator}), ssh at 127.0.0.1:{node.port}; waiting for it")
    return await_node(node, wait, progress)


def down(name: str) -> None:
    """Stop a node's VM and forget the node."""
    known = store()
    with known.lock():
        node = known.load(name)
        node.connection.close()
        if node.pid is not None:
            process.end_machine(node.pid, node.uuid)
        known.remove(node)


def reboot(name: str, wait: Wait = Wait.PODS) -> Node:
    """Restart a node in order, and wait until it has come back."""
    node = running(name)
    # The connection may break before the command's answer.
    with contextlib.suppress(LabError):
        node.connection.run("systemctl reboot")
    return _come_back(node, wait, Progress(name))


def reset(name: str, wait: Wait = Wait.PODS) -> Node:
    """Restart a node as a power cut does: what its kernel had not written to its disk is lost."""
    node = running(name)
    monitor.execute(node.folder / vm.MONITOR, "system_reset")
    return _come_back(node, wait, Progress(name))


def running(name: str) -> Node:
    """A node whose VM runs; LabError when it does not."""
    node = store().load(name)
    if node.pid is None:
        raise LabError(f"the VM of node {name} has ended; its console is in {node.folder / vm.SERIAL_LOG}")
    return node


def await_node(node: Node, wait: Wait, progress: Progress) -> Node:
    """Wait until the node is as far as ``wait`` says; LabError says what is missing when it does not get there."""
    if wait is Wait.NOTHING:
        return node
    _await_ssh(node, progress)
    seconds = {"ssh": round(progress.elapsed, 1)}
    wanted: List[str] = []
    patience = 0.0
    if wait is Wait.PODS:
        wanted = [] if node.spec.clash is Clash.NO_PODS else list(node_files.QOS_CLASSES)
        patience = POD_PATIENCE
    seen = _watch(node, patience, wanted, progress)
    if wait is Wait.PODS:
        if not seen["complete"]:
            raise LabError(f"node {node.name} is up without: {', '.join(seen['missing'])} (see: journal {node.name})")
        seconds["pods"] = round(progress.elapsed, 1)
        progress.say(
            "ready" if node.spec.clash is Clash.NONE else f"ready; the drivers differ: {node.spec.clash.value}"
        )
    containers = tuple((each["pod"], each["kind"], each["cgroup"]) for each in seen["containers"])
    found = dataclasses.replace(node, boot_id=seen["boot_id"], seconds=tuple(seconds.items()), containers=containers)
    return store().save(found)


def _same(existing: Node, spec: NodeSpec, wait: Wait, progress: Progress) -> Node:
    if existing.spec != spec:
        raise LabError(f"node {spec.name} runs and differs from what is asked for: take it down first")
    progress.say("runs already")
    return await_node(existing, wait, progress)


def _start(known: Store, spec: NodeSpec, parts: Parts) -> Node:
    key = ssh.lab_key(known.root)
    node = known.create(spec, str(uuid.uuid4()))
    try:
        _write_files(node, parts, (key.with_suffix(".pub")).read_text())
        accelerator = accel.choose(cache_root(), parts.boot.kernel)
        machine = vm.Machine(
            name=spec.name,
            uuid=node.uuid,
            folder=node.folder,
            kernel=parts.boot.kernel,
            kernel_line=kernel_line(spec),
            accelerator=accelerator,
            subnet=node.subnet,
            cpus=spec.cpus,
            memory=spec.memory,
            numa=spec.numa,
        )
        node = dataclasses.replace(
            node,
            port=vm.start(machine),
            accelerator=accelerator.value,
            kubelet_release=parts.kubelet.release,
            kernel=str(parts.boot.kernel),
            base_disk=str(parts.boot.disk),
        )
        return known.save(node)
    except BaseException:
        pid = process.read_pid(node.folder / vm.PID)
        if pid is not None:
            process.end_machine(pid, node.uuid)
        known.remove(node)
        raise


def _write_files(node: Node, parts: Parts, public_key: str) -> None:
    files = node_files.files(
        node.spec,
        address=node.address,
        resolver=node.resolver,
        machine_id=node.uuid.replace("-", ""),
        key=public_key,
        packaged=parts.boot.containerd_config,
        version=parts.kubelet.version,
    )
    network = f"ADDRESS={node.address}\nGATEWAY={node.gateway}\n"
    common = parts.boot.initrd.read_bytes()
    (node.folder / vm.INITRD).write_bytes(common + initrd.node_part(network, files))
    vm.make_overlay(parts.boot.disk, node.folder / vm.DISK)


def _await_ssh(node: Node, progress: Progress) -> None:
    deadline = time.monotonic() + SSH_PATIENCE
    told = progress.elapsed
    while not ssh.answers(node.port):
        if node.pid is None:
            raise LabError(f"the VM of node {node.name} has ended; its console is in {node.folder / vm.SERIAL_LOG}")
        if time.monotonic() > deadline:
            raise LabError(
                f"node {node.name} did not answer by ssh within {SSH_PATIENCE:.0f} s (see: journal {node.name})"
            )
        if progress.elapsed - told >= 10:
            told = progress.elapsed
            progress.say("waiting for ssh")
        time.sleep(0.3)
    progress.say("ssh answers")


def _watch(node: Node, patience: float, wanted: List[str], progress: Progress) -> Dict[str, Any]:
    last = ""
    for line in node.connection.lines(f"python3 - {patience} {','.join(wanted) or ','}", WATCH):
        if last:
            progress.say(last)
        last = line
    try:
        seen: Dict[str, Any] = json.loads(last)
    except ValueError as error:
        raise LabError(f"node {node.name} gave no account of itself: {last!r}") from error
    return seen


def _come_back(node: Node, wait: Wait, progress: Progress) -> Node:
    node.connection.close()
    if wait is Wait.NOTHING:
        return node
    progress.say("restarting; waiting for a new boot")
    deadline = time.monotonic() + SSH_PATIENCE
    while _boot_id(node) in ("", node.boot_id):
        if node.pid is None or time.monotonic() > deadline:
            raise LabError(f"node {node.name} did not come back (see: journal {node.name})")
        node.connection.close()
        time.sleep(1)
    return await_node(node, wait, progress)


def _boot_id(node: Node) -> str:
    """The node's present boot, '' when it does not answer."""
    if not ssh.answers(node.port):
        return ""
    try:
        return node.connection.run("cat /proc/sys/kernel/random/boot_id", timeout=20).strip()
    except LabError:
        return ""


def tail(path: Path, lines: int) -> str:
    """The last lines of a log, '' when it is not there."""
    try:
        return "".join(path.read_text(errors="replace").splitlines(keepends=True)[-lines:])
    except OSError:
        return ""
