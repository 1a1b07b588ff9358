# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of a row."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Verdict(Enum):
    """FAILED: the node ended in no allowed way. NOT_INJECTED: the moment was missed, or the lab failed."""

    PASSED = "kept"
    FAILED = "lost"
    NOT_INJECTED = "not injected"


@dataclass(frozen=True)
class Outcome:
    """One injected fault. ``end``: how the node ended, '' if not in an allowed way; ``wrong``: the differences.

    ``run`` and ``following``: how the run that met the fault and the next one ended. ``struck``: moments at which the
    engine was stopped. ``code``: hash of the collection's code. ``day``: date of the injection.
    ``times``: how often the fault was injected with that code; this is the last result.
    """

    row: str
    verdict: Verdict
    end: str = ""
    run: str = ""
    following: str = ""
    struck: tuple[str, ...] = ()
    pods: int = 0
    wrong: tuple[str, ...] = ()
    seconds: float = 0.0
    code: str = ""
    day: str = ""
    times: int = 1

    def line(self) -> str:
        """Return one line of JSON."""
        return json.dumps({**asdict(self), "verdict": self.verdict.value})


def parse_outcome(line: str) -> Outcome:
    """Parse a line that ``Outcome.line`` made."""
    values: dict[str, Any] = json.loads(line)
    values.update(verdict=Verdict(values["verdict"]), struck=tuple(values["struck"]), wrong=tuple(values["wrong"]))
    return Outcome(**values)
