# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of requests to an API server: what failed, whether the cluster was changed, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace

NOTHING_CHANGED = "Nothing was changed"
NO_ANSWER = 0
"""The status of a request without a response."""
NOT_FOUND, CONFLICT, INVALID, TOO_MANY = 404, 409, 422, 429
FORBIDDEN = (401, 403)
SERVER_ERROR = 500
READ_VERBS = ("get", "list")


class ClusterError(Exception):
    """``message`` says what failed, ``remedy`` is a sentence that says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message.rstrip('.')}. {remedy}")


@dataclass(frozen=True)
class ErrorContext:
    """Text that all error messages of one module share.

    ``page`` lists the verbs that the kubeconfig's user needs. ``untouched`` says what was changed before the failure,
    empty if that is not known; ``alternative`` says how to work without the verb.
    """

    kubeconfig: str
    page: str
    untouched: str = NOTHING_CHANGED
    alternative: str = ""


class ApiError(ClusterError):
    """A request that failed. ``request`` begins with its verb; ``reason`` is what the API server says, in one line.

    Admission controllers, quotas and namespaces that are being deleted answer with 403 as well as missing permissions.
    ``pause``: seconds to wait before the request is repeated (Retry-After).
    """

    def __init__(self, request: str, status: int, reason: str, context: ErrorContext, pause: float = 1.0) -> None:
        self.request, self.status, self.reason = request, status, reason
        self.context, self.pause = context, pause
        super().__init__(*_explain(request, status, reason, context))

    @property
    def is_outage(self) -> bool:
        """Whether the server does not work at the moment, so that the same request may succeed later."""
        return self.status in (NO_ANSWER, TOO_MANY) or self.status >= SERVER_ERROR

    def after(self, progress: str) -> ApiError:
        """The same error after changes to the cluster; ``progress`` describes these changes."""
        return ApiError(self.request, self.status, self.reason, replace(self.context, untouched=progress))


def _explain(request: str, status: int, reason: str, context: ErrorContext) -> tuple[str, str]:
    name, state = context.kubeconfig, f"{context.untouched}. " if context.untouched else ""
    if status in FORBIDDEN:
        reading = request.partition(" ")[0] in READ_VERBS
        admission = "" if reading else ", or an admission controller refuses it"
        check = "" if reading else ", or check which admission controller refuses it"
        message = f"The user of {name} may not {request}{admission}: {reason}"
        return message, f"{state}Grant the verb{context.alternative}{check}; {context.page} lists all verbs."
    if status == CONFLICT:
        message = f"Could not {request}: another client changed it after it was read"
        return message, "No change of another client was overwritten. Run again: the next run reads it again."
    if status == NO_ANSWER:
        message = f"Could not {request}: the API server of {name} does not answer: {reason}"
        return message, f"{state}Check the server and the network path to it, and run again."
    message = f"Could not {request} with {name}: {status}, {reason}"
    if status == INVALID:
        return message, f"{state}Correct this value in the manifest or the variable that it comes from, and run again."
    return message, f"{state}Check the API server, and that the kubeconfig leads to it."


def missing_permissions(permissions: str, context: ErrorContext) -> ClusterError:
    """The error for permissions that are missing before the first change."""
    return ClusterError(
        f"The user of {context.kubeconfig} may not {permissions}",
        f"{NOTHING_CHANGED}. Grant it{context.alternative}; {context.page} lists all verbs.",
    )
