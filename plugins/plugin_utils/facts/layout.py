# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who installed the node: where kubelet's settings are kept, and who writes them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils.snapshot.process_evidence import command_line_option
from ..kubelet_fields import CGROUP_DRIVER
from .config import read_config
from .config_file import ConfigFile
from .embedded import kubelet_arguments
from .model import Claim, LayoutFacts, RuntimeFacts

RANCHER = {"k3s": "/var/lib/rancher/k3s/agent", "rke2": "/var/lib/rancher/rke2/agent"}
CONTAINERD_FOLDER = "/etc/containerd/"
KUBECONFIGS = ("--kubeconfig", "--bootstrap-kubeconfig")


def interpret_layout(
    snapshot: Mapping[str, Any], units: Mapping[str, Mapping[str, str]], runtime: RuntimeFacts
) -> tuple[LayoutFacts, list[Claim]]:
    """LayoutFacts, and what k3s or RKE2 say of kubelet's driver. A snapshot without this evidence is ``unknown``."""
    evidence = snapshot.get("distribution")
    if not isinstance(evidence, Mapping):
        return LayoutFacts(), []
    processes = snapshot["kubelet"]["processes"]
    argv = processes[0]["argv"] if processes else []
    name, told = next(_told(evidence, argv, units), ("unknown", ()))
    inside = name if name == "k3s" and not processes else None
    facts = LayoutFacts(
        name=name,
        evidence=told,
        kubelet_inside=inside,
        regenerated=_regenerated(name, runtime),
        templates=tuple(evidence["templates"]),
        template_files=_templates(evidence),
    )
    return facts, _claims(facts, evidence, runtime)


def _templates(evidence: Mapping[str, Any]) -> tuple[ConfigFile, ...]:
    """The templates as texts, each with whether it changed after the start of k3s or RKE2, which render it then."""
    process = evidence["supervisors"][0] if evidence["supervisors"] else None
    files = evidence.get("template_files") or {}
    return tuple(read_config(path, captured, process, lambda _text: {}) for path, captured in files.items())


def _told(
    evidence: Mapping[str, Any], argv: Sequence[str], units: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Layouts with what tells of each, the surest first: processes, then kubelet's command line, then files."""
    marks = evidence["marks"]
    for supervisor in evidence["supervisors"]:
        # k3s and RKE2 hide their arguments: the title is one word with a space in it.
        name = "rke2" if "rke2" in supervisor["argv"][0] else "k3s"
        yield name, (f"process {supervisor['pid']}: {supervisor['argv'][0]}",)
    for name, folder in RANCHER.items():
        if folder in marks and not argv:
            yield name, (folder,)
        if any(folder in word for word in argv):
            yield name, (f"kubelet's command line names {folder}",)
    if argv and not any(command_line_option(argv, each) for each in KUBECONFIGS):
        yield "standalone", ("kubelet runs without --kubeconfig",)
    kubespray = [
        path for path in marks if path in ("/etc/kubernetes/kubelet.env", "/etc/kubernetes/kubelet-config.yaml")
    ]
    if kubespray:
        yield "kubespray", tuple(kubespray)
    kubeadm = [path for path in marks if path in ("/var/lib/kubelet/kubeadm-flags.env", "/etc/kubernetes/kubelet.conf")]
    drop_ins = units.get("kubelet.service", {}).get("DropInPaths", "").split()
    # 10-kubeadm.conf comes with a package, used or not; what kubeadm itself wrote must be there too.
    if kubeadm:
        yield "kubeadm", (*kubeadm, *(path for path in drop_ins if path.endswith("/10-kubeadm.conf")))


def _regenerated(name: str, runtime: RuntimeFacts) -> dict[str, str]:
    """Files made anew at each start, by path, with the template that they are made of (k3s#11626)."""
    folder = RANCHER.get(name)
    if folder is None or not runtime.config.path.startswith(folder):
        return {}
    # k3s and RKE2 read the template of the schema that their containerd knows: config-v3 from 2.0 on.
    modern = (runtime.config_version or 2) >= 3
    return {runtime.config.path: f"{folder}{CONTAINERD_FOLDER}{'config-v3' if modern else 'config'}.toml.tmpl"}


def _claims(facts: LayoutFacts, evidence: Mapping[str, Any], runtime: RuntimeFacts) -> list[Claim]:
    if facts.name not in RANCHER:
        return []
    found = [flag for flag in kubelet_arguments(evidence) if flag.name == CGROUP_DRIVER.flag]
    claims = [Claim(CGROUP_DRIVER.key, flag.value or "", flag.source) for flag in reversed(found)]
    if not claims and facts.kubelet_inside and runtime.cgroup_driver:
        # pkg/agent/containerd/config_linux.go: one decision is both rendered for containerd and given to kubelet.
        claims.append(
            Claim(CGROUP_DRIVER.key, runtime.cgroup_driver.value, "k3s, which gives kubelet containerd's driver")
        )
    return claims
