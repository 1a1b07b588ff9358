# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one check of the health gate found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """WAITING and SILENT may still become PASSED; FAILED never will. SILENT: who could tell does not answer."""

    PASSED = "passed"
    NOT_PROVEN = "not proven"
    WAITING = "waiting"
    SILENT = "no answer"
    FAILED = "failed"


PENDING = (Verdict.WAITING, Verdict.SILENT)


@dataclass(frozen=True)
class Finding:
    """The answer of one check at one moment."""

    check: str
    verdict: Verdict
    detail: str

    def document(self) -> dict[str, str]:
        """As the result shows it. A check that waited in vain has failed."""
        status = Verdict.FAILED if self.verdict in PENDING else self.verdict
        return {"check": self.check, "status": status.value, "detail": self.detail}

    def progress(self) -> dict[str, str]:
        """The same while there is time left."""
        return {"check": self.check, "status": self.verdict.value, "detail": self.detail}
