# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of a node: its installer, the program that rewrites kubelet's settings, and the kubelet inside k3s.

k3s 1.32 and newer start their kubelet with a drop-in directory; all releases pass arguments to it (k3s#2116).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils.snapshot.process_evidence import command_line_option
from ..edit.readers import read_yaml
from ..edit.text_errors import ParseError
from ..profile.kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, READ_ONLY_PORT
from .config_file import ConfigFile, as_missing, read_config
from .kubelet_command_line import parse_flags
from .kubelet_layers import claims_of, effective_settings, healthz_url, read_dropins, render_value, unread_dropins
from .kubelet_state import Flag, KubeletFacts, Start
from .node_state import Claim, LayoutFacts
from .runtime_state import RuntimeFacts

OWN_FLAGS = ((f"{READ_ONLY_PORT.flag}=0", "k3s itself"),)
"""k3s pkg/daemons/agent/agent_linux.go: a field that k3s sets with a flag (k3s#12164)."""


def kubelet_arguments(evidence: Mapping[str, Any]) -> tuple[Flag, ...]:
    """Flags in ``kubelet-arg`` of the configuration files; a key with ``+`` adds to those of earlier files."""
    line: list[tuple[str, str]] = []
    for path, captured in evidence["settings"].items():
        for key, words in _read_arguments(captured):
            added = [(f"--{word.lstrip('-')}", f"{path}, kubelet-arg") for word in words]
            line = [*line, *added] if key.endswith("+") else added
    return parse_flags(line)


def _read_arguments(captured: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    try:
        values = read_yaml(captured.get("text", ""))
    except ParseError:
        return
    for key in ("kubelet-arg", "kubelet-arg+"):
        if key in values:
            words = values[key] or []
            yield key, [str(word) for word in (words if isinstance(words, list) else [words])]


def as_embedded(kubelet: KubeletFacts, snapshot: Mapping[str, Any]) -> tuple[KubeletFacts, list[Claim]]:
    """Facts of a kubelet that is not a separate process, and the claims of its drop-ins, if it reads any.

    A kubelet program on the node is another one: the version of this kubelet is unknown.
    """
    directory = snapshot["kubelet"].get("embedded_dir") or {}
    if not directory.get("folder"):
        # It is unknown whether its file or its defaults are in effect.
        return replace(kubelet, cpu_manager_policy=None, cpu_manager_policy_source=None), []
    supervisors = snapshot["distribution"]["supervisors"]
    process = supervisors[0] if supervisors else None
    dropins = read_dropins(directory, snapshot["kubelet"]["files"], process)
    running = (*parse_flags(OWN_FLAGS), *kubelet_arguments(snapshot["distribution"]))
    path, exists = directory["folder"], directory["exists"]
    start = Start(running=running, config_dir=path, config_dir_exists=exists, unread_dropins=unread_dropins(directory))
    no_file = as_missing(kubelet.config)
    settings = effective_settings(no_file, dropins, running, None)
    healthz = healthz_url(no_file, dropins, running, None)
    policy = settings[CPU_MANAGER_POLICY.key]
    facts = replace(
        kubelet,
        installed=True,
        version=None,
        running=process is not None,
        healthy=snapshot["kubelet"]["healthz"] == "ok" if process and healthz else None,
        healthz_url=healthz,
        config=no_file,
        cpu_manager_policy=render_value(policy.value),
        cpu_manager_policy_source=policy.source,
        settings=settings,
        dropins=dropins,
        start=start,
    )
    fields = (CGROUP_DRIVER, CPU_MANAGER_POLICY)
    return facts, [claim for field in fields for claim in claims_of(field, no_file, dropins, running)]


RANCHER = {"k3s": "/var/lib/rancher/k3s/agent", "rke2": "/var/lib/rancher/rke2/agent"}
CONTAINERD_DIRECTORY = "/etc/containerd/"
KUBECONFIGS = ("--kubeconfig", "--bootstrap-kubeconfig")


def interpret_layout(
    snapshot: Mapping[str, Any], units: Mapping[str, Mapping[str, str]], runtime: RuntimeFacts
) -> tuple[LayoutFacts, list[Claim]]:
    """LayoutFacts, and the driver from arguments of k3s or RKE2; the layout is ``unknown`` without this evidence."""
    evidence = snapshot.get("distribution")
    if not isinstance(evidence, Mapping):
        return LayoutFacts(), []
    processes = snapshot["kubelet"]["processes"]
    argv = processes[0]["argv"] if processes else []
    name, layout_evidence = next(_layout_evidence(evidence, argv, units), ("unknown", ()))
    inside = name if name == "k3s" and not processes else None
    facts = LayoutFacts(
        name=name,
        evidence=layout_evidence,
        kubelet_inside=inside,
        regenerated=_regenerated_files(name, runtime),
        templates=tuple(evidence["templates"]),
        template_files=_templates(evidence),
    )
    return facts, _claims(facts, evidence)


def _templates(evidence: Mapping[str, Any]) -> tuple[ConfigFile, ...]:
    """The templates as texts. k3s and RKE2 render them at start: ``changed_after_start`` if they changed afterwards."""
    process = evidence["supervisors"][0] if evidence["supervisors"] else None
    files = evidence.get("template_files") or {}
    return tuple(read_config(path, captured, process, lambda _text: {}) for path, captured in files.items())


def _layout_evidence(
    evidence: Mapping[str, Any], argv: Sequence[str], units: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Layouts with their evidence, the most reliable first: processes, then kubelet's command line, then files."""
    marks = evidence["marks"]
    for supervisor in evidence["supervisors"]:
        # k3s and RKE2 hide their arguments: the process title is one word that contains a space.
        name = "rke2" if "rke2" in supervisor["argv"][0] else "k3s"
        yield name, (f"process {supervisor['pid']}: {supervisor['argv'][0]}",)
    for name, directory in RANCHER.items():
        if directory in marks and not argv:
            yield name, (directory,)
        if any(directory in word for word in argv):
            yield name, (f"kubelet's command line names {directory}",)
    if argv and not any(command_line_option(argv, option) for option in KUBECONFIGS):
        yield "standalone", ("kubelet runs without --kubeconfig",)
    kubespray = [
        path for path in marks if path in ("/etc/kubernetes/kubelet.env", "/etc/kubernetes/kubelet-config.yaml")
    ]
    if kubespray:
        yield "kubespray", tuple(kubespray)
    kubeadm = [path for path in marks if path in ("/var/lib/kubelet/kubeadm-flags.env", "/etc/kubernetes/kubelet.conf")]
    drop_ins = units.get("kubelet.service", {}).get("DropInPaths", "").split()
    # A package installs 10-kubeadm.conf whether kubeadm was used or not; a file that kubeadm wrote is required, too.
    if kubeadm:
        yield "kubeadm", (*kubeadm, *(path for path in drop_ins if path.endswith("/10-kubeadm.conf")))


def _regenerated_files(name: str, runtime: RuntimeFacts) -> dict[str, str]:
    """Files that are re-created at each start, by path, with the template that they are rendered from (k3s#11626)."""
    directory = RANCHER.get(name)
    if directory is None or not runtime.config.path.startswith(directory):
        return {}
    # k3s and RKE2 read the template for their containerd's newest schema: config-v3 since 2.0.
    template = "config-v3" if (runtime.config_version or 2) >= 3 else "config"
    return {runtime.config.path: f"{directory}{CONTAINERD_DIRECTORY}{template}.toml.tmpl"}


def _claims(facts: LayoutFacts, evidence: Mapping[str, Any]) -> list[Claim]:
    if facts.name not in RANCHER:
        return []
    flags = [flag for flag in kubelet_arguments(evidence) if flag.name == CGROUP_DRIVER.flag]
    return [Claim(CGROUP_DRIVER.key, flag.value or "", flag.source) for flag in reversed(flags)]
