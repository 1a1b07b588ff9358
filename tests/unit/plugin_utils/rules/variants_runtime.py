# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of the aligned node that fire the rules about runtimes, NRI and the layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    RUNTIME_FILE,
    Snapshot,
    put,
    runtime_edit,
    runtime_text,
)

NVIDIA = "/etc/containerd/conf.d/99-nvidia.toml"
V2 = 'plugins."io.containerd.grpc.v1.cri"'
V3 = "plugins.'io.containerd.cri.v1.runtime'"
NRI_ON = '[plugins."io.containerd.nri.v1.nri"]\ndisable = false\n'


def regular(text: str) -> dict[str, Any]:
    return {"kind": "regular", "mode": "0644", "uid": 0, "gid": 0, "mtime": 1.0, "ctime": 1.0, "text": text}


def file(snapshot: Snapshot, path: str, text: str) -> Snapshot:
    """A copy with one more captured file of containerd."""
    return put(snapshot, regular(text), "runtime", "files", path)


def containerd(snapshot: Snapshot, version: str) -> Snapshot:
    return put(snapshot, version, "runtime", "cri", "version")


def unknown_release(snapshot: Snapshot) -> Snapshot:
    """A copy whose containerd reports neither its version nor its values."""
    node = put(put(snapshot, None, "runtime", "cri", "version"), None, "runtime", "version")
    return put(node, None, "runtime", "cri", "config")


def handler(cri: str, systemd_cgroup: str, name: str = "runc") -> str:
    table = f"{cri}.containerd.runtimes.{name}"
    return f'[{table}]\nruntime_type = "io.containerd.runc.v2"\n[{table}.options]\nSystemdCgroup = {systemd_cgroup}\n'


def imports(snapshot: Snapshot, drop_in: str, main: str = "version = 2\n") -> Snapshot:
    """A copy whose main file imports conf.d, with one file there."""
    text = main + 'imports = ["/etc/containerd/conf.d/*.toml"]\n' + handler(V2, "true") + NRI_ON
    return file(runtime_text(snapshot, text), NVIDIA, drop_in)


def crio(snapshot: Snapshot, **files: str) -> Snapshot:
    """A copy on which CRI-O serves kubelet; files by name in crio.conf.d."""
    evidence = {
        "processes": [{"pid": 9, "argv": ["/usr/bin/crio"], "started_at": 1e9}],
        "program": "/usr/bin/crio",
        "config_path": "/etc/crio/crio.conf",
        "files": {
            "/etc/crio/crio.conf": {"kind": "missing"},
            **{f"/etc/crio/crio.conf.d/{name}": regular(text) for name, text in files.items()},
        },
    }
    answers = {
        "endpoint": "unix:///var/run/crio/crio.sock",
        "name": "cri-o",
        "version": "1.30.1",
        "runtime_config": {"cgroup_driver": "systemd"},
    }
    variant = put(put(snapshot, None, "runtime", "program"), [], "runtime", "processes")
    return put(put(variant, evidence, "runtime", "crio"), answers, "runtime", "cri")


def docker(snapshot: Snapshot, text: str, *argv: str) -> Snapshot:
    """A copy on which docker serves kubelet through cri-dockerd."""
    evidence = {
        "processes": [{"pid": 9, "argv": ["/usr/bin/dockerd", *argv], "started_at": 2e9}],
        "config_path": "/etc/docker/daemon.json",
        "config": regular(text),
    }
    answers = {"endpoint": "unix:///run/cri-dockerd.sock", "name": "docker", "version": "24.0.7"}
    return put(put(snapshot, evidence, "runtime", "docker"), answers, "runtime", "cri")


def distribution(snapshot: Snapshot, *marks: str, title: str | None = None, **settings: str) -> Snapshot:
    """A copy with the files of an installer; ``title`` is the command line of k3s or RKE2."""
    evidence = {
        "marks": list(marks),
        "templates": [],
        "settings": {f"/etc/rancher/{name}/config.yaml": regular(text) for name, text in settings.items()},
        "supervisors": [{"pid": 5, "argv": [title], "started_at": 1.0}] if title else [],
    }
    return put(snapshot, evidence, "distribution")


def k3s(snapshot: Snapshot) -> Snapshot:
    variant = distribution(snapshot, "/etc/rancher/k3s", title="/usr/local/bin/k3s agent")
    return put(put(variant, [], "kubelet", "processes"), None, "kubelet", "program")


def moved(snapshot: Snapshot, path: str) -> Snapshot:
    """A copy whose containerd has its main file elsewhere."""
    return put(file(snapshot, path, snapshot["runtime"]["files"][RUNTIME_FILE]["text"]), path, "runtime", "config_path")


