# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of CRI-O: crio.conf(5), its drop-ins in lexical order, the last one wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.process_evidence import command_line_option
from ...module_utils.snapshot.runtime_files import CRIO_DROP_INS, MAX_CRIO_DROP_INS
from ..containerd_schema import release
from ..edit.read import read_toml
from . import crio_monitor
from .config import nested, read_config
from .config_file import ConfigFile
from .cri import runtime_config
from .crio_types import of_its_types
from .model import Claim, CrioFacts, Defect, NriFacts, RuntimeFacts
from .nri import with_socket

MANAGER = ("crio", "runtime", "cgroup_manager")
DEFAULT_NRI_SOCKET = "/var/run/nri/nri.sock"
FLAG = "--cgroup-manager"
NRI_SINCE, NRI_ON_SINCE = (1, 26), (1, 30)
"""cri-o internal/config/nri/nri.go came with 1.26; its New() has ``Enabled: true`` from 1.30 on."""
NRI_FLAG, NRI_SOCKET_FLAG = "--enable-nri", "--nri-listen"


def words(files: tuple[ConfigFile, ...], keys: tuple[str, ...]) -> list[tuple[Any, str]]:
    """What each file says of a key, the strongest first."""
    found = [(nested(each.values, keys), each.path) for each in reversed(files)]
    return [(value, path) for value, path in found if value is not None]


def switched(argv: Sequence[str], flag: str) -> bool | None:
    """A boolean flag of the command line, ``--flag`` or ``--flag=false``; None when it is not there."""
    given = [word.partition("=")[2] for word in argv if word.partition("=")[0] == flag]
    return given[-1] != "false" if given else None


def interpret_crio(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]
) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a CRI-O, and every claim on its driver."""
    found, cri = evidence.get("crio") or {"processes": [], "files": {}}, evidence["cri"]
    process = found["processes"][0] if found["processes"] else None
    files = _files(found, process)
    version = str(cri["version"]) if cri.get("version") else None
    argv = tuple(process["argv"]) if process else ()
    flag = command_line_option(argv, FLAG)
    managers = [(flag, f"CRI-O's command line, {FLAG}")] if flag else []
    managers += words(files, MANAGER) or [("systemd", "CRI-O's default")]
    driver, supported = runtime_config(cri)
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
        cgroup_driver=_driver(managers[0][0]) if not any(each.problem for each in files) else None,
        running_cgroup_driver=driver,
        handlers=(),
        nri=_nri(files, version, evidence, process, argv),
        kill_mode=units.get("crio.service", {}).get("KillMode"),
        cri_cgroup_driver=driver,
        runtime_config_supported=supported,
        layers=files,
        default_handler=_default_handler(files, version),
        defects=_defects(files, managers[0][0], version),
        command_line=argv,
        crio=_folder(files, argv),
    )
    claims = [Claim("cgroup_manager", str(value), source) for value, source in managers]
    if driver:
        claims.insert(0, Claim("cgroup_manager", driver.value, "the CRI's RuntimeConfig, in force now"))
    return facts, claims


def _files(found: Mapping[str, Any], process: Mapping[str, Any] | None) -> tuple[ConfigFile, ...]:
    files = tuple(of_its_types(read_config(path, each, process, read_toml)) for path, each in found["files"].items())
    return files or (ConfigFile("/etc/crio/crio.conf", "missing"),)


def _driver(word: object) -> Driver | None:
    return Driver(word) if word in ("systemd", "cgroupfs") else None


def _default_handler(files: tuple[ConfigFile, ...], version: str | None) -> str | None:
    """``crun`` from 1.31 on, ``runc`` before (cri-o pkg/config/config.go)."""
    named = words(files, ("crio", "runtime", "default_runtime"))
    if named and named[0][0]:
        return str(named[0][0])
    known = release(version)
    return None if known is None else ("crun" if known >= (1, 31) else "runc")


def _nri(
    files: tuple[ConfigFile, ...],
    version: str | None,
    evidence: Mapping[str, Any],
    process: Mapping[str, Any] | None,
    argv: Sequence[str],
) -> NriFacts:
    """What the command line and the files say of NRI, and whether its socket is served."""
    known = release(version)
    supported = None if known is None else known >= NRI_SINCE
    said, flag = words(files, ("crio", "nri", "enable_nri")), switched(argv, NRI_FLAG)
    configured = said[0][0] is True if said else known is not None and known >= NRI_ON_SINCE
    named = command_line_option(argv, NRI_SOCKET_FLAG)
    path = named or str((words(files, ("crio", "nri", "nri_listen")) or [(DEFAULT_NRI_SOCKET, "")])[0][0])
    written = NriFacts(supported, configured if flag is None else flag, running=False, socket_path=path)
    return with_socket(written, evidence["nri_sockets"], process)


def _folder(files: tuple[ConfigFile, ...], argv: Sequence[str]) -> CrioFacts:
    folder = (command_line_option(argv, "--config-dir", "-d") or CRIO_DROP_INS).rstrip("/")
    # One of the files is the main one.
    return CrioFacts(folder, complete=len(files) <= MAX_CRIO_DROP_INS)


def _defects(files: tuple[ConfigFile, ...], manager: Any, version: str | None) -> tuple[Defect, ...]:
    """conmon's cgroup must suit the manager, or CRI-O does not start."""
    found = [
        Defect("config-unreadable", each.path, each.problem.message, each.problem.line)
        for each in files[1:]
        if each.problem
    ]
    for word in crio_monitor.words(files):
        if not crio_monitor.fits(word.value, manager, version):
            said = f'{word.setting} = "{word.value}", cgroup_manager = "{manager}"'
            found.append(Defect("crio-conmon-cgroup", word.path, said))
    return tuple(found)
