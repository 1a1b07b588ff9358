# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a container's cgroup path shows the driver that created it."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_tree import interpret_pods
from ansible_collections.volcano.colocation.tests.support.node.cgroup_paths import (
    CGROUPFS,
    DECISIVE,
    FOREIGN,
    MISPLACED,
    SYSTEMD,
)

SHAPES = [
    *((path, "systemd") for path in SYSTEMD.values()),
    *((path, "cgroupfs") for path in CGROUPFS.values()),
    *((path, "neither") for path in MISPLACED.values()),
    *((path, "") for path in FOREIGN.values()),
]


@pytest.mark.parametrize(("path", "driver"), SHAPES)
def test_the_shape_of_a_path_is_counted_for_its_driver(path: str, driver: str) -> None:
    pods, claims = interpret_pods({f"0::{path}\n": 1}, {})
    counted = {
        "systemd": pods.systemd_paths,
        "cgroupfs": pods.cgroupfs_paths,
        "neither": len(pods.misplaced_paths),
    }
    assert counted == {key: int(key == driver) for key in counted}
    assert [claim.value for claim in claims] == ([driver] if driver else [])


@pytest.mark.parametrize(("text", "path"), DECISIVE.values(), ids=DECISIVE)
def test_the_line_that_decides(text: str, path: str) -> None:
    """Each path is moved to kubelet's tree, where it is misplaced, so that the report names the decisive one."""
    pods, _claims = interpret_pods({text.replace(":/", ":/kubepods/"): 1}, {})
    assert pods.misplaced_paths == ((f"/kubepods{path}",) if path else ())


def test_only_what_runs_is_counted() -> None:
    cri = {"sandboxes": [{"ready": True}, {"ready": False}], "containers": [{"running": True}, {"running": False}]}
    pods, claims = interpret_pods({}, cri)
    assert (pods.sandboxes, pods.containers) == (1, 1)
    assert claims == []
