# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's main file and its imports, merged into one document by the rules of containerd's release.

Source: cmd/containerd/server/config/config.go, LoadConfig and mergeConfig, of 1.7, 2.0, 2.2 and 2.3; compared with
the output of ``containerd config dump`` of 1.6.20, 1.7.24 and 2.1.9. Imports are patterns of Go's path/filepath,
Match: ``*`` and ``?`` do not match a slash, ``[^a-c]`` negates, ``\\`` escapes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, reduce
from typing import Any

from ...module_utils.containerd_fields import is_spelling
from ..edit.text_errors import ParseError
from ..releases.containerd_schema import (
    CRI_V1,
    CRI_V2,
    CRI_V3,
    DEFAULT_HANDLER,
    NRI_ID,
    SCHEMAS,
    checks_schema,
    newest_schema,
    parse_release,
    release_or_first,
)
from ..releases.containerd_toml import TomlLibrary, toml_library
from .config_file import ConfigFile, Problem, value_at
from .containerd_spellings import PLUGINS, plugins_in_order
from .containerd_tables import DEPRECATED, UNMIGRATED_SINCE_2_3, cri_values, migrate_plugins, top_level, with_full_names

_ONE = r"(?:\\(?P<{0}e>.)|(?P<{0}>[^\\\]-]))"
_RANGE = re.compile(rf"{_ONE.format('low')}(?:-{_ONE.format('high')})?", re.DOTALL)
_SET = re.compile(r"\[(?P<not>\^?)(?P<ranges>(?:\\.|[^\\\]])+)\]", re.DOTALL)
_NEVER = "(?!)"


def compile_go_pattern(pattern: str) -> re.Pattern[str] | None:
    """A regular expression that matches whole paths; None for a pattern that Go refuses (ErrBadPattern)."""
    parts, position = [], 0
    while position < len(pattern):
        char = pattern[position]
        if char == "[":
            group = _parse_set(pattern, position)
            if group is None:
                return None
            text, position = group
            parts.append(text)
            continue
        if char == "\\":
            position += 1
            if position == len(pattern):
                return None
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
        position += 1
    return re.compile("".join(parts), re.DOTALL)


def _parse_set(pattern: str, start: int) -> tuple[str, int] | None:
    """The character class at ``start`` as a regular expression, and its end; None if it is not valid."""
    whole = _SET.match(pattern, start)
    if whole is None:
        return None
    ranges, position, text = whole["ranges"], 0, ""
    while position < len(ranges):
        one = _RANGE.match(ranges, position)
        if one is None:
            return None
        low = one["lowe"] or one["low"]
        high = one["highe"] or one["high"] or low
        text += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        position = one.end()
    if not text:
        return ("[^/]" if whole["not"] else _NEVER), whole.end()
    return f"(?!/)[{whole['not']}{text}]", whole.end()


_BY_KEY = ("stream_processors", "proxy_plugins", "timeouts")


class Merge(str, Enum):
    """How a release merges several files into one document."""

    REPLACING = "up to 1.7 a plugin's table replaces the whole earlier one"
    DEEP = "2.0 to 2.2 merge deeply, then migrate from the last version in the files"
    PER_FILE = "2.3 and later migrate each file, then merge deeply"


