# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of containerd: for each handler the driver in its files and the driver that the CRI reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.containerd_fields import LetterCase, letter_case
from ..edit.readers import read_toml
from ..edit.splice import BOM
from ..edit.text_errors import ParseError
from ..releases.containerd_schema import (
    DEFAULT_HANDLER,
    DEFAULT_NRI_SOCKET,
    DEFAULT_RUNTIME_TYPE,
    RUNC_TYPES,
    dump_is_wrong,
    nri_on_by_default,
    nri_plugins,
    nri_supported,
    parse_release,
)
from .config_file import ConfigFile, read_config, value_at
from .containerd_defects import UNREADABLE, find_defects
from .containerd_layers import (
    Layers,
    cri_table,
    declared_handlers,
    deprecated_handlers,
    handler_tables,
    nri_key,
    read_layers,
    schema_of,
    source_of,
    systemd_cgroup_option,
    version_in,
)
from .containerd_tables import cri_values, nri_values
from .containerd_type_errors import start_errors
from .runtime_state import Defect, Handler, NriFacts, RuntimeFacts, absolute_socket, with_socket_state

Drivers = Mapping[str, Driver | None]
READERS = {3: ("2.0.0", "2.3.0"), 4: ("2.3.0",)}
"""By schema: one release for each way to read it. 1.7 reads schemas 1 and 2, too."""


def as_driver(word: object) -> Driver:
    """containerd's default is cgroupfs."""
    return Driver.SYSTEMD if word is True else Driver.CGROUPFS


def is_runc(table: Mapping[str, Any]) -> bool:
    """Whether a handler is of runc type. It is also if its table has no type or one that is not a string."""
    kind = table.get("runtime_type", DEFAULT_RUNTIME_TYPE)
    return not isinstance(kind, str) or kind in RUNC_TYPES


def runtime_v1_driver(layers: Layers, table: Mapping[str, Any]) -> Driver:
    """The driver of a handler of type io.containerd.runtime.v1.linux: without options, the CRI plugin's setting."""
    return as_driver(systemd_cgroup_option(table) if "options" in table else layers.cri.get("systemd_cgroup"))


def configured_drivers(layers: Layers, files: Mapping[str, ConfigFile], version: str | None) -> Drivers:
    """The driver of each handler of runc type by name; of an unknown release, only where all releases agree.

    Releases differ in which of several files takes precedence. Without a release, the drivers are None then.
    """
    if parse_release(version) is not None:
        return _drivers(layers)
    main = layers.files[0]
    schema = layers.version or 0
    readings = [
        _drivers(read_layers(main, files, release)) for release in READERS.get(schema, ("1.7.0", "2.0.0", "2.3.0"))
    ]
    alone = len(layers.files) == 1 and not layers.unrecorded and not layers.missing
    names = sorted({name for reading in readings for name in reading})
    return {name: _common_driver([reading.get(name) for reading in readings]) if alone else None for name in names}


def _drivers(layers: Layers) -> Drivers:
    known = not layers.unrecorded and not any(config.problem for config in layers.files) and not [*start_errors(layers)]
    all_tables = {**handler_tables(layers), **deprecated_handlers(layers)}
    tables = {name: table for name, table in all_tables.items() if is_runc(table)}
    return {name: _driver(systemd_cgroup_option(table)) if known else None for name, table in tables.items()}


def _driver(word: object) -> Driver | None:
    return as_driver(word) if word is None or isinstance(word, bool) else None


def _common_driver(drivers: list[Driver | None]) -> Driver | None:
    return drivers[0] if len(set(drivers)) == 1 else None


DUMP = "containerd config dump"


def interpret_handlers(
    layers: Layers, drivers: Drivers, running: Mapping[str, Any], dumped: Mapping[str, Any]
) -> tuple[Handler, ...]:
    """Handlers of runc type, sorted by name.

    containerd's own dump takes precedence over our merge; both show only the files, ``running`` is from the CRI.
    """
    declared = {**declared_handlers(layers.cri), **deprecated_handlers(layers)}
    handlers = []
    for name, driver in sorted(drivers.items()):
        live, word = running.get(name), systemd_cgroup_option(dumped.get(name))
        configured, source = driver, source_of(layers, name) if name in declared else None
        if isinstance(word, bool) and as_driver(word) is not configured:
            configured, source = as_driver(word), DUMP
        binary = value_at(declared.get(name, {}), ("options", "BinaryName"))
        handlers.append(
            Handler(
                name=name,
                configured=configured,
                running=as_driver(live["systemd_cgroup"]) if live else None,
                declared=name in declared,
                source=source,
                binary=binary if isinstance(binary, str) and binary else None,
            )
        )
    return tuple(handlers)


