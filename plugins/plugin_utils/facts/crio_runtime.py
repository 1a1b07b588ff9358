# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of CRI-O: crio.conf(5), its drop-ins in lexical order, of which the last takes precedence; conmon's cgroup.

Keys and types: the structs of cri-o pkg/config/config.go and internal/config/nri/nri.go. Their decoder does not convert
types (BurntSushi/toml decode.go, unifyString, unifyBool, unifyStruct); a time is a string or whole nanoseconds.
Rules for conmon's cgroup: pkg/config/config.go, TranslateMonitorFieldsForHandler. CRI-O does not start if one is
broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.process_evidence import command_line_option
from ...module_utils.snapshot.runtime_files import CRIO_DROP_INS, MAX_CRIO_DROP_INS
from ..edit.document_changes import Path
from ..edit.readers import read_toml
from ..edit.toml_layout import key_line
from ..releases.containerd_schema import parse_release
from .config_file import ConfigFile, Problem, read_config, value_at
from .node_state import Claim
from .runtime_state import CrioFacts, Defect, NriFacts, RuntimeFacts, with_socket_state

ANY = "*"
TIME = (str, int)
TYPES: Mapping[str, Any] = {
    "crio": {
        "runtime": {
            "cgroup_manager": str,
            "conmon_cgroup": str,
            "default_runtime": str,
            "runtimes": {ANY: {"monitor_cgroup": str, "runtime_type": str}},
        },
        "nri": {
            "enable_nri": bool,
            "nri_disable_connections": bool,
            "nri_listen": str,
            "nri_plugin_config_dir": str,
            "nri_plugin_dir": str,
            "nri_plugin_registration_timeout": TIME,
            "nri_plugin_request_timeout": TIME,
        },
    }
}
NAMES = {str: "a string", bool: "true or false", TIME: "a time"}


def check_types(config: ConfigFile) -> ConfigFile:
    """The file; if CRI-O cannot decode it, with a problem and without values."""
    mismatch = next(_find_wrong_types(config.values, TYPES, ()), None)
    if mismatch is None:
        return config
    path, expected = mismatch
    message = f"{'.'.join(path)} is not {expected}; CRI-O does not start with it"
    line = key_line(config.text or "", path)
    return replace(
        config, values={}, problem=Problem(config.path, message, line, "Correct the value or delete the key")
    )