@dataclass(frozen=True)
class Layers:
    """Files in merge order, the main one first, and the document that containerd merges from them.

    ``values`` has the CRI tables where containerd's release looks for them; ``missing`` are imports whose file does not
    exist, ``unrecorded`` those that the snapshot does not contain; ``program`` is the version of containerd.
    """

    files: tuple[ConfigFile, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None
    missing: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    merge: Merge = Merge.REPLACING
    program: str | None = None

    @cached_property
    def cri(self) -> Mapping[str, Any]:
        """The merged table of the CRI plugin's runtime part; its fields have their canonical names."""
        return cri_values(cri_table(self.values, self.version, self), self.library)

    @property
    def newest(self) -> int:
        """The schema that a containerd of 2.x migrates to."""
        return newest_schema(self.program) or (max(SCHEMAS) if self.merge is Merge.PER_FILE else 3)

    @property
    def plugins(self) -> Mapping[str, Any]:
        """The merged tables of plugins as a containerd of 2.x decodes them."""
        plugins = _table(self.values, "plugins")
        older = self.merge is Merge.DEEP and self.version is not None and self.version < self.newest
        return migrate_plugins(plugins) if older else plugins

    @property
    def library(self) -> TomlLibrary:
        """The library that decodes the files."""
        return TomlLibrary.V1 if self.merge is Merge.REPLACING else toml_library(self.program)


def version_in(values: Mapping[str, Any]) -> int | None:
    """``version`` of a document, 1 if it is missing or 0; None if it is not a number."""
    version = values.get("version", 1)
    return version or 1 if isinstance(version, int) and not isinstance(version, bool) else None


def schema_of(config: ConfigFile) -> int | None:
    """A file without ``version`` is schema 1 (cmd/containerd/server/config); a missing file has none."""
    if config.kind == "missing" or config.problem:
        return None
    return version_in(config.values)


def cri_table(values: Mapping[str, Any], version: int | None, layers: Layers) -> Mapping[str, Any]:
    """The table that the containerd of ``layers`` reads; 2.x migrates older ones, and newer keys take precedence."""
    plugins = _table(values, "plugins")
    if version is None:
        return {}
    if layers.merge is Merge.REPLACING:
        return _table(plugins, {1: CRI_V1, 2: CRI_V2}.get(version, CRI_V3))
    return _table(plugins if version >= layers.newest else migrate_plugins(plugins), CRI_V3)


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = values.get(key)
    return table if isinstance(table, Mapping) else {}


def merge_of(version: str | None, schema: int | None) -> Merge:
    """From the program's version; for an image without one, from the release that introduced its file's schema."""
    known = release_or_first(version, schema)
    if known < (2, 0):
        return Merge.REPLACING
    return Merge.DEEP if known < (2, 3) else Merge.PER_FILE


def read_layers(main: ConfigFile, files: Mapping[str, ConfigFile], version: str | None) -> Layers:
    """Main file and imports of a containerd of ``version``; ``files`` has all captured files by path."""
    main, files = _with_own_names(main, files, version)
    merge = merge_of(version, schema_of(main))
    if main.kind == "missing":
        # Then containerd imports nothing. The defaults of 2.2 name conf.d (containerd PR 12323), but only LoadConfig
        # resolves imports, and cmd/containerd/command/main.go does not call it for a missing file.
        return Layers((main,), merge=merge, program=version)
    configs, absent = merge_order(main, files, version)
    if merge is Merge.REPLACING:
        nothing: dict[str, Any] = {}
        merged = reduce(_merge_replacing, (config.values for config in configs), nothing)
    else:
        newest = newest_schema(version) or max(SCHEMAS)
        renamed = (_with_full_names(config.values) for config in configs)
        prepared = (_migrated_file(config.values, newest) for config in configs) if merge is Merge.PER_FILE else renamed
        # The defaults come first: a file without version gets their version, not schema 1.
        merged = reduce(_merge_deep, prepared, {"version": newest})
    result = version_in(merged)
    if merge is Merge.REPLACING and result is not None and not checks_schema(version):
        result = min(result, 2)
    missing = tuple(path for path in absent if path in files)
    unrecorded = tuple(path for path in absent if path not in files)
    return Layers(tuple(configs), merged, result, missing, unrecorded, merge, version)


def _with_own_names(
    main: ConfigFile, files: Mapping[str, ConfigFile], version: str | None
) -> tuple[ConfigFile, dict[str, ConfigFile]]:
    """The files; fields of their top level have their canonical names."""
    library = toml_library(version)
    configs = {path: _with_own_fields(config, library) for path, config in files.items()}
    return _with_own_fields(main, library), configs


def _with_own_fields(config: ConfigFile, library: TomlLibrary) -> ConfigFile:
    values = top_level(config.values, library)
    spelled = [value for key, value in config.values.items() if is_spelling(key, PLUGINS)]
    in_order = library is not TomlLibrary.V1 and len(spelled) > 1 and isinstance(values[PLUGINS], Mapping)
    if config.text is None or not in_order:
        return replace(config, values=values)
    try:
        return replace(config, values={**values, PLUGINS: plugins_in_order(config.text, library)})
    except ParseError as error:
        problem = Problem(config.path, error.message, error.line, error.remedy)
        return replace(config, values={}, problem=problem, text=None)


def merge_order(
    main: ConfigFile, files: Mapping[str, ConfigFile], version: str | None
) -> tuple[list[ConfigFile], list[str]]:
    """The files breadth first, each file once, and the paths of absent ones."""
    configs: list[ConfigFile] = []
    absent, pending = [], [main.path]
    while pending:
        path = pending.pop(0)
        if path in {config.path for config in configs}:
            continue
        config = main if path == main.path else files.get(path)
        if config is None or config.kind == "missing":
            absent.append(path)
            continue
        configs.append(config)
        pending += imported_paths(config, files, version)
    return configs, absent


def imported_paths(config: ConfigFile, files: Mapping[str, ConfigFile], version: str | None) -> Iterator[str]:
    """Paths that a file imports: patterns are matched with the captured files, other names are kept."""
    directory = posixpath.dirname(config.path)
    # Up to 1.6 a relative pattern is relative to containerd's working directory.
    glob_directory = "/" if (parse_release(version) or (1, 7)) < (1, 7) else directory
    patterns = config.values.get("imports", [])
    for pattern in patterns if isinstance(patterns, list) else []:
        path = posixpath.normpath(posixpath.join(glob_directory if "*" in str(pattern) else directory, str(pattern)))
        if "*" not in path:
            yield path
            continue
        regex = compile_go_pattern(path)
        yield from (
            candidate
            for candidate in sorted(files)
            if files[candidate].kind != "missing" and regex and regex.fullmatch(candidate)
        )


def _with_full_names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A file of schema 1 with full names (v1Migrate) and without version, so that earlier files decide the version."""
    if version_in(values) not in (0, 1):
        return values
    plugins = values.get("plugins")
    full_names = with_full_names(plugins) if isinstance(plugins, Mapping) else {}
    return {**{key: value for key, value in values.items() if key != "version"}, "plugins": full_names}


def _migrated_file(values: Mapping[str, Any], newest: int) -> Mapping[str, Any]:
    """2.3 and later migrate each file to the newest schema before they merge it, also from schema 3 (run with 2.4.2).

    plugins/cri/runtime/plugin.go, configMigration: it runs for every schema below the newest, which is 3 up to 2.2.
    """
    version, renamed = version_in(values), _with_full_names(values)
    if version is None or version >= newest:
        return values
    return {**renamed, "version": newest, "plugins": migrate_plugins(_table(renamed, "plugins"), UNMIGRATED_SINCE_2_3)}


def _is_zero(value: Any) -> bool:
    return value in (None, "", 0, [])


def _merge_top(into: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the server itself: a zero value does not override (mergo), lists are joined, named tables replaced."""
    merged = dict(into)
    for key, value in values.items():
        before = merged.get(key)
        if key in _BY_KEY and isinstance(value, Mapping):
            merged[key] = {**_table(merged, key), **value}
        elif isinstance(value, Mapping) and isinstance(before, Mapping):
            merged[key] = _merge_top(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            merged[key] = [*before, *(item for item in value if item not in before)]
        elif before is None or not _is_zero(value):
            merged[key] = value
    return merged


def _merge_replacing(into: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Up to 1.7 a plugin's whole table is replaced (containerd#5837)."""
    other_fields = {key: value for key, value in values.items() if key != "plugins"}
    return {**_merge_top(into, other_fields), "plugins": {**_table(into, "plugins"), **_table(values, "plugins")}}


def _merge_deep(into: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Since 2.0 the tables of plugins are merged deeply (containerd PR 9982)."""
    other_fields = {key: value for key, value in values.items() if key != "plugins"}
    return {**_merge_top(into, other_fields), "plugins": _deep(_table(into, "plugins"), _table(values, "plugins"))}


def _deep(into: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Below ``plugins`` every value overrides, also false; lists are replaced."""
    merged = dict(into)
    for key, value in values.items():
        before = merged.get(key)
        merged[key] = _deep(before, value) if isinstance(value, Mapping) and isinstance(before, Mapping) else value
    return merged


def declared_handlers(cri: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The tables of the declared handlers by name."""
    runtimes = value_at(cri, ("containerd", "runtimes"))
    tables = runtimes.items() if isinstance(runtimes, Mapping) else ()
    return {name: table for name, table in tables if isinstance(table, Mapping)}


def deprecated_handlers(layers: Layers) -> dict[str, Mapping[str, Any]]:
    """Handlers that 1.x creates from deprecated tables: ValidatePluginConfig of 1.7's pkg/cri/config/config.go."""
    if layers.merge is not Merge.REPLACING:
        return {}
    tables = {name: value_at(layers.cri, ("containerd", key)) for name, key in DEPRECATED.items()}
    return {name: table for name, table in tables.items() if isinstance(table, Mapping) and table.get("runtime_type")}


def handler_tables(layers: Layers) -> dict[str, Mapping[str, Any]]:
    """The tables of all handlers by name, also of ``runc`` if it is built in and not declared.

    2.x adds declared handlers to the built-in one (run with 2.4.2). Up to 1.7 a declared table of runtimes replaces it,
    even an empty one: go-toml 1.9.5 decodes into a new map (marshal.go, valueFromTree; measured with 1.7.35).
    """
    declared = declared_handlers(layers.cri)
    replaced = isinstance(value_at(layers.cri, ("containerd", "runtimes")), Mapping)
    if layers.merge is Merge.REPLACING and replaced:
        return declared
    return {DEFAULT_HANDLER: {}, **declared}


def nri_key(layers: Layers) -> str:
    """The key of NRI's table below ``plugins``: containerd 1.x reads the short name in schema 1, 2.x never does."""
    return "nri" if layers.merge is Merge.REPLACING and layers.version == 1 else NRI_ID


def systemd_cgroup_option(table: Mapping[str, Any] | None) -> Any:
    """``SystemdCgroup`` in a handler's table; None if it is not set."""
    return value_at(table or {}, ("options", "SystemdCgroup"))


def source_of(layers: Layers, handler: str) -> str | None:
    """The file that decides the handler's driver; None if no file declares the handler."""
    effective = systemd_cgroup_option(declared_handlers(layers.cri).get(handler))
    declaring = None
    for config in reversed(layers.files):
        own = own_table(layers, config)
        table = declared_handlers(own).get(handler) or value_at(own, ("containerd", DEPRECATED.get(handler, "")))
        if effective is not None and systemd_cgroup_option(table) == effective:
            return config.path
        declaring = declaring or (config.path if table is not None else None)
        if layers.merge is Merge.REPLACING and own:
            break  # this table replaces those of earlier files
    return declaring


def effective_schema(layers: Layers, config: ConfigFile) -> int | None:
    """The schema by which a file is read: since 2.3 its own, before that the merged version of all files."""
    return version_in(config.values) if layers.merge is Merge.PER_FILE else layers.version


def cri_names(layers: Layers, config: ConfigFile) -> tuple[str, ...]:
    """The names under which containerd reads the CRI tables of a file."""
    schema = effective_schema(layers, config) or 0
    if layers.merge is Merge.REPLACING:
        return {1: (CRI_V1,), 2: (CRI_V2,)}.get(schema, (CRI_V3,))
    if schema >= layers.newest:
        return (CRI_V3,)
    return (CRI_V1, CRI_V2, CRI_V3) if version_in(config.values) == 1 else (CRI_V2, CRI_V3)


def own_table(layers: Layers, config: ConfigFile) -> Mapping[str, Any]:
    """The CRI table of one file, as containerd would read it."""
    if layers.merge is Merge.REPLACING:
        return cri_values(cri_table(config.values, layers.version, layers), layers.library)
    version = version_in(config.values) if layers.merge is Merge.PER_FILE else layers.version
    return cri_values(cri_table(_with_full_names(config.values), version, layers), layers.library)
