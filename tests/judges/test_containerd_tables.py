# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables written by hand agree with each containerd: schemas, names, NRI's defaults, the type of each value."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_tables import NRI, OPTION_NAMES
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_type_errors import OPTION_TYPES
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import NRI_SETTINGS
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import containerd_schema as schema
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import containerd_value_types as types
from ansible_collections.volcano.colocation.tests.judges.containerd_fixtures import Judge
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import Containerd, obtain, releases
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

tomllib = importlib.import_module("tomllib")

pytest_plugins = ("ansible_collections.volcano.colocation.tests.judges.containerd_fixtures",)

UNREAD = {"unpack_config"}
"""Keys with a list of tables, whose type is not compared."""
OPTIONS = ("containerd", "runtimes", types.ANY_KEY, "options")
MAPS = {("containerd", "runtimes"), ("timeouts",), ("proxy_plugins",), ("stream_processors",), ("pinned_images",)}


@pytest.fixture(name="default")
def _default(judge: Judge) -> dict[str, Any]:
    return default_of(judge.containerd)


def default_of(containerd: Containerd) -> dict[str, Any]:
    argv = [str(containerd.path), "config", "default"]
    return tomllib.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def test_the_newest_schema_and_its_tables(judge: Judge, default: dict[str, Any]) -> None:
    newest = schema.newest_schema(judge.containerd.version)
    # 1.6 reads every schema above 1 as 2.
    assert default["version"] == (2 if newest is None else newest)
    known = schema.SCHEMAS[default["version"]]
    runtimes: Any = default
    for key in known.runtimes:
        runtimes = runtimes[key]
    assert list(runtimes) == [schema.DEFAULT_HANDLER]
    assert runtimes[schema.DEFAULT_HANDLER]["runtime_type"] == schema.DEFAULT_RUNTIME_TYPE
    image: Any = default
    for key in known.sandbox_image:
        image = image[key]
    assert "pause" in image
    named = schema.cri_plugins(judge.containerd.version, default["version"])
    assert {plugin for plugin in default["plugins"] if "cri" in plugin.split(".")} <= named


def test_nri(judge: Judge, default: dict[str, Any]) -> None:
    version, table = judge.containerd.version, default["plugins"].get(schema.NRI_ID)
    assert schema.nri_supported(version) is (table is not None)
    if table is not None:
        assert schema.nri_on_by_default(version) is not table["disable"]
        assert table["socket_path"] == schema.DEFAULT_NRI_SOCKET
        assert set(NRI) <= set(table)
        assert set(NRI_SETTINGS) <= set(table)


def test_options_of_runc(judge: Judge, default: dict[str, Any]) -> None:
    options: Any = default
    for key in (*schema.SCHEMAS[default["version"]].runtimes, schema.DEFAULT_HANDLER, "options"):
        options = options[key]
    assert set(options) <= set(OPTION_NAMES)
    assert {key: kind_of(value) for key, value in options.items()} == {key: OPTION_TYPES[key] for key in options}


def kind_of(value: Any) -> str:
    """The type name for a default value."""
    kinds = ((bool, types.SWITCH), (int, types.NUMBER), (float, types.FRACTION), (str, types.TEXT), (list, types.TEXTS))
    return next((name for kind, name in kinds if isinstance(value, kind)), types.TABLE)


def found_in(values: dict[str, Any], path: types.Path = ()) -> Iterator[tuple[types.Path, str]]:
    """``(path, type)`` of each default."""
    for key, value in values.items():
        named = (*path, types.ANY_KEY if path in MAPS else key)
        if key in UNREAD or named == OPTIONS[: len(named)] == OPTIONS:
            continue
        yield named, kind_of(value)
        if isinstance(value, dict) and key not in ("plugins", "options"):
            yield from found_in(value, named)


def in_table(table: dict[types.Path, types.Fields]) -> dict[types.Path, str]:
    return {(*path, key): kind for path, fields in table.items() for key, kind in fields.items()}


def alike(known: str | None, default: str) -> bool:
    """Whether two types are the same; durations are strings in a dump."""
    return known == default or (known in (types.DURATION, types.NANOSECONDS) and default == types.TEXT)


RECENT = {("enable_experimental_restore_via_create",)}
ONLY_IN_MATRIX = {
    1: {("io.containerd.service.v1.diff-service", ("sync_fs",))},
    2: {(schema.CRI_V3, path) for path in RECENT},
}
"""Entries by major version that only 1.7.26 and later or 2.2 have, which only `make test-matrix` builds."""


@pytest.fixture(scope="module", name="defaults")
def _defaults(tmp_path_factory: pytest.TempPathFactory) -> dict[int, set[tuple[str, types.Path]]]:
    """Plugin and path of every default of all releases, by major version."""
    paths: dict[int, set[tuple[str, types.Path]]] = {1: set(), 2: set()}
    for release in releases():
        program = obtain(Cache(cache_root()), release, tmp_path_factory.mktemp(release))
        for plugin, values in default_of(program)["plugins"].items() if program else ():
            paths[program.major if program else 0] |= {(plugin, path) for path, _kind in found_in(values)}
    return paths


@pytest.mark.parametrize("major", [1, 2])
def test_every_entry_is_of_some_release(defaults: dict[int, set[tuple[str, types.Path]]], major: int) -> None:
    migrated = {schema.CRI_V2} if major > 1 else set()
    known = types.plugin_tables(major).items()
    entries = {(plugin, path) for plugin, table in known if plugin not in migrated for path in in_table(dict(table))}
    assert {entry for entry in entries - defaults[major] if entry[1] != OPTIONS} == ONLY_IN_MATRIX[major]


def test_settings_that_2_3_and_later_ignore(judge: Judge, default: dict[str, Any]) -> None:
    if judge.containerd.major < 2:
        return
    known = {path for path, _kind in found_in(default["plugins"][schema.CRI_V3])}
    ignored = {(*path, key) for path, keys in types.IGNORED_SINCE_2_3.items() for key in keys}
    since = (schema.parse_release(judge.containerd.version) or (0, 0)) >= (2, 3)
    assert ignored & known == (set() if since else ignored - RECENT)


def test_each_value_has_the_type_of_its_default(judge: Judge, default: dict[str, Any]) -> None:
    known = in_table(dict(types.OF_FILE))
    assert [(path, kind) for path, kind in found_in(default) if not alike(known.get(path), kind)] == []
    tables = types.plugin_tables(judge.containerd.major)
    for plugin, values in default["plugins"].items():
        known = in_table(dict(tables.get(plugin, {})))
        wrong = [(path, kind) for path, kind in found_in(values) if not alike(known.get(path), kind)]
        assert wrong == [], plugin
