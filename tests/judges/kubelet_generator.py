# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet configurations from a seed: ``python -m ...tests.judges.kubelet_generator SEED COUNT`` prints them.

The same seed gives the same cases on every machine: only ``random.Random`` decides.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .kubelet_judge import Case

HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

FIELDS: dict[str, tuple[Any, ...]] = {
    "cgroupDriver": ("systemd", "cgroupfs", "Systemd", "", None, 1),
    "cgroupRoot": ("/", "", None),
    "cgroupsPerQOS": (True, False, None, "true"),
    "cpuManagerPolicy": ("none", "static", "Static", "", None, True),
    "cpuManagerPolicyOptions": (
        {"full-pcpus-only": "true"},
        {"full-pcpus-only": True},
        {"strict-cpu-reservation": "true"},
        {"distribute-cpus-across-numa": "true"},
        {"align-by-socket": "true"},
        {"no-such-option": "true"},
        {},
        None,
    ),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node", "best_effort", "", None),
    "topologyManagerScope": ("container", "pod", "Pod", "", None),
    "topologyManagerPolicyOptions": (
        {"prefer-closest-numa-nodes": "true"},
        {"prefer-closest-numa-nodes": "yes"},
        {"max-allowable-numa-nodes": "9"},
        {"max-allowable-numa-nodes": "7"},
        {"max-allowable-numa-nodes": 9},
        {},
        None,
    ),
    "memoryManagerPolicy": ("None", "Static", "none", "", None),
    "reservedMemory": (
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
        [{"numaNode": 0, "limits": {"memory": "612Mi"}}],
        [{"numaNode": 0, "limits": {"memory": 1073741824}}],
        [{"numaNode": "0", "limits": {"memory": "1Gi"}}],
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}, {"numaNode": 0, "limits": {"memory": "1Gi"}}],
        [{"numaNode": 0, "limits": {"disk": "1Gi"}}],
        [{"numaNode": 7, "limits": {"memory": "1Gi"}}],
        [],
        None,
        {},
    ),
    "reservedSystemCPUs": ("0", "0-1", "0,2", "9", "0-", "", None, 0, 1.5),
    "systemReserved": (
        {"cpu": "500m"},
        {"cpu": "500m", "memory": "512Mi"},
        {"cpu": 1},
        {"cpu": "1 "},
        {"cpu": "-1"},
        {"cpu": "8"},
        {"gpu": "1"},
        {"memory": "1Gb"},
        {},
        None,
        "cpu=1",
        ["cpu"],
    ),
    "kubeReserved": ({"cpu": "500m"}, {"cpu": "0.5", "memory": "100Mi"}, {"cpu": ""}, {"cpu": None}, {}, None),
    "systemReservedCgroup": ("", None, 1),
    "kubeReservedCgroup": ("", None),
    "enforceNodeAllocatable": (["pods"], ["none"], [], None, ["pods", "none"], ["pods", "everything"], "pods", [1]),
    "evictionHard": ({"memory.available": "100Mi"}, {"memory.available": "10%"}, {"memory.available": 5}, {}, None),
    "memoryThrottlingFactor": (0.9, 1, 0, 1.5, -0.5, None, "0.9", True),
    "failCgroupV1": (True, False, None, "false", "no"),
    "singleProcessOOMKill": (True, False, None, 1),
    "podPidsLimit": (-1, 4096, 4096.0, 0, -2, 1.5, "4096", None, 9223372036854775807, 9223372036854775808),
    "readOnlyPort": (0, 10255, 70000, -1, "10255", None, 2147483648),
    "failSwapOn": (True, False, None, "no"),
    "memoryReservationPolicy": ("None", "TieredReservation", "", None, "Other"),
    "staticPodPath": ("/etc/kubernetes/manifests", "", None, 1),
    "containerRuntimeEndpoint": ("unix:///run/containerd/containerd.sock", "unix:///var/run/crio/crio.sock"),
    "featureGates": (
        {"MemoryQoS": True},
        {"MemoryQoS": False},
        {"MemoryQoS": "true"},
        {"CPUManagerPolicyAlphaOptions": True},
        {"CPUManagerPolicyBetaOptions": False},
        {"CPUManagerPolicyOptions": False},
        {"TopologyManagerPolicyOptions": False},
        {"TopologyManagerPolicyBetaOptions": False},
        {"MemoryManager": False},
        {"KubeletCgroupDriverFromCRI": False},
        {"DisableCPUQuotaWithExclusiveCPUs": True},
        {"NoSuchGate": True},
        {"AllAlpha": False},
        {"NodeSwap": True},
        {"NodeSwap": False},
        {},
        None,
    ),
    # Fields that the collection does not use: only their types are judged.
    "address": ("0.0.0.0", 1, ["0.0.0.0"], None),  # noqa: S104
    "clusterDNS": (["10.96.0.10"], "10.96.0.10", [1], None),
    "clusterDomain": ("cluster.local", 5, {}, None),
    "maxPods": (110, "110", 1.5, 110.0, None, True),
    "authentication": (
        {"anonymous": {"enabled": False}},
        {"anonymous": {"enabled": "false"}},
        {"webhook": {"cacheTTL": "2m"}},
        {"webhook": {"cacheTTL": "two"}},
        {"webhook": True},
        None,
    ),
    "syncFrequency": ("1m", "1minute", 60, 60000000000, None),
    "nodeStatusMaxImages": (50, "50", None),
    "serializeImagePulls": (True, "true", 1, None),
    "registerWithTaints": (
        [{"key": "a", "value": "b", "effect": "NoSchedule"}],
        [{"key": 1, "effect": "NoSchedule"}],
        [],
        "a",
        None,
    ),
    "logging": ({"format": "text"}, {"verbosity": 2}, {"verbosity": "2"}, {"flushFrequency": "5s"}, None),
    "shutdownGracePeriodByPodPriority": ([{"priority": 1, "shutdownGracePeriodSeconds": 2}], [{"priority": "1"}], None),
    "tlsCipherSuites": (["TLS_AES_128_GCM_SHA256"], "TLS_AES_128_GCM_SHA256", None),
    "memorySwap": ({"swapBehavior": "LimitedSwap"}, {"swapBehavior": 1}, {}, None),
    "noSuchField": ("x", 1, {}, None),
}
"""Values of each field: valid, invalid, and those that mean unset."""

