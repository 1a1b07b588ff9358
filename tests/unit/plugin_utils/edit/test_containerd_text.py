# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates of k3s and RKE2: only the plain tables behind the last action are edited."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.containerd_text import (
    BASE,
    edit_template,
    extends_base,
    predict_rendering,
    split_template,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import Changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import ParseError, UnsupportedEdit

NRI: tuple[str, ...] = ("plugins", "io.containerd.nri.v1.nri")
OFF: Changes = {(*NRI, "disable"): True}
TABLE = '[plugins."io.containerd.nri.v1.nri"]\ndisable = true\n'
BASE_TEXT = '\n# made by k3s\nversion = 3\n[plugins.a]\n  b = "{}"\n'


def rendered(template: str) -> str:
    """The rendering by text/template of a template whose only action is the base."""
    return template.replace(BASE.rstrip("\n"), BASE_TEXT)


@pytest.mark.parametrize(
    ("text", "head", "tail"),
    [
        (BASE, BASE, ""),
        (f"{BASE}[a]\nb = 1\n", BASE, "[a]\nb = 1\n"),
        (f"{BASE}\n# a comment\n\n  [a]\nb = 1\n", f"{BASE}\n# a comment\n\n", "  [a]\nb = 1\n"),
        ("[a]\nb = {{ .B }}\nc = 1\n[d]\ne = 2\n", "[a]\nb = {{ .B }}\nc = 1\n", "[d]\ne = 2\n"),
        ("[a]\nb = 1\n{{ if .C }}\n[c]\n{{ end }}", "[a]\nb = 1\n{{ if .C }}\n[c]\n{{ end }}", ""),
        ("{{/* a comment\n[with] a line */}}\n[a]\n", "{{/* a comment\n[with] a line */}}\n", "[a]\n"),
        ("# plain\n[a]\nb = 1\n", "# plain\n", "[a]\nb = 1\n"),
    ],
)
def test_where_the_plain_tables_begin(text: str, head: str, tail: str) -> None:
    assert split_template(text) == (head, tail)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (BASE, f"{BASE}\n{TABLE}"),
        (BASE.rstrip("\n"), f"{BASE}\n{TABLE}"),
        (f"{BASE}{TABLE}", f"{BASE}{TABLE}"),
        (f"{BASE}{TABLE.replace('true', 'false  # on')}", f"{BASE}{TABLE.replace('true', 'true  # on')}"),
    ],
)
def test_a_setting_is_added_or_changed_behind_the_actions(text: str, after: str) -> None:
    assert edit_template(text, OFF) == after
    assert edit_template(after, OFF) == after


def test_the_text_before_stays_byte_for_byte() -> None:
    text = "{{ template \"base\" . }}\r\n\r\n[x]\r\n  y = 'z' # {z}\r\n"
    after = edit_template(text, OFF)
    assert after.startswith(text)
    assert after[len(text) :].split() == TABLE.split()


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ('{{- template "base" . -}}\n', UnsupportedEdit, "the last action removes the line end"),
        ("x = [\n{{ range .A }}\n{{ end }}\n[1],\n]\n", ParseError, "line"),
    ],
)
def test_an_unsafe_form_is_refused(text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        edit_template(text, OFF)


@pytest.mark.parametrize("tail", ["", "\n[x]\ny = 1\n", TABLE])
def test_the_rendering_is_predicted(tail: str) -> None:
    before = BASE + tail
    after = edit_template(before, {**OFF, ("x", "y"): 2})
    assert predict_rendering(rendered(before), before, after) == rendered(after)
    assert predict_rendering(rendered(after), after, before) == rendered(before)


def test_without_a_template_the_base_is_rendered() -> None:
    after = edit_template(BASE, OFF)
    result = predict_rendering(BASE_TEXT, BASE, after)
    assert result is not None
    assert result.split() == rendered(after).split()


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("x = 1\n", "x = {{ .X }}\n", "x = 2\n"),
        ("x = 1\n[old]\n", "x = {{ .X }}\n[new]\n", "x = {{ .X }}\n[new]\ny = 1\n"),
        ("x = 1\n[a]\n", "x = {{ .X -}}\n[a]\n", "x = {{ .X -}}\n[a]\nb = 1\n"),
    ],
)
def test_an_unknown_rendering_is_not_predicted(text: str, before: str, after: str) -> None:
    """An action differs; the rendered file has another text; an action changes text behind its end."""
    assert predict_rendering(text, before, after) is None


@pytest.mark.parametrize(
    ("text", "extends"),
    [(BASE, True), ('{{- template "base" . -}}', True), ('{{ template "other" . }}', False), ("version = 2\n", False)],
)
def test_whether_the_base_is_included(text: str, extends: bool) -> None:
    assert extends_base(text) is extends
