# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a setting goes when k3s or RKE2 renders containerd's file anew at each start, or why it has no place.

Their file itself is never written. Where it imports a folder (k3s#13680), that takes a drop-in of ours; else the
template does, in which no table may be declared that the base has already (k3s-io/docs#566).
Source: k3s pkg/agent/containerd/config.go, writeContainerdConfig, and pkg/agent/templates/templates.go.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..containerd_schema import DEFAULT_HANDLER, NRI_ID, SCHEMAS
from ..edit.errors import EditError
from ..edit.read import read_toml
from ..edit.template_splice import BASE, extends_base, parted, rendered_with
from ..facts.config import nested
from ..facts.config_file import ConfigFile
from ..facts.containerd_layers import Merge, driver_word, runtimes
from ..facts.model import NodeFacts
from .containerd_place import files_of
from .model import Change, Need

TARGET = "containerd template"
"""Of changes whose file is a template: they come to count in what is rendered of it."""
OWN_FILE = "zz-volcano-colocation.toml"
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


def rendering(facts: NodeFacts) -> Rendering | None:
    """How containerd's main file comes about on this node; None where it is a file like any other."""
    path = facts.runtime.config.path
    template = facts.layout.regenerated.get(path)
    if template is None:
        return None
    pattern = f"{template.removesuffix('.tmpl')}.d/*.toml"
    # Up to 1.7 a plugin's table in a drop-in would take the place of the rendered one as a whole (containerd#5837).
    deep = facts.runtime.merged.merge is not Merge.REPLACING
    imported = deep and pattern in [posixpath.normpath(each) for each in facts.runtime.imports]
    return Rendering(path, template, posixpath.dirname(pattern) + "/" + OWN_FILE if imported else None)


def template_of(facts: NodeFacts, found: Rendering) -> ConfigFile | None:
    """The template that is there."""
    return next((each for each in facts.layout.template_files if each.path == found.template), None)


def own_paths(facts: NodeFacts) -> frozenset[str]:
    """Files outside of /etc/containerd that are written here."""
    found = rendering(facts)
    return frozenset((found.place, found.template)) if found else frozenset()


def placed(facts: NodeFacts, found: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, each in the file where it lasts; what has no such place keeps the rendered file and is refused."""
    how = rendering(facts)
    if how is None:
        return tuple(found)
    result = [_placed(facts, how, change) for change in found]
    return (*_version(facts, how, result), *result)


def _placed(facts: NodeFacts, how: Rendering, change: Change) -> Change:
    if change.path != how.path or obstacle(facts, change):
        return change
    if how.drop_in:
        return replace(change, path=how.drop_in)
    if nested(_tables(facts, how), change.keys) == change.after:
        reason = (
            f"{how.template} says {change.setting}: {change.after}, and {facts.layout.name} has not rendered it since"
        )
        return replace(change, reason=reason, path=None, target=TARGET)
    return replace(change, path=how.template, target=TARGET)


def _version(facts: NodeFacts, how: Rendering, changes: list[Change]) -> Iterator[Change]:
    """A drop-in names the version of the rendered file: so the version in force stays what it is."""
    if how.drop_in is None:
        return
    known = files_of(facts.runtime).get(how.drop_in)
    if how.drop_in in {each.path for each in changes} and not (known and known.values):
        reason = "a file without it is schema 1, or what the release takes it for"
        version, needs = facts.runtime.config_version, frozenset({Need.RESTART_RUNTIME})
        yield Change("containerd", "version", None, version, reason, needs, how.drop_in, ("version",))


def _tables(facts: NodeFacts, how: Rendering) -> Mapping[str, Any]:
    """What the plain tables at the end of the template say."""
    template = template_of(facts, how)
    return read_toml(parted(template.text)[1]) if template and template.text is not None else {}


def obstacle(facts: NodeFacts, change: Change) -> str | None:
    """Why a setting of the rendered file cannot be written where it would last; None where it can."""
    how = rendering(facts)
    if how is None or change.path != how.path:
        return None
    if change.keys[0] != "plugins":
        return f"{change.setting} is no setting of a table of its own"
    if is_another_driver(facts, how, change):
        return f"{facts.layout.name} decides on the driver itself"
    return None if how.drop_in else _of_template(facts, how, change)


def is_another_driver(facts: NodeFacts, how: Rendering, change: Change) -> bool:
    """Whether this is not the driver that k3s or RKE2 gives kubelet and, by its base template, the handler runc."""
    if change.keys[-1] != DRIVER_KEY:
        return False
    template = template_of(facts, how)
    if template is not None and not extends_base(template.text or ""):
        return True
    own = runtimes(nested(facts.runtime.config.values, _cri(facts)) or {})
    return driver_word(own.get(DEFAULT_HANDLER)) is not change.after


def _cri(facts: NodeFacts) -> tuple[str, ...]:
    return SCHEMAS.get(facts.runtime.config_version or 0, SCHEMAS[2]).cri_table


def _of_template(facts: NodeFacts, how: Rendering, change: Change) -> str | None:
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
        tables = read_toml(parted(before)[1])
    except EditError as error:
        return f"{how.template}: {error.message}"
    if nested(tables, change.keys) == change.after:
        return None
    if template is not None and template.changed_after_start:
        return f"{how.template} changed after {facts.layout.name} rendered it last"
    if rendered_with(facts.runtime.config.text or "", before, before) is None:
        return f"{how.path} is not what {how.template} renders to"
    return _declared(facts, how, change, tables)


def _declared(facts: NodeFacts, how: Rendering, change: Change, tables: Mapping[str, Any]) -> str | None:
    """A table is written once: in the plain part of the template, or in what comes before it."""
    is_nri = change.keys[1] == NRI_ID
    # A handler is the table of its name; every other plugin's table is its own.
    table = change.keys[:2] if is_nri else change.keys[: len(_cri(facts)) + 3]
    if nested(tables, table) is not None or (is_nri and nested(facts.runtime.config.values, table) is None):
        return None
    return f"the table of {table[-1]} stands before the tables that can be added to, and TOML takes no table twice"


def _knows_base(version: str | None) -> bool:
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+).*-k3s", version or "")
    return found is not None and tuple(map(int, found.groups())) >= BASE_SINCE
