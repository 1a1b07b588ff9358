# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cause of a failure of ``go``, from its output, and the remedy."""

from __future__ import annotations

import errno
import re
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Failure:
    """``pattern`` matches the output line that shows this failure."""

    pattern: re.Pattern[str]
    remedy: str


def _failure(pattern: str, remedy: str) -> Failure:
    return Failure(re.compile(f"^.*(?:{pattern}).*$", re.MULTILINE), remedy)


_AGAIN = "then run it again: downloaded and compiled files are kept"

_DISK_REMEDY = f"free some space (`python3 tests/lab programs --prune` empties the lab's caches), {_AGAIN}"
_MEMORY_REMEDY = f"free 3 GiB or add swap, {_AGAIN}"

FAILURES = (
    _failure(
        r"[Nn]o space left on device|disk quota exceeded",
        f"the disk is full: {_DISK_REMEDY}",
    ),
    _failure(
        r"checksum mismatch|SECURITY ERROR|verifying .*: (?:hash|sum)",
        "a module's content differs from go.sum or the checksum database: delete the directory go-mod in the lab's "
        "cache and run it again; if that fails too, the module proxy serves changed content and must not be trusted",
    ),
    _failure(
        r"signal: killed|cannot allocate memory|out of memory|exit status 137"
        r"|fork/exec .*: resource temporarily unavailable",
        f"a compiler or linker was killed, which usually means too little memory: {_MEMORY_REMEDY}",
    ),
    _failure(
        r"missing go\.sum entry|updates to go\.(?:mod|sum) needed|go: inconsistent vendoring",
        "go.mod or go.sum does not fit the table of programs: run `make lock`",
    ),
    _failure(
        r"requires go >= |toolchain not available",
        "this Go is too old for a module: install the release that the line names, or remove this Go from PATH and "
        "the lab downloads its own",
    ),
    _failure(
        r"dial tcp|no such host|i/o timeout|TLS handshake|connection re(?:fused|set)|x509: "
        r"|proxyconnect|unexpected EOF|module lookup disabled|\b(?:403 Forbidden|404 Not Found|410 Gone|50\d )"
        r"|server response: |reading https?://",
        f"a Go module cannot be fetched: check the network and GOPROXY, {_AGAIN}",
    ),
)
"""The first match explains the failure: a full disk or a killed compiler also causes other error lines."""

_SYSTEM_REMEDIES: dict[int, str] = {
    errno.ENOSPC: _DISK_REMEDY,
    errno.EDQUOT: _DISK_REMEDY,
    errno.ENOMEM: _MEMORY_REMEDY,
    errno.EAGAIN: _MEMORY_REMEDY,
}

_LAST_LINES = 5
_SIGNALS: dict[int, str] = {signal.SIGKILL: "killed"}


def explain(output: str, status: int, what: str, log: Path) -> str:
    """The message for a failed ``go``: the line with the cause, the remedy, and the path of the whole output."""
    if status < 0:
        output += f"\ngo: signal: {_SIGNALS.get(-status, str(-status))}"
    for failure in FAILURES:
        match = failure.pattern.search(output)
        if match:
            return f"{what} failed: {match.group().strip()}; {failure.remedy}. The whole output is in {log}"
    last = " | ".join(line.strip() for line in output.strip().splitlines()[-_LAST_LINES:])
    return f"{what} failed: {last or 'without output'}. The whole output is in {log}"


def explain_system(error: OSError) -> str:
    """The message for a failed system call, with the remedy when memory or disk space ran out."""
    remedy = _SYSTEM_REMEDIES.get(error.errno or 0)
    return f"{error}; {remedy}" if remedy else str(error)
