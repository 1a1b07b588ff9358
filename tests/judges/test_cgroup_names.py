# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet's own code and runc's library put the cgroups of 500 pods is where we say that they are."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup import container_paths
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS
from ansible_collections.volcano.colocation.plugins.module_utils.slices import property_values
from ansible_collections.volcano.colocation.tests.judges import go_sources
from ansible_collections.volcano.colocation.tests.judges.cgroup_pods import PREFIXES, Pod, pods, said
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

COUNT = 500
FAMILY = "kubernetes-1.35"
SOURCE = Path(__file__).resolve().parent / "cgroups" / "main.go"


@pytest.fixture(scope="module", name="program")
def _program() -> Path:
    return go_sources.obtain(Cache(cache_root()), "cgroup-names", FAMILY, (SOURCE,))


def answers(program: Path, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    text = "".join(json.dumps(each) + "\n" for each in questions)
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(questions)
    return found


@pytest.fixture(scope="module", name="judged")
def _judged(program: Path) -> list[tuple[Pod, dict[str, Any]]]:
    made = list(pods(COUNT))
    return list(zip(made, answers(program, [each.question for each in made]), strict=True))


def test_every_name_is_that_of_kubelet_and_runc(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    wrong = []
    for pod, right in judged:
        ours = said(pod)
        if right["Error"] and ours is not None:
            wrong.append(f"{pod}: no cgroup can be made ({right['Error']}), and we say {ours}")
        elif ours is not None and ours != {key: right[key] for key in ours}:
            wrong.append(f"{pod}: {right}, and we say {ours}")
    assert not wrong, "\n".join(wrong)


def is_usual(pod: Pod) -> bool:
    """Of a root of plain parts, and a UID of the API."""
    plain = re.fullmatch(r"/?[a-z_-]+(?:/[a-z_-]+)*|/|", pod.root)
    return plain is not None and re.fullmatch("[0-9a-f-]{32,}", pod.uid) is not None


def test_what_is_refused_is_what_nobody_should_have(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    """We name errors where kubelet goes on: never for a root of plain parts and a UID of the API."""
    usual = [pod for pod, _right in judged if is_usual(pod)]
    assert len(usual) > COUNT * 3 // 4
    assert [pod for pod in usual if said(pod) is None] == []


def tree_of(pod: Pod) -> KubeletTree:
    """_ stands for a dash in the name of a slice, so that the systemd driver does not tell them apart in a root."""
    root = "/" + pod.root.strip("/")
    return KubeletTree(pod.driver, root.replace("_", "-") if pod.driver is Driver.SYSTEMD else root)


def test_what_kubelet_and_runc_make_is_recognized_part_by_part(judged: list[tuple[Pod, dict[str, Any]]]) -> None:
    for pod, right in judged:
        if not is_usual(pod):
            continue
        prefix, folder = PREFIXES[pod.runtime]
        start = f"{prefix}-" if pod.driver is Driver.SYSTEMD else folder
        found = container_paths.KubeletCgroup(tree_of(pod), "", pod.qos, pod.uid, start, pod.container)
        assert container_paths.classify("/" + right["Container"]) == found
        assert container_paths.classify(right["Pod"]) == container_paths.KubeletCgroup(
            tree_of(pod), "", pod.qos, pod.uid
        )


def mask(*numbers: int) -> str:
    """Go's JSON has bytes in base64."""
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
"""Files of cgroup v2 with what each says, and the value of its unit property."""


@pytest.mark.parametrize("file", FILES)
def test_the_unit_property_of_a_knob_is_runcs(program: Path, file: str) -> None:
    text, value = FILES[file]
    pod = next(pods(1)).question
    (found,) = answers(program, [{**pod, "Files": {file: text}}])
    (right,) = found["Properties"]
    (knob,) = [each for each in KNOBS.values() if each.v2 and [known.name for known in each.v2.files] == [file]]
    assert knob.unit_property is not None
    assert ((right["Name"],), right["Signature"]) == (knob.unit_property.names, knob.unit_property.signature)
    assert right["Value"] == value
