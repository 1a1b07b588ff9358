# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A judge program that reads requests as JSON lines and writes one JSON line for each."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BATCH = 64
"""Requests that are written before their responses are read; more could fill the pipe."""


class JudgeError(RuntimeError):
    """The program ended before it wrote a response."""


class JudgeProcess:
    """One process for many requests."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response to one request."""
        return self.ask_all([request])[0]

    def ask_all(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The responses, in the order of the requests."""
        responses: list[dict[str, Any]] = []
        for first in range(0, len(requests), BATCH):
            responses += self._batch(requests[first : first + BATCH])
        return responses

    def _batch(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        writer = threading.Thread(target=self._write, args=(requests,))
        writer.start()
        responses = [self._read(request) for request in requests]
        writer.join()
        return responses

    def _write(self, requests: Sequence[dict[str, Any]]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.writelines(json.dumps(request) + "\n" for request in requests)
            self._process.stdin.flush()
        except BrokenPipeError:
            # The reader reports which request failed.
            return

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise JudgeError(f"the program ended with status {self._process.wait()} at {request}")
        response: dict[str, Any] = json.loads(line)
        return response

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)