FLAGS: tuple[str, ...] = (
    "--cgroup-driver=systemd",
    "--cgroup-driver=cgroupfs",
    "--cgroup_driver=systemd",
    "--cpu-manager-policy=static",
    "--cpu-manager-policy=none",
    "--cpu-manager-policy=",
    "--topology-manager-policy=best-effort",
    "--system-reserved=cpu=500m",
    "--system-reserved=cpu=500m,memory=512Mi",
    "--system-reserved=",
    "--kube-reserved=cpu=250m",
    "--reserved-cpus=0",
    "--fail-cgroupv1=false",
    "--fail-cgroupv1",
    "--fail-swap-on=false",
    "--fail-swap-on=no",
    "--feature-gates=MemoryQoS=true",
    "--feature-gates=MemoryQoS=maybe",
    "--feature-gates=NoSuchGate=true",
    "--feature-gates=CPUManagerPolicyAlphaOptions=true,MemoryQoS=false",
    "--enforce-node-allocatable=pods",
    "--enforce-node-allocatable=",
    "--eviction-hard=memory.available<200Mi",
    "--pod-max-pids=1024",
    "--pod-max-pids=many",
    "--read-only-port=10255",
    "--max-pods=50",
    "--node-ip=10.0.0.1",
    "--v=2",
    "-v=2",
    "--container-runtime=remote",
    "--network-plugin=cni",
    "--pod-infra-container-image=registry.k8s.io/pause:3.9",
    "--no-such-flag",
    "--reserved-memory=0:memory=1Gi",
    "--container-runtime-endpoint=unix:///run/containerd/containerd.sock",
    "--hostname-override=node-1",
)


