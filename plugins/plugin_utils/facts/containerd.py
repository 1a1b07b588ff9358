# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of containerd: per handler what its files say and what the CRI says is in force."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.containerd_fields import LetterCase, letter_case
from ..containerd_schema import (
    DEFAULT_HANDLER,
    DEFAULT_NRI_SOCKET,
    dump_is_wrong,
    nri_on_by_default,
    nri_plugins,
    nri_supported,
)
from ..edit.errors import ParseError
from ..edit.lines import BOM
from ..edit.read import read_toml
from .config import nested, read_config
from .config_file import ConfigFile
from .containerd_defects import UNREADABLE, defects
from .containerd_drivers import Drivers, as_driver, configured_drivers
from .containerd_keys import cri_values, nri_values
from .containerd_layers import (
    Layers,
    cri_table,
    deprecated_runtimes,
    driver_word,
    nri_key,
    read_layers,
    runtimes,
    schema_of,
    source_of,
    version_in,
)
from .cri import runtime_config
from .model import Defect, Handler, NriFacts, RuntimeFacts
from .nri import absolute, with_socket

DUMP = "containerd config dump"


def handlers(
    layers: Layers, drivers: Drivers, running: Mapping[str, Any], dumped: Mapping[str, Any]
) -> tuple[Handler, ...]:
    """Handlers of runc type, sorted by name.

    containerd's own dump outranks our merge where the two differ; both are only files, ``running`` is the CRI.
    """
    declared = {**runtimes(layers.cri), **deprecated_runtimes(layers)}
    found = []
    for name, driver in sorted(drivers.items()):
        live, word = running.get(name), driver_word(dumped.get(name))
        configured, source = driver, source_of(layers, name) if name in declared else None
        if isinstance(word, bool) and as_driver(word) is not configured:
            configured, source = as_driver(word), DUMP
        binary = nested(declared.get(name, {}), ("options", "BinaryName"))
        found.append(
            Handler(
                name=name,
                configured=configured,
                running=as_driver(live["systemd_cgroup"]) if live else None,
                declared=name in declared,
                source=source,
                binary=binary if isinstance(binary, str) and binary else None,
            )
        )
    return tuple(found)


def dumped_handlers(evidence: Mapping[str, Any], version: str | None, layers: Layers) -> Mapping[str, Any]:
    """Handlers' tables of ``containerd config dump``; none where there is no dump that can be believed."""
    text = (evidence.get("dump") or {}).get("text")
    if not text or dump_is_wrong(version, layers.version):
        return {}
    try:
        values = read_toml(text)
    except ParseError:
        return {}
    return runtimes(cri_values(cri_table(values, version_in(values), layers.merge), layers.letter_case))


def agreed(drivers: list[Driver | None]) -> Driver | None:
    """The one driver all handlers have; None when they differ or one is unknown."""
    return drivers[0] if len(set(drivers)) == 1 else None


def version_of(evidence: Mapping[str, Any]) -> str | None:
    """The CRI's own word first, else the program's ``containerd github.com/containerd/containerd 1.7.24 …``."""
    if evidence["cri"].get("version"):
        return str(evidence["cri"]["version"])
    found = re.search(r" v?(\d+\.\d+\.\d+\S*)", evidence["version"] or "")
    return found[1] if found else None


def texts(value: object) -> tuple[str, ...]:
    """A list of strings as a tuple; anything else is none."""
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _nri(
    layers: Layers, version: str | None, evidence: Mapping[str, Any], process: Mapping[str, Any] | None
) -> NriFacts:
    plugins = layers.values.get("plugins")
    tables = plugins if isinstance(plugins, Mapping) else {}
    table = tables.get(nri_key(layers))
    table = nri_values(table, layers.letter_case) if isinstance(table, Mapping) else {}
    disabled = table.get("disable", not nri_on_by_default(version))
    named = table.get("socket_path")
    # internal/nri/config.go passes an empty path over.
    path = named if isinstance(named, str) and named else DEFAULT_NRI_SOCKET
    switched_off = nri_plugins(version, layers.version) & set(texts(layers.values.get("disabled_plugins")))
    configured = disabled is False and not switched_off
    said = NriFacts(nri_supported(version), configured, running=False, socket_path=absolute(path))
    return with_socket(said, evidence["nri_sockets"], process)


def captured_configs(
    evidence: Mapping[str, Any], process: Mapping[str, Any] | None, version: str | None
) -> dict[str, ConfigFile]:
    """Main file, imports, and drop-ins that nothing imports, parsed, by path."""
    main = evidence["config_path"]
    read = read_toml if letter_case(version) is LetterCase.FOUR else _without_mark
    found = {path: read_config(path, captured, process, read) for path, captured in evidence["files"].items()}
    return {main: ConfigFile(main, "missing"), **found}


def _without_mark(text: str) -> dict[str, Any]:
    """go-toml 1.9.5 passes over a byte order mark (toml.go, LoadBytes); go-toml/v2 refuses it (run with 2.4.2)."""
    if text.startswith(BOM):
        raise ParseError("begins with a byte order mark, with which containerd 2 does not start", 1)
    return read_toml(text)


def _cut(evidence: Mapping[str, Any]) -> Iterator[Defect]:
    if evidence.get("import_limit"):
        yield Defect(UNREADABLE, evidence["config_path"], "imports more than was looked at")


def interpret_containerd(evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]) -> RuntimeFacts:
    """RuntimeFacts of a containerd."""
    process = evidence["processes"][0] if evidence["processes"] else None
    cri, version = evidence["cri"], version_of(evidence)
    captured = captured_configs(evidence, process, version)
    layers = read_layers(captured[evidence["config_path"]], captured, version)
    config: ConfigFile = layers.files[0]
    drivers = configured_drivers(layers, captured, version)
    live = (cri.get("config") or {}).get("handlers", {})
    found = handlers(layers, drivers, live, dumped_handlers(evidence, version, layers))
    driver, supported = runtime_config(cri)
    default = nested(layers.cri, ("containerd", "default_runtime_name"))
    if "default" in deprecated_runtimes(layers):
        default = "default"
    return RuntimeFacts(
        name="containerd" if evidence["program"] else None,
        installed=evidence["program"] is not None,
        running=process is not None and not cri.get("error"),
        version=version,
        endpoint=cri["endpoint"],
        config=config,
        config_version=schema_of(config),
        imports=texts(config.values.get("imports")),
        disabled_plugins=texts(layers.values.get("disabled_plugins")),
        schema_in_force=layers.version,
        cgroup_driver=agreed([each.configured for each in found]) if evidence["program"] else None,
        running_cgroup_driver=agreed([each.running for each in found]),
        handlers=found,
        nri=_nri(layers, version, evidence, process),
        kill_mode=units.get("containerd.service", {}).get("KillMode"),
        cri_cgroup_driver=driver,
        runtime_config_supported=supported,
        layers=layers.files,
        merged=layers,
        captured=tuple(captured.values()),
        default_handler=default if isinstance(default, str) and default else DEFAULT_HANDLER,
        defects=(*_cut(evidence), *defects(layers, version)),
        program=evidence["program"],
    )
