# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of CRI-O for a profile, all in the collection's own drop-in, and their validation by CRI-O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.process_evidence import command_line_option
from ..facts import crio_runtime
from ..facts.crio_runtime import (
    DEFAULT_NRI_SOCKET,
    MANAGER,
    MANAGER_FLAG,
    NRI_FLAG,
    NRI_ON_SINCE,
    NRI_SOCKET_FLAG,
    boolean_flag,
    setting_values,
)
from ..facts.node_state import DriverFacts, NodeFacts
from ..facts.runtime_state import RuntimeFacts
from ..profile.node_profile import Profile
from ..releases.containerd_schema import parse_release
from .change_set import Change, Impact, Unsupported

TARGET = "cri-o"
DROP_IN = "99-volcano-colocation.conf"
"""CRI-O reads its drop-ins by name, the last one wins (crio.conf.d(5)): after 10-crio.conf, 99-nvidia.conf, …"""
HEADER = "# Kept by the Ansible collection volcano.colocation. A file that sorts behind this one wins over it.\n"

RESTART = frozenset({Impact.RESTART_RUNTIME})
DISRUPTIVE = RESTART | {Impact.DRAIN}

NRI = ("crio", "nri")
NRI_KEYS = {
    "socket_path": ("nri_listen", NRI_SOCKET_FLAG, DEFAULT_NRI_SOCKET),
    "plugin_path": ("nri_plugin_dir", "--nri-plugin-dir", "/opt/nri/plugins"),
    "plugin_config_path": ("nri_plugin_config_dir", "--nri-plugin-config-dir", "/etc/nri/conf.d"),
    "plugin_registration_timeout": ("nri_plugin_registration_timeout", "--nri-plugin-registration-timeout", "5s"),
    "plugin_request_timeout": ("nri_plugin_request_timeout", "--nri-plugin-request-timeout", "2s"),
}
"""By the profile's name: CRI-O's key, its flag, and its default."""
CONNECTIONS = (*NRI, "nri_disable_connections")


@dataclass(frozen=True)
class CrioSetting:
    """A setting that the profile sets. ``default`` is None if it depends on an unknown version."""

    keys: tuple[str, ...]
    flag: str
    desired: Any
    default: Any
    needs: frozenset[Impact]


@dataclass(frozen=True)
class EffectiveValue:
    """The effective value of the files, and the file that sets it; None for the default."""

    value: Any
    path: str | None


def desired_settings(facts: NodeFacts, profile: Profile) -> Iterator[CrioSetting]:
    """All settings of CRI-O that the profile sets, whether they differ or not."""
    driver, runtime = profile.cgroup_driver, facts.runtime
    if driver:
        yield CrioSetting(MANAGER, MANAGER_FLAG, driver.value, Driver.SYSTEMD.value, DISRUPTIVE)
        monitor = _monitor(runtime, facts.driver, driver)
        if monitor:
            needs = RESTART if facts.driver.runtime is driver else DISRUPTIVE
            yield CrioSetting(crio_runtime.MONITOR_KEY, "--conmon-cgroup", monitor, "", needs)
    if profile.nri.enabled is None or runtime.nri.supported is False:
        return
    known = parse_release(runtime.version)
    on = None if known is None else known >= NRI_ON_SINCE
    yield CrioSetting((*NRI, "enable_nri"), NRI_FLAG, profile.nri.enabled, on, RESTART)
    for name, value in profile.nri.settings.items():
        key, flag, default = NRI_KEYS[name]
        yield CrioSetting((*NRI, key), flag, value, default, RESTART)


def _monitor(facts: RuntimeFacts, driver_facts: DriverFacts, driver: Driver) -> str | None:
    """The value that ``conmon_cgroup`` needs; None if the files, or the defaults, already suit the driver.

    It is deprecated, but a handler's ``monitor_cgroup`` in a drop-in would replace the handler's whole table.
    """
    words = list(crio_runtime.monitor_settings(facts.layers))
    undecided = not words and driver_facts.live is not driver
    if all(crio_runtime.monitor_suits(word.value, driver.value, facts.version) for word in words) and not (
        undecided
        and not crio_runtime.default_monitor_suits(facts.layers, driver.value, facts.version, facts.default_handler)
    ):
        return None
    return "pod" if driver is Driver.CGROUPFS else "system.slice"


def effective_value(facts: RuntimeFacts, setting: CrioSetting) -> EffectiveValue:
    """The value that CRI-O reads from its files, or its default."""
    entries = setting_values(facts.layers, setting.keys)
    return EffectiveValue(*entries[0]) if entries else EffectiveValue(setting.default, None)


def command_line_value(facts: RuntimeFacts, setting: CrioSetting) -> bool | str | None:
    """The value on CRI-O's command line, which overrides every file; None if it is not set."""
    if isinstance(setting.desired, bool):
        return boolean_flag(facts.command_line, setting.flag)
    return command_line_option(facts.command_line, setting.flag)


