# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of layers, which says which packages of the plugins may import each other, and its violations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.volcano.colocation.tests.tools.structure import PluginFile

LAYERS: tuple[Mapping[str, str], ...] = (
    # On the node: the standard library only.
    {"module_utils": "basics for all packages: errors, quantities, the host, safe texts"},
    {
        "module_utils/cgroup": "names and paths of cgroups",
        "module_utils/cri": "client of the container runtime",
        "module_utils/kube_api": "client of the API server",
        "module_utils/state": "durable files: journal, ledger, records, lock",
    },
    {"module_utils/systemd": "client of systemd, syntax of its units"},
    {
        "module_utils/health": "health gate: kubelet, runtime and pods after a change",
        "module_utils/settings": "settings of cgroups: registry, ownership, writing, applying again",
    },
    {
        "module_utils/slices": "persistent systemd slices",
        "module_utils/snapshot": "evidence of a node, one file for each section",
        "module_utils/transaction": "engine: steps, undo, recovery at boot",
    },
    {
        "module_utils/agent": "images and probes of the Volcano agent",
        "module_utils/cgroup_qos": "the module cgroup_qos",
    },
    {"module_utils/restore": "restoring the state before the collection"},
    {"modules": "documentation and node-side entry points of modules"},
    # On the controller.
    {"plugin_utils/releases": "features of each release of kubelet and containerd"},
    {"plugin_utils/profile": "the desired state of a node: fields, checks, argument specifications"},
    {"plugin_utils/edit": "editing of configuration texts"},
    {
        "plugin_utils/facts": "interpretation of a snapshot",
        "plugin_utils/kube": "API servers: client, changes of objects, permissions, waiting",
    },
    {"plugin_utils/plan": "plan of the changes of a node"},
    {"plugin_utils/rules": "findings about a node, refusals of a plan, the verdict"},
    {
        "plugin_utils/kubeadm": "the kubelet-config of a cluster",
        "plugin_utils/report": "results, readable texts and tables; redaction",
        "plugin_utils/scheduler": "configuration of Volcano's scheduler, queues, admission",
        "plugin_utils/settings": "the QoS profile of a node",
    },
    {
        "plugin_utils/assessment": "plan and rules together: changes of a node, and the verdict",
        "plugin_utils/manifest": "Volcano from a manifest",
    },
    {"plugin_utils/node": "action plugins' base: transport, snapshots, the API server"},
    {
        "plugin_utils/agent": "deploying the Volcano agent",
        "plugin_utils/drain": "cordon, drain, rollout",
        "plugin_utils/fleet": "the screen of a run over many hosts",
        "plugin_utils/restore": "restore of a node, controller side",
    },
    {"plugin_utils/bundle": "building and verifying a bundle for an installation without a registry"},
    {"action": "controller half of each module", "callback": "Ansible's output of a run"},
)
"""Layers, lowest first. A package imports only packages of lower layers, not of the same one."""

HEIGHTS = {package: height for height, layer in enumerate(LAYERS) for package in layer}
APART = frozenset({"modules", "doc_fragments"})
"""Ansible finds these by their directory; no other package imports them. Documentation fragments import nothing."""


def forbidden_imports(files: tuple[PluginFile, ...]) -> Iterator[str]:
    """One line for each import between packages that the table does not allow, and for each missing package."""
    packages = {file.name: file.package for file in files}
    for package in sorted(set(packages.values()) - HEIGHTS.keys() - APART):
        yield f"{package} is not in the table"
    for file in files:
        for target in sorted(file.imports & packages.keys()):
            if not _is_allowed(file.package, packages[target]):
                yield f"{'/'.join(file.name)} imports {'/'.join(target)}"


def _is_allowed(importer: str, imported: str) -> bool:
    if importer == imported:
        return True
    return imported not in APART and HEIGHTS.get(importer, -1) > HEIGHTS.get(imported, len(LAYERS))


def unknown_packages(files: tuple[PluginFile, ...]) -> list[str]:
    """Packages of the table without files."""
    return sorted({package for layer in LAYERS for package in layer} - {file.package for file in files})
