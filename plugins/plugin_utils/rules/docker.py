# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker: settings that it does not start with, and changes that its owner must make by hand.

docker.socket and cri-dockerd start dockerd again as soon as it is stopped, dockershim has no CRI to stop pods, and
neither reports a container's cgroup: a transaction could not verify its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.container_runtime import DRIVER_OPTION, exec_options
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from .config_files import unsafe_file
from .rule_types import DefectFinding, Effect, RefusalRule, Severity

DOCKER_DEFECTS: Mapping[str, DefectFinding] = {
    "docker-exec-opts-twice": (
        Severity.ERROR,
        Effect.LATENT,
        "dockerd gets exec-opts from two places and will not start.",
        "Keep exec-opts in one place: daemon.json or the unit.",
    ),
}
BY_HAND = "This release does not change docker"


RESTART = "Then drain the node and restart docker; without live-restore the restart ends every container."


def _refuse_docker(draft: PlanDraft) -> Iterator[Refusal]:
    driver = draft.profile.cgroup_driver
    if driver and draft.facts.driver.runtime is not driver:
        yield from _driver_by_hand(draft.facts, driver)
        return
    driver_now = draft.facts.driver.runtime
    state = f"native.cgroupdriver is {driver_now.value}" if driver_now else "native.cgroupdriver is unknown"
    yield Refusal(
        "runtime-unsupported",
        f"kubelet uses docker at {draft.runtime.endpoint} ({state}); this release cannot stop its pods"
        " and verify a change",
        f"{BY_HAND}; kubelet_config writes kubelet's own file and leaves the restart to you.",
    )


def _driver_by_hand(facts: NodeFacts, driver: Driver) -> Iterator[Refusal]:
    desired = f"{DRIVER_OPTION}={driver.value}"
    words = exec_options(facts.runtime.command_line)
    if words:
        yield Refusal(
            "runtime-unsupported",
            f"dockerd is started with --exec-opt {' '.join(words)}; with exec-opts in the file too it would not start",
            f"{BY_HAND}: set --exec-opt {desired} in docker.service's ExecStart, not in daemon.json. {RESTART}",
            file=facts.runtime.config.path,
        )
        return
    if facts.runtime.config.problem:
        yield from unsafe_file(facts.runtime.config)
        return
    current = facts.runtime.config.values.get("exec-opts")
    options = current if isinstance(current, list) else []
    other_options = [option for option in options if not str(option).startswith(DRIVER_OPTION + "=")]
    state = "has no exec-opts" if current is None else f'has "exec-opts": {json.dumps(current)}'
    yield Refusal(
        "runtime-unsupported",
        f"kubelet uses docker at {facts.runtime.endpoint}, and this file {state}",
        f'{BY_HAND}: set "exec-opts": {json.dumps([*other_options, desired])} in it. {RESTART}',
        file=facts.runtime.config.path,
    )


DOCKER_REFUSALS: tuple[RefusalRule, ...] = (_refuse_docker,)
