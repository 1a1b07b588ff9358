# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a setting of containerd is written: by its release, its schema, and the file that wins after imports.

docs/containerd.md has the table of releases with the reason of each row. A file that k3s or RKE2 renders at each start
is never written. Where it imports a directory (k3s#13680), that takes a drop-in of ours; else the template does, in
which no table may be declared that the base has already (k3s-io/docs#566). Source: k3s pkg/agent/containerd/config.go,
writeContainerdConfig, and pkg/agent/templates/templates.go.
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
    merges = parse_release(runtime.version) is not None and layers.merge is not Merge.REPLACING
    believed = not dump_is_wrong(runtime.version, layers.version)
    return DROP_IN if merges and believed and runtime.config.values else MAIN_FILE


def containerd_location(runtime: RuntimeFacts, wanted: str, table: Table) -> ContainerdLocation:
    """Where the settings of the plugin whose ``table`` this is are written."""
    if strategy(runtime, wanted) == DROP_IN:
        return ContainerdLocation(OWN_DROP_IN, _schema_or_default(_schema_of_drop_in(runtime)))
    main, layers = runtime.config, runtime.merged
    if not main.values:
        return ContainerdLocation(main.path, _schema_or_default(schema_of_new_file(runtime.version)))
    if layers.merge is not Merge.REPLACING:
        return ContainerdLocation(
            main.path, SCHEMAS[2] if _is_migrated(layers) else _schema_or_default(runtime.config_version)
        )
    schema = _schema_or_default(layers.version)
    holding = [each.path for each in layers.files if value_at(each.values, table(schema)[:2]) is not None]
    return ContainerdLocation(holding[-1] if holding else main.path, schema)


def _is_migrated(layers: Layers) -> bool:
    """Whether the main file of schema 3 has its handlers in the table of schema 2, and 2.3 or later migrates them.

    One handler in the table of schema 3 would be all that is left of them (migrateConfig in plugins/cri/runtime).
    """
    values = layers.files[0].values
    tables = [value_at(values, SCHEMAS[schema].runtimes) for schema in (2, 3)]
    return layers.merge is Merge.PER_FILE and version_in(values) == 3 and tables[0] is not None and tables[1] is None


def _schema_or_default(version: int | None) -> Schema:
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
    return OWN_DROP_IN in {each.path for each in merge_order(runtime.config, files, runtime.version)[0]}


def preparations(runtime: RuntimeFacts, paths: Iterable[str]) -> Iterator[Change]:
    """What the files at ``paths`` need before a setting in them counts: a version each, and the import of ours."""
    needs, main = frozenset({Impact.RESTART_RUNTIME}), runtime.config
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


TEMPLATE_TARGET = "containerd template"
"""Of changes whose file is a template: they come to count in what is rendered of it."""
OWN_DROP_IN_NAME = "zz-volcano-colocation.toml"
BASE_SINCE = (1, 7, 6)
"""k3s#7991 came with v1.24.17, v1.25.13, v1.26.8, v1.27.5 and v1.28.1. Their own version is not asked; the releases
after these brought containerd 1.7.6 (k3s v1.25.14 and v1.27.6, release notes): no k3s without the base has that."""
DRIVER_KEY = "SystemdCgroup"


@dataclass(frozen=True)
class Rendering:
    """``path`` is made anew of ``template``; ``drop_in`` is ours in the folder that it imports, None without one."""

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
    """How containerd's main file comes about on this node; None where it is a file like any other."""
    path = facts.runtime.config.path
    template = facts.layout.regenerated.get(path)
    if template is None:
        return None
    pattern = f"{template.removesuffix('.tmpl')}.d/*.toml"
    # Up to 1.7 a plugin's table in a drop-in would take the place of the rendered one as a whole (containerd#5837).
    deep = facts.runtime.merged.merge is not Merge.REPLACING
    imported = deep and pattern in [posixpath.normpath(each) for each in facts.runtime.imports]
    return Rendering(path, template, posixpath.dirname(pattern) + "/" + OWN_DROP_IN_NAME if imported else None)


def template_of(facts: NodeFacts, found: Rendering) -> ConfigFile | None:
    """The template that is there."""
    return next((each for each in facts.layout.template_files if each.path == found.template), None)


def own_paths(facts: NodeFacts) -> frozenset[str]:
    """Files outside of /etc/containerd that are written here."""
    found = find_rendering(facts)
    return frozenset((found.place, found.template)) if found else frozenset()


def place_changes(facts: NodeFacts, found: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, each in the file where it lasts; what has no such place keeps the rendered file and is refused."""
    how = find_rendering(facts)
    if how is None:
        return tuple(found)
    result = [_place_change(facts, how, change) for change in found]
    return (*_version(facts, how, result), *result)


def _place_change(facts: NodeFacts, how: Rendering, change: Change) -> Change:
    if change.path != how.path or location_obstacle(facts, change):
        return change
    if how.drop_in:
        return replace(change, path=how.drop_in)
    if value_at(_tables(facts, how), change.keys) == change.after:
        reason = (
            f"{how.template} says {change.setting}: {change.after}, and {facts.layout.name} has not rendered it since"
        )
        return replace(change, reason=reason, path=None, target=TEMPLATE_TARGET)
    return replace(change, path=how.template, target=TEMPLATE_TARGET)


def _version(facts: NodeFacts, how: Rendering, changes: list[Change]) -> Iterator[Change]:
    """A drop-in names the version of the rendered file: so the version in force stays what it is."""
    if how.drop_in is None:
        return
    known = files_of(facts.runtime).get(how.drop_in)
    if how.drop_in in {each.path for each in changes} and not (known and known.values):
        reason = "a file without it is schema 1, or what the release takes it for"
        version, needs = facts.runtime.config_version, frozenset({Impact.RESTART_RUNTIME})
        yield Change("containerd", "version", None, version, reason, needs, how.drop_in, ("version",))


def _tables(facts: NodeFacts, how: Rendering) -> Mapping[str, Any]:
    """What the plain tables at the end of the template say."""
    template = template_of(facts, how)
    return read_toml(split_template(template.text)[1]) if template and template.text is not None else {}


def location_obstacle(facts: NodeFacts, change: Change) -> str | None:
    """Why a setting of the rendered file cannot be written where it would last; None where it can."""
    how = find_rendering(facts)
    if how is None or change.path != how.path:
        return None
    if change.keys[0] != "plugins":
        return f"{change.setting} is no setting of a table of its own"
    if is_another_driver(facts, how, change):
        return f"{facts.layout.name} decides on the driver itself"
    return None if how.drop_in else _template_obstacle(facts, how, change)


def is_another_driver(facts: NodeFacts, how: Rendering, change: Change) -> bool:
    """Whether this is not the driver that k3s or RKE2 gives kubelet and, by its base template, the handler runc."""
    if change.keys[-1] != DRIVER_KEY:
        return False
    template = template_of(facts, how)
    if template is not None and not extends_base(template.text or ""):
        return True
    own = declared_handlers(value_at(facts.runtime.config.values, _cri(facts)) or {})
    return systemd_cgroup_option(own.get(DEFAULT_HANDLER)) is not change.after


def _cri(facts: NodeFacts) -> tuple[str, ...]:
    return SCHEMAS.get(facts.runtime.config_version or 0, SCHEMAS[2]).cri_table


def _template_obstacle(facts: NodeFacts, how: Rendering, change: Change) -> str | None:
    template = template_of(facts, how)
    if template is None and how.template in facts.layout.templates:
        return f"{how.template} was not looked at"
    if template is None:
        if not _knows_base(facts.runtime.version):
            return f"whether this {facts.layout.name} knows the base template is not known (k3s#7991)"
        before = BASE
    elif template.kind != "regular" or template.text is None:
        return f"{how.template} is {'a symbolic link' if template.kind == 'symlink' else 'not readable'}"
    else:
        before = template.text
    try:
        tables = read_toml(split_template(before)[1])
    except EditError as error:
        return f"{how.template}: {error.message}"
    if value_at(tables, change.keys) == change.after:
        return None
    if template is not None and template.changed_after_start:
        return f"{how.template} changed after {facts.layout.name} rendered it last"
    if predict_rendering(facts.runtime.config.text or "", before, before) is None:
        return f"{how.path} is not what {how.template} renders to"
    return _declared_obstacle(facts, how, change, tables)


def _declared_obstacle(facts: NodeFacts, how: Rendering, change: Change, tables: Mapping[str, Any]) -> str | None:
    """A table is written once: in the plain part of the template, or in what comes before it."""
    is_nri = change.keys[1] == NRI_ID
    # A handler is the table of its name; every other plugin's table is its own.
    table = change.keys[:2] if is_nri else change.keys[: len(_cri(facts)) + 3]
    if value_at(tables, table) is not None or (is_nri and value_at(facts.runtime.config.values, table) is None):
        return None
    return f"the table of {table[-1]} stands before the tables that can be added to, and TOML takes no table twice"


def _knows_base(version: str | None) -> bool:
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+).*-k3s", version or "")
    return found is not None and tuple(map(int, found.groups())) >= BASE_SINCE
