# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What putting files back takes: which services start anew, and whether pods have to be made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.kubelet_layers import shown
from ..facts.kubelet_model import Setting
from ..facts.model import NodeFacts, RuntimeFacts
from ..kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, MEMORY_MANAGER_POLICY
from ..plan.edits import captured_files
from ..plan.kubelet_needs import DISRUPTIVE, RESTART, Keys, memory_policy, needs
from ..plan.model import Change, Need
from ..profile import Profile, with_fields

RUNTIME_RESTART = frozenset({Need.RESTART_RUNTIME})
RUNTIME_DISRUPTIVE = RUNTIME_RESTART | {Need.DRAIN}
REASON = "it was so before the collection"


def profile_of(after: NodeFacts) -> Profile:
    """What the node will have, as far as needs and checkpoints depend on it."""
    kubelet = after.kubelet
    return with_fields(
        Profile(),
        {
            CGROUP_DRIVER.option: agreed(after),
            CPU_MANAGER_POLICY.option: kubelet.cpu_manager_policy,
            MEMORY_MANAGER_POLICY.option: memory_policy(kubelet),
        },
    )


def agreed(facts: NodeFacts) -> Any:
    """The driver that both sides have; None where they differ, or one is unknown."""
    return facts.kubelet.cgroup_driver if facts.kubelet.cgroup_driver is facts.runtime.cgroup_driver else None


def settings_changes(before: NodeFacts, after: NodeFacts) -> tuple[Change, ...]:
    """kubelet's settings that will be others, with what each takes."""
    profile, kubelet = profile_of(after), before.kubelet
    found = list(_differing(kubelet.settings, after.kubelet.settings))
    driver = (CGROUP_DRIVER.key,)
    if kubelet.cgroup_driver is not after.kubelet.cgroup_driver and driver not in found:
        found.append(driver)
    return tuple(
        Change("kubelet", ".".join(keys), None, None, REASON, needs(keys, kubelet, profile), None, keys)
        for keys in found
    )


def kubelet_needs(snapshot: Mapping[str, Any], paths: set[str], changes: tuple[Change, ...]) -> frozenset[Need]:
    """What kubelet's files take together; what was not looked at may mean anything."""
    if paths - captured_files(snapshot).keys():
        return DISRUPTIVE
    return RESTART.union(*(change.needs for change in changes))


def runtime_needs(before: RuntimeFacts, after: RuntimeFacts) -> frozenset[Need]:
    """What the runtime's files take: another driver needs pods made again."""
    now = {each.name: each.running or each.configured for each in before.handlers}
    then = {each.name: each.configured for each in after.handlers}
    moved = any(now[name] is not then[name] for name in now.keys() & then.keys())
    running = before.running_cgroup_driver or before.cgroup_driver
    if not now:
        moved = after.cgroup_driver is None or running is not after.cgroup_driver
    return RUNTIME_DISRUPTIVE if moved else RUNTIME_RESTART


def _differing(now: Mapping[str, Setting], then: Mapping[str, Setting]) -> Iterator[Keys]:
    for key in sorted(now.keys() | then.keys()):
        one = now[key].value if key in now else None
        other = then[key].value if key in then else None
        if isinstance(one, Mapping) or isinstance(other, Mapping):
            first, second = _table(one), _table(other)
            names = first.keys() | second.keys()
            yield from ((key, name) for name in sorted(names) if shown(first.get(name)) != shown(second.get(name)))
        elif shown(one) != shown(other):
            yield (key,)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
