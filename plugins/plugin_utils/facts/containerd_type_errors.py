# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a type that containerd cannot decode.

go-toml accepts neither strings nor fractions as numbers, and no strings as booleans (run with containerd 1.6, 1.7, 2.1,
2.2 and 2.4). In other cases its releases differ (releases/containerd_toml.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.containerd_fields import is_spelling, key_of
from ..releases.containerd_schema import (
    CRI_V1,
    CRI_V2,
    CRI_V3,
    IMAGES_V3,
    NRI_ID,
    NRI_PLUGINS,
    RUNC_TYPES,
    nri_supported,
)
from ..releases.containerd_toml import TomlLibrary
from ..releases.containerd_value_types import (
    ANY_KEY,
    NUMBER,
    OF_FILE,
    SWITCH,
    TABLE,
    TEXT,
    Fields,
    Path,
    full_name,
    is_header,
    is_of_type,
    is_unset,
    plugin_tables,
    plugin_tables_since_2_3,
    plugin_tables_up_to_1_7,
)
from .config_file import ConfigFile, value_at
from .containerd_layers import (
    Layers,
    Merge,
    cri_names,
    deprecated_handlers,
    handler_tables,
    nri_key,
    own_table,
    version_in,
)
from .containerd_tables import (
    DEPRECATED,
    OPTION_NAMES,
    ConfigTable,
    migrated_name,
    migration_failures,
    possible_origins,
    with_full_names,
)

OPTION_TYPES = {
    **dict.fromkeys(OPTION_NAMES, TEXT),
    **dict.fromkeys(("SystemdCgroup", "NoPivotRoot", "NoNewKeyring"), SWITCH),
    **dict.fromkeys(("IoUid", "IoGid"), NUMBER),
}
RUNTIMES = ("containerd", "runtimes")
_CRI_NAMES = (CRI_V1, CRI_V2, CRI_V3)


@dataclass(frozen=True)
class WrongType:
    """A value of a wrong type: its file, the path of its key, and the error."""

    config: ConfigFile
    path: Path
    message: str


def start_errors(layers: Layers) -> Iterator[WrongType]:
    """All values with which containerd does not start."""
    for config in layers.files:
        for path, wrong in _walk(config.values, (), OF_FILE, layers.library):
            if wrong:
                message = _message("".join(f"{key}: " for key in path[:-1]), path[-1], wrong)
                yield WrongType(config, path, message)
    yield from _errors_up_to_1_7(layers) if layers.merge is Merge.REPLACING else _errors_since_2_0(layers)


def _errors_up_to_1_7(layers: Layers) -> Iterator[WrongType]:
    """Up to 1.7 the last table of a plugin replaces the others. A disabled plugin is not decoded.

    In each file the value of a plugin must be a table: ``map[string]toml.Tree`` of services/server/config.
    """
    last: dict[str, ConfigFile] = {}
    for config in layers.files:
        for name, table in _plugins(config).items():
            if isinstance(table, Mapping):
                last[name] = config
            else:
                yield WrongType(config, ("plugins", name), _describe((name,), TABLE))
    tables = plugin_tables_up_to_1_7(layers.program)
    for name, config in last.items():
        known = full_name(name, tables)
        if known in tables and _is_decoded(layers, name):
            for path, wrong in _find_wrong_plugin_values(_plugins(config)[name], known, tables, layers.library):
                yield WrongType(config, ("plugins", name, *path[1:]), _describe(path, wrong))


def _errors_since_2_0(layers: Layers) -> Iterator[WrongType]:
    """Since 2.0 tables are merged and migrated, and the result is decoded. The migration panics with some values."""
    errors: dict[tuple[str, Path], WrongType] = {}
    for config, path, wrong in _migration_errors(layers):
        errors[config.path, path] = WrongType(config, ("plugins", *path), _describe(path, wrong))
    tables = plugin_tables_since_2_3() if layers.merge is Merge.PER_FILE else plugin_tables(2)
    off = disabled_plugins(layers)
    for name, table in layers.plugins.items():
        if name not in tables or name in off:
            continue
        for path, wrong in _find_wrong_plugin_values(table, name, tables, layers.library):
            config, place = _locate_origin(layers, path)
            errors.setdefault(
                (config.path, place), WrongType(config, ("plugins", *place), _describe((name, *place[1:]), wrong))
            )
    yield from errors.values()


def _migration_errors(layers: Layers) -> Iterator[tuple[ConfigFile, Path, str]]:
    """2.3 and later migrate each file and all plugins; 2.0 to 2.2 the merged document, without disabled plugins."""
    if layers.merge is Merge.PER_FILE:
        for config in layers.files:
            schema = version_in(config.values)
            if schema is not None and schema < layers.newest:
                for path, wrong in migration_failures(_tables_with_full_names(config), ()):
                    yield config, _spell_in_file(config, path), wrong
    elif (layers.version or 0) < layers.newest:
        plugins = layers.values.get("plugins")
        for path, wrong in (
            migration_failures(plugins, disabled_plugins(layers)) if isinstance(plugins, Mapping) else ()
        ):
            yield (*_locate_origin(layers, path), wrong)


def disabled_plugins(layers: Layers) -> frozenset[str]:
    """Full names of the plugins that 2.x does not load."""
    names = layers.values.get("disabled_plugins")
    return (
        frozenset(migrated_name(name) for name in names if isinstance(name, str))
        if isinstance(names, list)
        else frozenset()
    )


def _tables_with_full_names(config: ConfigFile) -> ConfigTable:
    return with_full_names(_plugins(config)) if version_in(config.values) == 1 else _plugins(config)


def _spell_in_file(config: ConfigFile, path: Path) -> Path:
    """The path below ``plugins`` with the plugin's name in this file."""
    bare = (name for name in _plugins(config) if migrated_name(name) == path[0] and version_in(config.values) == 1)
    return (next(bare, path[0]), *path[1:])


def _locate_origin(layers: Layers, path: Path) -> tuple[ConfigFile, Path]:
    """The last file that sets a value of the migrated tables, and its path there; else the first file and ``path``."""
    value = value_at(layers.plugins, path)
    places = [(config, place) for config in reversed(layers.files) for place in possible_origins(path)]
    matches = [
        (config, place) for config, place in places if value_at(_tables_with_full_names(config), place) is not None
    ]
    same = (
        candidate for candidate in matches if value_at(_tables_with_full_names(candidate[0]), candidate[1]) == value
    )
    config, place = next(same, matches[0] if matches else (layers.files[0], path))
    return config, _spell_in_file(config, place)


def option_errors(layers: Layers) -> Iterator[WrongType]:
    """All options of runc with which containerd cannot create a pod of their handler.

    containerd starts with them, and decodes them for each pod: GenerateRuntimeOptions in internal/cri/config/config.go,
    up to 1.7 generateRuntimeOptions in pkg/cri/server/helpers.go.
    """
    tables = {**handler_tables(layers), **deprecated_handlers(layers)}
    for handler, table in tables.items():
        options = table.get("options")
        if table.get("runtime_type", "") in ("", *RUNC_TYPES) and isinstance(options, Mapping):
            for key, kind in OPTION_TYPES.items():
                if key in options and not is_of_type(options[key], kind, layers.library):
                    config, place = _locate_option(layers, handler, key)
                    yield WrongType(config, place, _message(f"handler {handler}: ", key, kind))


def _locate_option(layers: Layers, handler: str, key: str) -> tuple[ConfigFile, Path]:
    """The last file that sets an option of a handler, and its path there."""
    for config in reversed(layers.files):
        own = own_table(layers, config)
        for table in (*RUNTIMES, handler), ("containerd", DEPRECATED.get(handler, "")):
            if value_at(own, (*table, "options", key)) is not None:
                name = next((name for name in reversed(cri_names(layers, config)) if name in _plugins(config)), CRI_V3)
                return config, ("plugins", name, *table, "options", key)
    return layers.files[0], ()


def _walk(
    values: ConfigTable, path: Path, tables: Mapping[Path, Fields], library: TomlLibrary, place: Path = ()
) -> Iterator[tuple[Path, str]]:
    """``(path, type)`` of each value that is decoded; the type is empty if the value has it."""
    fields = tables[path]
    for key, value in values.items():
        field = ANY_KEY if ANY_KEY in fields else next((name for name in fields if is_spelling(key, name)), None)
        if field is None or (field != ANY_KEY and not _is_key_of(values, key, field, library)):
            continue
        kind = fields[field]
        right = is_of_type(value, kind, library) or (tables is not OF_FILE and is_unset(value, kind, library))
        yield (*place, key), "" if right else kind
        if right and kind == TABLE and (*path, field) in tables:
            yield from _walk(value, (*path, field), tables, library, (*place, key))


def _is_key_of(values: ConfigTable, key: str, field: str, library: TomlLibrary) -> bool:
    """Whether containerd decodes this spelling of a field; since 2.0 it decodes all."""
    return library is not TomlLibrary.V1 or key_of(values, field, library.letter_case) == key


def _is_decoded(layers: Layers, name: str) -> bool:
    """Whether a containerd of 1.x decodes a plugin's table."""
    off = layers.values.get("disabled_plugins")
    if isinstance(off, list) and name in off:
        return False
    if name in _CRI_NAMES:
        return name in cri_names(layers, layers.files[0])
    if name in NRI_PLUGINS:
        return name == nri_key(layers) and nri_supported(layers.program) is not False
    return ("." in name) is (layers.version != 1)


def _plugins(config: ConfigFile) -> ConfigTable:
    plugins = config.values.get("plugins")
    return plugins if isinstance(plugins, Mapping) else {}


def _find_wrong_plugin_values(
    table: Any, name: str, tables: Mapping[str, Mapping[Path, Fields]], library: TomlLibrary
) -> Iterator[tuple[Path, str]]:
    """``(path, type)`` of each value of a wrong type; the path begins with the plugin's name."""
    if isinstance(table, Mapping):
        yield from ((path, wrong) for path, wrong in _walk(table, (), tables[name], library, (name,)) if wrong)
    elif not is_header(table, library):
        yield (name,), TABLE


def _describe(path: Path, kind: str) -> str:
    """The message for a value of a handler, NRI or another plugin."""
    plugin, *inner = path
    if not inner:
        return f'plugins."{plugin}" is not {kind}'
    if plugin in (*_CRI_NAMES, IMAGES_V3):
        handler = len(inner) > 2 and inner[0].lower() == "containerd" and inner[1].lower() == "runtimes"
        before = ("handler " if len(inner) == 3 else f"handler {inner[2]}: ") if handler else ""
    else:
        before = "NRI: " if plugin == NRI_ID else f"{plugin}: "
    return _message(before, inner[-1], kind)


def _message(before: str, key: str, kind: str) -> str:
    return f"{before}{key} is not {kind}"
