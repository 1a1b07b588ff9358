# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's tables as it decodes them: fields in any letter case, and older schemas migrated to the newest.

Names of plugins and handlers are keys of maps, and case-sensitive; all other keys here are fields
(module_utils/containerd_fields.py). Source of the migration: v1MigratePluginName of
cmd/containerd/server/config/config.go, and ConfigMigration of plugins/cri/runtime, plugins/cri/images, plugins/cri,
core/runtime/v2, core/metrics/cgroups and plugins/restart, of 2.1.9, 2.2.9 and 2.4.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ...module_utils.containerd_fields import SYSTEMD_CGROUP, LetterCase, is_spelling, key_of
from ..releases.containerd_schema import CRI_V1, CRI_V2, CRI_V3, DEFAULT_HANDLER, IMAGES_V3
from ..releases.containerd_toml import TomlLibrary
from ..releases.containerd_value_types import OF_FILE, TABLE, TEXT, Path, is_of_type, is_unset

TOP = ("version", "imports", "plugins", "disabled_plugins", "required_plugins")
CRI = ("containerd", "systemd_cgroup")
DEPRECATED = {"untrusted": "untrusted_workload_runtime", "default": "default_runtime"}
"""Tables of a single handler that 1.x still reads, by the handler's name."""
CONTAINERD = ("runtimes", "default_runtime_name", *DEPRECATED.values())
RUNTIME = ("runtime_type", "options")
OPTION_NAMES = (
    SYSTEMD_CGROUP,
    "BinaryName",
    "NoPivotRoot",
    "NoNewKeyring",
    "ShimCgroup",
    "IoUid",
    "IoGid",
    "Root",
    "CriuPath",
    "CriuImagePath",
    "CriuWorkPath",
)
"""Fields of containerd/api/types/runc/options."""
OPTIONS = OPTION_NAMES[:2]
"""The options that the collection reads."""
NRI = (
    "disable",
    "socket_path",
    "plugin_path",
    "plugin_config_path",
    "plugin_registration_timeout",
    "plugin_request_timeout",
    "disable_connections",
)

TABLES = frozenset({"containerd", "runtimes", "options", *DEPRECATED.values()})
"""The fields of the CRI plugin above that are tables."""

ConfigTable = Mapping[str, Any]


def top_level(values: ConfigTable, library: TomlLibrary) -> ConfigTable:
    """A file; fields of its top level get their canonical names, the tables of plugins are unchanged."""
    named = _by_own_names(values, TOP, library.letter_case, list(values))
    return named if library is TomlLibrary.V1 else {**named, **_undecodable_fields(values, library)}


def _undecodable_fields(values: ConfigTable, library: TomlLibrary) -> dict[str, Any]:
    """2.x decodes every spelling of a field: one value of a wrong type is an error, whatever the others are."""
    kinds = OF_FILE[()]
    return {
        field: value
        for field in TOP
        for key, value in values.items()
        if is_spelling(key, field) and not is_of_type(value, kinds[field], library)
    }


def nri_values(values: ConfigTable, library: TomlLibrary) -> ConfigTable:
    """NRI's table; its fields get their canonical names."""
    return _plugin_fields(values, NRI, library)


def cri_values(values: ConfigTable, library: TomlLibrary) -> ConfigTable:
    """The CRI plugin's table; its fields and those of its handlers get their canonical names."""
    cri = _plugin_fields(values, CRI, library)
    containerd = cri.get("containerd")
    if not isinstance(containerd, Mapping):
        return cri
    containerd = _plugin_fields(containerd, CONTAINERD, library)
    handlers = containerd.get("runtimes")
    if isinstance(handlers, Mapping):
        containerd = {
            **containerd,
            "runtimes": {name: _handler_values(name, table, library) for name, table in handlers.items()},
        }
    for name, key in DEPRECATED.items():
        if key in containerd:
            containerd = {**containerd, key: _handler_values(name, containerd[key], library)}
    return {**cri, "containerd": containerd}


def _plugin_fields(values: ConfigTable, fields: tuple[str, ...], library: TomlLibrary) -> dict[str, Any]:
    decoded = without_unset(values, fields, library)
    return _by_own_names(decoded, fields, library.letter_case, sorted(decoded))


def without_unset(values: ConfigTable, fields: Iterable[str], library: TomlLibrary) -> ConfigTable:
    """The table without the fields that some releases ignore: those with an empty table in place of a value."""
    of_values = [field for field in fields if field not in TABLES]
    return {
        key: value
        for key, value in values.items()
        if not (is_unset(value, TEXT, library) and any(is_spelling(key, field) for field in of_values))
    }


def _handler_values(name: str, table: Any, library: TomlLibrary) -> Any:
    if not isinstance(table, Mapping):
        return table
    case, handler = library.letter_case, _plugin_fields(table, RUNTIME, library)
    options = handler.get("options")
    if not isinstance(options, Mapping):
        return handler
    options = without_unset(options, OPTION_NAMES, library)
    keys = sorted(options)
    if case is LetterCase.ANY and name == DEFAULT_HANDLER:
        # The defaults of 2.x have all options of runc; they are decoded in the order of their names (run with 2.4.2).
        keys = sorted({*keys, *OPTIONS})
    named = _by_own_names(options, OPTION_NAMES, case, keys)
    return {**handler, "options": {**named, **_undecodable_options(options, case)}}


