# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defects in containerd's files: those that prevent its next start, and settings that it silently ignores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..edit.document_changes import Path
from ..edit.toml_layout import key_line
from ..releases.containerd_schema import (
    CRI_V1,
    CRI_V2,
    CRI_V3,
    DEFAULT_HANDLER,
    OWN_DROP_IN,
    RUNTIME_V1,
    newest_schema,
    nri_supported,
    parse_release,
)
from .config_file import ConfigFile, value_at
from .containerd_layers import (
    Layers,
    Merge,
    compile_go_pattern,
    cri_names,
    declared_handlers,
    effective_schema,
    handler_tables,
    nri_key,
    own_table,
    source_of,
    systemd_cgroup_option,
    version_in,
)
from .containerd_tables import cri_values, nri_values
from .containerd_type_errors import option_errors, start_errors
from .runtime_state import Defect

IGNORED = "containerd-plugin-key-ignored"
INVALID = "containerd-plugin-name-invalid"
TOO_NEW = "containerd-config-too-new"
MISSING = "containerd-import-missing"
PATTERN = "containerd-import-pattern"
MIXED = "containerd-versions-mixed"
LEGACY = "containerd-legacy-systemd-cgroup"
UNTYPED = "containerd-handler-without-type"
UNDECLARED = "containerd-default-runtime-undeclared"
SHADOWED = "containerd-handler-shadowed"
UNREADABLE = "config-unreadable"
TYPE = "containerd-value-type"
OPTION = "containerd-option-type"
NRI_SOCKET = "nri-socket-relative"


def find_defects(layers: Layers, version: str | None) -> tuple[Defect, ...]:
    """All defects of these files."""
    return (
        *_find_unrecorded(layers),
        *(_defect_at(TYPE, error.config, error.message, error.path) for error in start_errors(layers)),
        *(_defect_at(OPTION, error.config, error.message, error.path) for error in option_errors(layers)),
        *_find_ignored_keys(layers),
        *_find_invalid_names(layers, version),
        *_find_newer_schemas(layers, version),
        *(_defect_at(MISSING, layers.files[0], f"{path} does not exist", ("imports",)) for path in layers.missing),
        *_find_refused_patterns(layers),
        *_find_mixed_versions(layers, version),
        *_find_legacy_option(layers, version),
        *_find_undeclared_default(layers, version),
        *_find_untyped_handlers(layers),
        *(_find_relative_nri_socket(layers) if nri_supported(version) is not False else ()),
        *(_find_shadowed_handlers(layers) if parse_release(version) else ()),
    )


def _defect_at(code: str, config: ConfigFile, message: str, path: Path) -> Defect:
    """A defect on the line of the key at ``path``, or of its nearest parent in the file."""
    return Defect(code, config.path, message, key_line(config.text, path) if config.text else None)


def _plugin_tables(config: ConfigFile) -> Mapping[str, Any]:
    plugins = config.values.get("plugins")
    return plugins if isinstance(plugins, Mapping) else {}


def _find_unrecorded(layers: Layers) -> Iterator[Defect]:
    for path in layers.unrecorded:
        yield Defect(UNREADABLE, path, "is imported, but the snapshot does not contain it")


def _find_refused_patterns(layers: Layers) -> Iterator[Defect]:
    """Go's filepath.Glob, which containerd uses for patterns with a ``*``, refuses some patterns."""
    for config in layers.files:
        for pattern in _text_items(config.values.get("imports")):
            if "*" in pattern and compile_go_pattern(pattern) is None:
                yield _defect_at(PATTERN, config, f'imports has "{pattern}"', ("imports",))


def _find_ignored_keys(layers: Layers) -> Iterator[Defect]:
    """Keys of another schema: containerd only logs "Ignoring unknown key"."""
    for config in layers.files:
        own, effective = version_in(config.values), effective_schema(layers, config)
        for key in sorted({CRI_V1, CRI_V2, CRI_V3} & set(_plugin_tables(config))):
            table = _plugin_tables(config)[key]
            handlers = isinstance(table, Mapping) and "containerd" in cri_values(table, layers.library)
            if handlers and effective is not None and key not in cri_names(layers, config):
                as_if = (
                    "; containerd reads a file without version as this schema" if own == 1 and effective != 1 else ""
                )
                message = f'plugins."{key}" is not a key of schema {effective}{as_if}'
                yield _defect_at(IGNORED, config, message, ("plugins", key))


