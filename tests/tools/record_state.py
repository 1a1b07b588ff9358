# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a state of the collection leaves on nodes and in clusters, with the code and the test helpers of it.

    python tests/tools/record_state.py COMMIT [NAME...]

checks the commit out into a temporary folder, runs ``--inside`` there, and writes tests/unit/fixtures/upgrade/COMMIT,
all of it or the files NAME.json. Inside, every import is the old state's. Nothing of the machine is changed: images and
simulated nodes are folders.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
CHECKOUT = HERE.parents[2]
FIXTURES = CHECKOUT / "tests" / "unit" / "fixtures" / "upgrade"
PACKAGE = "ansible_collections.volcano.colocation"
TESTS = f"{PACKAGE}.tests"
CUTS = (0, 1, 3, 6)
"""Writes to the API server after which a run is cut off."""
UNDONE = ("start runtime", "write files", "stop kubelet")
"""Steps of a transaction behind whose undoing it is cut off."""


def main(arguments: list[str]) -> int:
    if arguments[0] == "--inside":
        record(Path(arguments[1]), arguments[2:])
        return 0
    commit, *names = arguments
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "ansible_collections" / "volcano" / "colocation"
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(CHECKOUT), str(old)], check=True)
        subprocess.run(["git", "-C", str(old), "checkout", "--quiet", commit], check=True)
        environment = {**os.environ, "PYTHONPATH": folder, "ANSIBLE_COLLECTIONS_PATH": folder}
        target = FIXTURES / commit
        target.mkdir(parents=True, exist_ok=True)
        inside = [sys.executable, str(HERE), "--inside", str(target), *names]
        subprocess.run(inside, env=environment, cwd=folder, check=True)
    return 0


