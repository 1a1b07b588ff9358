# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions for the tool that owns a node, so that its next run writes the values of the profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..edit.kubelet_text import edit_kubelet
from ..profile.field_schema import KubeletField
from ..profile.node_profile import Desired
from ..releases.versions import minor
from .change_set import Change, OwnerInstructions
from .desired_state import PlanInputs
from .file_edits import new_text
from .kubeadm_patch import unsupported_reason
from .kubespray_variables import kubespray_variables

KUBEADM_FLAGS = "/var/lib/kubelet/kubeadm-flags.env"
KUBESPRAY_FLAGS = "/etc/kubernetes/kubelet.env"
PATCHES_SINCE, ONE_CONFIGMAP_SINCE = (1, 25), (1, 24)
"""kubeadm: --patches with the target kubeletconfiguration (kubernetes#110405); a ConfigMap for all versions."""

OPENFUYAO = {"cpuManagerPolicy": "static", "kubeReserved.cpu": "0.5", "systemReserved.cpu": "0.5"}
"""What openFuyao's volcano-config-service always writes: README of openFuyao/volcano-config-service."""


def desired_values(desired: Iterable[Desired]) -> Mapping[tuple[str, ...], Any]:
    """The values of the profile, by path of keys."""
    return {keys: value for _field, keys, value in desired}


def config_text(desired: Iterable[Desired]) -> str:
    """A KubeletConfiguration with only the values of the profile."""
    return edit_kubelet(new_text("kubelet"), desired_values(desired))


def _kubeadm(inputs: PlanInputs) -> OwnerInstructions:
    version = minor(inputs.kubelet.version)
    name = "kubelet-config"
    if version is not None and version < ONE_CONFIGMAP_SINCE:
        name = f"kubelet-config-{version[0]}.{version[1]}"
    files = {f"ConfigMap kube-system/{name}, key kubelet": config_text(inputs.desired)}
    if version is None or version >= PATCHES_SINCE:
        files["kubeletconfiguration+merge.yaml"] = config_text(inputs.desired)
    patched = inputs.profile.kubeadm_patches is not None and unsupported_reason(inputs) is None
    return OwnerInstructions(
        "kubeadm",
        (KUBEADM_FLAGS,) if patched else (inputs.kubelet.config.path, KUBEADM_FLAGS),
        files=files,
        note="kubeadm upgrade regenerates these files from the ConfigMap, the patches of its --patches directory and"
        " nodeRegistration.kubeletExtraArgs. Set colocation_kubeadm_patches to that directory to have"
        " the patch written, set colocation_kubeconfig to have the ConfigMap checked, or merge the fields yourself.",
    )


def _kubespray(inputs: PlanInputs) -> OwnerInstructions:
    runtime = (inputs.runtime.config.path,) if inputs.runtime.name == "containerd" else ()
    return OwnerInstructions(
        "kubespray",
        (inputs.kubelet.config.path, KUBESPRAY_FLAGS, *runtime),
        variables=kubespray_variables(inputs),
        note="kubespray templates these files again at each run, with its own defaults for what no variable sets."
        " kube_reserved and system_reserved also set kubeReservedCgroup and systemReservedCgroup; up to v2.26 control"
        " plane nodes use kube_master_cpu_reserved and similar variables instead.",
    )


def _openfuyao(inputs: PlanInputs) -> OwnerInstructions:
    desired = {".".join(keys): (field, value) for field, keys, value in inputs.desired}
    advice = [
        f"It would overwrite {name}: {value} of the profile: set {OPENFUYAO[name]} in the profile"
        for name, (field, value) in desired.items()
        if name in OPENFUYAO and not field.means(OPENFUYAO[name], value)
    ]
    if "topologyManagerPolicy" in desired:
        advice.append(f"Choose {desired['topologyManagerPolicy'][1]} there as the topology manager's policy")
    return OwnerInstructions(
        "volcano-config-service",
        (inputs.kubelet.config.path,),
        note="openFuyao's volcano-config-service writes kubelet's main file when one of its NUMA policies is switched:"
        " cpuManagerPolicy: static, half a CPU each of kubeReserved and systemReserved, and the chosen topology"
        " manager policy, the only setting that its README names."
        f"{''.join(f' {sentence}.' for sentence in advice)} Or keep it off this node.",
    )


def owner_instructions(inputs: PlanInputs) -> tuple[OwnerInstructions, ...]:
    """Instructions for each owner of the node's files; empty if nothing is set or nothing owns them."""
    return tuple(_instructions(inputs))


def _instructions(inputs: PlanInputs) -> Iterator[OwnerInstructions]:
    layout = inputs.facts.layout.name
    if layout == "kubespray" and (inputs.desired or inputs.profile.sets_runtime):
        yield _kubespray(inputs)
    if layout == "kubeadm" and inputs.desired:
        yield _kubeadm(inputs)
    if "volcano-config-service" in inputs.facts.writers.evidence and inputs.desired:
        yield _openfuyao(inputs)


def overwritten_files(instructions: OwnerInstructions, changes: tuple[Change, ...]) -> tuple[str, ...]:
    """The changed files that their owner regenerates."""
    written = dict.fromkeys(change.path for change in changes if change.path is not None)
    return tuple(path for path in written if path in instructions.regenerated_files)


def kubelet_arguments(desired: Iterable[Desired]) -> str:
    """The settings as kubelet arguments, which k3s and RKE2 before 1.32 use."""
    by_field: dict[KubeletField, list[str]] = {}
    for field, keys, value in desired:
        word = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        by_field.setdefault(field, []).append(f"{keys[1]}={word}" if len(keys) > 1 else word)
    return ", ".join(_arguments(by_field))


def _arguments(by_field: Mapping[KubeletField, list[str]]) -> Iterator[str]:
    for field, values in by_field.items():
        if field.flag:
            yield f"{field.flag.lstrip('-')}={','.join(values)}"
