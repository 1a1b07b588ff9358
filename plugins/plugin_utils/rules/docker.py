# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker: what it does not start with, and what its owner has to do by hand.

docker.socket and cri-dockerd start dockerd again as soon as it is stopped, dockershim has no CRI to stop pods over, and
neither tells a container's cgroup: a transaction could prove nothing here.
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
        "dockerd is given exec-opts twice and will not start.",
        "Keep them in one place: daemon.json or the unit.",
    ),
}
BY_HAND = "This release does not change docker"


RESTART = "Then drain the node and restart docker; without live-restore that ends every container."


def _refuse_docker(draft: PlanDraft) -> Iterator[Refusal]:
    driver = draft.profile.cgroup_driver
    if driver and draft.facts.driver.runtime is not driver:
        yield from _driver_by_hand(draft.facts, driver)
        return
    found = draft.facts.driver.runtime
    seen = f"native.cgroupdriver is {found.value}" if found else "as it is"
    yield Refusal(
        "runtime-unsupported",
        f"kubelet uses docker at {draft.runtime.endpoint} ({seen}), whose pods this release cannot stop and prove",
        f"{BY_HAND}; kubelet_config writes kubelet's own file and leaves the restart to you.",
    )


def _driver_by_hand(facts: NodeFacts, driver: Driver) -> Iterator[Refusal]:
    wanted = f"{DRIVER_OPTION}={driver.value}"
    words = exec_options(facts.runtime.command_line)
    if words:
        yield Refusal(
            "runtime-unsupported",
            f"dockerd is started with --exec-opt {' '.join(words)}; with exec-opts in the file too it would not start",
            f"{BY_HAND}: set --exec-opt {wanted} in docker.service's ExecStart, not in daemon.json. {RESTART}",
            file=facts.runtime.config.path,
        )
        return
    if facts.runtime.config.problem:
        yield from unsafe_file(facts.runtime.config)
        return
    found = facts.runtime.config.values.get("exec-opts")
    kept = [each for each in found if not str(each).startswith(DRIVER_OPTION + "=")] if isinstance(found, list) else []
    state = "has no exec-opts" if found is None else f'has "exec-opts": {json.dumps(found)}'
    yield Refusal(
        "runtime-unsupported",
        f"kubelet uses docker at {facts.runtime.endpoint}, and this file {state}",
        f'{BY_HAND}: set "exec-opts": {json.dumps([*kept, wanted])} in it. {RESTART}',
        file=facts.runtime.config.path,
    )


DOCKER_REFUSALS: tuple[RefusalRule, ...] = (_refuse_docker,)
