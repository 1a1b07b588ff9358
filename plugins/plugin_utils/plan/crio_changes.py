# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a CRI-O and the profile, written into one drop-in of our own, and how CRI-O validates that."""

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
"""CRI-O applies its drop-ins by name, the last one wins (crio.conf.d(5)): behind 10-crio.conf, 99-nvidia.conf, …"""
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
    """A setting that the profile asks for. ``default`` is None where it depends on a version that is not known."""

    keys: tuple[str, ...]
    flag: str
    wanted: Any
    default: Any
    needs: frozenset[Impact]


@dataclass(frozen=True)
class EffectiveValue:
    """What the files come to, and which of them says so; None is the default's."""

    value: Any
    path: str | None


def desired_settings(facts: NodeFacts, profile: Profile) -> Iterator[CrioSetting]:
    """All settings of CRI-O that the profile is about, whether they differ or not."""
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


def _monitor(facts: RuntimeFacts, found: DriverFacts, driver: Driver) -> str | None:
    """What ``conmon_cgroup`` has to become; None when what the files say, or do not say, suits the driver.

    It is deprecated, but a handler's ``monitor_cgroup`` in a drop-in would take the place of the handler's whole table.
    """
    said = list(crio_runtime.monitor_settings(facts.layers))
    silent = not said and found.live is not driver
    if all(crio_runtime.monitor_suits(word.value, driver.value, facts.version) for word in said) and not (
        silent
        and not crio_runtime.default_monitor_suits(facts.layers, driver.value, facts.version, facts.default_handler)
    ):
        return None
    return "pod" if driver is Driver.CGROUPFS else "system.slice"


def effective_value(facts: RuntimeFacts, setting: CrioSetting) -> EffectiveValue:
    """The value that CRI-O reads from its files, or its default."""
    said = setting_values(facts.layers, setting.keys)
    return EffectiveValue(*said[0]) if said else EffectiveValue(setting.default, None)


def command_line_value(facts: RuntimeFacts, setting: CrioSetting) -> bool | str | None:
    """What CRI-O is started with, which goes over every file; None when it is not spoken of."""
    if isinstance(setting.wanted, bool):
        return boolean_flag(facts.command_line, setting.flag)
    return command_line_option(facts.command_line, setting.flag)


def is_same(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and bool(found == wanted)


def to_printed(value: object) -> str:
    """A value as CRI-O's command line and its printed configuration have it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def drop_in(facts: RuntimeFacts) -> str:
    """The path of our drop-in."""
    return f"{facts.crio.directory if facts.crio else ''}/{DROP_IN}"


def _edits(facts: NodeFacts, profile: Profile) -> Iterator[Change]:
    runtime = facts.runtime
    for setting in desired_settings(facts, profile):
        found = effective_value(runtime, setting).value
        # A flag with another word is refused; with the wanted one, no file has a say.
        if command_line_value(runtime, setting) is None and not is_same(found, setting.wanted):
            yield Change(
                TARGET,
                setting.keys[-1],
                found,
                setting.wanted,
                "differs from the profile",
                setting.needs,
                drop_in(runtime),
                setting.keys,
            )


def _process(before: str, after: str, reason: str, needs: frozenset[Impact]) -> Change:
    return Change(TARGET, "process", before, after, reason, needs)


def _restarts(facts: NodeFacts, profile: Profile, edited: set[tuple[str, ...]]) -> Iterator[Change]:
    """What the files say already and the running CRI-O does not do."""
    driver, running = profile.cgroup_driver, facts.driver.live
    if driver and MANAGER not in edited and running not in (driver, None):
        reason = f"CRI-O runs with {running.value}, its files say {driver.value}"
        yield _process(running.value, driver.value, reason, DISRUPTIVE)
    wanted, nri = profile.nri.enabled, facts.runtime.nri
    if facts.runtime.running and wanted is nri.configured and wanted is not nri.running:
        state = {True: "on", False: "off"}
        reason = f"NRI is {state[wanted]} in the files and {state[nri.running]} in the running CRI-O"
        yield _process(state[nri.running], state[wanted], reason, RESTART)


def _changed_since_start(facts: NodeFacts, profile: Profile) -> Iterator[Change]:
    """Before RuntimeConfig (1.28) nothing tells the driver in force, and NRI's paths and timeouts are never told."""
    changed = [each.path for each in facts.runtime.layers if each.changed_after_start]
    untold = profile.cgroup_driver is not None and facts.driver.live is None
    silent = profile.nri.enabled is not None and profile.nri.settings
    if facts.runtime.running and changed and (untold or silent):
        reason = f"{', '.join(changed)} changed after CRI-O started; what runs may differ"
        yield _process("older than its files", "restarted", reason, DISRUPTIVE if untold else RESTART)


def crio_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of our drop-in, or the restart that an earlier edit still lacks."""
    edits = tuple(_edits(facts, profile))
    found = (*edits, *_restarts(facts, profile, {each.keys for each in edits}))
    return found or tuple(_changed_since_start(facts, profile))


def crio_nri_unsupported(facts: RuntimeFacts, profile: Profile) -> Unsupported | None:
    """NRI asked of a CRI-O that has none."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Unsupported("nri", f"CRI-O {facts.version} has no NRI; it came with 1.26")


def connections_refused_by(facts: RuntimeFacts) -> str | None:
    """The file that keeps plugins of their own process away from NRI; None when none does."""
    said = setting_values(facts.layers, CONNECTIONS)
    return said[0][1] if said and said[0][0] is True else None


def crio_validation(facts: RuntimeFacts, changes: Iterable[Change]) -> dict[str, Any]:
    """CRI-O reads our drop-in alone, over its defaults (cri-o internal/criocli/config.go; nothing is executed).

    Other files are left out: they may need each other, and who wins among them has been decided from their texts.
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
    """A value that is CRI-O's default is printed as a comment (pkg/config/template.go), a timeout in Go's spelling."""
    key = change.keys[-1]
    known = parse_release(facts.version)
    defaults: dict[str, Any] = {name: default for name, _flag, default in NRI_KEYS.values()}
    defaults["enable_nri"] = known is not None and known >= NRI_ON_SINCE
    defaults.update({MANAGER[-1]: "systemd", crio_runtime.MONITOR_KEY[-1]: "system.slice"})
    return change.after != defaults[key] and not key.endswith("_timeout")