def dumped_handlers(evidence: Mapping[str, Any], version: str | None, layers: Layers) -> Mapping[str, Any]:
    """The handlers' tables in ``containerd config dump``; empty without a dump, or if this release's dump is wrong."""
    text = (evidence.get("dump") or {}).get("text")
    if not text or dump_is_wrong(version, layers.version):
        return {}
    try:
        values = read_toml(text)
    except ParseError:
        return {}
    return declared_handlers(cri_values(cri_table(values, version_in(values), layers), layers.library))


def version_of(evidence: Mapping[str, Any]) -> str | None:
    """The version from the CRI, else from the program's ``containerd github.com/containerd/containerd 1.7.24 …``."""
    if evidence["cri"].get("version"):
        return str(evidence["cri"]["version"])
    match = re.search(r" v?(\d+\.\d+\.\d+\S*)", evidence["version"] or "")
    return match[1] if match else None


def text_items(value: object) -> tuple[str, ...]:
    """The items of a list as strings; empty for another value."""
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _interpret_nri(
    layers: Layers, version: str | None, evidence: Mapping[str, Any], process: Mapping[str, Any] | None
) -> NriFacts:
    plugins = layers.values.get("plugins")
    tables = plugins if isinstance(plugins, Mapping) else {}
    table = tables.get(nri_key(layers))
    table = nri_values(table, layers.library) if isinstance(table, Mapping) else {}
    disabled = table.get("disable", not nri_on_by_default(version))
    configured_path = table.get("socket_path")
    # internal/nri/config.go ignores an empty path.
    path = configured_path if isinstance(configured_path, str) and configured_path else DEFAULT_NRI_SOCKET
    switched_off = nri_plugins(version, layers.version) & set(text_items(layers.values.get("disabled_plugins")))
    configured = disabled is False and not switched_off
    nri_facts = NriFacts(nri_supported(version), configured, running=False, socket_path=absolute_socket(path))
    return with_socket_state(nri_facts, evidence["nri_sockets"], process)


def captured_configs(
    evidence: Mapping[str, Any], process: Mapping[str, Any] | None, version: str | None
) -> dict[str, ConfigFile]:
    """The parsed main file, imports and unused drop-ins by path."""
    main = evidence["config_path"]
    read = read_toml if letter_case(version) is LetterCase.FOUR else _read_toml_without_bom
    configs = {path: read_config(path, captured, process, read) for path, captured in evidence["files"].items()}
    return {main: ConfigFile(main, "missing"), **configs}


def _read_toml_without_bom(text: str) -> dict[str, Any]:
    """go-toml 1.9.5 ignores a byte order mark (toml.go, LoadBytes); go-toml/v2 refuses it (run with 2.4.2)."""
    if text.startswith(BOM):
        raise ParseError(
            "begins with a byte order mark; containerd 2 does not start with it", 1, remedy="Save it without one"
        )
    return read_toml(text)


def _import_limit_defects(evidence: Mapping[str, Any]) -> Iterator[Defect]:
    if evidence.get("import_limit"):
        yield Defect(UNREADABLE, evidence["config_path"], "imports more files than the snapshot reads")


def interpret_containerd(evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]) -> RuntimeFacts:
    """RuntimeFacts of a containerd."""
    process = evidence["processes"][0] if evidence["processes"] else None
    cri, version = evidence["cri"], version_of(evidence)
    captured = captured_configs(evidence, process, version)
    layers = read_layers(captured[evidence["config_path"]], captured, version)
    config: ConfigFile = layers.files[0]
    drivers = configured_drivers(layers, captured, version)
    live = (cri.get("config") or {}).get("handlers", {})
    handlers = interpret_handlers(layers, drivers, live, dumped_handlers(evidence, version, layers))
    default = value_at(layers.cri, ("containerd", "default_runtime_name"))
    if "default" in deprecated_handlers(layers):
        default = "default"
    return RuntimeFacts(
        name="containerd" if evidence["program"] else None,
        installed=evidence["program"] is not None,
        running=process is not None and not cri.get("error"),
        version=version,
        endpoint=cri["endpoint"],
        config=config,
        config_version=schema_of(config),
        imports=text_items(config.values.get("imports")),
        disabled_plugins=text_items(layers.values.get("disabled_plugins")),
        effective_schema=layers.version,
        handlers=handlers,
        nri=_interpret_nri(layers, version, evidence, process),
        kill_mode=units.get("containerd.service", {}).get("KillMode"),
        layers=layers.files,
        merged=layers,
        captured=tuple(captured.values()),
        default_handler=default if isinstance(default, str) and default else DEFAULT_HANDLER,
        defects=(*_import_limit_defects(evidence), *find_defects(layers, version)),
        program=evidence["program"],
    )
