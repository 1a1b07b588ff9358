# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when a container runtime is asked over its socket."""

from __future__ import annotations

from ..errors import ColocationError

# grpc/doc/statuscodes.md
UNIMPLEMENTED = 12
NOT_FOUND = 5
STATUS_NAMES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


class CriFailure(ColocationError):
    """A call that gave no result."""


class CriUnavailable(CriFailure):
    """No answer: no socket, nobody listening, no HTTP/2 there, cut off, or out of time."""


class CriError(CriFailure):
    """The runtime answered with a gRPC status other than OK."""

    def __init__(self, code: int, message: str, remedy: str = "") -> None:
        name = STATUS_NAMES[code] if 0 <= code < len(STATUS_NAMES) else f"status {code}"
        super().__init__(f"the container runtime answered {name}: {message}", remedy)
        self.code = code
