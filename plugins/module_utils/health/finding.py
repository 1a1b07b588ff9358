# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finding of one check of the health gate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """WAITING and SILENT may still become PASSED, FAILED is final. SILENT: the API server does not respond."""

    PASSED = "passed"
    NOT_PROVEN = "not proven"
    WAITING = "waiting"
    SILENT = "no answer"
    FAILED = "failed"


PENDING = (Verdict.WAITING, Verdict.SILENT)


@dataclass(frozen=True)
class Finding:
    """The result of one check at one time."""

    check: str
    verdict: Verdict
    detail: str

    def document(self) -> dict[str, str]:
        """The finding in a final result, where a check that is still waiting has failed."""
        status = Verdict.FAILED if self.verdict in PENDING else self.verdict
        return {"check": self.check, "status": status.value, "detail": self.detail}

    def progress(self) -> dict[str, str]:
        """The finding before the timeout."""
        return {"check": self.check, "status": self.verdict.value, "detail": self.detail}
