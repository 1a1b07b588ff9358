# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's cgroup paths of 500 pods are those of kubelet's own code and runc's library."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup import container_paths
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS
from ansible_collections.volcano.colocation.plugins.module_utils.slices import property_values
from ansible_collections.volcano.colocation.tests.judges.cgroup_pods import PREFIXES, Pod, collection_names, pods
from ansible_collections.volcano.colocation.tests.judges.cgroup_program import obtain, run_program, v1_mounts
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

COUNT = 500


@pytest.fixture(scope="module", name="program")
def _program() -> Path:
    return obtain(Cache(cache_root()))


@pytest.fixture(scope="module", name="judged")
def _judged(program: Path) -> list[tuple[Pod, dict[str, Any]]]:
    generated = list(pods(COUNT))
    return list(zip(generated, run_program(program, [pod.question for pod in generated]), strict=True))


def test_every_name_is_that_of_kubelet_and_runc(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    wrong = []
    for pod, right in judged:
        actual = collection_names(pod)
        if right["Error"] and actual is not None:
            wrong.append(f"{pod}: no cgroup can be made ({right['Error']}), and the collection says {actual}")
        elif actual is not None and actual != {key: right[key] for key in actual}:
            wrong.append(f"{pod}: {right}, and the collection says {actual}")
    assert not wrong, "\n".join(wrong)


def test_every_directory_on_v1_is_that_of_runc(judged: list[tuple[Pod, dict[str, Any]]], tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(v1_mounts())
    node = hierarchies(Host(str(tmp_path)))
    assert node.mode == "v1"
    for pod, right in judged:
        names = collection_names(pod)
        if names is None or right["Error"]:
            continue
        assert set(right["V1"]) == set(node.points)
        for controller, runcs in right["V1"].items():
            for key in ("Pod", "Container"):
                expected = "/".join((runcs["Mount"], runcs[key]))
                assert node.directory(controller, names[key]) == expected, f"{pod}: {controller}"


def is_usual(pod: Pod) -> bool:
    """Whether the root has plain parts and the UID is one of the API."""
    plain = re.fullmatch(r"/?[a-z_-]+(?:/[a-z_-]+)*|/|", pod.root)
    return plain is not None and re.fullmatch("[0-9a-f-]{32,}", pod.uid) is not None


def test_only_unusual_roots_and_uids_are_refused(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    """The collection may refuse what kubelet accepts, but never a root of plain parts and a UID of the API."""
    usual = [pod for pod, _right in judged if is_usual(pod)]
    assert len(usual) > COUNT * 3 // 4
    assert [pod for pod in usual if collection_names(pod) is None] == []


def tree_of(pod: Pod) -> KubeletTree:
    """The tree of a pod. The systemd driver writes a dash of a root as ``_``, so ``_`` in a root reads as a dash."""
    root = "/" + pod.root.strip("/")
    return KubeletTree(pod.driver, root.replace("_", "-") if pod.driver is Driver.SYSTEMD else root)


def test_cgroups_of_kubelet_and_runc_are_recognized_part_by_part(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    for pod, right in judged:
        if not is_usual(pod):
            continue
        prefix, directory = PREFIXES[pod.runtime]
        start = f"{prefix}-" if pod.driver is Driver.SYSTEMD else directory
        expected = container_paths.KubeletCgroup(tree_of(pod), "", pod.qos, pod.uid, start, pod.container)
        assert container_paths.classify("/" + right["Container"]) == expected
        assert container_paths.classify(right["Pod"]) == container_paths.KubeletCgroup(
            tree_of(pod), "", pod.qos, pod.uid
        )


def mask(*numbers: int) -> str:
    """A set of numbers as a bit mask; Go's JSON encodes bytes in base64."""
    return base64.b64encode(property_values.bits(frozenset(numbers))).decode()


FILES = {
    "cpu.weight": ("5000", 5000),
    "memory.min": ("4096", 4096),
    "memory.low": ("max", 2**64 - 1),
    "memory.high": ("1048576", 1048576),
    "memory.max": ("max", 2**64 - 1),
    "memory.swap.max": ("0", 0),
    "pids.max": ("77", 77),
    "cpuset.cpus": ("0-3,9", mask(0, 1, 2, 3, 9)),
    "cpuset.mems": ("0", mask(0)),
}
"""Files of cgroup v2: content and value of the unit property."""


@pytest.mark.parametrize("file", FILES)
def test_the_unit_property_of_a_knob_is_runcs(program: Path, file: str) -> None:
    text, value = FILES[file]
    pod = next(pods(1)).question
    (response,) = run_program(program, [{**pod, "Files": {file: text}}])
    (expected,) = response["Properties"]
    (knob,) = [
        candidate
        for candidate in KNOBS.values()
        if candidate.v2 and [known.name for known in candidate.v2.files] == [file]
    ]
    assert knob.unit_property is not None
    assert ((expected["Name"],), expected["Signature"]) == (knob.unit_property.names, knob.unit_property.signature)
    assert expected["Value"] == value