def _find_invalid_names(layers: Layers, version: str | None) -> Iterator[Defect]:
    """Since schema 2, names of plugins must be full names; up to 1.7 also those of the tables below ``plugins``.

    ValidateV2 of 1.7's services/server/config/config.go and ValidateVersion of 2.x (run with 2.4.2).
    """
    for config in layers.files:
        schema = layers.version if layers.merge is Merge.REPLACING else version_in(config.values)
        if schema is None or schema < 2:
            continue
        names = [
            name for key in ("disabled_plugins", "required_plugins") for name in _text_items(config.values.get(key))
        ]
        names += _plugin_tables(config) if layers.merge is Merge.REPLACING else ()
        for name in sorted({name for name in names if not _is_plugin_name(name, version)}):
            message = f'"{name}" is not the name of a plugin in schema {schema}'
            yield _defect_at(INVALID, config, message, _locate_name(config, name))


def _locate_name(config: ConfigFile, name: str) -> Path:
    lists = (key for key in ("disabled_plugins", "required_plugins") if name in _text_items(config.values.get(key)))
    return next(((key,) for key in lists), ("plugins", name))


def _is_plugin_name(name: str, version: str | None) -> bool:
    """2.x requires a dot, 1.6 four parts, 1.7 also the prefix ``io.containerd.`` (config.go of each)."""
    known = parse_release(version) or (2, 0)
    if known >= (2, 0):
        return "." in name
    return name.count(".") >= 3 and (known < (1, 7) or name.startswith("io.containerd."))


