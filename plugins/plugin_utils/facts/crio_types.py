# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of what is read of CRI-O's files: with a value of another one CRI-O does not start.

Keys and types: the structs of cri-o pkg/config/config.go and internal/config/nri/nri.go. Their decoder converts nothing
(BurntSushi/toml decode.go, unifyString, unifyBool, unifyStruct), but for a time, which is a text or whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..edit.changes import Path
from .config_file import ConfigFile, Problem
from .toml_lines import key_line

ANY = "*"
TIME = (str, int)
TYPES: Mapping[str, Any] = {
    "crio": {
        "runtime": {
            "cgroup_manager": str,
            "conmon_cgroup": str,
            "default_runtime": str,
            "runtimes": {ANY: {"monitor_cgroup": str, "runtime_type": str}},
        },
        "nri": {
            "enable_nri": bool,
            "nri_disable_connections": bool,
            "nri_listen": str,
            "nri_plugin_config_dir": str,
            "nri_plugin_dir": str,
            "nri_plugin_registration_timeout": TIME,
            "nri_plugin_request_timeout": TIME,
        },
    }
}
NAMES = {str: "a text", bool: "true or false", TIME: "a time"}


def of_its_types(config: ConfigFile) -> ConfigFile:
    """The file, with a problem and without values where CRI-O would not decode it."""
    wrong = next(_wrong(config.values, TYPES, ()), None)
    if wrong is None:
        return config
    path, wanted = wrong
    message = f"{'.'.join(path)} is not {wanted}; CRI-O does not start with it"
    return replace(config, values={}, problem=Problem(config.path, message, key_line(config.text or "", path)))


def _wrong(found: Any, types: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The path of each value of another type, and what it had to be."""
    if not isinstance(types, Mapping):
        if not _is(found, types):
            yield path, NAMES[types]
    elif not isinstance(found, Mapping):
        yield path, "a table"
    else:
        for key, value in found.items():
            wanted = types.get(key, types.get(ANY))
            if wanted is not None:
                yield from _wrong(value, wanted, (*path, key))


def _is(found: Any, wanted: Any) -> bool:
    # true is no number in TOML.
    return isinstance(found, wanted) and (wanted is bool or not isinstance(found, bool))
