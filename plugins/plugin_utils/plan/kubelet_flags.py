# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deprecated flags that beat what the profile sets: those of environment files are taken out, never any is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..facts.kubelet_flags import flag_value
from ..facts.kubelet_layers import shown
from ..facts.kubelet_model import Flag
from ..facts.model import KubeletFacts
from ..kubelet_field_model import KubeletField
from ..kubelet_fields import FEATURE_GATES
from .kubelet_after import Desired


@dataclass(frozen=True)
class Override:
    """A flag that beats a field at kubelet's next start. ``variable`` is that of the environment file ``path``."""

    field: KubeletField
    flag: Flag
    variable: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return self.flag.name if self.flag.value is None else f"{self.flag.name}={self.flag.value}"


def fields_of(desired: tuple[Desired, ...]) -> Mapping[KubeletField, tuple[tuple[str, ...], ...]]:
    """The fields that are set, each with the paths of keys that are set in it."""
    found: dict[KubeletField, tuple[tuple[str, ...], ...]] = {}
    for field, keys, _value in desired:
        found[field] = (*found.get(field, ()), keys)
    return found


def _beats(field: KubeletField, flag: Flag, paths: tuple[tuple[str, ...], ...]) -> bool:
    """A flag replaces its whole field; feature gates are merged gate by gate (cmd/kubelet/app/server.go)."""
    if flag.name != field.flag:
        return False
    if field is not FEATURE_GATES:
        return True
    gates = flag_value(field, (flag,)) or {}
    return any(len(keys) == 1 or keys[1] in gates for keys in paths)


def overrides(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags of the next start that beat what is set; of the running kubelet's where no unit of it was seen."""
    start = kubelet.start
    found = start.running if start.following is None else start.following
    return tuple(
        _placed(kubelet, field, flag)
        for field, paths in fields_of(desired).items()
        for flag in found
        if _beats(field, flag, paths)
    )


def _placed(kubelet: KubeletFacts, field: KubeletField, flag: Flag) -> Override:
    variable, _in, path = flag.source.partition(" in ")
    if kubelet.start.following is not None and kubelet.start.environment_files.get(path) == "regular":
        return Override(field, flag, variable, path)
    return Override(field, flag)


def no_longer_given(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags that the running kubelet has over what is set, and that its unit would not give it again."""
    start = kubelet.start
    if start.following is None or not kubelet.running:
        return ()
    given = {flag.name for flag in start.following}
    return tuple(
        Override(field, flag)
        for field, paths in fields_of(desired).items()
        for flag in start.running
        if flag.name not in given and _beats(field, flag, paths)
    )


def left_behind(field: KubeletField, flags: tuple[Flag, ...], below: Any, paths: tuple[tuple[str, ...], ...]) -> str:
    """Entries whose value would change with the flag gone although nobody set them, in words; "" where none would."""
    by_flag = flag_value(field, flags)
    if not isinstance(by_flag, Mapping) or any(len(keys) == 1 for keys in paths):
        return ""
    files = below if isinstance(below, Mapping) else {}
    named = {keys[1] for keys in paths}
    # Gates of the file are in force beside the flag's; of any other table the flag leaves nothing.
    others = set(by_flag) if field is FEATURE_GATES else {*by_flag, *files}
    changing = sorted(key for key in others - named if shown(by_flag.get(key)) != shown(files.get(key)))
    return ", ".join(f"{key}={by_flag.get(key, 'unset')}" for key in changing)


def entry(field: KubeletField, flags: tuple[Flag, ...], keys: tuple[str, ...]) -> Any:
    """What flags say of one path of keys, in the shape of the file."""
    value = flag_value(field, flags)
    for key in keys[1:]:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def by_variable(found: tuple[Override, ...]) -> Iterator[tuple[str, str, tuple[Override, ...]]]:
    """(file, variable, overrides) of those that an environment file holds, by field."""
    groups: dict[tuple[str, str, KubeletField], tuple[Override, ...]] = {}
    for each in found:
        if each.path is not None and each.variable is not None:
            key = (each.path, each.variable, each.field)
            groups[key] = (*groups.get(key, ()), each)
    for (path, variable, _field), members in groups.items():
        yield path, variable, members