MORE_FLAGS: tuple[str, ...] = (
    "--cgroup-root=/",
    "--cgroup-root=",
    "--cgroups-per-qos=false",
    "--cpu-manager-policy-options=full-pcpus-only=true",
    "--cpu-manager-policy=Static",
    "--enforce-node-allocatable=none",
    "--enforce-node-allocatable=pods,system-reserved",
    "--eviction-hard=",
    "--kube-reserved=cpu=1,memory=1Gb",
    "--kube-reserved=gpu=1",
    "--memory-manager-policy=Static",
    "--memory-manager-policy=None",
    "--pod-manifest-path=/etc/kubernetes/manifests",
    "--read-only-port=70000",
    "--read-only-port=0",
    "--reserved-cpus=0-9",
    "--system-reserved=cpu=100m,cpu=200m",
    "--system-reserved-cgroup=/system.slice",
    "--topology-manager-policy=single-numa-node",
    "--topology-manager-policy-options=prefer-closest-numa-nodes=true",
    "--topology-manager-scope=pod",
    "--topology-manager-scope=Pod",
    "--max-pods=-1",
    "--pod-max-pids=-5",
    "--feature-gates=",
    "--feature-gates=AllAlpha=false",
)
"""Flags that have more effect without a file."""


def cases(seed: int, count: int) -> Iterator[Case]:
    """``count`` configurations, numbered within their seed."""
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")  # noqa: S311
        yield replace(_case(chance), name=f"{seed}/{number}")


def cases_without_file(seed: int, count: int) -> Iterator[Case]:
    """kubelets that start without --config: with flags, and some of them with drop-ins."""
    for number in range(count):
        chance = random.Random(f"flags {seed}/{number}")  # noqa: S311
        flags = tuple(chance.sample((*FLAGS, *MORE_FLAGS), chance.randint(1, 5)))
        dropins = (("10-a.conf", _file(chance, most=3)),) if chance.random() < 0.2 else ()
        yield Case(f"flags {seed}/{number}", None, dropins, flags, cgroup_v1=chance.random() < 0.1)


def _case(chance: random.Random) -> Case:
    main = _file(chance, most=4)
    dropins: tuple[tuple[str, str], ...] = ()
    if chance.random() < 0.3:
        names = ("10-a.conf", "20-b.conf", "sub/30-c.conf", "05.conf")
        chosen = sorted(chance.sample(names, chance.choice((1, 1, 2))))
        dropins = tuple((name, _file(chance, most=2)) for name in chosen)
    flags = tuple(chance.sample(FLAGS, chance.choice((1, 1, 2)))) if chance.random() < 0.25 else ()
    return Case("", main, dropins, flags, cgroup_v1=chance.random() < 0.1)


def _file(chance: random.Random, most: int) -> str:
    keys = chance.sample(tuple(FIELDS), chance.randint(1, most))
    # Most values of most files are valid, so that each case has one fault at a time.
    values = {key: FIELDS[key][0] if chance.random() < 0.4 else chance.choice(FIELDS[key]) for key in keys}
    text = chance.choice(WRITERS)(values)
    for change in chance.choices(CHANGES, k=chance.choice((0, 0, 1, 1, 2))):
        text = change(text, chance)
    return text


def _block(values: dict[str, Any]) -> str:
    return HEAD + "".join(_lines(key, value, "") for key, value in values.items())


def _lines(key: str, value: Any, indent: str) -> str:
    if isinstance(value, dict) and value:
        return f"{indent}{key}:\n" + "".join(_lines(name, item, indent + "  ") for name, item in value.items())
    if isinstance(value, list) and value:
        return f"{indent}{key}:\n" + "".join(f"{indent}- {_scalar(item)}\n" for item in value)
    return f"{indent}{key}: {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, str) or not _plain(value) else value


def _plain(text: str) -> bool:
    """Whether YAML reads the text as itself without quotes."""
    return text[:1].isalpha() and text.isalnum() and text.lower() not in _WORDS