def _undecodable_options(options: ConfigTable, case: LetterCase) -> dict[str, Any]:
    """2.x decodes every spelling of an option: one value of a wrong type is an error, whatever the others are."""
    spelled = [value for key, value in options.items() if is_spelling(key, SYSTEMD_CGROUP)]
    odd = [value for value in spelled if not isinstance(value, bool)]
    return {SYSTEMD_CGROUP: odd[0]} if odd and case is LetterCase.ANY else {}


def _by_own_names(values: ConfigTable, fields: Iterable[str], case: LetterCase, order: list[str]) -> dict[str, Any]:
    """The table with the canonical name of each field; ``order``: the order in which its keys are decoded."""
    named = dict(values)
    for field in fields:
        spelled = [key for key in order if is_spelling(key, field)]
        key = key_of(spelled, field, case)
        if spelled == [field] or key is None:
            continue
        named = {name: value for name, value in named.items() if name not in spelled}
        if key in values:
            effective = spelled if case is LetterCase.ANY else [key]
            named[field] = _join_tables([values[spelling] for spelling in effective if spelling in values])
    return named


def _join_tables(tables: list[Any]) -> Any:
    """Merge tables under several spellings of a field, later ones over earlier; of other values the last is used."""
    joined = tables[-1]
    if not all(isinstance(table, Mapping) for table in tables):
        return joined
    for table in reversed(tables[:-1]):
        joined = _overlay(table, joined)
    return joined


def _overlay(below: ConfigTable, above: ConfigTable) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _overlay(under, value) if isinstance(value, Mapping) and isinstance(under, Mapping) else value
    return merged


PluginTables = Mapping[str, Any]

TASKS, SHIMS = "io.containerd.runtime.v2.task", "io.containerd.shim.v1.manager"
CORE = {
    CRI_V1: CRI_V2,
    "cgroups": "io.containerd.monitor.v1.cgroups",
    "linux": "io.containerd.runtime.v1.linux",
    "scheduler": "io.containerd.gc.v1.scheduler",
    "bolt": "io.containerd.metadata.v1.bolt",
    "task": TASKS,
    "opt": "io.containerd.internal.v1.opt",
    "restart": "io.containerd.internal.v1.restart",
    "tracing": "io.containerd.internal.v1.tracing",
    "otlp": "io.containerd.tracing.processor.v1.otlp",
    **{
        name: f"io.containerd.snapshotter.v1.{name}"
        for name in ("aufs", "btrfs", "devmapper", "native", "overlayfs", "windows", "windows-lcow", "zfs")
    },
}
"""Plugins of schema 1 by their short names."""
RENAMED_PLUGINS = {
    "io.containerd.internal.v1.restart": "io.containerd.monitor.container.v1.restart",
    "io.containerd.monitor.v1.cgroups": "io.containerd.monitor.task.v1.cgroups",
}
OF_IMAGES = (
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
)
OF_SNAPSHOTS = ("snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers")
OF_SERVICE = (
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
)
UNMIGRATED_SINCE_2_3 = frozenset({"enable_cdi"})
"""Settings that 2.3 and later do not migrate."""
_NOT_OF_RUNTIME = frozenset((*OF_IMAGES, *OF_SERVICE, "sandbox_image", "cni", "containerd"))


def migrated_name(plugin: str) -> str:
    """The name of a plugin of schema 1 since schema 2."""
    if "." in plugin:
        return plugin
    kind = "service" if plugin.endswith("-service") else "grpc"
    return CORE.get(plugin, f"io.containerd.{kind}.v1.{plugin}")


def with_full_names(plugins: PluginTables) -> dict[str, Any]:
    """The tables of plugins of a file of schema 1, by their full names."""
    return {migrated_name(name): table for name, table in plugins.items()}