def record(target: Path, names: list[str]) -> None:
    """The recordings of the state that is imported; all where none is named."""
    # The unit that undoes a transaction names the interpreter: a node's, not that of this machine.
    sys.executable = "/usr/bin/python3"
    for recorded in (image, transaction, qos, kubeadm, agent, scheduler, manifest):
        name = recorded.__name__
        if names and name not in names:
            continue
        print(name, flush=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
            text = json.dumps(recorded(Path(folder)), sort_keys=True)
        (target / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def helper(name: str) -> Any:
    """A module of the old state's tests."""
    return importlib.import_module(f"{TESTS}.{name}")


def tree(root: Path) -> dict[str, dict[str, Any]]:
    """By path below the root: the mode, and a link's target or a file's content."""
    found = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        entry: dict[str, Any] = {"mode": f"{stat.S_IMODE(mode):04o}"}
        if stat.S_ISLNK(mode):
            entry = {"link": os.readlink(path)}
        elif stat.S_ISREG(mode):
            entry.update(_content(path.read_bytes()))
        found["/" + str(path.relative_to(root))] = entry
    return found


def _content(content: bytes) -> dict[str, Any]:
    if content and not content.strip(b"\0"):
        return {"zeros": len(content)}
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


# Files of an image, by the modules themselves


def image(folder: Path) -> dict[str, Any]:
    """kubelet's file twice and containerd's once, then three slices; each state of the image on the way."""
    images, run = helper("support.tasks.node_image"), helper("support.tasks.in_process")
    root = images.grow(folder / "image", {})
    os.chmod(root / images.KUBELET, 0o600)
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
        call = run.module if module == "systemd_slice" else run.action
        result = call(module, {"root": str(root), **options})
        assert result["changed"], (name, result)
        states[name] = tree(root)
    return {"tasks": [[name, module, options] for name, module, options in tasks], "states": states}


# Transactions with services and pods, on the simulated node


def transaction(folder: Path) -> dict[str, Any]:
    """A committed one, one that was cut off behind each of its steps, and some that were while they were undone."""
    steps = importlib.import_module(f"{PACKAGE}.plugins.module_utils.transaction.steps")
    names = [step.name for step in steps.STEPS]
    found = {"before": _node(_simulated(folder / "before")), "committed": _committed(folder / "committed")}
    done = {name: _interrupted(folder / f"i{names.index(name)}", name) for name in names}
    undone = {f"undo {name}": _interrupted_undo(folder / f"u{names.index(name)}", name) for name in UNDONE}
    return {**found, "interrupted": {**done, **undone}}


def _simulated(root: Path) -> Any:
    root.mkdir()
    simulation = helper("support.node.simulation_in_process").InProcess(root)
    helper("support.node.simulation").misaligned(simulation)
    # Every node with systemd has it; no transaction takes a folder away that was there before.
    (root / "etc/systemd/system").mkdir(parents=True)
    return simulation


def _plan(simulation: Any) -> dict[str, Any]:
    plan: dict[str, Any] = helper("support.node.simulation").document(simulation)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def _committed(root: Path) -> dict[str, Any]:
    simulation = _simulated(root)
    answer = helper("support.node.transaction_runs").run_transaction(simulation, _plan(simulation))
    assert answer["state"] == "committed", answer
    return _node(simulation)


def _interrupted(root: Path, step: str) -> dict[str, Any]:
    import pytest

    runs, simulation = helper("support.node.transaction_runs"), _simulated(root)
    with pytest.MonkeyPatch.context() as patched:
        runs.break_step(patched, step, runs.crash)
        with pytest.raises(runs.Crash):
            runs.run_transaction(simulation, _plan(simulation))
    return _node(simulation)


def _interrupted_undo(root: Path, step: str) -> dict[str, Any]:
    """The health gate fails, and the process ends once this step is undone."""
    import pytest

    rollback = importlib.import_module(f"{PACKAGE}.plugins.module_utils.transaction.rollback")
    runs, simulation = helper("support.node.transaction_runs"), _simulated(root)

    def fail(_step: Any, _work: Any) -> str:
        raise OSError(5, "Input/output error", "/x")

    def undo(work: Any) -> str:
        one.undo(work)
        raise runs.Crash

    (one,) = (each for each in rollback.STEPS if each.name == step)
    cut = tuple(replace(each, undo=undo) if each is one else each for each in rollback.STEPS)
    with pytest.MonkeyPatch.context() as patched:
        runs.break_step(patched, "health gate", fail)
        patched.setattr(rollback, "STEPS", cut)
        with pytest.raises(runs.Crash):
            runs.run_transaction(simulation, _plan(simulation))
    return _node(simulation)


def _node(simulation: Any) -> dict[str, Any]:
    """A simulated node as a document."""
    units = {name: [unit.active, unit.sub, unit.pid] for name, unit in simulation.units.items()}
    return {
        "tree": tree(simulation.root),
        "units": units,
        "sandboxes": [vars(each) for each in simulation.runtime.sandboxes],
        "containers": [vars(each) for each in simulation.runtime.containers],
        "config": simulation.runtime.config,
        "listens": simulation.server is not None,
        "next_pid": simulation.next_pid,
    }


# Settings of cgroups


def qos(folder: Path) -> dict[str, Any]:
    """By kind of node: the cgroup files before, and everything after some settings."""
    found = {}
    for kind in ("v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"):
        mode, _dash, driver = kind.partition("-")
        node = helper("support.node.cgroup_tree").Tree(folder / kind, mode, driver)
        before = node.texts()
        node.run(qos_class="besteffort", settings={"pids_max": 500, "cpu_quota": "1.5"})
        node.run(qos_class="burstable", level="pods", settings={"pids_max": 100})
        node.run(slice="system.slice", settings={"cpu_weight": 300})
        found[kind] = {"before": before, "tree": tree(folder / kind)}
    return found


# ConfigMaps


def kubeadm(_folder: Path) -> dict[str, Any]:
    """The journal of kubelet-config after one run and after a second, with the texts."""
    plan = importlib.import_module(f"{PACKAGE}.plugins.plugin_utils.kubeadm.cluster_plan")
    journal = importlib.import_module(f"{PACKAGE}.plugins.plugin_utils.kubeadm.kubelet_config_journal")
    permission = importlib.import_module(f"{PACKAGE}.plugins.plugin_utils.kubeadm.play_hosts")
    clusters = helper("support.clusters.kubeadm_clusters")
    auto = permission.ConfigMapPermission(None)
    first = plan.plan_cluster([clusters.host("a")], clusters.kubeadm_state("a"), auto)
    more = clusters.host("a", fields={**clusters.DESIRED, ("podPidsLimit",): 99})
    there = clusters.config_map(first.after, "2")
    second = plan.plan_cluster([more], clusters.kubeadm_state("a", stored=there, journal=first.journal), auto)
    runs = {"first": (first, "2"), "second": (second, "3")}
    return {
        "original": clusters.TEXT,
        **{
            name: {"text": each.after, "version": version, "journal": journal.render_journal(each.journal)}
            for name, (each, version) in runs.items()
        },
    }


def agent(_folder: Path) -> dict[str, Any]:
    """A cluster before and after an installation that adds to somebody's configuration, with labels."""
    plans, agents = helper("unit.plugin_utils.agent.test_install_plan"), helper("support.clusters.agent_clusters")
    journal = importlib.import_module(f"{PACKAGE}.plugins.plugin_utils.agent.colocation_config")
    before = plans.cluster(config_map=agents.config_map(plans.FOREIGN_CONFIG))
    steps = plans.plan(before).steps
    after = plans.apply_steps(before, steps)
    after = plans.apply_steps(after, plans.label(after).steps)
    cut = plans.apply_steps(before, steps[: 1 + [step.ref.name for step in steps].index("volcano-colocation-agent")])

    def stored(found: Any) -> dict[str, Any]:
        return {
            "labels": {node.name: dict(node.labels) for node in found.nodes},
            "objects": list(found.objects.values()),
            "daemon_sets": list(found.daemon_sets),
            "config_map": found.config_map,
            "journal": journal.render_journal(found.journal, plans.SPACE) if found.journal else None,
        }

    return {"before": stored(before), "after": stored(after), "interrupted": stored(cut)}


def scheduler(folder: Path) -> dict[str, Any]:
    """The API server before, after, and after runs that were cut off."""
    test = helper("unit.action.test_scheduler_config")
    kubeconfig = _kubeconfig(folder)

    def apply(cut: int | None) -> Any:
        server = test.server(cut=cut)
        test.run(server, {**test.DESIRED, "kubeconfig": kubeconfig})
        return server

    return {"before": _objects(test.server()), **_after(apply)}


def manifest(folder: Path) -> dict[str, Any]:
    """The same for Volcano's manifest."""
    test, servers = helper("unit.action.test_manifest_apply"), helper("support.clusters.manifest_api_server")

    def apply(cut: int | None) -> Any:
        cluster = servers.Cluster(cut=cut)
        test.Task_(folder, cluster)()
        return cluster

    return {
        "before": _objects(servers.Cluster()),
        "text": test.TEXT,
        "sha256": hashlib.sha256(test.TEXT.encode()).hexdigest(),
        **_after(apply),
    }


def _after(apply: Callable[[int | None], Any]) -> Mapping[str, Any]:
    return {
        "after": _objects(apply(None)),
        "interrupted": {str(cut): _objects(apply(cut)) for cut in CUTS},
    }


def _kubeconfig(folder: Path) -> str:
    path = folder / "admin.conf"
    path.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    return str(path)


def _objects(server: Any) -> dict[str, Any]:
    """What an API server in memory keeps."""
    return {
        "version": server.version,
        "apis": list(server.apis),
        "objects": [[*key, each] for key, each in server.objects.items()],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