_WORDS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")


def _flow(values: dict[str, Any]) -> str:
    return HEAD + "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def _json(values: dict[str, Any]) -> str:
    whole = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **values}
    return json.dumps(whole, indent=2)


WRITERS: tuple[Callable[[dict[str, Any]], str], ...] = (_block, _block, _block, _flow, _json)

Change = Callable[[str, random.Random], str]


def _replaced(old: str, *new: str) -> Change:
    return lambda text, chance: text.replace(old, chance.choice(new), 1)


def _letter_case(text: str, chance: random.Random) -> str:
    """One key with its first letter in the other case."""
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    stripped = lines[number].lstrip()
    lines[number] = lines[number].replace(stripped, stripped[:1].swapcase() + stripped[1:], 1)
    return "\n".join(lines)


def _value(*values: str) -> Change:
    """The value of one line of YAML in another spelling."""

    def change(text: str, chance: random.Random) -> str:
        lines = text.split("\n")
        number = chance.randrange(2, len(lines)) if len(lines) > 3 else 0
        key, colon, _old = lines[number].partition(": ")
        lines[number] = f"{key}{colon}{chance.choice(values)}" if colon else lines[number]
        return "\n".join(lines)

    return change


def _repeated(text: str, chance: random.Random) -> str:
    """One line twice, with the same value or another."""
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    return "\n".join([*lines[: number + 1], lines[number].removeprefix("\ufeff"), *lines[number + 1 :]])


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))] if text else text


CHANGES: tuple[Change, ...] = (
    lambda text, _chance: text.replace("\n", "\r\n"),
    lambda text, _chance: "\ufeff" + text,
    lambda text, _chance: "---\n" + text,
    lambda text, _chance: text + "---\n",
    lambda text, _chance: text + "...\n",
    lambda text, _chance: text + "---\nkind: Other\n",
    lambda text, _chance: "# a comment\n\n" + text + "# at the end",
    lambda text, _chance: "%YAML 1.1\n---\n" + text,
    lambda text, _chance: text.rstrip("\n"),
    lambda text, _chance: text + "\t\n",
    lambda text, _chance: text + "extra: &anchor x\nother: *anchor\n",
    lambda text, _chance: text + "evictionSoft: &soft {memory.available: 1Gi}\nevictionSoftGracePeriod: *soft\n",
    lambda text, _chance: text + "<<: {maxPods: 20, podPidsLimit: 30}\n",
    _letter_case,
    _repeated,
    _cut,
    _value("~", "null", '""', "''", "Null", "NULL", "# nothing"),
    _value("yes", "on", "True", "TRUE", "y", "off", "No", "!!str true", "!!bool yes"),
    _value("0x10", "0o10", "010", "1_000", "1e3", ".inf", "1:30", "0b11", "+1", "1.0"),
    _value("'500m'", '"systemd"', "systemd # as asked", "!!str 5", "| \n  systemd", "systemd "),
    _value("2026-11-25", "[a, b]", "{a: b}", "[1, 2]", "{}", "[]"),
    _replaced("kubelet.config.k8s.io/v1beta1", "kubelet.config.k8s.io/v1", "v1", '""', "kubelet.config.k8s.io/v1beta2"),
    _replaced("KubeletConfiguration", "kubeletconfiguration", "KubeProxyConfiguration", '""', "~"),
    _replaced("apiVersion: kubelet.config.k8s.io/v1beta1\n", ""),
    _replaced("kind: KubeletConfiguration\n", ""),
    _replaced("apiVersion", "APIVersion", '"apiVersion"'),
    _replaced("kind", "Kind", "'kind'"),
)


def main(arguments: Sequence[str]) -> int:
    seed, count = int(arguments[0]), int(arguments[1])
    for case in cases(seed, count):
        print(f"##### {case.name} {' '.join(case.flags)}{' on cgroup v1' if case.cgroup_v1 else ''}")
        print(case.main)
        for name, text in case.dropins:
            print(f"### {name}\n{text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
