# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a type that containerd cannot decode, in the fields that are read here.

go-toml takes no text and no fraction for a number, and no text for a switch: run with containerd 2.4.2; of 1.x read in
go-toml 1.9.5, marshal.go, valueFromToml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..containerd_schema import RUNC_TYPES, SCHEMAS
from ..edit.changes import Path
from .config import nested
from .containerd_keys import Table, cri_values, nri_values
from .containerd_layers import Layers, Merge, cri_names, handler_tables
from .model import ConfigFile

TEXT, NUMBER, SWITCH, TABLE, TEXTS = "a text", "a whole number", "true or false", "a table", "a list of texts"
TOP = {
    "version": NUMBER,
    "imports": TEXTS,
    "disabled_plugins": TEXTS,
    "required_plugins": TEXTS,
    "plugins": TABLE,
}
CONTAINERD_TYPES = {"default_runtime_name": TEXT, "runtimes": TABLE}
RUNTIME_TYPES = {"runtime_type": TEXT, "options": TABLE}
OPTION_TYPES = {"SystemdCgroup": SWITCH, "BinaryName": TEXT}
RUNTIMES = ("containerd", "runtimes")
NRI_TYPES = {"disable": SWITCH, "socket_path": TEXT}


@dataclass(frozen=True)
class WrongType:
    """A value of another type: where its key stands in the file, and what is wrong with it."""

    config: ConfigFile
    path: Path
    message: str


def start_problems(layers: Layers) -> Iterator[WrongType]:
    """Each value with which containerd does not start."""
    for config in layers.files:
        yield from (WrongType(config, path, message) for path, message in _wrong(config.values, TOP, ""))
    for config, name in _decoded(layers):
        yield from (
            WrongType(config, ("plugins", name, *path), message) for path, message in _of_plugin(layers, config, name)
        )


def option_problems(layers: Layers) -> Iterator[WrongType]:
    """Each option of runc with which no pod of its handler can be made.

    containerd starts with them, and decodes them for each pod: GenerateRuntimeOptions in internal/cri/config/config.go,
    up to 1.7 generateRuntimeOptions in pkg/cri/server/helpers.go (read, not run).
    """
    runc = {
        name for name, table in handler_tables(layers).items() if table.get("runtime_type", "") in ("", *RUNC_TYPES)
    }
    for config, name in _decoded(layers):
        for handler, table in _handlers(_cri(layers, config, name)):
            options = table.get("options")
            if handler in runc and isinstance(options, Mapping):
                place = ("plugins", name, *RUNTIMES, handler, "options")
                for path, message in _wrong(options, OPTION_TYPES, f"handler {handler}: "):
                    yield WrongType(config, (*place, *path), message)


def _decoded(layers: Layers) -> Iterator[tuple[ConfigFile, str]]:
    """Each file with each plugin of it that is decoded: up to 1.7 the last table replaces the others unread."""
    seen = set()
    for config in reversed(layers.files):
        for name in sorted({*cri_names(layers, config), _nri_name(layers)} & _plugins(config).keys()):
            if layers.merge is not Merge.REPLACING or name not in seen:
                yield config, name
            seen.add(name)


def _plugins(config: ConfigFile) -> Table:
    found = config.values.get("plugins")
    return found if isinstance(found, Mapping) else {}


def _nri_name(layers: Layers) -> str:
    return SCHEMAS[1 if layers.merge is Merge.REPLACING and layers.version == 1 else 2].nri_table[-1]


def _cri(layers: Layers, config: ConfigFile, name: str) -> Table:
    table = _plugins(config).get(name)
    of_nri = name == _nri_name(layers)
    return cri_values(table, layers.letter_case) if isinstance(table, Mapping) and not of_nri else {}


def _of_plugin(layers: Layers, config: ConfigFile, name: str) -> Iterator[tuple[Path, str]]:
    table = _plugins(config)[name]
    if not isinstance(table, Mapping):
        yield (), f'plugins."{name}" is not {TABLE}'
    elif name == _nri_name(layers):
        yield from _wrong(nri_values(table, layers.letter_case), NRI_TYPES, "NRI: ")
    else:
        yield from _of_cri(_cri(layers, config, name))


def _of_cri(cri: Table) -> Iterator[tuple[Path, str]]:
    yield from _wrong(cri, {"containerd": TABLE}, "")
    containerd = cri.get("containerd")
    if isinstance(containerd, Mapping):
        yield from _below(("containerd",), _wrong(containerd, CONTAINERD_TYPES, ""))
        handlers = containerd.get("runtimes")
        if isinstance(handlers, Mapping):
            yield from _below(RUNTIMES, _wrong(handlers, dict.fromkeys(handlers, TABLE), "handler "))
    for name, table in _handlers(cri):
        yield from _below((*RUNTIMES, name), _wrong(table, RUNTIME_TYPES, f"handler {name}: "))


def _below(place: Path, found: Iterator[tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    return (((*place, *path), message) for path, message in found)


def _handlers(cri: Table) -> Iterator[tuple[str, Table]]:
    found = nested(cri, RUNTIMES)
    tables = found.items() if isinstance(found, Mapping) else ()
    yield from ((name, table) for name, table in tables if isinstance(table, Mapping))


def _wrong(values: Table, types: Mapping[str, str], before: str) -> Iterator[tuple[Path, str]]:
    for key, kind in types.items():
        if key in values and not _is(values[key], kind):
            yield (key,), f"{before}{key} is not {kind}"


def _is(value: Any, kind: str) -> bool:
    if kind == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == TEXTS:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, {TEXT: str, SWITCH: bool, TABLE: Mapping}[kind])
