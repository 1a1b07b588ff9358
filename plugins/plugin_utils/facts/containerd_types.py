# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a type that containerd cannot decode.

go-toml takes no text and no fraction for a number, and no text for a switch: run with containerd 1.6, 1.7, 2.1 and 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.containerd_fields import LetterCase, is_spelling, key_of
from ..containerd_schema import CRI_V1, CRI_V2, CRI_V3, NRI_ID, RUNC_TYPES, nri_supported
from ..containerd_value_types import (
    DURATION,
    EACH,
    NUMBER,
    OF_FILE,
    SWITCH,
    TABLE,
    TEXT,
    Fields,
    Path,
    full_name,
    is_of,
    plugin_tables,
)
from .config import nested
from .config_file import ConfigFile
from .containerd_keys import OPTION_NAMES, Table, cri_values
from .containerd_layers import Layers, Merge, counting_version, cri_names, deprecated_runtimes, handler_tables

OPTION_TYPES = {
    **dict.fromkeys(OPTION_NAMES, TEXT),
    **dict.fromkeys(("SystemdCgroup", "NoPivotRoot", "NoNewKeyring"), SWITCH),
    **dict.fromkeys(("IoUid", "IoGid"), NUMBER),
}
RUNTIMES = ("containerd", "runtimes")
_CRI_NAMES = (CRI_V1, CRI_V2, CRI_V3)


@dataclass(frozen=True)
class WrongType:
    """A value of another type: where its key stands in the file, and what is wrong with it."""

    config: ConfigFile
    path: Path
    message: str


def start_problems(layers: Layers) -> Iterator[WrongType]:
    """Each value with which containerd does not start."""
    for config in layers.files:
        for path, wrong in _walk(config.values, (), OF_FILE, layers.letter_case):
            if wrong:
                message = _message("".join(f"{each}: " for each in path[:-1]), path[-1], wrong)
                yield WrongType(config, path, message)
    counting: dict[Path, tuple[ConfigFile, str, str]] = {}
    for config, name in _decoded(layers):
        for path, wrong in _of_plugin(layers, config, name):
            counting[path] = (config, name, wrong)
    for path, (config, name, wrong) in counting.items():
        if wrong:
            place = path if path[0] == "plugins" else ("plugins", name, *path[1:])
            yield WrongType(config, place, _told(path, wrong))


def option_problems(layers: Layers) -> Iterator[WrongType]:
    """Each option of runc with which no pod of its handler can be made.

    containerd starts with them, and decodes them for each pod: GenerateRuntimeOptions in internal/cri/config/config.go,
    up to 1.7 generateRuntimeOptions in pkg/cri/server/helpers.go.
    """
    found = {**handler_tables(layers), **deprecated_runtimes(layers)}
    runc = {name for name, table in found.items() if table.get("runtime_type", "") in ("", *RUNC_TYPES)}
    counting: dict[tuple[str, str], WrongType | None] = {}
    for config, name in _decoded(layers):
        for handler, table in _handlers(_cri(layers, config, name), layers):
            options = table.get("options")
            if handler in runc and isinstance(options, Mapping):
                for key, kind in OPTION_TYPES.items():
                    if key in options:
                        place = ("plugins", name, *RUNTIMES, handler, "options", key)
                        problem = WrongType(config, place, _message(f"handler {handler}: ", key, kind))
                        counting[handler, key] = None if is_of(options[key], kind) else problem
    yield from (each for each in counting.values() if each)


