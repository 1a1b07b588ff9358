# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a setting of containerd is written: by its release, its schema, and the effective file after imports.

docs/runtimes.md has the table of releases with the reason for each row. A file that k3s or RKE2 renders at each start
is never written. If it imports a directory (k3s#13680), settings go to the collection's drop-in there; else they go to
the template, which must not declare a table that the base template declares (k3s-io/docs#566). Source: k3s
pkg/agent/containerd/config.go, writeContainerdConfig, and pkg/agent/templates/templates.go.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..edit.containerd_text import BASE, extends_base, predict_rendering, split_template
from ..edit.readers import read_toml
from ..edit.text_errors import EditError
from ..facts.config_file import ConfigFile, value_at
from ..facts.containerd_layers import Layers, Merge, declared_handlers, merge_order, systemd_cgroup_option, version_in
from ..facts.node_state import NodeFacts
from ..facts.runtime_state import RuntimeFacts
from ..releases.containerd_schema import (
    DEFAULT_HANDLER,
    NRI_ID,
    OWN_DROP_IN,
    SCHEMAS,
    Schema,
    dump_is_wrong,
    parse_release,
    schema_of_new_file,
)
from .change_set import Change, Impact

AUTO, MAIN_FILE, DROP_IN = "auto", "main-file", "drop-in"
Table = Callable[[Schema], tuple[str, ...]]


@dataclass(frozen=True)
class ContainerdLocation:
    """A file, and the schema of the keys that are written to it."""

    path: str
    schema: Schema


def files_of(runtime: RuntimeFacts) -> dict[str, ConfigFile]:
    """Every captured file by path, including the main file."""
    return {runtime.config.path: runtime.config, **{config.path: config for config in runtime.captured}}


def strategy(runtime: RuntimeFacts, requested: str) -> str:
    """``main-file`` or ``drop-in``: the requested strategy, else the one that suits the release.

    A drop-in needs the deep merge of 2.0 (containerd PR 9982), and a correct dump that proves the result. A missing or
    empty main file has no settings to protect, and no imports.
    """
    if requested != AUTO:
        return requested
    layers = runtime.merged
    merges = parse_release(runtime.version) is not None and layers.merge is not Merge.REPLACING
    values_correct = not dump_is_wrong(runtime.version, layers.version)
    return DROP_IN if merges and values_correct and runtime.config.values else MAIN_FILE


def containerd_location(runtime: RuntimeFacts, requested: str, table: Table) -> ContainerdLocation:
    """Where the settings of the plugin with this ``table`` are written."""
    if strategy(runtime, requested) == DROP_IN:
        return ContainerdLocation(OWN_DROP_IN, _schema_or_default(_schema_of_drop_in(runtime)))
    main, layers = runtime.config, runtime.merged
    if not main.values:
        return ContainerdLocation(main.path, _schema_or_default(schema_of_new_file(runtime.version)))
    if layers.merge is not Merge.REPLACING:
        return ContainerdLocation(
            main.path, SCHEMAS[2] if _is_migrated(layers) else _schema_or_default(runtime.config_version)
        )
    schema = _schema_or_default(layers.version)
    holding = [config.path for config in layers.files if value_at(config.values, table(schema)[:2]) is not None]
    return ContainerdLocation(holding[-1] if holding else main.path, schema)


def _is_migrated(layers: Layers) -> bool:
    """Whether the main file of schema 3 has its handlers in the table of schema 2, and 2.3 or later migrates them.

    A single handler in the table of schema 3 would replace all of them (migrateConfig in plugins/cri/runtime).
    """
    values = layers.files[0].values
    tables = [value_at(values, SCHEMAS[schema].runtimes) for schema in (2, 3)]
    return layers.merge is Merge.PER_FILE and version_in(values) == 3 and tables[0] is not None and tables[1] is None


def _schema_or_default(version: int | None) -> Schema:
    """The schema of a version; schema 2 for an unknown version, which is refused before anything is written."""
    return SCHEMAS.get(version or 0, SCHEMAS[2])


def _schema_of_drop_in(runtime: RuntimeFacts) -> int | None:
    """The version of an existing drop-in, else of the main file, else the effective one, which must not change."""
    own = files_of(runtime).get(OWN_DROP_IN)
    if own is not None and own.values:
        return version_in(own.values)
    if "version" in runtime.config.values:
        return runtime.config_version
    layers = runtime.merged
    named = [config.values["version"] for config in layers.files if isinstance(config.values.get("version"), int)]
    return min(named, default=layers.version or schema_of_new_file(runtime.version))


def imports_of(values: Mapping[str, Any]) -> list[str]:
    """The ``imports`` of a file."""
    imports = values.get("imports")
    return [str(pattern) for pattern in imports] if isinstance(imports, list) else []


def _is_imported(runtime: RuntimeFacts) -> bool:
    files = {**files_of(runtime), OWN_DROP_IN: ConfigFile(OWN_DROP_IN, "regular")}
    return OWN_DROP_IN in {config.path for config in merge_order(runtime.config, files, runtime.version)[0]}


def preparations(runtime: RuntimeFacts, paths: Iterable[str]) -> Iterator[Change]:
    """What the files at ``paths`` need to be effective: each a version, and the own drop-in an import."""
    needs, main = frozenset({Impact.RESTART_RUNTIME}), runtime.config
    missing_import = OWN_DROP_IN in paths and not _is_imported(runtime)
    touched = dict.fromkeys([*([main.path] if missing_import else []), *paths])
    for path in touched:
        known = files_of(runtime).get(path)
        if known is not None and known.values:
            continue
        version = _schema_of_drop_in(runtime) if path == OWN_DROP_IN else schema_of_new_file(runtime.version)
        reason = "a file without it has schema 1, or the default of the release"
        yield Change("containerd", "version", None, version, reason, needs, path, ("version",))
    if missing_import:
        before = main.values.get("imports")
        after = [*imports_of(main.values), OWN_DROP_IN]
        yield Change(
            "containerd",
            "imports",
            before,
            after,
            f"{OWN_DROP_IN} is not read without it",
            needs,
            main.path,
            ("imports",),
        )


TEMPLATE_TARGET = "containerd template"
"""The target of changes whose file is a template: they take effect in the rendered file."""
OWN_DROP_IN_NAME = "zz-volcano-colocation.toml"
BASE_SINCE = (1, 7, 6)
"""k3s#7991 was added in v1.24.17, v1.25.13, v1.26.8, v1.27.5 and v1.28.1. The version of k3s is not read; the releases
after these have containerd 1.7.6 (k3s v1.25.14 and v1.27.6, release notes), and no k3s without the base has it."""
DRIVER_KEY = "SystemdCgroup"


@dataclass(frozen=True)
class Rendering:
    """``path`` is rendered from ``template``; ``drop_in`` is the own file in the directory that it imports, if any."""

    path: str
    template: str
    drop_in: str | None

    @property
    def place(self) -> str:
        return self.drop_in or self.template

    @property
    def strategy(self) -> str:
        return "drop-in" if self.drop_in else "template"


def find_rendering(facts: NodeFacts) -> Rendering | None:
    """How containerd's main file is rendered on this node; None if it is not rendered."""
    path = facts.runtime.config.path
    template = facts.layout.regenerated.get(path)
    if template is None:
        return None
    pattern = f"{template.removesuffix('.tmpl')}.d/*.toml"
    # Up to 1.7 a plugin's table in a drop-in would replace the whole rendered one (containerd#5837).
    deep = facts.runtime.merged.merge is not Merge.REPLACING
    imported = deep and pattern in [posixpath.normpath(path) for path in facts.runtime.imports]
    return Rendering(path, template, posixpath.dirname(pattern) + "/" + OWN_DROP_IN_NAME if imported else None)


def template_of(facts: NodeFacts, rendering: Rendering) -> ConfigFile | None:
    """The existing template."""
    return next((config for config in facts.layout.template_files if config.path == rendering.template), None)


def own_paths(facts: NodeFacts) -> frozenset[str]:
    """Files outside of /etc/containerd that this collection writes."""
    rendering = find_rendering(facts)
    return frozenset((rendering.place, rendering.template)) if rendering else frozenset()


def place_changes(facts: NodeFacts, changes: Iterable[Change]) -> tuple[Change, ...]:
    """Each change in the file where it persists; a change without one keeps the rendered file and is refused."""
    rendering = find_rendering(facts)
    if rendering is None:
        return tuple(changes)
    result = [_place_change(facts, rendering, change) for change in changes]
    return (*_version(facts, rendering, result), *result)


def _place_change(facts: NodeFacts, rendering: Rendering, change: Change) -> Change:
    if change.path != rendering.path or location_obstacle(facts, change):
        return change
    if rendering.drop_in:
        return replace(change, path=rendering.drop_in)
    if value_at(_tables(facts, rendering), change.keys) == change.after:
        reason = (
            f"{rendering.template} has {change.setting}: {change.after},"
            f" but {facts.layout.name} has not rendered it since"
        )
        return replace(change, reason=reason, path=None, target=TEMPLATE_TARGET)
    return replace(change, path=rendering.template, target=TEMPLATE_TARGET)


def _version(facts: NodeFacts, rendering: Rendering, changes: list[Change]) -> Iterator[Change]:
    """The version of a new drop-in: that of the rendered file, so the effective version does not change."""
    if rendering.drop_in is None:
        return
    known = files_of(facts.runtime).get(rendering.drop_in)
    if rendering.drop_in in {change.path for change in changes} and not (known and known.values):
        reason = "a file without it has schema 1, or the default of the release"
        version, needs = facts.runtime.config_version, frozenset({Impact.RESTART_RUNTIME})
        yield Change("containerd", "version", None, version, reason, needs, rendering.drop_in, ("version",))


def _tables(facts: NodeFacts, rendering: Rendering) -> Mapping[str, Any]:
    """The values of the plain tables at the end of the template."""
    template = template_of(facts, rendering)
    return read_toml(split_template(template.text)[1]) if template and template.text is not None else {}


def location_obstacle(facts: NodeFacts, change: Change) -> str | None:
    """Why a setting of the rendered file cannot be written to a file where it persists; None if it can."""
    rendering = find_rendering(facts)
    if rendering is None or change.path != rendering.path:
        return None
    if change.keys[0] != "plugins":
        return f"{change.setting} is not in a plugin's table"
    if is_another_driver(facts, rendering, change):
        return f"{facts.layout.name} chooses the driver itself"
    return None if rendering.drop_in else _template_obstacle(facts, rendering, change)


def is_another_driver(facts: NodeFacts, rendering: Rendering, change: Change) -> bool:
    """Whether the driver differs from the one that k3s or RKE2 sets for kubelet and, in its base template, for runc."""
    if change.keys[-1] != DRIVER_KEY:
        return False
    template = template_of(facts, rendering)
    if template is not None and not extends_base(template.text or ""):
        return True
    own = declared_handlers(value_at(facts.runtime.config.values, _cri(facts)) or {})
    return systemd_cgroup_option(own.get(DEFAULT_HANDLER)) is not change.after


def _cri(facts: NodeFacts) -> tuple[str, ...]:
    return SCHEMAS.get(facts.runtime.config_version or 0, SCHEMAS[2]).cri_table


def _template_obstacle(facts: NodeFacts, rendering: Rendering, change: Change) -> str | None:
    template = template_of(facts, rendering)
    if template is None and rendering.template in facts.layout.templates:
        return f"{rendering.template} was not read"
    if template is None:
        if not _knows_base(facts.runtime.version):
            return f"whether this {facts.layout.name} has the base template is unknown (k3s#7991)"
        before = BASE
    elif template.kind != "regular" or template.text is None:
        return f"{rendering.template} is {'a symbolic link' if template.kind == 'symlink' else 'not readable'}"
    else:
        before = template.text
    try:
        tables = read_toml(split_template(before)[1])
    except EditError as error:
        return f"{rendering.template}: {error.message}"
    if value_at(tables, change.keys) == change.after:
        return None
    if template is not None and template.changed_after_start:
        return f"{rendering.template} changed after {facts.layout.name} last rendered it"
    if predict_rendering(facts.runtime.config.text or "", before, before) is None:
        return f"{rendering.path} is not what {rendering.template} renders to"
    return _declared_obstacle(facts, rendering, change, tables)


def _declared_obstacle(facts: NodeFacts, rendering: Rendering, change: Change, tables: Mapping[str, Any]) -> str | None:
    """A table may occur once: in the plain part of the template, or in the part before it."""
    is_nri = change.keys[1] == NRI_ID
    # A handler is the table with its name; NRI is the table of its plugin.
    table = change.keys[:2] if is_nri else change.keys[: len(_cri(facts)) + 3]
    if value_at(tables, table) is not None or (is_nri and value_at(facts.runtime.config.values, table) is None):
        return None
    return f"the table of {table[-1]} is before the tables that can be edited, and TOML allows a table only once"


def _knows_base(version: str | None) -> bool:
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+).*-k3s", version or "")
    return match is not None and tuple(map(int, match.groups())) >= BASE_SINCE
