# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text that a reader needs of a task's result."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.result_text import failure_text, message_text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"msg": "no disk"}, "no disk"),
        (
            {"msg": "non-zero return code", "rc": 1, "stderr": "sh: x: not found\n"},
            "non-zero return code\nsh: x: not found",
        ),
        ({"msg": "MODULE FAILURE", "module_stderr": "", "module_stdout": "Killed"}, "MODULE FAILURE\nKilled"),
        ({"msg": "it printed: a b", "stdout": "a b"}, "it printed: a b"),
        ({"reason": "syntax error"}, "syntax error"),
        ({"censored": "the output has been hidden"}, "the output has been hidden"),
        ({"msg": "All items completed", "results": [{}]}, ""),
        ({"msg": 7}, "7"),
        ({}, "no reason given"),
    ],
)
def test_the_reason_of_a_failure(result: dict[str, Any], text: str) -> None:
    assert failure_text(result) == text


@pytest.mark.parametrize(
    ("result", "text"), [({"msg": "a"}, "a"), ({"msg": ["a", 1]}, "a\n1"), ({"msg": {"a": 1}}, None), ({"x": 1}, None)]
)
def test_the_message_of_debug(result: dict[str, Any], text: str | None) -> None:
    assert message_text(result) == text