def is_same(current: Any, desired: Any) -> bool:
    return type(current) is type(desired) and bool(current == desired)


def to_printed(value: object) -> str:
    """A value in the form of CRI-O's command line and printed configuration, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def drop_in(facts: RuntimeFacts) -> str:
    """The path of the collection's drop-in."""
    return f"{facts.crio.directory if facts.crio else ''}/{DROP_IN}"


def _edits(facts: NodeFacts, profile: Profile) -> Iterator[Change]:
    runtime = facts.runtime
    for setting in desired_settings(facts, profile):
        current = effective_value(runtime, setting).value
        # A flag with another value is refused; a flag with the desired value overrides the files.
        if command_line_value(runtime, setting) is None and not is_same(current, setting.desired):
            yield Change(
                TARGET,
                setting.keys[-1],
                current,
                setting.desired,
                "differs from the profile",
                setting.needs,
                drop_in(runtime),
                setting.keys,
            )


def _process(before: str, after: str, reason: str, needs: frozenset[Impact]) -> Change:
    return Change(TARGET, "process", before, after, reason, needs)


def _restarts(facts: NodeFacts, profile: Profile, edited: set[tuple[str, ...]]) -> Iterator[Change]:
    """Restarts for settings that the files have and the running CRI-O has not."""
    driver, running = profile.cgroup_driver, facts.driver.live
    if driver and MANAGER not in edited and running not in (driver, None):
        reason = f"CRI-O runs with {running.value}, its files say {driver.value}"
        yield _process(running.value, driver.value, reason, DISRUPTIVE)
    desired, nri = profile.nri.enabled, facts.runtime.nri
    if facts.runtime.running and desired is nri.configured and desired is not nri.running:
        state = {True: "on", False: "off"}
        reason = f"NRI is {state[desired]} in the files and {state[nri.running]} in the running CRI-O"
        yield _process(state[nri.running], state[desired], reason, RESTART)


def _changed_since_start(facts: NodeFacts, profile: Profile) -> Iterator[Change]:
    """CRI-O reports its driver only since 1.28 (RuntimeConfig), and never reports NRI's paths and timeouts."""
    changed = [config.path for config in facts.runtime.layers if config.changed_after_start]
    driver_unknown = profile.cgroup_driver is not None and facts.driver.live is None
    sets_nri = profile.nri.enabled is not None and profile.nri.settings
    if facts.runtime.running and changed and (driver_unknown or sets_nri):
        reason = f"{', '.join(changed)} changed after CRI-O started; what runs may differ"
        yield _process("older than its files", "restarted", reason, DISRUPTIVE if driver_unknown else RESTART)


def crio_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of the drop-in, or the restart that an earlier edit still requires."""
    edits = tuple(_edits(facts, profile))
    changes = (*edits, *_restarts(facts, profile, {change.keys for change in edits}))
    return changes or tuple(_changed_since_start(facts, profile))


def crio_nri_unsupported(facts: RuntimeFacts, profile: Profile) -> Unsupported | None:
    """The requested NRI if this CRI-O does not support it."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Unsupported("nri", f"CRI-O {facts.version} has no NRI; it was added in 1.26")


def connections_refused_by(facts: RuntimeFacts) -> str | None:
    """The file that disables connections of external NRI plugins; None if no file does."""
    entries = setting_values(facts.layers, CONNECTIONS)
    return entries[0][1] if entries and entries[0][0] is True else None


def crio_validation(facts: RuntimeFacts, changes: Iterable[Change]) -> dict[str, Any]:
    """CRI-O reads the drop-in alone, over its defaults (cri-o internal/criocli/config.go; nothing is executed).

    Other files are omitted: they may depend on each other, and their precedence is already evaluated from their texts.
    """
    path = drop_in(facts)
    visible = [change for change in changes if change.path == path and _is_printed(facts, change)]
    expect = [
        {"table": list(change.keys[:-1]), "key": change.keys[-1], "value": to_printed(change.after)}
        for change in visible
    ]
    argv = ["crio", "--config=", "--config-dir={folder}", "config"]
    return {"name": "crio config", "argv": argv, "file": path, "expect": expect}


def _is_printed(facts: RuntimeFacts, change: Change) -> bool:
    """Not a default, which CRI-O prints as a comment (pkg/config/template.go), nor a timeout, printed in Go's form."""
    key = change.keys[-1]
    known = parse_release(facts.version)
    defaults: dict[str, Any] = {name: default for name, _flag, default in NRI_KEYS.values()}
    defaults["enable_nri"] = known is not None and known >= NRI_ON_SINCE
    defaults.update({MANAGER[-1]: "systemd", crio_runtime.MONITOR_KEY[-1]: "system.slice"})
    return change.after != defaults[key] and not key.endswith("_timeout")