def _find_wrong_types(content: Any, types: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The path of each value of a wrong type, and the expected type."""
    if not isinstance(types, Mapping):
        if not _is_of_type(content, types):
            yield path, NAMES[types]
    elif not isinstance(content, Mapping):
        yield path, "a table"
    else:
        for key, value in content.items():
            expected = types.get(key, types.get(ANY))
            if expected is not None:
                yield from _find_wrong_types(value, expected, (*path, key))


def _is_of_type(value: Any, expected: Any) -> bool:
    # In TOML, true is not a number.
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))


MONITOR_KEY = ("crio", "runtime", "conmon_cgroup")
HANDLERS_KEY = ("crio", "runtime", "runtimes")
SYSTEM_SLICE_ACCEPTED_SINCE = (1, 33)
"""Since cri-o#8888 ``system.slice``, the default of the built-in handler, means not set with cgroupfs."""
MONITOR_PER_HANDLER_SINCE = (1, 25)
"""cri-o#5823 gave each handler a ``monitor_cgroup``; before, the default of ``conmon_cgroup`` was ``system.slice``."""


@dataclass(frozen=True)
class MonitorSetting:
    """A file's value for the monitor's cgroup, and the setting that has it."""

    setting: str
    value: str
    path: str


def crio_handlers(files: tuple[ConfigFile, ...]) -> dict[str, tuple[dict[str, Any], str]]:
    """{handler: (table, path)}. A handler's table in a later file replaces the whole earlier one.

    The decoder creates a new element for each key of a map (BurntSushi/toml decode.go, unifyMap).
    """
    handlers = {}
    for config in files:
        tables = value_at(config.values, HANDLERS_KEY)
        for name, table in tables.items() if isinstance(tables, dict) else ():
            if isinstance(table, dict):
                handlers[str(name)] = (table, config.path)
    return handlers


def monitor_settings(files: tuple[ConfigFile, ...]) -> Iterator[MonitorSetting]:
    """The effective settings: a ``conmon_cgroup`` that is not empty overrides ``monitor_cgroup`` of every handler."""
    for config in reversed(files):
        value = value_at(config.values, MONITOR_KEY)
        if value is not None:
            if value != "":
                yield MonitorSetting("conmon_cgroup", str(value), config.path)
                return
            break
    for name, (table, path) in crio_handlers(files).items():
        # Only conmon has a monitor's cgroup; runtimes of type vm and pod have none.
        if table.get("monitor_cgroup") and table.get("runtime_type", "") in ("", "oci"):
            yield MonitorSetting(f"monitor_cgroup of handler {name}", str(table["monitor_cgroup"]), path)


def monitor_suits(value: str, manager: object, version: str | None) -> bool:
    """Whether CRI-O starts with this monitor's cgroup; ``version`` is None if it is unknown."""
    if manager == Driver.CGROUPFS.value:
        known = parse_release(version)
        return value == "pod" or (
            value == "system.slice" and known is not None and known >= SYSTEM_SLICE_ACCEPTED_SINCE
        )
    return value == "pod" or value.endswith(".slice")


def default_monitor_suits(
    files: tuple[ConfigFile, ...], manager: object, version: str | None, default_handler: str | None
) -> bool:
    """Whether CRI-O starts without any setting: cgroupfs does not accept the built-in handler's ``system.slice``."""
    if manager != Driver.CGROUPFS.value:
        return True
    known = parse_release(version)
    if known is None or known < MONITOR_PER_HANDLER_SINCE:
        return False
    return known >= SYSTEM_SLICE_ACCEPTED_SINCE or default_handler in crio_handlers(files)


MANAGER = ("crio", "runtime", "cgroup_manager")
DEFAULT_NRI_SOCKET = "/var/run/nri/nri.sock"
MANAGER_FLAG = "--cgroup-manager"
NRI_SINCE, NRI_ON_SINCE = (1, 26), (1, 30)
"""cri-o has internal/config/nri/nri.go since 1.26; its New() has ``Enabled: true`` since 1.30."""
NRI_FLAG, NRI_SOCKET_FLAG = "--enable-nri", "--nri-listen"


def setting_values(files: tuple[ConfigFile, ...], keys: tuple[str, ...]) -> list[tuple[Any, str]]:
    """The value of a key in each file that sets it, the strongest first."""
    values = [(value_at(config.values, keys), config.path) for config in reversed(files)]
    return [(value, path) for value, path in values if value is not None]


def boolean_flag(argv: Sequence[str], flag: str) -> bool | None:
    """A boolean flag of the command line, ``--flag`` or ``--flag=false``; None if it is not set."""
    values = [word.partition("=")[2] for word in argv if word.partition("=")[0] == flag]
    return values[-1] != "false" if values else None


def interpret_crio(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]
) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a CRI-O, and the claims about its driver, the strongest first."""
    section, cri = evidence.get("crio") or {"processes": [], "files": {}}, evidence["cri"]
    process = section["processes"][0] if section["processes"] else None
    files = _read_files(section, process)
    version = str(cri["version"]) if cri.get("version") else None
    argv = tuple(process["argv"]) if process else ()
    flag = command_line_option(argv, MANAGER_FLAG)
    managers = [(flag, f"CRI-O's command line, {MANAGER_FLAG}")] if flag else []
    managers += setting_values(files, MANAGER) or [("systemd", "CRI-O's default")]
    facts = RuntimeFacts(
        name="cri-o",
        installed=evidence.get("crio") is not None,
        running=process is not None and not cri.get("error"),
        version=version,
        endpoint=cri["endpoint"],
        config=files[0],
        config_version=None,
        imports=(),
        disabled_plugins=(),
        handlers=(),
        nri=_interpret_nri(files, version, evidence, process, argv),
        kill_mode=units.get("crio.service", {}).get("KillMode"),
        layers=files,
        default_handler=_default_handler(files, version),
        defects=_find_defects(files, managers[0][0], version),
        command_line=argv,
        crio=_interpret_drop_ins(files, argv),
    )
    return facts, [Claim("cgroup_manager", str(value), source) for value, source in managers]


def _read_files(section: Mapping[str, Any], process: Mapping[str, Any] | None) -> tuple[ConfigFile, ...]:
    files = tuple(
        check_types(read_config(path, captured, process, read_toml)) for path, captured in section["files"].items()
    )
    return files or (ConfigFile("/etc/crio/crio.conf", "missing"),)


def _default_handler(files: tuple[ConfigFile, ...], version: str | None) -> str | None:
    """The configured handler, else ``crun`` since 1.31 and ``runc`` before (cri-o pkg/config/config.go)."""
    names = setting_values(files, ("crio", "runtime", "default_runtime"))
    if names and names[0][0]:
        return str(names[0][0])
    known = parse_release(version)
    return None if known is None else ("crun" if known >= (1, 31) else "runc")


def _interpret_nri(
    files: tuple[ConfigFile, ...],
    version: str | None,
    evidence: Mapping[str, Any],
    process: Mapping[str, Any] | None,
    argv: Sequence[str],
) -> NriFacts:
    """NRI's settings on the command line and in the files, and whether CRI-O serves its socket."""
    known = parse_release(version)
    supported = None if known is None else known >= NRI_SINCE
    settings, flag = setting_values(files, ("crio", "nri", "enable_nri")), boolean_flag(argv, NRI_FLAG)
    configured = settings[0][0] is True if settings else known is not None and known >= NRI_ON_SINCE
    socket_flag = command_line_option(argv, NRI_SOCKET_FLAG)
    path = socket_flag or str(
        (setting_values(files, ("crio", "nri", "nri_listen")) or [(DEFAULT_NRI_SOCKET, "")])[0][0]
    )
    by_files = NriFacts(supported, configured if flag is None else flag, running=False, socket_path=path)
    return with_socket_state(by_files, evidence["nri_sockets"], process)


def _interpret_drop_ins(files: tuple[ConfigFile, ...], argv: Sequence[str]) -> CrioFacts:
    directory = (command_line_option(argv, "--config-dir", "-d") or CRIO_DROP_INS).rstrip("/")
    # One of the files is the main file.
    return CrioFacts(directory, complete=len(files) <= MAX_CRIO_DROP_INS)


def _find_defects(files: tuple[ConfigFile, ...], manager: Any, version: str | None) -> tuple[Defect, ...]:
    """Settings of conmon's cgroup with which CRI-O does not start."""
    defects = []
    for monitor in monitor_settings(files):
        if not monitor_suits(monitor.value, manager, version):
            message = f'{monitor.setting} = "{monitor.value}", cgroup_manager = "{manager}"'
            defects.append(Defect("crio-conmon-cgroup", monitor.path, message))
    return tuple(defects)
