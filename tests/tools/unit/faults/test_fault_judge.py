# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node has ended as before, or as planned, or it is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.faults.fault import End
from ansible_collections.volcano.colocation.tests.faults.judge import is_stable, not_aligned, reached

from .fault_pictures import BEFORE, CHECKPOINT, COMMITTED, KUBELET, SYSTEMD

UNIT = "/etc/systemd/system/volcano-colocation-recover.service"
CLASH = "/system.slice/kubepods-pod1.slice:cri-containerd:ID"
EITHER = (End.BEFORE, End.COMMITTED)


def test_a_node_as_before_or_as_planned_is_kept() -> None:
    assert reached(BEFORE, BEFORE, EITHER) == (End.BEFORE, ())
    assert reached(BEFORE, COMMITTED, EITHER) == (End.COMMITTED, ())


def test_only_an_allowed_end_counts() -> None:
    assert reached(BEFORE, COMMITTED, (End.BEFORE,))[0] is None
    assert reached(BEFORE, BEFORE, (End.COMMITTED,))[0] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"files": {**BEFORE.files, KUBELET: "-rw-r--r-- 0:7 bb"}},
            f"{KUBELET}: -rw------- 0:7 bb -> -rw-r--r-- 0:7 bb",
        ),
        (
            {"files": {**BEFORE.files, KUBELET: "-rw------- 0:0 bb"}},
            f"{KUBELET}: -rw------- 0:7 bb -> -rw------- 0:0 bb",
        ),
        ({"files": {**BEFORE.files, "/etc/new": "-rw-r--r-- 0:0 11"}}, "/etc/new: absent -> -rw-r--r-- 0:0 11"),
        (
            {"files": {**BEFORE.files, CHECKPOINT: "-rw------- 0:0 xx"}},
            f"{CHECKPOINT}: -rw------- 0:0 cc -> -rw------- 0:0 xx",
        ),
        (
            {"units": {"kubelet.service": "ActiveState=failed"}},
            "kubelet.service: ActiveState=active -> ActiveState=failed",
        ),
        ({"pods": BEFORE.pods[:1]}, f"pods: {BEFORE.pods[0]}, {BEFORE.pods[1]} -> {BEFORE.pods[0]}"),
        ({"pods": ()}, f"pods: {BEFORE.pods[0]}, {BEFORE.pods[1]} -> none"),
        ({"managed": (UNIT,)}, f"left behind: {UNIT}"),
        ({"unfinished": ("20261121T013455-1a2b3c4d",)}, "unfinished: 20261121T013455-1a2b3c4d"),
    ],
)
def test_whatever_is_not_as_before_is_named(change: dict[str, Any], message: str) -> None:
    assert reached(BEFORE, replace(BEFORE, **change), (End.BEFORE,)) == (None, (message,))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"files": {**COMMITTED.files, KUBELET: "-rw------- 0:7 bb"}},
            f"{KUBELET}: -rw------- 0:7 dd -> -rw------- 0:7 bb",
        ),
        (
            {"files": {**COMMITTED.files, "/etc/hosts": "-rw-r--r-- 0:0 ab"}},
            "/etc/hosts: -rw-r--r-- 0:0 aa -> -rw-r--r-- 0:0 ab",
        ),
        (
            {"files": {**COMMITTED.files, KUBELET: "-rw-r--r-- 0:7 dd"}},
            f"{KUBELET}: -rw------- 0:7 dd -> -rw-r--r-- 0:7 dd",
        ),
        ({"checkpoints": {**COMMITTED.checkpoints, "cpu_manager_state": "none"}}, "cpu_manager_state: static -> none"),
        ({"pods": (SYSTEMD, CLASH)}, f"pods: {CLASH} is not in systemd's shape"),
        ({"pods": (SYSTEMD,)}, "pods: 2 containers -> 1"),
    ],
)
def test_whatever_is_not_as_planned_is_named(change: dict[str, Any], message: str) -> None:
    assert reached(BEFORE, replace(COMMITTED, **change), (End.COMMITTED,)) == (None, (message,))


def test_a_node_between_the_two_is_neither() -> None:
    between = replace(BEFORE, files=COMMITTED.files)
    assert reached(BEFORE, between, EITHER)[0] is None


def test_a_file_that_was_planned_to_go_is_gone() -> None:
    files = {path: what for path, what in COMMITTED.files.items() if path != "/etc/hosts"}
    after = replace(COMMITTED, files=files, planned={**COMMITTED.planned, "/etc/hosts": None})
    assert reached(BEFORE, after, EITHER) == (End.COMMITTED, ())


def test_aligned_is_what_the_kernel_says() -> None:
    assert not_aligned(BEFORE, COMMITTED) == ()
    assert not_aligned(BEFORE, replace(COMMITTED, pods=BEFORE.pods)) != ()


def test_a_node_is_stable_when_no_work_of_the_collection_remains() -> None:
    assert is_stable(BEFORE, COMMITTED)
    assert not is_stable(BEFORE, replace(BEFORE, managed=("volcano-colocation-1.service",)))
    assert not is_stable(BEFORE, replace(BEFORE, unfinished=("1",)))
    assert not is_stable(BEFORE, replace(BEFORE, pods=BEFORE.pods[:1]))
    assert not is_stable(BEFORE, replace(BEFORE, units={}))
