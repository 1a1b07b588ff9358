# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of containerd: per handler what its file says and what the CRI says is in force, and the state of NRI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..containerd_schema import (
    DEFAULT_HANDLER,
    DEFAULT_NRI_SOCKET,
    DEFAULT_RUNTIME_TYPE,
    NRI_TABLE,
    RUNC_TYPES,
    SCHEMAS,
    nri_on_by_default,
    nri_supported,
)
from ..edit.read import read_toml
from .config import nested, read_config
from .model import Claim, ConfigFile, Driver, Handler, NriFacts, RuntimeFacts


def _driver(systemd_cgroup: object) -> Driver:
    return Driver.SYSTEMD if systemd_cgroup is True else Driver.CGROUPFS


def _declared(config: ConfigFile, version: int | None) -> Mapping[str, Any]:
    schema = SCHEMAS.get(version or 0)
    found = nested(config.values, schema.runtimes) if schema else None
    return found if isinstance(found, Mapping) else {}


def _is_runc(table: Mapping[str, Any]) -> bool:
    return table.get("runtime_type", DEFAULT_RUNTIME_TYPE) in RUNC_TYPES


def handlers(config: ConfigFile, version: int | None, running: Mapping[str, Any]) -> tuple[Handler, ...]:
    """Handlers of runc type, sorted by name. ``runc`` exists without being declared: it is built in."""
    declared = _declared(config, version)
    tables = {DEFAULT_HANDLER: {}, **{name: table for name, table in declared.items() if isinstance(table, Mapping)}}
    found = []
    for name, table in sorted(tables.items()):
        if not _is_runc(table):
            continue
        live = running.get(name)
        found.append(
            Handler(
                name=name,
                configured=_driver(nested(table, ("options", "SystemdCgroup"))),
                running=_driver(live["systemd_cgroup"]) if live else None,
                declared=name in declared,
            )
        )
    return tuple(found)


def _agreed(drivers: list[Driver | None]) -> Driver | None:
    """The one driver all handlers have; None when they differ or one is unknown."""
    return drivers[0] if len(set(drivers)) == 1 else None


def _config_version(config: ConfigFile) -> int | None:
    """A file without ``version`` is schema 1 (cmd/containerd/server/config); a missing file has none."""
    if config.kind == "missing" or config.problem:
        return None
    version = config.values.get("version", 1)
    return version if isinstance(version, int) else None


def _nri(config: ConfigFile, version: str | None, sockets: Mapping[str, Any]) -> NriFacts:
    found = nested(config.values, NRI_TABLE)
    table = found if isinstance(found, Mapping) else {}
    path = str(table.get("socket_path", DEFAULT_NRI_SOCKET))
    supported = nri_supported(version)
    disabled = table.get("disable", not nri_on_by_default(version))
    return NriFacts(
        supported=supported,
        configured=supported is not False and disabled is False,
        # /var/run is a link to /run, and the kernel prints the path that was bound.
        running=path.replace("/var/run/", "/run/") in {each.replace("/var/run/", "/run/") for each in sockets},
        socket_path=path,
    )


def _version(evidence: Mapping[str, Any]) -> str | None:
    """The CRI's own word first, else the program's ``containerd github.com/containerd/containerd 1.7.24 …``."""
    if evidence["cri"].get("version"):
        return str(evidence["cri"]["version"])
    found = re.search(r" v?(\d+\.\d+\.\d+\S*)", evidence["version"] or "")
    return found[1] if found else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def interpret_runtime(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]
) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a snapshot's ``runtime`` section, and every claim on its driver."""
    process = evidence["processes"][0] if evidence["processes"] else None
    config = read_config(evidence["config_path"], evidence["files"][evidence["config_path"]], process, read_toml)
    schema_version = _config_version(config)
    cri = evidence["cri"]
    version = _version(evidence)
    found = handlers(config, schema_version, (cri.get("config") or {}).get("handlers", {}))
    facts = RuntimeFacts(
        name="containerd" if evidence["program"] else None,
        installed=evidence["program"] is not None,
        running=process is not None and "error" not in cri,
        version=version,
        endpoint=cri["endpoint"],
        config=config,
        config_version=schema_version,
        imports=_texts(config.values.get("imports")),
        disabled_plugins=_texts(config.values.get("disabled_plugins")),
        cgroup_driver=_agreed([each.configured for each in found]) if evidence["program"] else None,
        running_cgroup_driver=_agreed([each.running for each in found]),
        handlers=found,
        nri=_nri(config, version, evidence["nri_sockets"]),
        kill_mode=units.get("containerd.service", {}).get("KillMode"),
    )
    return facts, _claims(facts)


def _claims(facts: RuntimeFacts) -> list[Claim]:
    claims = []
    for handler in facts.handlers if facts.installed else ():
        setting = f"SystemdCgroup of handler {handler.name}"
        if handler.running:
            claims.append(Claim(setting, handler.running.value, "the CRI's Status, in force now"))
        source = facts.config.path if handler.declared else "containerd's default"
        claims.append(Claim(setting, handler.configured.value, source))
    return claims
