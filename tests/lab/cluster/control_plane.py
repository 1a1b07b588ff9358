# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting and ending the control plane; the command line calls these functions."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import command
from ..cache import Cache
from ..errors import LabError
from ..paths import cache_root, state_root
from ..ports import free_ports, listens
from ..program_table import CONTROL_PLANE
from ..progress import Progress
from . import components, daemons, kubeadm, programs
from .components import Component
from .store import ClusterStore, ControlPlane, Ports

TIMEOUT = 300.0
"""Seconds for each program; the API server has taken more than 100 s while VMs kept the CPUs busy."""

SUBJECT = "control plane"


def store() -> ClusterStore:
    """The control plane of this user's lab."""
    return ClusterStore(state_root())


def build(kubernetes: str = programs.DEFAULT) -> programs.Programs:
    """The control plane's programs, built unless the cache has them."""
    return programs.obtain(Cache(cache_root()), kubernetes)


def up(kubernetes: str = programs.DEFAULT) -> ControlPlane:
    """A running control plane with kubeadm's ConfigMaps; processes that have ended are started again.

    ``kubernetes``: the release of a new control plane; an existing one keeps its own.
    """
    known, built = store(), build(kubernetes)
    with known.lock():
        plane = known.find() or _create(known, built)
        progress = Progress(SUBJECT)
        kubeadm.make_credentials(plane, plane.log("kubeadm"))
        _start(plane, [components.etcd(plane)], answers, progress)
        _start(plane, [components.api_server(plane)], _ready, progress)
        controllers = [components.controller_manager(plane), components.scheduler(plane)]
        _start(plane, controllers, answers, progress)
        wait_for("the default service account", partial(_has_service_account, plane), plane, progress)
        _upload_configuration(plane)
    progress.say(f"ready at {plane.url}; kubeconfig {plane.kubeconfig}")
    return plane


def down() -> None:
    """End the processes of the control plane and delete its files; does nothing when none exists."""
    known = store()
    with known.lock():
        plane = known.find()
        if plane is not None:
            daemons.end(plane.uuid)
        known.remove()


def kubectl(plane: ControlPlane, *words: str, timeout: float = 60) -> str:
    """What kubectl prints as the administrator; LabError when it fails."""
    return command.output([*kubectl_argv(plane), *words], timeout)


def kubectl_argv(plane: ControlPlane) -> list[str]:
    """The kubectl command before its arguments; its cache is in the control plane's directory."""
    cache = f"--cache-dir={plane.directory / 'kubectl'}"
    return [str(plane.programs["kubectl"]), f"--kubeconfig={plane.kubeconfig}", cache]


def facts(plane: ControlPlane) -> dict[str, Any]:
    """All facts about the control plane, as plain values."""
    running = daemons.running(plane.uuid)
    names = [component.name for component in all_components(plane)]
    return {
        "running": {name: running.get(name) for name in names},
        "server": plane.url,
        "version": plane.release,
        "kubeconfig": str(plane.kubeconfig),
        "kubectl": str(plane.programs["kubectl"]),
        "folder": str(plane.directory),
        "nodes": nodes(plane) if len(running) == len(names) else {},
    }


def nodes(plane: ControlPlane) -> dict[str, bool]:
    """Node to whether it is ready."""
    items = json.loads(kubectl(plane, "get", "nodes", "-o", "json"))["items"]
    return {item["metadata"]["name"]: is_ready(item) for item in items}


def is_ready(node: dict[str, Any]) -> bool:
    """The condition ``Ready`` of a Node."""
    conditions = node.get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def all_components(plane: ControlPlane) -> list[Component]:
    """In the order in which they start."""
    makers = (components.etcd, components.api_server, components.controller_manager, components.scheduler)
    return [make(plane) for make in makers]


def _create(known: ClusterStore, built: programs.Programs) -> ControlPlane:
    release = command.output([str(built.path("kubeadm")), "version", "--output=short"]).strip().lstrip("v")
    files = {"etcd": built.etcd, **{name: built.path(name) for name in CONTROL_PLANE}}
    return known.create(str(uuid.uuid4()), release, Ports(*free_ports(5)), files)


Test = Callable[[ControlPlane, Component], bool]


def _start(plane: ControlPlane, targets: list[Component], up: Test, progress: Progress) -> None:
    """Start the components of ``targets`` that do not run, and wait until all are up."""
    for component in targets:
        if component.name in daemons.running(plane.uuid):
            progress.say(f"{component.name} runs already")
        else:
            daemons.start(component, plane.uuid, plane.directory, plane.log(component.name))
    for component in targets:
        wait_for(component.name, partial(up, plane, component), plane, progress)


def wait_for(name: str, test: Callable[[], bool], plane: ControlPlane, progress: Progress) -> None:
    """Wait until a test is true; LabError after ``TIMEOUT``."""
    deadline = time.monotonic() + TIMEOUT
    with progress.repeated(f"waiting for {name}"):
        while not test():
            if time.monotonic() > deadline:
                raise LabError(f"{name} is not up after {TIMEOUT:.0f} s; the logs are in {plane.directory}")
            time.sleep(0.3)
    progress.say(f"{name} is up")


def answers(plane: ControlPlane, component: Component) -> bool:
    """True when the component accepts connections; LabError when it has ended."""
    _check_runs(plane, component)
    return listens(component.port)


def _ready(plane: ControlPlane, component: Component) -> bool:
    _check_runs(plane, component)
    try:
        return kubectl(plane, "get", "--raw=/readyz") == "ok"
    except LabError:
        return False


def _check_runs(plane: ControlPlane, component: Component) -> None:
    if component.name not in daemons.running(plane.uuid):
        last = plane.log(component.name).read_text(errors="replace").splitlines()[-5:]
        excerpt = "\n".join(last)
        raise LabError(f"{component.name} has ended; the last lines of {plane.log(component.name)}:\n{excerpt}")


def _has_service_account(plane: ControlPlane) -> bool:
    """True when the default service account exists; no pod is admitted before."""
    return bool(kubectl(plane, "get", "serviceaccount", "default", "--ignore-not-found", "--output=name"))


def _upload_configuration(plane: ControlPlane) -> None:
    get = ("--namespace=kube-system", "get", "configmap", kubeadm.KUBELET_CONFIG_MAP, "--ignore-not-found")
    if not kubectl(plane, *get, "--output=name"):
        kubeadm.upload_configuration(plane, plane.log("kubeadm"))
