# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the times of each task of a run for the benchmark, one JSON line for each task."""

from __future__ import annotations

import json
import os
import time
from datetime import timedelta
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: bench_record
type: aggregate
short_description: Write the times of every task as JSON lines
description:
  - Writes to the file that the environment variable E(COLOCATION_BENCH_RECORD) names, and does nothing without it.
options: {}
"""


def program_seconds(result: dict[str, Any]) -> float:
    """Seconds of the node's own programs, from the collection's C(usage) or the C(delta) of the module command."""
    if "usage" in result:
        return float(result["usage"].get("program_seconds", 0.0))
    try:
        hours, minutes, seconds = str(result["delta"]).split(":")
        return timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds)).total_seconds()
    except (KeyError, ValueError):
        return 0.0


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "bench_record"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._path = os.environ.get("COLOCATION_BENCH_RECORD")
        self._began = time.monotonic()

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        self._began = time.monotonic()

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write(result, "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: Any = None) -> None:
        self._write(result, "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._write(result, "unreachable")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._write(result, "skipped")

    def _write(self, outcome: Any, status: str) -> None:
        if not self._path:
            return
        result = dict(outcome.result)
        line = {
            "action": str(outcome.task.action),
            "name": str(outcome.task.get_name()),
            "status": status,
            "changed": bool(result.get("changed")),
            "seconds": round(time.monotonic() - self._began, 3),
            "usage": result.get("usage"),
            "program_seconds": program_seconds(result),
        }
        with open(self._path, "a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")
