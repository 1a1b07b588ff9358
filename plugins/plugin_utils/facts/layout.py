# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who installed the node: where kubelet's settings are kept, and who writes them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils.snapshot.processes import option
from ..edit.errors import ParseError
from ..edit.read import read_yaml
from .model import Claim, Driver, KubeletFacts, LayoutFacts, RuntimeFacts

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
    )
    return facts, _claims(facts, evidence, runtime)


def as_embedded(kubelet: KubeletFacts, claims: Sequence[Claim]) -> KubeletFacts:
    """Facts of a kubelet that is no process of its own: neither its file nor its defaults are known to be in force."""
    driver = claims[0] if claims else None
    return replace(
        kubelet,
        cgroup_driver=Driver(driver.value) if driver and driver.value in ("systemd", "cgroupfs") else None,
        cgroup_driver_source=driver.source if driver else None,
        cgroup_driver_authority=None,
        cpu_manager_policy=None,
        cpu_manager_policy_source=None,
    )


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
    if argv and not any(option(argv, each) for each in KUBECONFIGS):
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
    claims = []
    for path, captured in sorted(evidence["settings"].items(), reverse=True):
        claims += [Claim("cgroupDriver", value, f"{path}, kubelet-arg") for value in _kubelet_drivers(captured)]
    if not claims and facts.kubelet_inside and runtime.cgroup_driver:
        # pkg/agent/containerd/config_linux.go: one decision is both rendered for containerd and given to kubelet.
        claims.append(
            Claim("cgroupDriver", runtime.cgroup_driver.value, "k3s, which gives kubelet containerd's driver")
        )
    return claims


def _kubelet_drivers(captured: Mapping[str, Any]) -> list[str]:
    try:
        values = read_yaml(captured.get("text", ""))
    except ParseError:
        return []
    found = []
    for key in ("kubelet-arg", "kubelet-arg+"):
        words = values.get(key) or []
        for word in words if isinstance(words, list) else [words]:
            name, _equals, value = str(word).lstrip("-").partition("=")
            if name == "cgroup-driver":
                found.append(value)
    return found
