# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Splices that overlap, touch other lines, or result in other values than desired are refused."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.splice import (
    Envelope,
    Splice,
    apply_splices,
    require_document,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import EditError

TEXT = "a\nb\nc\n"


def test_insertions_at_one_place_keep_their_rank() -> None:
    assert (
        apply_splices(TEXT, [Splice(2, 2, "T\n", 1), Splice(2, 2, "1\n"), Splice(2, 2, "2\n"), Splice(2, 4, "")])
        == "a\n1\n2\nT\nc\n"
    )


def test_overlapping_splices_are_refused() -> None:
    with pytest.raises(EditError, match="overlap") as raised:
        apply_splices(TEXT, [Splice(0, 3, ""), Splice(2, 4, "")])
    assert raised.value.line == 2


@pytest.mark.parametrize("splice", [Splice(0, 2, "x"), Splice(2, 2, "x")])
def test_a_splice_that_spills_into_the_next_line_is_refused(splice: Splice) -> None:
    with pytest.raises(EditError, match="unrelated lines"):
        apply_splices(TEXT, [splice])


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb", "a\r\n", "\ufeffa", "\ufeff", "\n"])
def test_an_envelope_fits_its_own_lines(text: str) -> None:
    envelope, body = Envelope.of(text)
    assert body == "" or body.endswith("\n")
    assert envelope.around(body) == text


def test_a_wrong_result_is_never_returned() -> None:
    assert require_document("a: 1\n", {"a": 1}, read_yaml) == "a: 1\n"
    with pytest.raises(EditError, match="desired value of a"):
        require_document("a: 1\n", {"a": "1"}, read_yaml)
    with pytest.raises(EditError, match="would not parse: key 'a' is set twice"):
        require_document("a: 1\na: 1\n", {"a": 1}, read_yaml)
