# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's configuration, merged in kubelet's order: default, --config, --config-dir, flags.

Source: kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations and kubeletConfigFlagPrecedence; KEP-3983.
Health: pkg/kubelet/apis/config/v1beta1/defaults.go (default 10248 at 127.0.0.1); with port 0 server.go does not listen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils.snapshot.kubelet_endpoints import healthz_endpoint, healthz_port
from ...module_utils.snapshot.kubelet_files import MAX_DROPINS
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    EVICTION_HARD,
    FEATURE_GATES,
    HEALTHZ_BIND_ADDRESS,
    HEALTHZ_PORT,
    MEMORY_MANAGER_POLICY,
    OBSERVED,
    POD_PIDS_LIMIT,
    READ_ONLY_PORT,
    TOPOLOGY_MANAGER_POLICY,
    TOPOLOGY_MANAGER_SCOPE,
)
from ..releases.versions import Version
from .config_file import Cause, ConfigFile, Problem, read_kubelet_config, unread_files
from .kubelet_command_line import flag_source, flag_value, flag_values
from .kubelet_state import Flag, Setting, Start
from .node_state import Claim

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"
DROPINS_SINCE = (1, 28)
JSON_MERGE_SINCE = (1, 29)
DROPINS_FREE_SINCE = (1, 30)
DEFAULT_SOURCE = "kubelet's default"
CONFIGZ_SOURCE = "kubelet's /configz"
LEGACY_SOURCE = "kubelet's default without --config"
LEGACY_PORT = "10255"


DEFAULT_EVICTION_HARD: Mapping[str, str] = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}
"""pkg/kubelet/eviction/defaults_linux.go."""

EMPTY_BY_FLAG = (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    TOPOLOGY_MANAGER_POLICY,
    TOPOLOGY_MANAGER_SCOPE,
    MEMORY_MANAGER_POLICY,
)
"""Fields for which an empty flag is a separate value."""

Layer = tuple[str, Mapping[str, Any]]
"""One source with the fields it sets."""

Merge = Callable[[Any, Any], Any]


def merge_override(base: Any, patch: Any) -> Any:
    """1.28's mergo.Merge(WithOverride): tables are merged, and an empty value does not override."""
    if patch in (None, "", 0, False, [], {}):
        return base
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        return {**base, **{key: merge_override(base.get(key), value) for key, value in patch.items()}}
    return patch


def merge_patch(base: Any, patch: Any) -> Any:
    """RFC 7386, as in 1.29 and later: tables are merged, lists replaced, null removes a key."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(base) if isinstance(base, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def header_errors(values: Mapping[str, Any]) -> list[str]:
    """Why kubelet does not accept a file with these values: its version and kind must be set.

    encoding/json reads the two keys and ignores their letter case
    (k8s.io/apimachinery pkg/runtime/serializer/json/meta.go).
    """
    folded = {key.lower(): value for key, value in values.items()}
    return [
        f"{key} is not {expected}"
        for key, expected in (("apiVersion", API_VERSION), ("kind", KIND))
        if folded.get(key.lower()) != expected
    ]


HEADER_REMEDY = f"Begin the file with the lines apiVersion: {API_VERSION} and kind: {KIND}"


def check_dropin(config: ConfigFile) -> ConfigFile:
    """The drop-in; with a problem if kubelet would not accept it.

    Unlike the main file it is decoded without a type (DecodeKubeletConfigurationIntoJSON): keys are case-sensitive,
    and a repeated key is an error.
    """
    if config.problem:
        return config
    if config.ignored and config.ignored.cause is Cause.REPEATED_KEY:
        return replace(config, values={}, problem=config.ignored, ignored=None)
    exact = {key: value for key, value in config.values.items() if key in ("apiVersion", "kind")}
    wrong = header_errors(exact)
    if not wrong:
        return config
    return replace(config, values={}, problem=Problem(config.path, "; ".join(wrong), 1, HEADER_REMEDY))


def dropins_read(version: tuple[int, int] | None, start: Start) -> bool:
    """Whether this kubelet supports --config-dir: 1.28 and 1.29 only with KUBELET_CONFIG_DROPIN_DIR_ALPHA."""
    if version is None or version >= DROPINS_FREE_SINCE:
        return True
    return version >= DROPINS_SINCE and start.dropin_variable is not False


def effective_settings(
    main: ConfigFile, dropins: Sequence[ConfigFile], flags: Sequence[Flag], version: tuple[int, int] | None
) -> dict[str, Setting]:
    """The effective values of all observed fields that a source or a default sets."""
    settings = {field.key: effective_setting(field, main, dropins, flags, version) for field in OBSERVED}
    return {key: setting for key, setting in settings.items() if setting is not None}


def with_legacy_port(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The effective values of a kubelet without --config: applyLegacyDefaults of cmd/kubelet/app/options/options.go."""
    port = settings.get(READ_ONLY_PORT.key)
    legacy = {READ_ONLY_PORT.key: Setting(LEGACY_PORT, LEGACY_SOURCE)}
    return {**settings, **(legacy if port is None or port.source == DEFAULT_SOURCE else {})}


