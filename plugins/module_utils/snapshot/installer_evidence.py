# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence of the node's installer: files and processes of kubeadm, kubespray, k3s and RKE2."""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .file_evidence import capture, describe

SUPERVISORS = ("k3s-server", "k3s-agent", "k3s", "rke2")
MARKS = (
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/kubelet.env",
    "/etc/kubernetes/kubelet-config.yaml",
    "/etc/rancher/k3s",
    "/etc/rancher/rke2",
    "/var/lib/rancher/k3s/agent",
    "/var/lib/rancher/rke2/agent",
)
RANCHER_DIRECTORIES = ("/etc/rancher/k3s", "/etc/rancher/rke2")
_TEMPLATES = tuple(
    "/var/lib/rancher/%s/agent/etc/containerd/%s.tmpl" % (name, file)
    for name in ("k3s", "rke2")
    for file in ("config.toml", "config-v3.toml")
)
MAX_FILES = 32
_KEY = re.compile(r"(['\"]?)(kubelet-arg|container-runtime-endpoint|docker)\+?\1[ \t]*:")


def relevant_settings(text: str) -> str:
    """The lines of a k3s or RKE2 configuration that concern kubelet and the runtime, without the node's join token."""
    lines, relevant = [], False
    for line in text.splitlines():
        if line[:1] not in (" ", "\t", "-", "#", ""):
            relevant = _KEY.match(line) is not None
        if relevant:
            lines.append(line)
    return "".join(line + "\n" for line in lines)


def _settings(host: Host) -> dict[str, Any]:
    """Configuration files by path, in the order in which k3s and RKE2 read them."""
    files = {}
    for directory in RANCHER_DIRECTORIES:
        paths = [directory + "/config.yaml"] + [
            directory + "/config.yaml.d/" + name for name in _names(host, directory)
        ]
        for path in paths[:MAX_FILES]:
            file = capture(host, path)
            if file["kind"] == "missing":
                continue
            if "text" in file:
                file["text"] = relevant_settings(file["text"])
            files[path] = file
    return files


def _names(host: Host, directory: str) -> list[str]:
    try:
        return [name for name in host.list(directory + "/config.yaml.d") if name.endswith((".yaml", ".yml"))]
    except OSError:
        return []


def installer(host: Host, agents: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """``{marks, settings, templates, template_files, supervisors}``; marks and templates are the paths that exist."""
    templates = {path: capture(host, path) for path in _TEMPLATES}
    existing = {path: file for path, file in templates.items() if file["kind"] != "missing"}
    return {
        "marks": [path for path in MARKS if describe(host, path)["kind"] != "missing"],
        "settings": _settings(host),
        "templates": list(existing),
        "template_files": existing,
        "supervisors": [process for name in SUPERVISORS for process in agents.get(name, [])],
    }
