# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a containerd and the profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..containerd_schema import DEFAULT_RUNTIME_TYPE, NRI_TABLE, SCHEMAS
from ..facts.config import nested
from ..facts.model import Driver, Handler, NodeFacts, RuntimeFacts
from ..profile import Profile
from .model import Change, Need, Skip

RESTART = frozenset({Need.RESTART_RUNTIME})
DISRUPTIVE = RESTART | {Need.DRAIN}


def _change(facts: RuntimeFacts, keys: tuple[str, ...], wanted: Any, needs: frozenset[Need]) -> Change | None:
    found = nested(facts.config.values, keys)
    if found == wanted and type(found) is type(wanted):
        return None
    return Change(
        "containerd", ".".join(keys[-3:]), found, wanted, "differs from the profile", needs, facts.config.path, keys
    )


def _handler_edits(facts: RuntimeFacts, handler: Handler, driver: Driver) -> Iterator[Change | None]:
    if handler.configured is driver:
        return
    table = (*SCHEMAS[facts.config_version or 2].runtimes, handler.name)
    if not handler.declared:
        # A declared table replaces the built-in one whole, its type included.
        yield _change(facts, (*table, "runtime_type"), DEFAULT_RUNTIME_TYPE, RESTART)
    yield _change(facts, (*table, "options", "SystemdCgroup"), driver is Driver.SYSTEMD, DISRUPTIVE)


def _driver_changes(facts: RuntimeFacts, driver: Driver | None) -> Iterator[Change | None]:
    if driver is None:
        return
    for handler in facts.handlers:
        yield from _handler_edits(facts, handler, driver)
        if handler.configured is driver and handler.running not in (driver, None):
            reason = f"handler {handler.name} runs with {handler.running.value}, its file says {driver.value}"
            yield Change("containerd", "process", handler.running.value, driver.value, reason, DISRUPTIVE)


def _nri_changes(facts: RuntimeFacts, profile: Profile) -> Iterator[Change | None]:
    wanted = profile.nri
    if wanted.enabled is None:
        return
    # Of an image no version is known, hence no default: the key is written whatever the default may be.
    if wanted.enabled is not facts.nri.configured or facts.nri.supported is None:
        yield _change(facts, (*NRI_TABLE, "disable"), not wanted.enabled, RESTART)
    for key, value in wanted.settings.items():
        yield _change(facts, (*NRI_TABLE, key), value, RESTART)
    if facts.running and wanted.enabled is facts.nri.configured and wanted.enabled is not facts.nri.running:
        state = {True: "on", False: "off"}
        reason = f"NRI is {state[wanted.enabled]} in the file and {state[facts.nri.running]} in the running containerd"
        yield Change("containerd", "process", state[facts.nri.running], state[wanted.enabled], reason, RESTART)


def nri_skip(facts: RuntimeFacts, profile: Profile) -> Skip | None:
    """NRI asked of a containerd that has none."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Skip("nri", f"containerd {facts.version} has no NRI; it came with 1.7")


def runtime_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of containerd's file, or the restart that an earlier edit still lacks."""
    runtime = facts.runtime
    found = list(_driver_changes(runtime, profile.cgroup_driver))
    if runtime.nri.supported is not False:
        found += _nri_changes(runtime, profile)
    changes = tuple(change for change in found if change is not None)
    # The CRI and the NRI socket tell what runs; only NRI's paths and timeouts have nothing but the file.
    if not changes and profile.nri.settings and runtime.running and runtime.config.changed_after_start:
        reason = f"{runtime.config.path} changed after containerd started; what runs may differ"
        return (Change("containerd", "process", "older than its file", "restarted", reason, RESTART),)
    return changes
