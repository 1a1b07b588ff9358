# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of plugins in a file that spells ``plugins`` in several letter cases.

Up to 1.7 one of the spellings counts (module_utils/containerd_fields.py). Since 2.0 all do: go-toml/v2 decodes the
settings in the order of the text, and a value replaces the earlier one of its path. Run with 2.2.4, 2.3.0 and 2.4.3 of
the library.
"""

from __future__ import annotations

from typing import Any

from ...module_utils.containerd_fields import is_spelling
from ..edit.readers import read_toml
from ..edit.splice import BOM, line_number
from ..edit.text_errors import ParseError
from ..edit.toml_layout import Layout, Setting, Table
from ..releases.containerd_toml import TomlLibrary

PLUGINS = "plugins"
REMEDY = "Write plugins in lower case everywhere"


def plugins_in_order(text: str, library: TomlLibrary) -> dict[str, Any]:
    """The tables of plugins; ParseError for a text that the library refuses, or with an array of tables."""
    body = text.removeprefix(BOM)
    layout = Layout.of(body)
    plugins: dict[str, Any] = {}
    parts: list[Table | Setting] = [*layout.tables[1:], *layout.settings]
    for part in sorted(parts, key=lambda part: part.start):
        if not is_spelling(part.path[0], PLUGINS):
            continue
        if (part if isinstance(part, Table) else part.table).listed:
            message = "plugins is written in several letter cases, and has an array of tables"
            raise ParseError(message, line_number(body, part.start), remedy=REMEDY)
        if isinstance(part, Table):
            _open(plugins, part, library, line_number(body, part.start))
        else:
            _set(plugins, part, read_toml(f"value = {body[part.value_start : part.value_end]}")["value"], library)
    return plugins


def _open(plugins: dict[str, Any], header: Table, library: TomlLibrary, line: int) -> None:
    """Up to 2.3 the library refuses a header whose path leads through a value."""
    table = plugins
    for key in header.path[1:]:
        if key in table and not isinstance(table[key], dict) and library is TomlLibrary.V2:
            raise ParseError(f"{key} is a value and a table in two spellings of plugins", line, remedy=REMEDY)
        table = _table(table, key)


def _set(plugins: dict[str, Any], setting: Setting, value: Any, library: TomlLibrary) -> None:
    if len(setting.path) == 1:
        # ``plugins = {…}``: up to 2.3 the library keeps the plugins of an earlier spelling.
        if library is not TomlLibrary.V2:
            plugins.clear()
        plugins.update(value)
        return
    *outer, key = setting.path[1:]
    table = plugins
    for name in outer:
        table = _table(table, name)
    table[key] = value


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(table.get(key), dict):
        table[key] = {}
    inner: dict[str, Any] = table[key]
    return inner