def migrate_plugins(plugins: PluginTables, dropped_keys: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The tables of plugins migrated to the newest schema, without ``dropped_keys`` of the CRI plugin."""
    migrated = {name: table for name, table in plugins.items() if name not in RENAMED_PLUGINS}
    migrated.update({RENAMED_PLUGINS[name]: table for name, table in plugins.items() if name in RENAMED_PLUGINS})
    tasks = migrated.get(TASKS)
    if isinstance(tasks, Mapping):
        migrated[TASKS] = {key: value for key, value in tasks.items() if key != "sched_core"}
        migrated[SHIMS] = {"env": ["SCHED_CORE=1"]} if tasks.get("sched_core") is True else {}
    older = migrated.get(CRI_V2)
    if isinstance(older, Mapping):
        migrated[CRI_V2] = {key: older[key] for key in OF_SERVICE if key in older}
        migrated[CRI_V3] = _migrate_runtime(older, _table(migrated, CRI_V3), _NOT_OF_RUNTIME | dropped_keys)
        migrated[IMAGES_V3] = _migrate_images(older, _table(migrated, IMAGES_V3))
    return migrated


def migration_failures(plugins: PluginTables, off: Collection[str]) -> Iterator[tuple[Path, str]]:
    """``(path, type)`` of each value with which the migration panics; plugins that are ``off`` are not migrated."""
    if TASKS in plugins and not isinstance(plugins[TASKS], Mapping) and SHIMS not in off:
        yield (TASKS,), TABLE
    if CRI_V2 in plugins:
        yield from _find_image_failures(plugins) if IMAGES_V3 not in off else ()
        yield from _find_runtime_failures(plugins) if CRI_V3 not in off else ()


def _find_image_failures(plugins: PluginTables) -> Iterator[tuple[Path, str]]:
    for path in ((IMAGES_V3, "pinned_images"), (CRI_V2, "containerd", "runtimes")):
        value: Any = plugins
        for depth, key in enumerate(path):
            if key not in value:
                break
            value = value[key]
            if not isinstance(value, Mapping):
                yield path[: depth + 1], TABLE
                break
        else:
            yield from _find_non_tables(value, path) if path[0] == CRI_V2 else ()


def _find_runtime_failures(plugins: PluginTables) -> Iterator[tuple[Path, str]]:
    older, newest = plugins[CRI_V2], _table(plugins, CRI_V3)
    if not isinstance(older, Mapping):
        return
    if not isinstance(_table(older, "cni").get("bin_dir", ""), str):
        yield (CRI_V2, "cni", "bin_dir"), TEXT
    path = (CRI_V3, "containerd", "runtimes")
    handlers = _table(newest, "containerd").get("runtimes", {})
    if isinstance(older.get("containerd"), Mapping):
        yield from _find_non_tables(handlers, path) if isinstance(handlers, Mapping) else ((path, TABLE),)


def _find_non_tables(tables: PluginTables, path: Path) -> Iterator[tuple[Path, str]]:
    yield from (((*path, name), TABLE) for name, table in tables.items() if not isinstance(table, Mapping))


def _migrate_runtime(older: PluginTables, newest: PluginTables, dropped_keys: frozenset[str]) -> dict[str, Any]:
    """Copy missing keys to the new table, two levels deep; a table replaces a value that is not a table."""
    merged = {**{key: value for key, value in older.items() if key not in dropped_keys}, **newest}
    if isinstance(older.get("cni"), Mapping):
        merged["cni"] = _migrate_cni(older["cni"], _table(newest, "cni"))
    if isinstance(older.get("containerd"), Mapping):
        settings = {key: value for key, value in older["containerd"].items() if key not in OF_SNAPSHOTS}
        merged["containerd"] = {**settings, **_table(newest, "containerd")}
        if isinstance(merged["containerd"].get("runtimes"), Mapping):
            handlers = merged["containerd"]["runtimes"]
            merged["containerd"]["runtimes"] = {name: _migrate_handler(table) for name, table in handlers.items()}
    return merged


def _migrate_cni(older: PluginTables, newest: PluginTables) -> dict[str, Any]:
    merged = {**{key: value for key, value in older.items() if key != "bin_dir"}, **newest}
    return {**merged, "bin_dirs": [older["bin_dir"]]} if "bin_dir" in older else merged


def _migrate_handler(table: Any) -> Any:
    if not isinstance(table, Mapping) or "sandbox_mode" not in table or "sandboxer" in table:
        return table
    return {**{key: value for key, value in table.items() if key != "sandbox_mode"}, "sandboxer": table["sandbox_mode"]}


def _migrate_images(older: PluginTables, newest: PluginTables) -> dict[str, Any]:
    merged = {**newest, **{key: older[key] for key in OF_IMAGES if key in older}}
    if "sandbox_image" in older:
        merged["pinned_images"] = {**_table(newest, "pinned_images"), "sandbox": older["sandbox_image"]}
    containerd = _table(older, "containerd")
    # Without ``runtimes`` the migration drops the snapshotter (run with 2.4.2).
    return {
        **merged,
        **{key: containerd[key] for key in OF_SNAPSHOTS if key in containerd and "runtimes" in containerd},
    }


def _table(values: PluginTables, key: str) -> PluginTables:
    table = values.get(key)
    return table if isinstance(table, Mapping) else {}


def possible_origins(path: Path) -> Iterator[Path]:
    """The paths that a value of a migrated table may have in a file; its own path is the first."""
    yield path
    plugin, *keys = path
    yield from ((older, *keys) for older, newer in RENAMED_PLUGINS.items() if newer == plugin)
    if plugin in (CRI_V3, IMAGES_V3):
        yield (CRI_V2, *keys)
    if plugin == IMAGES_V3:
        yield (CRI_V2, "containerd", *keys)
        yield from ((CRI_V2, "sandbox_image"),) if keys == ["pinned_images", "sandbox"] else ()
    if path == (CRI_V3, "cni", "bin_dirs"):
        yield (CRI_V2, "cni", "bin_dir")
    if plugin == CRI_V3 and keys[-1:] == ["sandboxer"]:
        yield (CRI_V2, *keys[:-1], "sandbox_mode")
        yield (*path[:-1], "sandbox_mode")