def effective_setting(
    field: KubeletField,
    main: ConfigFile,
    dropins: Sequence[ConfigFile],
    flags: Sequence[Flag],
    version: tuple[int, int] | None,
) -> Setting | None:
    """The effective value of a field; None if no source and no default sets it."""
    merge = merge_override if version and version < JSON_MERGE_SINCE else merge_patch
    setting = _merge_files(field, [_lowest_layer(field, main, dropins), *_to_layers(dropins)], merge)
    if setting and (is_unset(setting.value) or _means_default(field, setting.value)):
        setting = None
    if merge is merge_patch:
        setting = _with_other_case(field, setting, dropins, version)
    by_flag = flag_value(field, flags)
    if by_flag is not None:
        setting = _with_flag(field, setting, Setting(by_flag, flag_source(field, flags)))
    if setting and is_unset(setting.value) and field not in EMPTY_BY_FLAG:
        setting = None
    if setting is None and main.problem is None:
        setting = _default_setting(field, version)
    return setting


def _to_layers(configs: Sequence[ConfigFile]) -> list[Layer]:
    return [(config.path, config.values) for config in configs]


def _lowest_layer(field: KubeletField, main: ConfigFile, dropins: Sequence[ConfigFile]) -> Layer:
    """The main file; default thresholds if drop-ins set some and the main file sets none (loadConfigFile)."""
    merged = field is EVICTION_HARD and any(isinstance(config.values.get(field.key), Mapping) for config in dropins)
    if merged and main.kind != "missing" and main.values.get(field.key) is None:
        return DEFAULT_SOURCE, {field.key: dict(DEFAULT_EVICTION_HARD)}
    return main.path, main.values


def _means_default(field: KubeletField, value: Any) -> bool:
    """SetDefaults_KubeletConfiguration: a limit below 0 means not set."""
    return field is POD_PIDS_LIMIT and isinstance(value, (int, float)) and value < 0


def _with_other_case(
    field: KubeletField, setting: Setting | None, dropins: Sequence[ConfigFile], version: tuple[int, int] | None
) -> Setting | None:
    """The setting, with keys of drop-ins in another letter case, which encoding/json ignores when it decodes the merge.

    The key in its correct case comes last; it exists if the main file or a default sets it.
    """
    whole: Any = None
    source = ""
    for config in dropins:
        for key, value in config.values.items():
            if key != field.key and key.lower() == field.key.lower():
                whole, source = merge_patch(whole, value), config.path
    if whole is None or (field.default_in(version) is not None and not isinstance(whole, Mapping)):
        return setting
    if setting is None:
        return Setting(whole, source)
    if isinstance(whole, Mapping) and isinstance(setting.value, Mapping):
        return Setting({**whole, **setting.value}, f"{source} and {setting.source}")
    return setting


