# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's process, recorded on two lab nodes whose kernel could not store the capability of /vc-agent.

``agent_processes`` has files of /proc/PID of Volcano's agent 1.15.1 (26 November 2026); in ``environ``, newlines
replace null bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.agent.agent_process import (
    AgentProcess,
    find_process,
    problem,
)
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host

RECORDED = Path(__file__).parents[2] / "fixtures" / "agent_processes"
CONTAINERS = {
    "v1-cgroupfs": "8cf1ddadce784142e6f683cc7ab71769ef9433379bf28a8bacc36b318af3f1e2",
    "v2-systemd": "db7276464056905e0aae8f3f3dc018b99875b5ef9cb8c75994cbae65104a60f9",
}
CGROUPS = {"v1-cgroupfs": "kubepods", "v2-systemd": "kubepods.slice"}
IN_CONTAINER = {"v1-cgroupfs": "host/sys/fs/cgroup/cpu/kubepods", "v2-systemd": "host/sys/fs/cgroup/kubepods.slice"}
PID = "825"


@pytest.fixture(name="kind", params=sorted(CONTAINERS))
def _kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(name="node")
def _node(kind: str, tmp_path: Path) -> Host:
    """A node with the agent, a process of the same name in no container, and the sandbox of the agent's pod."""
    directory = tmp_path / "proc" / PID
    directory.mkdir(parents=True)
    for path in (RECORDED / kind).iterdir():
        text = path.read_text()
        (directory / path.name).write_text(text.replace("\n", "\0") if path.name == "environ" else text)
    (directory / "root" / IN_CONTAINER[kind]).mkdir(parents=True)
    for pid, comm in (("7", "vc-agent\n"), ("8", "pause\n")):
        (tmp_path / "proc" / pid).mkdir()
        (tmp_path / "proc" / pid / "comm").write_text(comm)
        (tmp_path / "proc" / pid / "cgroup").write_text("0::/user.slice\n")
    return Host.below(str(tmp_path))


def test_the_recorded_process_is_found_by_its_container(kind: str, node: Host) -> None:
    process = find_process(node, CONTAINERS[kind])
    assert process == AgentProcess(int(PID), 1000, 0, "/host/sys/fs")
    assert find_process(node, "0" * 64) is None


def test_without_the_capability_it_cannot_write(kind: str, node: Host) -> None:
    process = find_process(node, CONTAINERS[kind])
    reason = problem(node, process, CGROUPS[kind], writes=True)
    assert reason.startswith("the agent runs as user 1000 without the capability DAC_OVERRIDE")
    assert "cap_dac_override=eip" in reason
    assert problem(node, process, CGROUPS[kind], writes=False) == ""


@pytest.mark.parametrize("change", [{"capabilities": 2}, {"user": 0}])
def test_with_the_capability_or_as_root_it_can(kind: str, node: Host, change: dict[str, Any]) -> None:
    process = find_process(node, CONTAINERS[kind])
    assert process is not None
    assert problem(node, replace(process, **change), CGROUPS[kind], writes=True) == ""


def test_a_cgroup_that_is_not_in_its_container(kind: str, node: Host) -> None:
    process = find_process(node, CONTAINERS[kind])
    other = "kubepods.slice" if kind == "v1-cgroupfs" else "kubepods"
    reason = problem(node, process, other, writes=False)
    assert reason.startswith(f"the agent does not see the cgroup {other} in /host/sys/fs/cgroup of its container")


def test_a_process_that_has_ended(node: Host) -> None:
    assert "was not found" in problem(node, None, "kubepods", writes=True)


def test_an_environment_that_may_not_be_read(kind: str, node: Host, tmp_path: Path) -> None:
    (tmp_path / "proc" / PID / "environ").unlink()
    assert find_process(node, CONTAINERS[kind]) is None
