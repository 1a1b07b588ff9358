# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a task's result that a reader needs: the message, and the output of a program that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OUTPUTS = ("stderr", "module_stderr", "stdout", "module_stdout")


def failure_text(result: Mapping[str, Any]) -> str:
    """Why a task failed. Empty for a loop, whose items have their own results."""
    if "results" in result:
        return ""
    if "censored" in result:
        return str(result["censored"])
    message = str(result.get("msg") or result.get("reason") or "").strip()
    output = next((str(result[name]).strip() for name in _OUTPUTS if str(result.get(name) or "").strip()), "")
    return "\n".join(filter(None, (message, output if output not in message else ""))) or "no reason given"


def message_text(result: Mapping[str, Any]) -> str | None:
    """The message of ``debug``; None if the result has another form."""
    message = result.get("msg")
    if isinstance(message, (list, tuple)):
        return "\n".join(map(str, message))
    return message if isinstance(message, str) else None
