# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import tomlkit

from ansible_collections.volcano.colocation.tests.lab.toml_edit import has_table, set_value

TEXT = """\
version = 4

[plugins]
  [plugins.'io.containerd.nri.v1.nri']
    disable = false
    socket_path = '/var/run/nri/nri.sock'

  [plugins."a.b"]
    [plugins."a.b".c]
"""
NRI = ("plugins", "io.containerd.nri.v1.nri")


def test_a_value_is_changed_where_it_is() -> None:
    assert set_value(TEXT, NRI, "disable", "true") == TEXT.replace("disable = false", "disable = true")


def test_a_value_is_added_to_its_own_table() -> None:
    text = set_value(TEXT, ("plugins", "a.b", "c"), "disable", "true")
    plugins = tomlkit.parse(text).unwrap()["plugins"]
    assert plugins["a.b"] == {"c": {"disable": True}}
    assert plugins[NRI[1]]["disable"] is False


def test_a_table_is_known_by_its_whole_name() -> None:
    assert has_table(TEXT, ("plugins", "a.b"))
    assert not has_table(TEXT, ("plugins", "a"))
    assert not has_table(TEXT, ("plugins", "a", "b"))