def is_unset(value: Any) -> bool:
    """Whether kubelet replaces a file's value by its default: null, ``~`` and the empty text decode to zero.

    pkg/kubelet/apis/config/v1beta1/defaults.go. Flags are read afterwards: an empty flag stays empty.
    """
    return value is None or value == ""


def _default_setting(field: KubeletField, version: tuple[int, int] | None) -> Setting | None:
    default = field.default_in(version)
    return Setting(default, DEFAULT_SOURCE) if default is not None else None


def _merge_files(field: KubeletField, layers: Sequence[Layer], merge: Merge) -> Setting | None:
    """The first layer is the main file, whose value is used unchanged; the others are merged into it."""
    (path, values), *following = layers
    setting = Setting(values[field.key], path) if field.key in values else None
    for path, values in following:
        if field.key in values:
            setting = _merge_setting(setting, field.key, Setting(values[field.key], path), merge)
    return setting


def _merge_setting(below: Setting | None, key: str, above: Setting, merge: Merge) -> Setting | None:
    whole = merge({key: below.value} if below else {}, {key: above.value})
    if key not in whole:
        return None
    if below is None or not isinstance(below.value, Mapping) or not isinstance(above.value, Mapping):
        return below if below and whole[key] == below.value else Setting(whole[key], above.source)
    return below if whole[key] == below.value else Setting(whole[key], f"{below.source} and {above.source}")


def _with_flag(field: KubeletField, below: Setting | None, flag: Setting) -> Setting:
    """A flag replaces the whole field; only feature gates are merged, gate by gate (cmd/kubelet/app/server.go)."""
    if field is not FEATURE_GATES or below is None or not isinstance(below.value, Mapping):
        return flag
    return Setting({**below.value, **flag.value}, f"{below.source} and {flag.source}")


def render_value(value: Any) -> str:
    """A value as one line: tables as key=value, lists with commas, booleans and null as in YAML."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={render_value(item)}" for key, item in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join(
            f"({render_value(item)})" if isinstance(item, Mapping) else render_value(item) for item in value
        )
    return str(value)


def claims_of(
    field: KubeletField,
    main: ConfigFile,
    dropins: Sequence[ConfigFile],
    flags: Sequence[Flag],
) -> list[Claim]:
    """The claims of all sources about a field, the strongest first; the default only if no source sets a value."""
    claims = []
    by_flag = flag_values([flag for flag in flags if flag.name == field.flag])
    if field.key in by_flag:
        claims.append(Claim(field.key, render_value(by_flag[field.key]), flag_source(field, flags)))
    written = [
        (config.path, config.values[field.key]) for config in (*reversed(dropins), main) if field.key in config.values
    ]
    claims += [Claim(field.key, render_value(value), path) for path, value in written]
    unset = field.key not in by_flag and all(is_unset(value) for _path, value in written)
    if unset and field.default is not None and main.problem is None:
        claims.append(Claim(field.key, field.default, DEFAULT_SOURCE))
    return claims


def read_dropins(
    directory: Mapping[str, Any], files: Mapping[str, Any], process: Mapping[str, Any] | None
) -> tuple[ConfigFile, ...]:
    """The files of the drop-in directory in kubelet's order, with a problem if kubelet would not accept them."""
    configs = (read_kubelet_config(path, files[path], process) for path in directory.get("paths", ()))
    return tuple(check_dropin(config) for config in configs)


def unread_dropins(directory: Mapping[str, Any]) -> Problem | None:
    """Why some files of the drop-in directory were not recorded; None if all were."""
    return unread_files(directory, f"Keep at most {MAX_DROPINS} drop-ins in it")


def healthz_url(
    main: ConfigFile, dropins: Sequence[ConfigFile], flags: Sequence[Flag], version: Version | None
) -> str | None:
    """The health URL of a kubelet with these files and flags; None if it is disabled."""

    def value(field: KubeletField) -> str:
        setting = effective_setting(field, main, dropins, flags, version)
        return render_value(setting.value) if setting else str(field.default)

    return healthz_endpoint(value(HEALTHZ_BIND_ADDRESS), healthz_port(value(HEALTHZ_PORT)))
