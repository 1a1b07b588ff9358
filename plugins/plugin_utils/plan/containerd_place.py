# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a setting of containerd is written: by its release, its schema, and the file that wins after imports.

docs/containerd.md has the table of releases with the reason of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..containerd_schema import OWN_DROP_IN, SCHEMAS, Schema, dump_is_wrong, release, schema_of_new_file
from ..facts.config import nested
from ..facts.config_file import ConfigFile
from ..facts.containerd_layers import Layers, Merge, order, version_in
from ..facts.model import RuntimeFacts
from .model import Change, Need

AUTO, MAIN_FILE, DROP_IN = "auto", "main-file", "drop-in"
Table = Callable[[Schema], tuple[str, ...]]


@dataclass(frozen=True)
class Place:
    """A file, and the schema that its keys are written in."""

    path: str
    schema: Schema


def files_of(runtime: RuntimeFacts) -> dict[str, ConfigFile]:
    """Every file that was looked at, by path; the main one among them."""
    return {runtime.config.path: runtime.config, **{each.path: each for each in runtime.captured}}


def strategy(runtime: RuntimeFacts, wanted: str) -> str:
    """``main-file`` or ``drop-in``: what was wanted, else what suits the release.

    A drop-in needs the deep merge of 2.0 (containerd PR 9982), and a dump that can be believed for its proof. A main
    file that is missing or empty holds nothing that could be spared, and imports nothing.
    """
    if wanted != AUTO:
        return wanted
    layers = runtime.merged
    merges = release(runtime.version) is not None and layers.merge is not Merge.REPLACING
    believed = not dump_is_wrong(runtime.version, layers.version)
    return DROP_IN if merges and believed and runtime.config.values else MAIN_FILE


def place(runtime: RuntimeFacts, wanted: str, table: Table) -> Place:
    """Where the settings of the plugin whose ``table`` this is are written."""
    if strategy(runtime, wanted) == DROP_IN:
        return Place(OWN_DROP_IN, _known(_schema_of_drop_in(runtime)))
    main, layers = runtime.config, runtime.merged
    if not main.values:
        return Place(main.path, _known(schema_of_new_file(runtime.version)))
    if layers.merge is not Merge.REPLACING:
        return Place(main.path, SCHEMAS[2] if _is_migrated(layers) else _known(runtime.config_version))
    schema = _known(layers.version)
    holding = [each.path for each in layers.files if nested(each.values, table(schema)[:2]) is not None]
    return Place(holding[-1] if holding else main.path, schema)


def _is_migrated(layers: Layers) -> bool:
    """Whether the main file of schema 3 has its handlers in the table of schema 2, and 2.3 or later migrates them.

    One handler in the table of schema 3 would be all that is left of them (migrateConfig in plugins/cri/runtime).
    """
    values = layers.files[0].values
    tables = [nested(values, SCHEMAS[schema].runtimes) for schema in (2, 3)]
    return layers.merge is Merge.PER_FILE and version_in(values) == 3 and tables[0] is not None and tables[1] is None


def _known(version: int | None) -> Schema:
    """The schema of a version; any other is refused before something is written in it."""
    return SCHEMAS.get(version or 0, SCHEMAS[2])


def _schema_of_drop_in(runtime: RuntimeFacts) -> int | None:
    """Its own once it is there, else the main file's, else the one that counts: so no version in force changes."""
    own = files_of(runtime).get(OWN_DROP_IN)
    if own is not None and own.values:
        return version_in(own.values)
    if "version" in runtime.config.values:
        return runtime.config_version
    layers = runtime.merged
    named = [each.values["version"] for each in layers.files if isinstance(each.values.get("version"), int)]
    return min(named, default=layers.version or schema_of_new_file(runtime.version))


def imports_of(values: Mapping[str, Any]) -> list[str]:
    """The ``imports`` of a file."""
    found = values.get("imports")
    return [str(each) for each in found] if isinstance(found, list) else []


def _is_imported(runtime: RuntimeFacts) -> bool:
    files = {**files_of(runtime), OWN_DROP_IN: ConfigFile(OWN_DROP_IN, "regular")}
    return OWN_DROP_IN in {each.path for each in order(runtime.config, files, runtime.version)[0]}


def preparations(runtime: RuntimeFacts, paths: Iterable[str]) -> Iterator[Change]:
    """What the files at ``paths`` need before a setting in them counts: a version each, and the import of ours."""
    needs, main = frozenset({Need.RESTART_RUNTIME}), runtime.config
    missing_import = OWN_DROP_IN in paths and not _is_imported(runtime)
    touched = dict.fromkeys([*([main.path] if missing_import else []), *paths])
    for path in touched:
        known = files_of(runtime).get(path)
        if known is not None and known.values:
            continue
        version = _schema_of_drop_in(runtime) if path == OWN_DROP_IN else schema_of_new_file(runtime.version)
        reason = "a file without it is schema 1, or what the release takes it for"
        yield Change("containerd", "version", None, version, reason, needs, path, ("version",))
    if missing_import:
        before = main.values.get("imports")
        after = [*imports_of(main.values), OWN_DROP_IN]
        yield Change(
            "containerd", "imports", before, after, f"{OWN_DROP_IN} counts only then", needs, main.path, ("imports",)
        )
