# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's and kubeadm's own code reads the drop-ins and the kubeadm patches that plans write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import render_value
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_location import OWN_FILE
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import desired_fields
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.tests.judges import go_sources
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge, Verdict
from ansible_collections.volcano.colocation.tests.judges.kubelet_ours import CONFIG_DIR
from ansible_collections.volcano.colocation.tests.judges.process import JudgeProcess
from ansible_collections.volcano.colocation.tests.judges.test_kubelet_plans import (
    COLLECTION_ONLY,
    MACHINE,
    edited,
    node,
)
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    KUBELET_FILE,
    Snapshot,
    facts_of,
    kubelet_flags,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.field_cases import CASES, Options

FAMILY = "kubernetes-1.35"
SOURCE = Path(__file__).resolve().parent / "patches" / "main.go"
PATCHES = "/etc/kubernetes/patches"
FOREIGN_DROPIN = (
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nsystemReserved: {memory: 128Mi}\n"
)
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def with_config_dir(snapshot: Snapshot, dropins: Mapping[str, str]) -> Snapshot:
    """The node whose kubelet runs with --config-dir, and these files in that directory."""
    started = kubelet_flags(snapshot, f"--config={KUBELET_FILE}", f"--config-dir={CONFIG_DIR}")
    paths = [f"{CONFIG_DIR}/{name}" for name in sorted(dropins)]
    started = put(started, {"folder": CONFIG_DIR, "exists": True, "paths": paths}, "kubelet", "config_dir")
    for name, text in dropins.items():
        file = {"kind": "regular", "text": text, "ctime": 0.0, "mtime": 0.0}
        started = put(started, file, "kubelet", "files", f"{CONFIG_DIR}/{name}")
    return started


def planned(snapshot: Snapshot, options: Options, foreign: Mapping[str, str]) -> Case | None:
    """kubelet's files after the plan, even if it is refused; None where the plan writes no drop-in."""
    texts = edited(snapshot, options)
    own = texts.get(f"{CONFIG_DIR}/{OWN_FILE}")
    if own is None:
        return None
    main = texts.get(KUBELET_FILE, snapshot["kubelet"]["files"][KUBELET_FILE]["text"])
    return Case("", main, tuple(sorted({**foreign, OWN_FILE: own}.items())))


def missing(verdict: Verdict, options: Options) -> Iterator[str]:
    """Fields of the profile whose value in kubelet differs from the desired one."""
    for _field, keys, desired in desired_fields(profile_of(**options)):
        current: Any = verdict.config
        for key in keys:
            current = current.get(key) if isinstance(current, Mapping) else None
        if comparable(current) != comparable(desired):
            yield f"{'.'.join(keys)} is {current}, and should be {desired}"


def comparable(value: Any) -> Any:
    """A comparable value: a number equals its text, an empty value is not set, and kubelet omits a number that is 0."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return [{str(key): comparable(entry) for key, entry in item.items()} for item in value]
    if isinstance(value, Mapping):
        return {str(key): comparable(entry) for key, entry in value.items()} or None
    unset = value in (None, "", []) or (value == 0 and not isinstance(value, bool))
    return None if unset else render_value(value)


@pytest.mark.parametrize("foreign", [{}, {"50-other.conf": FOREIGN_DROPIN}], ids=["alone", "beside another drop-in"])
def test_the_fields_of_a_profile_in_a_drop_in(kubelet: KubeletJudge, foreign: dict[str, str]) -> None:
    snapshot = with_config_dir(node(kubelet, ALIGNED), foreign)
    planned_cases = {
        name: planned(snapshot, options, foreign) for name, (_version, options, _code, _words) in CASES.items()
    }
    cases = {name: case for name, case in planned_cases.items() if case is not None}
    assert len(cases) > len(CASES) / 2
    disagreements = []
    for (name, _case), verdict in zip(cases.items(), kubelet.load(list(cases.values()), MACHINE), strict=True):
        options = CASES[name][1]
        codes = {refusal.code for refusal in refusals(PlanDraft(facts_of(snapshot), profile_of(**options)))}
        if (verdict.error is not None) is not bool(codes - COLLECTION_ONLY):
            disagreements.append(f"{name}: {sorted(codes)}, and kubelet: {verdict.error}")
        elif not codes:
            disagreements += [f"{name}: {reason}" for reason in missing(verdict, options)]
    assert not disagreements, "\n".join(disagreements)


@pytest.fixture(scope="module", name="kubeadm")
def _kubeadm() -> Iterator[JudgeProcess]:
    process = JudgeProcess(go_sources.obtain(Cache(cache_root()), "kubeadm-patches", FAMILY, (SOURCE,)))
    yield process
    process.close()


PATCHED: dict[str, Options] = {
    "driver": {"cgroup_driver": "systemd"},
    "tables": {"system_reserved": {"cpu": "500m", "memory": "1Gi"}, "kube_reserved": {"cpu": "250m"}},
    "defaults": {"pod_pids_limit": -1, "read_only_port": 0, "topology_manager_policy": "none"},
    "static": {"cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}, "pod_pids_limit": 4096},
    "lists": {"enforce_node_allocatable": ["pods"], "fail_cgroup_v1": False},
}
BEFORE = {
    "nothing": "",
    "what the cluster says": "cgroupDriver: cgroupfs\nsystemReserved: {cpu: 100m}\npodPidsLimit: 99\n",
}
"""kubelet fields that kubeadm writes from the cluster's configuration, before it applies patches."""
NEIGHBOURS = {
    "none": {},
    "strategic": {"kubeletconfiguration0.yaml": "podPidsLimit: 5\nsystemReserved: {memory: 64Mi}\n"},
    "json": {"kubeletconfiguration1+json.json": '[{"op": "add", "path": "/podPidsLimit", "value": 7}]'},
    "of another target": {"etcd0+merge.yaml": "podPidsLimit: 9\n"},
}
"""Foreign patches, which kubeadm applies before the collection's."""


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("name", PATCHED)
def test_kubeadm_applies_what_a_plan_writes(
    kubelet: KubeletJudge, kubeadm: JudgeProcess, name: str, neighbours: str, tmp_path: Path
) -> None:
    options = {**PATCHED[name], "kubeadm_patches": PATCHES}
    files = {f"{PATCHES}/{file}": text for file, text in NEIGHBOURS[neighbours].items()}
    live = {"kubelet": {"version": f"Kubernetes v{kubelet.version[0]}.{kubelet.version[1]}.0"}}
    made = Node(tmp_path / "node", "kubeadm", files=files, live=live, kubeadm_patches=PATCHES)
    edits = file_edits(made.snapshot, PlanDraft(made.facts, profile_of(**options)).patch_changes)
    assert [Path(edit.path).parent.as_posix() for edit in edits] == [PATCHES]
    directory = tmp_path / "patches"
    directory.mkdir()
    for path, text in [*files.items(), *((edit.path, edit.after) for edit in edits)]:
        (directory / Path(path).name).write_text(text)
    for before in BEFORE.values():
        response = kubeadm.ask({"Folder": str(directory), "Text": HEAD + before})
        assert response["Error"] == ""
        (verdict,) = kubelet.load([Case(name, response["Text"])], MACHINE)
        assert verdict.error is None
        assert list(missing(verdict, options)) == []
