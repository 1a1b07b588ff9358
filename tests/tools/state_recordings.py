# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the imported state of the collection writes to nodes and clusters.

``record_state.py`` runs this program with the packages of an older state. The machine is not changed: images and
simulated nodes are directories.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import rollback
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import STEPS
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent import colocation_config
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import ClusterPlan, plan_cluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubelet_config_journal import render_journal
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import ConfigMapPermission
from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters, kubeadm_clusters
from ansible_collections.volcano.colocation.tests.support.clusters.manifest_api_server import Cluster
from ansible_collections.volcano.colocation.tests.support.node import transaction_runs
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import Tree
from ansible_collections.volcano.colocation.tests.support.node.simulation import document, misaligned
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess
from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, grow
from ansible_collections.volcano.colocation.tests.unit.action import test_manifest_apply, test_scheduler_config
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent import test_install_plan

CUTS = (0, 1, 3, 6)
"""Numbers of writes to the API server after which a run is interrupted."""
UNDONE = ("start runtime", "write files", "stop kubelet")
"""Steps of a transaction after whose undo it is interrupted."""


def record(target: Path, names: list[str]) -> None:
    """Write the named recordings, or all, of the imported state."""
    # The unit that undoes a transaction contains the path of the interpreter, which must be a node's.
    sys.executable = "/usr/bin/python3"
    for recorded in (image, transaction, qos, kubeadm, agent, scheduler, manifest):
        name = recorded.__name__
        if names and name not in names:
            continue
        print(name, flush=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as directory:
            text = json.dumps(recorded(Path(directory)), sort_keys=True)
        (target / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def tree(root: Path) -> dict[str, dict[str, Any]]:
    """Entries by path below the root: the mode, and the target of a link or the content of a file."""
    entries = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        entry: dict[str, Any] = {"mode": f"{stat.S_IMODE(mode):04o}"}
        if stat.S_ISLNK(mode):
            entry = {"link": os.readlink(path)}
        elif stat.S_ISREG(mode):
            entry.update(_content(path.read_bytes()))
        entries["/" + str(path.relative_to(root))] = entry
    return entries


def _content(content: bytes) -> dict[str, Any]:
    if content and not content.strip(b"\0"):
        return {"zeros": len(content)}
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


# Files of an image, written by the modules


def image(directory: Path) -> dict[str, Any]:
    """States of an image after each task: kubelet's file twice, containerd's once, then three slices."""
    root = grow(directory / "image", {})
    os.chmod(root / KUBELET, 0o600)
    (root / "etc/systemd/system").mkdir(parents=True)
    states = {"before": tree(root)}
    first = {"cgroup_driver": "systemd"}
    tasks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("kubelet", "kubelet_config", {**first, "cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}}),
        ("runtime", "containerd_config", {**first, "nri": {"enabled": True}}),
        ("again", "kubelet_config", {"pod_pids_limit": 4096}),
        ("slice", "systemd_slice", {"name": "node-agents.slice", "properties": {"CPUWeight": 500}}),
        ("parent", "systemd_slice", {"name": "node.slice", "properties": {"TasksMax": 100}}),
        ("drop_in", "systemd_slice", {"name": "kubepods-besteffort.slice", "properties": {"CPUQuota": "250%"}}),
    )
    for name, module, options in tasks:
        call = in_process.module if module == "systemd_slice" else in_process.action
        result = call(module, {"root": str(root), **options})
        assert result["changed"], (name, result)
        states[name] = tree(root)
    return {"tasks": [[name, module, options] for name, module, options in tasks], "states": states}


# Transactions with services and pods, on the simulated node


def transaction(directory: Path) -> dict[str, Any]:
    """A committed transaction, and ones that were interrupted after each step or during their undo."""
    names = [step.name for step in STEPS]
    states = {"before": _node(_simulated(directory / "before")), "committed": _committed(directory / "committed")}
    done = {name: _interrupted(directory / f"i{names.index(name)}", name) for name in names}
    undone = {f"undo {name}": _interrupted_undo(directory / f"u{names.index(name)}", name) for name in UNDONE}
    return {**states, "interrupted": {**done, **undone}}


def _simulated(root: Path) -> Any:
    root.mkdir()
    simulation = InProcess(root)
    misaligned(simulation)
    # Every node with systemd has this directory; no transaction deletes a directory that existed before.
    (root / "etc/systemd/system").mkdir(parents=True)
    return simulation


def _plan(simulation: Any) -> dict[str, Any]:
    plan: dict[str, Any] = document(simulation)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def _committed(root: Path) -> dict[str, Any]:
    simulation = _simulated(root)
    result = transaction_runs.run_transaction(simulation, _plan(simulation))
    assert result["state"] == "committed", result
    return _node(simulation)


def _interrupted(root: Path, step: str) -> dict[str, Any]:
    simulation = _simulated(root)
    with pytest.MonkeyPatch.context() as patched:
        transaction_runs.break_step(patched, step, transaction_runs.crash)
        with pytest.raises(transaction_runs.Crash):
            transaction_runs.run_transaction(simulation, _plan(simulation))
    return _node(simulation)


def _interrupted_undo(root: Path, step: str) -> dict[str, Any]:
    """The health gate fails, and the process ends after the undo of this step."""
    simulation = _simulated(root)

    def fail(_step: Any, _work: Any) -> str:
        raise OSError(5, "Input/output error", "/x")

    def undo(work: Any) -> str:
        one.undo(work)
        raise transaction_runs.Crash

    (one,) = (step_to_cut for step_to_cut in STEPS if step_to_cut.name == step)
    cut = tuple(replace(rollback_step, undo=undo) if rollback_step is one else rollback_step for rollback_step in STEPS)
    with pytest.MonkeyPatch.context() as patched:
        transaction_runs.break_step(patched, "health gate", fail)
        patched.setattr(rollback, "STEPS", cut)
        with pytest.raises(transaction_runs.Crash):
            transaction_runs.run_transaction(simulation, _plan(simulation))
    return _node(simulation)


def _node(simulation: Any) -> dict[str, Any]:
    """A simulated node as a document."""
    units = {name: [unit.active, unit.sub, unit.pid] for name, unit in simulation.units.items()}
    return {
        "tree": tree(simulation.root),
        "units": units,
        "sandboxes": [vars(sandbox) for sandbox in simulation.runtime.sandboxes],
        "containers": [vars(container) for container in simulation.runtime.containers],
        "config": simulation.runtime.config,
        "listens": simulation.server is not None,
        "next_pid": simulation.next_pid,
    }


# Settings of cgroups


def qos(directory: Path) -> dict[str, Any]:
    """By kind of node: the cgroup files before, and all files after some settings."""
    nodes = {}
    for kind in ("v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"):
        mode, _dash, driver = kind.partition("-")
        node = Tree(directory / kind, mode, driver)
        before = node.texts()
        node.run(qos_class="besteffort", settings={"pids_max": 500, "cpu_quota": "1.5"})
        node.run(qos_class="burstable", level="pods", settings={"pids_max": 100})
        node.run(slice="system.slice", settings={"cpu_weight": 300})
        nodes[kind] = {"before": before, "tree": tree(directory / kind)}
    return nodes


# ConfigMaps


def kubeadm(_directory: Path) -> dict[str, Any]:
    """The journal and the text of kubelet-config after a first and a second run."""
    auto = ConfigMapPermission(None)
    first = plan_cluster([kubeadm_clusters.host("a")], kubeadm_clusters.kubeadm_state("a"), auto)
    more = kubeadm_clusters.host("a", fields={**kubeadm_clusters.DESIRED, ("podPidsLimit",): 99})
    stored = kubeadm_clusters.config_map(first.after or "", "2")
    state = kubeadm_clusters.kubeadm_state("a", stored=stored, journal=first.journal)
    second = plan_cluster([more], state, auto)
    return {
        "original": kubeadm_clusters.TEXT,
        "first": _kubelet_config(first, "2"),
        "second": _kubelet_config(second, "3"),
    }


def _kubelet_config(plan: ClusterPlan, version: str) -> dict[str, Any]:
    assert plan.journal is not None
    return {"text": plan.after, "version": version, "journal": render_journal(plan.journal)}


def agent(_directory: Path) -> dict[str, Any]:
    """A cluster before and after an installation that extends a foreign configuration, with labels."""
    plans = test_install_plan
    before = plans.cluster(config_map=agent_clusters.config_map(plans.FOREIGN_CONFIG))
    steps = plans.plan(before).steps
    after = plans.apply_steps(before, steps)
    after = plans.apply_steps(after, plans.label(after).steps)
    cut = plans.apply_steps(before, steps[: 1 + [step.ref.name for step in steps].index("volcano-colocation-agent")])

    def stored(state: Any) -> dict[str, Any]:
        return {
            "labels": {node.name: dict(node.labels) for node in state.nodes},
            "objects": list(state.objects.values()),
            "daemon_sets": list(state.daemon_sets),
            "config_map": state.config_map,
            "journal": colocation_config.render_journal(state.journal, plans.SPACE) if state.journal else None,
        }

    return {"before": stored(before), "after": stored(after), "interrupted": stored(cut)}


def scheduler(directory: Path) -> dict[str, Any]:
    """The API server before a run, after it, and after interrupted runs."""
    kubeconfig = _kubeconfig(directory)

    def apply(cut: int | None) -> Any:
        server = test_scheduler_config.server(cut=cut)
        test_scheduler_config.run(server, {**test_scheduler_config.DESIRED, "kubeconfig": kubeconfig})
        return server

    return {"before": _objects(test_scheduler_config.server()), **_after(apply)}


def manifest(directory: Path) -> dict[str, Any]:
    """The API server before, after and after interrupted runs with Volcano's manifest."""

    def apply(cut: int | None) -> Any:
        cluster = Cluster(cut=cut)
        test_manifest_apply.Task_(directory, cluster)()
        return cluster

    return {
        "before": _objects(Cluster()),
        "text": test_manifest_apply.TEXT,
        "sha256": hashlib.sha256(test_manifest_apply.TEXT.encode()).hexdigest(),
        **_after(apply),
    }


def _after(apply: Callable[[int | None], Any]) -> Mapping[str, Any]:
    return {
        "after": _objects(apply(None)),
        "interrupted": {str(cut): _objects(apply(cut)) for cut in CUTS},
    }


def _kubeconfig(directory: Path) -> str:
    path = directory / "admin.conf"
    path.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    return str(path)


def _objects(server: Any) -> dict[str, Any]:
    """The contents of an API server in memory."""
    return {
        "version": server.version,
        "apis": list(server.apis),
        "objects": [[*key, item] for key, item in server.objects.items()],
    }


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2:])
