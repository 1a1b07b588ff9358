# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CRI socket kubelet uses: with several runtimes on a node only kubelet knows."""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .containerd import DEFAULT_SOCKET
from .crio import SOCKET as CRIO_SOCKET
from .distributions import FOLDERS as RANCHER_FOLDERS
from .distributions import SUPERVISORS
from .files import capture
from .kubelet_hints import hints
from .processes import option

DEFAULT_ENDPOINT = "unix://" + DEFAULT_SOCKET
RANCHER_ENDPOINT = "unix:///run/k3s/containerd/containerd.sock"
_RANCHER_FIELD = re.compile(r"^container-runtime-endpoint[ \t]*:[ \t]*[\"']?([^\"'#\s]+)", re.MULTILINE)
FIELD = "containerRuntimeEndpoint"


def kubelets_endpoint(host: Host, agents: dict[str, list[dict[str, Any]]]) -> str:
    """The flag, else the field of kubelet's files (1.27 and later), else what the running agents suggest."""
    kubelets = agents.get("kubelet", [])
    argv = kubelets[0]["argv"] if kubelets else []
    named = option(argv, "--container-runtime-endpoint") or _configured(host, argv)
    if named:
        return named
    if any(name in agents for name in SUPERVISORS):
        return _given_to_rancher(host) or RANCHER_ENDPOINT
    if "crio" in agents and "containerd" not in agents:
        return "unix://" + CRIO_SOCKET
    return DEFAULT_ENDPOINT


def _given_to_rancher(host: Host) -> str | None:
    """k3s and RKE2 can be told to use a runtime that is there already."""
    texts = (capture(host, folder + "/config.yaml").get("text", "") for folder in RANCHER_FOLDERS)
    found = [each for text in texts for each in _RANCHER_FIELD.findall(text)]
    return found[-1] if found else None


def _configured(host: Host, argv: list[str]) -> str | None:
    """The last word of the main file and its drop-ins."""
    folder = option(argv, "--config-dir")
    paths = [option(argv, "--config") or "/var/lib/kubelet/config.yaml"]
    if folder:
        paths += [folder + "/" + name for name in _names(host, folder) if name.endswith(".conf")]
    texts = (capture(host, path).get("text", "") for path in paths)
    found = [value for text in texts for _name, value in hints(text, FIELD, indent="")]
    return found[-1] if found else None


def _names(host: Host, folder: str) -> list[str]:
    try:
        return host.list(folder)
    except (OSError, ValueError):
        return []