def _text_items(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _find_newer_schemas(layers: Layers, version: str | None) -> Iterator[Defect]:
    newest = newest_schema(version)
    for config in layers.files:
        schema = version_in(config.values)
        if layers.merge is not Merge.PER_FILE and schema != layers.version:
            continue  # another version is effective for all files
        if newest is not None and schema is not None and schema > newest:
            message = f"schema {schema}; containerd {version} reads up to {newest}"
            yield _defect_at(TOO_NEW, config, message, ("version",))


def _refuses_newer_drop_ins(version: str | None) -> bool:
    """2.3.0 to 2.3.4; reverted by PR 13939 and 13995."""
    return re.match(r"v?2\.3\.[0-4](?!\d)", version or "") is not None


def _find_mixed_versions(layers: Layers, version: str | None) -> Iterator[Defect]:
    """Up to 2.2 the last version is effective for all files; 2.3.0 to 2.3.4 refuse a drop-in that is newer."""
    if layers.merge is Merge.PER_FILE and not _refuses_newer_drop_ins(version):
        return
    main, main_version = layers.files[0], _version_of_main(layers, version)
    for config in layers.files[1:]:
        own = config.values.get("version")
        if not isinstance(own, int) or not own or main_version is None or own == main_version:
            continue
        if layers.merge is not Merge.PER_FILE or own > main_version:
            yield _defect_at(
                MIXED, config, f"version {own}, while {main.path} has version {main_version}", ("version",)
            )


def _version_of_main(layers: Layers, version: str | None) -> int | None:
    """The version that drop-ins are compared with, also for a main file that sets none."""
    main = layers.files[0].values
    if layers.merge is Merge.REPLACING or "version" in main:
        return version_in(main)
    if layers.merge is Merge.DEEP:
        return newest_schema(version)  # the version of the defaults, which the file does not override
    # config.go of 2.3.0 to 2.3.4: rootConfigVersion is the first version that is not 0.
    versions = (config.values.get("version") for config in layers.files)
    return next((version for version in versions if isinstance(version, int)), None)


def _find_legacy_option(layers: Layers, version: str | None) -> Iterator[Defect]:
    """ValidatePluginConfig of 1.7's pkg/cri/config/config.go: the default runtime must be the one of 1.2."""
    known = parse_release(version)
    if known is None or known >= (2, 0):
        return
    default = value_at(layers.cri, ("containerd", "default_runtime_name")) or DEFAULT_HANDLER
    if handler_tables(layers).get(str(default), {}).get("runtime_type") == RUNTIME_V1:
        return
    for config in layers.files:
        table = own_table(layers, config)
        if table.get("systemd_cgroup") is True:
            message = "systemd_cgroup = true in the CRI plugin's own table"
            yield _defect_at(LEGACY, config, message, _path_in_cri(layers, config, ("systemd_cgroup",)))


def _find_undeclared_default(layers: Layers, version: str | None) -> Iterator[Defect]:
    """ValidateRuntimeConfig of internal/cri/config/config.go; up to 1.7 ValidatePluginConfig of pkg/cri/config."""
    named = value_at(layers.cri, ("containerd", "default_runtime_name"))
    if layers.merge is Merge.REPLACING and value_at(layers.cri, ("containerd", "default_runtime", "runtime_type")):
        return  # deprecated in 1.3: it creates a separate handler, which is the default
    declared = value_at(layers.cri, ("containerd", "runtimes"))
    known = {*handler_tables(layers), *(declared if isinstance(declared, Mapping) else ())}
    if named is None and parse_release(version) and DEFAULT_HANDLER not in known:
        message = f"default_runtime_name is {DEFAULT_HANDLER}, which no file declares as a runtime"
        yield _undeclared_defect(layers, "runtimes", message)
    elif isinstance(named, str) and named not in known:
        yield _undeclared_defect(layers, "default_runtime_name", f'default_runtime_name = "{named}"')


def _undeclared_defect(layers: Layers, key: str, message: str) -> Defect:
    configs = [
        config for config in layers.files if value_at(own_table(layers, config), ("containerd", key)) is not None
    ]
    config = configs[-1] if configs else layers.files[0]
    return _defect_at(UNDECLARED, config, message, _path_in_cri(layers, config, ("containerd", key)))


def _path_in_cri(layers: Layers, config: ConfigFile, keys: Path) -> Path:
    """The path of a CRI plugin's key, with the name that the plugin has in this file."""
    return next(
        (("plugins", name, *keys) for name in cri_names(layers, config) if name in _plugin_tables(config)), keys
    )


def _find_untyped_handlers(layers: Layers) -> Iterator[Defect]:
    """containerd#6964: up to 1.7 a declared runc loses its built-in type; other handlers have no built-in type."""
    for name, table in sorted(declared_handlers(layers.cri).items()):
        built_in = layers.merge is not Merge.REPLACING and name == DEFAULT_HANDLER
        if not table.get("runtime_type", built_in):
            file = source_of(layers, name) or layers.files[0].path
            config = next((layer for layer in layers.files if layer.path == file), layers.files[0])
            place = _path_in_cri(layers, config, ("containerd", "runtimes", name))
            yield _defect_at(UNTYPED, config, f"handler {name} has no runtime_type", place)


def _find_relative_nri_socket(layers: Layers) -> Iterator[Defect]:
    """The path is relative to containerd's working directory: startListener of nri's pkg/adaptation/adaptation.go."""
    key = nri_key(layers)
    for config in reversed(layers.files):
        table = _plugin_tables(config).get(key)
        path = nri_values(table, layers.library).get("socket_path") if isinstance(table, Mapping) else None
        if isinstance(path, str) and path and not path.startswith("/"):
            yield _defect_at(NRI_SOCKET, config, f'socket_path = "{path}"', ("plugins", key, "socket_path"))
        if path is not None or (layers.merge is Merge.REPLACING and table is not None):
            return  # this value is effective; earlier files do not matter


def _find_shadowed_handlers(layers: Layers) -> Iterator[Defect]:
    """The NVIDIA toolkit's 99-nvidia.toml copies the CRI section: later edits of the main file have no effect."""
    main = layers.files[0]
    in_main = declared_handlers(own_table(layers, main))
    for config in layers.files[1:]:
        if config.path == OWN_DROP_IN:
            continue  # its purpose is to override other files
        own = own_table(layers, config)
        for name, table in sorted(in_main.items()):
            main_option = systemd_cgroup_option(table)
            drop_in_option = systemd_cgroup_option(declared_handlers(own).get(name))
            replaced = layers.merge is Merge.REPLACING and bool(own) and drop_in_option is None
            if main_option is not None and (replaced or (drop_in_option is not None and drop_in_option != main_option)):
                effect = "removes it" if drop_in_option is None else f"sets {str(drop_in_option).lower()}"
                yield Defect(
                    SHADOWED,
                    config.path,
                    f"{main.path} sets SystemdCgroup = {str(main_option).lower()} for {name}, this file {effect}",
                )
