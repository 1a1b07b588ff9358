# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's tables with its fields under their own names, whatever letter case the file has them in.

Names of plugins and of handlers are keys of maps, and exact; all other keys that are read here are fields
(module_utils/containerd_fields.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils.containerd_fields import SYSTEMD_CGROUP, LetterCase, is_spelling, key_of
from ..containerd_schema import DEFAULT_HANDLER

TOP = ("version", "imports", "plugins", "disabled_plugins", "required_plugins")
CRI = ("containerd", "systemd_cgroup")
DEPRECATED = {"untrusted": "untrusted_workload_runtime", "default": "default_runtime"}
"""Tables of one handler each, by its name, which 1.x still reads."""
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
"""Those that are read."""
NRI = (
    "disable",
    "socket_path",
    "plugin_path",
    "plugin_config_path",
    "plugin_registration_timeout",
    "plugin_request_timeout",
)

Table = Mapping[str, Any]


def top_level(values: Table, case: LetterCase) -> Table:
    """A file with the fields of its top level under their own names; plugins' tables stay as written."""
    return _named(values, TOP, case, list(values))


def nri_values(values: Table, case: LetterCase) -> Table:
    """NRI's table with its fields under their own names."""
    return _named(values, NRI, case, sorted(values))


def cri_values(values: Table, case: LetterCase) -> Table:
    """The CRI plugin's table with the fields of its handlers under their own names."""
    cri = _named(values, CRI, case, sorted(values))
    containerd = cri.get("containerd")
    if not isinstance(containerd, Mapping):
        return cri
    containerd = _named(containerd, CONTAINERD, case, sorted(containerd))
    handlers = containerd.get("runtimes")
    if isinstance(handlers, Mapping):
        containerd = {**containerd, "runtimes": {name: _handler(name, each, case) for name, each in handlers.items()}}
    for name, key in DEPRECATED.items():
        if key in containerd:
            containerd = {**containerd, key: _handler(name, containerd[key], case)}
    return {**cri, "containerd": containerd}


def _handler(name: str, table: Any, case: LetterCase) -> Any:
    if not isinstance(table, Mapping):
        return table
    handler = _named(table, RUNTIME, case, sorted(table))
    options = handler.get("options")
    if not isinstance(options, Mapping):
        return handler
    keys = sorted(options)
    if case is LetterCase.ANY and name == DEFAULT_HANDLER:
        # 2.x has all options of runc among its defaults, and they are decoded in their turn (run with 2.4.2).
        keys = sorted({*keys, *OPTIONS})
    named = _named(options, OPTION_NAMES, case, keys)
    return {**handler, "options": {**named, **_undecodable(options, case)}}


def _undecodable(options: Table, case: LetterCase) -> dict[str, Any]:
    """2.x decodes every spelling of an option, so that one of another type counts whatever stands under the others."""
    spelled = [value for key, value in options.items() if is_spelling(key, SYSTEMD_CGROUP)]
    odd = [value for value in spelled if not isinstance(value, bool)]
    return {SYSTEMD_CGROUP: odd[0]} if odd and case is LetterCase.ANY else {}


def _named(values: Table, fields: Iterable[str], case: LetterCase, order: list[str]) -> dict[str, Any]:
    """The table with each field under its name; ``order`` is the one in which its keys are decoded."""
    named = dict(values)
    for field in fields:
        spelled = [key for key in order if is_spelling(key, field)]
        key = key_of(spelled, field, case)
        if spelled == [field] or key is None:
            continue
        named = {name: value for name, value in named.items() if name not in spelled}
        if key in values:
            counting = spelled if case is LetterCase.ANY else [key]
            named[field] = _joined([values[each] for each in counting if each in values])
    return named


def _joined(tables: list[Any]) -> Any:
    """Tables under several spellings of a field add up, the later over the earlier; of other values the last counts."""
    joined = tables[-1]
    if not all(isinstance(each, Mapping) for each in tables):
        return joined
    for each in reversed(tables[:-1]):
        joined = _over(each, joined)
    return joined


def _over(below: Table, above: Table) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _over(under, value) if isinstance(value, Mapping) and isinstance(under, Mapping) else value
    return merged