def _walk(
    values: Table, path: Path, tables: Mapping[Path, Fields], case: LetterCase, place: Path = ()
) -> Iterator[tuple[Path, str]]:
    """``(path, type)`` of each value that is decoded; the type is empty where it has it."""
    fields = tables[path]
    for key, value in values.items():
        field = EACH if EACH in fields else next((each for each in fields if is_spelling(key, each)), None)
        if field is None or (field != EACH and case is LetterCase.FOUR and key_of(values, field, case) != key):
            continue
        kind = fields[field]
        # go-toml/v2 takes a whole number for a duration, in nanoseconds (run with 2.4.2).
        right = is_of(value, kind) or (kind == DURATION and case is LetterCase.ANY and is_of(value, NUMBER))
        yield (*place, key), "" if right else fields[field]
        if right and fields[field] == TABLE and (*path, field) in tables:
            yield from _walk(value, (*path, field), tables, case, (*place, key))


def _decoded(layers: Layers) -> Iterator[tuple[ConfigFile, str]]:
    """Each file with each plugin of it that is decoded, in the order of the files.

    Up to 1.7 the last table replaces the others unread. A plugin that is switched off is not decoded.
    """
    last = {name: config for config in layers.files for name in _plugins(config)}
    for config in layers.files:
        # Of two tables of the CRI the newer one counts (migrateConfig of plugins/cri/runtime/plugin.go).
        for name in sorted(_plugins(config), key=lambda name: (name == CRI_V3, name)):
            if (layers.merge is not Merge.REPLACING or last[name] is config) and _is_decoded(layers, config, name):
                yield config, name


def _is_decoded(layers: Layers, config: ConfigFile, name: str) -> bool:
    switched_off = layers.values.get("disabled_plugins")
    off = switched_off if isinstance(switched_off, list) else []
    if name in _CRI_NAMES:
        decoded = name in cri_names(layers, config)
        return decoded and (name if layers.merge is Merge.REPLACING else CRI_V3) not in off
    counting = counting_version(layers, config)
    if full_name(name, {}) == NRI_ID or name == "nri":
        bare = counting == 1 and layers.merge is Merge.REPLACING
        return (name == "nri") is bare and name not in off and nri_supported(layers.program) is not False
    return ("." in name) is (counting != 1) and name not in off


def _plugins(config: ConfigFile) -> Table:
    found = config.values.get("plugins")
    return found if isinstance(found, Mapping) else {}


def _of_plugin(layers: Layers, config: ConfigFile, name: str) -> Iterator[tuple[Path, str]]:
    table, tables = _plugins(config)[name], plugin_tables(1 if layers.merge is Merge.REPLACING else 2)
    known = full_name(name, tables)
    if known not in tables:
        return
    # The CRI's tables come to one, whatever they are called.
    place = CRI_V3 if name in _CRI_NAMES else known
    if not isinstance(table, Mapping):
        yield ("plugins", name), TABLE
        return
    yield from _walk(table, (), tables[known], layers.letter_case, (place,))


def _told(path: Path, kind: str) -> str:
    """The problem in the words that the handlers, NRI and other plugins have."""
    if path[:1] == ("plugins",):
        return f'plugins."{path[1]}" is not {kind}'
    plugin, *inner = path
    if plugin == CRI_V3:
        handler = len(inner) > 2 and inner[0].lower() == "containerd" and inner[1].lower() == "runtimes"
        before = ("handler " if len(inner) == 3 else f"handler {inner[2]}: ") if handler else ""
    else:
        before = "NRI: " if plugin == NRI_ID else f"{plugin}: "
    return _message(before, inner[-1], kind)


def _message(before: str, key: str, kind: str) -> str:
    return f"{before}{key} is not {kind}"


def _cri(layers: Layers, config: ConfigFile, name: str) -> Table:
    table = _plugins(config).get(name)
    return cri_values(table, layers.letter_case) if isinstance(table, Mapping) and name in _CRI_NAMES else {}


def _handlers(cri: Table, layers: Layers) -> Iterator[tuple[str, Table]]:
    found = nested(cri, RUNTIMES)
    tables: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {}
    if layers.merge is Merge.REPLACING:
        tables |= deprecated_runtimes(layers)
    yield from ((name, table) for name, table in tables.items() if isinstance(table, Mapping))