def silent(snapshot: Snapshot) -> Snapshot:
    """A copy whose files changed after the start of a runtime that does not report its configuration."""
    variant = put(snapshot, None, "runtime", "cri", "config")
    return put(variant, 4e9, "runtime", "files", RUNTIME_FILE, "ctime")


VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "containerd-plugin-key-ignored": (
        Verdict.ALIGNED,
        lambda node: runtime_text(node, "version = 2\n" + handler(V2, "true") + handler(V3, "true") + NRI_ON),
    ),
    "containerd-plugin-name-invalid": (
        Verdict.LATENT,
        lambda node: runtime_edit(node, "version = 2\n", 'version = 2\nrequired_plugins = ["cri"]\n'),
    ),
    "containerd-handler-without-type": (
        Verdict.LATENT,
        lambda node: runtime_text(
            node, f"version = 2\n[{V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n" + NRI_ON
        ),
    ),
    "containerd-config-too-new": (
        Verdict.LATENT,
        lambda node: runtime_text(node, "version = 3\n" + handler(V3, "true") + NRI_ON),
    ),
    "containerd-value-type": (Verdict.LATENT, lambda node: runtime_edit(node, "version = 2\n", 'version = "2"\n')),
    "containerd-option-type": (
        Verdict.LATENT,
        lambda node: runtime_edit(node, "SystemdCgroup = true", 'SystemdCgroup = "true"'),
    ),
    "runtime-driver-unknown": (
        Verdict.UNKNOWN,
        lambda node: imports(unknown_release(node), "version = 2\n" + handler(V2, "true")),
    ),
    "containerd-import-missing": (
        Verdict.LATENT,
        lambda node: put(
            runtime_text(node, 'version = 2\nimports = ["gone.toml"]\n' + handler(V2, "true") + NRI_ON),
            {"kind": "missing"},
            *("runtime", "files", "/etc/containerd/gone.toml"),
        ),
    ),
    "containerd-import-pattern": (
        Verdict.LATENT,
        lambda node: runtime_text(node, 'version = 2\nimports = ["[*.toml"]\n' + handler(V2, "true") + NRI_ON),
    ),
    "containerd-versions-mixed": (
        Verdict.LATENT,
        lambda node: imports(containerd(node, "2.1.0"), "version = 3\n" + handler(V3, "true")),
    ),
    "containerd-legacy-systemd-cgroup": (
        Verdict.LATENT,
        lambda node: runtime_text(node, f"version = 2\n[{V2}]\nsystemd_cgroup = true\n" + handler(V2, "true") + NRI_ON),
    ),
    "containerd-default-runtime-undeclared": (
        Verdict.LATENT,
        lambda node: runtime_text(
            node,
            f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "nvidia"\n' + handler(V2, "true") + NRI_ON,
        ),
    ),
    "containerd-handler-shadowed": (
        Verdict.LATENT,
        lambda node: imports(node, "version = 2\n" + handler(V2, "false")),
    ),
    "config-unreadable": (Verdict.UNKNOWN, lambda node: imports(node, "version = \n")),
    "cri-disabled": (
        Verdict.LATENT,
        lambda node: runtime_edit(
            node, "version = 2\n", 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
        ),
    ),
    "runtime-unsupported": (Verdict.UNSUPPORTED, lambda node: docker(node, "{}")),
    "docker-exec-opts-twice": (
        Verdict.UNSUPPORTED,
        lambda node: docker(
            node,
            '{"exec-opts": ["native.cgroupdriver=systemd"]}',
            *("--exec-opt", "native.cgroupdriver=systemd"),
        ),
    ),
    "crio-conmon-cgroup": (
        Verdict.LATENT,
        lambda node: crio(
            node,
            **{"10.conf": '[crio.runtime]\ncgroup_manager = "cgroupfs"\nconmon_cgroup = "system.slice"\n'},
        ),
    ),
    "runtime-config-changed-after-start": (Verdict.LATENT, silent),
    "nri-socket-stale": (Verdict.ALIGNED, lambda node: put(node, 4e9, "runtime", "processes", 0, "started_at")),
    "nri-socket-relative": (
        Verdict.ALIGNED,
        lambda node: put(
            runtime_edit(node, "disable = false\n", 'disable = false\nsocket_path = "run/x.sock"\n'),
            {"run/x.sock": {}},
            "runtime",
            "nri_sockets",
        ),
    ),
    "runtime-restart-changes-nri": (
        Verdict.LATENT,
        lambda node: runtime_edit(node, "disable = false", "disable = true"),
    ),
    "kubelet-inside-other-process": (Verdict.UNSUPPORTED, k3s),
    "config-regenerated": (
        Verdict.ALIGNED,
        lambda node: moved(
            distribution(node, title="/usr/local/bin/rke2 agent"),
            "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
        ),
    ),
}
