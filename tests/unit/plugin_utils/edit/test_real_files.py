# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The usual changes in files of real nodes: every other line stays."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    REMOVE,
    AppendItem,
    RemoveItem,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_splice import edit_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_splice import edit_yaml
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import changed, comparable

FIXTURES = Path(__file__).parents[2] / "fixtures" / "config_files"
KUBELET = sorted(path.name for path in FIXTURES.glob("kubelet-*"))
CONTAINERD = sorted(path.name for path in FIXTURES.glob("containerd-*"))
CRIO = sorted(path.name for path in FIXTURES.glob("crio-*"))
CRI = "io.containerd.grpc.v1.cri"
RUNTIME = "io.containerd.cri.v1.runtime"
NRI = "io.containerd.nri.v1.nri"

KUBELET_CHANGES: dict[tuple[str, ...], Any] = {
    ("cgroupDriver",): "systemd",
    ("cpuManagerPolicy",): "static",
    ("topologyManagerPolicy",): "best-effort",
    ("reservedSystemCPUs",): "0-1",
    ("readOnlyPort",): 0,
    ("kubeReserved", "memory"): "512Mi",
    ("systemReserved", "cpu"): "500m",
    ("systemReserved", "memory"): "1Gi",
}
MORE_KUBELET_CHANGES: dict[tuple[str, ...], Any] = {
    ("cpuManagerPolicyOptions", "full-pcpus-only"): "true",
    ("enforceNodeAllocatable",): ["pods", "system-reserved"],
    ("evictionHard", "memory.available"): "5%",
    ("featureGates", "CPUManagerPolicyAlphaOptions"): True,
    ("memoryThrottlingFactor",): 0.9,
    ("podPidsLimit",): 4096,
    ("reservedMemory",): [{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": "0"}}],
    ("clusterDNS",): AppendItem("10.96.0.11"),
    ("crashLoopBackOff", "maxContainerRestartPeriod"): "30s",
}
CRIO_CHANGES: dict[tuple[str, ...], Any] = {
    ("crio", "runtime", "cgroup_manager"): "systemd",
    ("crio", "runtime", "conmon_cgroup"): REMOVE,
    ("crio", "runtime", "infra_ctr_cpuset"): "0-1",
    ("crio", "runtime", "default_sysctls"): RemoveItem("net.ipv4.ping_group_range=0 0"),
    ("crio", "runtime", "runtimes", "crun", "monitor_cgroup"): "pod",
    ("crio", "runtime", "runtimes", "crun", "allowed_annotations"): AppendItem("cpu-quota.crio.io"),
    ("crio", "runtime", "runtimes", "runc", "runtime_path"): "/usr/sbin/runc",
    ("crio", "image", "insecure_registries"): AppendItem("registry.example.org"),
    ("crio", "nri", "enable_nri"): True,
    ("crio", "metrics", "enable_metrics"): False,
}
VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no line end at the end": lambda text: text.rstrip("\n"),
    "byte order mark": lambda text: "\ufeff" + text,
}


def fixture(name: str) -> str:
    return (FIXTURES / name).read_bytes().decode()


def containerd_changes(name: str) -> dict[tuple[str, ...], Any]:
    runtimes = ("plugins", RUNTIME if "2.1" in name else CRI, "containerd", "runtimes")
    return {
        (*runtimes, "runc", "options", "SystemdCgroup"): True,
        (*runtimes, "kata", "options", "SystemdCgroup"): True,
        ("plugins", NRI, "disable"): False,
        ("plugins", NRI, "socket_path"): "/run/other/nri.sock",
        ("plugins", NRI, "plugin_request_timeout"): "3s",
    }


def managed(name: str) -> dict[tuple[str, ...], Any]:
    """Every change that the collection may make in a file, including handlers, lists and tables."""
    if name in KUBELET:
        return {**KUBELET_CHANGES, **MORE_KUBELET_CHANGES}
    if name in CRIO:
        return CRIO_CHANGES
    values = read_toml(fixture(name))
    runtimes = ("plugins", RUNTIME if "2.1" in name else CRI, "containerd", "runtimes")
    handlers: Any = values
    for key in runtimes:
        handlers = handlers.get(key, {})
    return {
        **containerd_changes(name),
        **{(*runtimes, handler, "options", "SystemdCgroup"): True for handler in handlers},
        (*runtimes, "runc", "options", "BinaryName"): REMOVE,
        (*runtimes, "runc", "runtime_type"): "io.containerd.runc.v2",
        ("imports",): AppendItem("/etc/containerd/conf.d/*.toml"),
        ("disabled_plugins",): AppendItem("io.containerd.snapshotter.v1.zfs"),
        ("required_plugins",): ["io.containerd.nri.v1.nri"],
        ("version",): 2,
    }


def outcome(values: Any, desired: Any) -> Any:
    """The list with an item added or removed; other desired values unchanged."""
    if isinstance(desired, AppendItem):
        return values if desired.item in (values or []) else [*(values or []), desired.item]
    if isinstance(desired, RemoveItem):
        return [item for item in values or [] if item != desired.item]
    return desired


def lost_and_gained(before: str, after: str) -> tuple[list[str], list[str]]:
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", KUBELET)
def test_a_kubelet_file_gets_the_changes_and_keeps_every_other_line(name: str, variant: str) -> None:
    before = VARIANTS[variant](fixture(name))
    after = edit_yaml(before, KUBELET_CHANGES)
    assert comparable(read_yaml(after)) == comparable(changed(read_yaml(before), KUBELET_CHANGES)[0])
    missing, gained = lost_and_gained(before, after)
    keys = ("cgroupDriver:", "cpuManagerPolicy:", "readOnlyPort:", "kubeReserved:", 'memory: "512Mi"')
    ended = "" if before.endswith("\n") else before.split("\n")[-1]
    assert all(line.strip().startswith(keys) or line == ended for line in missing)
    assert len(gained) - len(missing) <= len(KUBELET_CHANGES) + 2
    assert edit_yaml(after, KUBELET_CHANGES) is after


@pytest.mark.parametrize("name", KUBELET)
def test_the_driver_line_is_one_that_agents_find(name: str) -> None:
    text = edit_yaml(fixture(name), {("cgroupDriver",): "systemd", ("cpuManagerPolicy",): "static"})
    assert "\ncgroupDriver:" in text
    assert not any(quote in line for line in text.split("\n") if line.startswith("cgroupDriver") for quote in "\"'")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", CONTAINERD)
def test_a_containerd_file_gets_the_changes_and_keeps_every_other_line(name: str, variant: str) -> None:
    before = VARIANTS[variant](fixture(name))
    changes = containerd_changes(name)
    after = edit_toml(before, changes)
    assert comparable(read_toml(after)) == comparable(changed(read_toml(before), changes)[0])
    missing, _gained = lost_and_gained(before, after)
    keys = ("SystemdCgroup =", "disable =", "socket_path =", "plugin_request_timeout =")
    ended = "" if before.endswith("\n") else before.split("\n")[-1]
    assert all(line.strip().startswith(keys) or line == ended for line in missing)
    assert edit_toml(after, changes) is after


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", KUBELET + CONTAINERD)
def test_new_settings_can_be_removed_again(name: str, variant: str) -> None:
    before = VARIANTS[variant](fixture(name))
    edit, read, desired = (
        (edit_yaml, read_yaml, KUBELET_CHANGES) if name in KUBELET else (edit_toml, read_toml, containerd_changes(name))
    )
    new = {path: value for path, value in desired.items() if _absent(read(before), path)}
    assert new
    assert edit(edit(before, new), dict.fromkeys(new, REMOVE)) == before


def _absent(values: Any, path: tuple[str, ...]) -> bool:
    """Whether the key is new; unknown, so false, below a key without a value."""
    for key in path:
        if values is None:
            return False
        if key not in values:
            return True
        values = values[key]
    return False


@settings(max_examples=12, deadline=None)
@pytest.mark.parametrize("name", KUBELET + CONTAINERD + CRIO)
@given(data=st.data())
def test_any_of_the_managed_keys_come_and_go(name: str, data: st.DataObject) -> None:
    before = VARIANTS[data.draw(st.sampled_from(sorted(VARIANTS)))](fixture(name))
    edit, read = (edit_yaml, read_yaml) if name in KUBELET else (edit_toml, read_toml)
    desired = managed(name)
    paths = data.draw(st.lists(st.sampled_from(sorted(desired)), min_size=1, unique=True))
    changes = {path: desired[path] for path in paths}
    values = read(before)
    new = [path for path in paths if _absent(values, path) and changes[path] is not REMOVE]

    after = edit(before, changes)

    plain = {path: outcome(_value(values, path), desired) for path, desired in changes.items()}
    expected = changed(values, plain)[0]
    assert comparable(read(after)) == comparable(expected)
    missing, _gained = lost_and_gained(before, after)
    ended = "" if before.endswith("\n") else before.split("\n")[-1]
    touched = {path[-1] for path in paths if path not in new} | {path[0] for path in paths if name in KUBELET}
    assert all(line == ended or _is_about(line, touched) or _is_item(line) for line in missing)
    assert edit(after, changes) is after
    taken_out = edit(after, dict.fromkeys(new, REMOVE))
    remaining = {path: desired for path, desired in changes.items() if path not in new}
    assert taken_out == edit(before, remaining)


def _value(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        values = (values or {}).get(key)
    return values


def _is_about(line: str, keys: set[str]) -> bool:
    return any(re.match(rf"\ufeff?\s*[\"']?{re.escape(key)}[\"']?\s*[:=]", line) for key in keys)


def _is_item(line: str) -> bool:
    return re.match(r"\s*(-|[\"'])", line) is not None


def test_debians_file_gets_its_tables_where_a_person_would_put_them() -> None:
    name = "containerd-1.6.20-debian.toml"
    assert (
        edit_toml(fixture(name), containerd_changes(name))
        == """\
version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
      conf_dir = "/etc/cni/net.d"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = true
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata.options]
            SystemdCgroup = true
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd/opt"
  [plugins."io.containerd.nri.v1.nri"]
    disable = false
    socket_path = "/run/other/nri.sock"
    plugin_request_timeout = "3s"
"""
    )


def test_the_hand_made_kubelet_file() -> None:
    before = fixture("kubelet-openeuler.yaml.txt")
    changes: dict[tuple[str, ...], Any] = {
        ("cgroupDriver",): "systemd",
        ("cpuManagerPolicy",): "static",
        ("systemReserved", "memory"): "1Gi",
        ("kubeReserved", "cpu"): "1",
        ("featureGates", "CPUManagerPolicyOptions"): True,
        ("topologyManagerPolicy",): "restricted",
    }
    assert edit_yaml(before, changes) == (
        before.replace('"cgroupfs"   # was', "systemd   # was")
        .replace("cpuManagerPolicy: none", "cpuManagerPolicy: static")
        .replace("    cpu: 500m\n", "    cpu: 500m\n    memory: 1Gi\n")
        .replace("{cpu: 500m,", '{cpu: "1",')
        .replace("featureGates:\n", "featureGates:\n    CPUManagerPolicyOptions: true\n")
        .replace('systemReservedCgroup: ""\n', 'systemReservedCgroup: ""\ntopologyManagerPolicy: restricted\n')
    )
