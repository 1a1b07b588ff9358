# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the first boot of an image makes of a slice's files; no program is run while it is prepared."""

from __future__ import annotations

from . import unit_text
from .slice_plan import Plan
from .slice_request import Request
from .slice_state import SliceState


def first_boot(request: Request, state: SliceState, planned: Plan) -> tuple[str, ...]:
    """Lines for the person who prepares the image, in the order of the boot."""
    if not request.present:
        return ("%s: nothing of the collection starts it or sets anything on it" % request.name,)
    if not request.persistent:
        return ("%s: nothing, because persistent is false and a boot forgets it" % request.name,)
    values = ", ".join("%s=%s" % each for each in unit_text.assignments(_text(state, planned))) or "systemd's defaults"
    path = state.where.settings
    if state.where.link is None:
        return ("%s, which somebody else makes, gets %s (%s)" % (request.name, values, path),)
    helper = request.companion
    lines = []
    if helper is not None:
        lines.append("%s makes its cgroup in %s" % (helper.unit, ", ".join(helper.controllers)))
    before = " and before ".join(["slices.target", *request.before])
    lines.append("%s starts before %s with %s (%s)" % (request.name, before, values, path))
    return tuple(lines)


def _text(state: SliceState, planned: Plan) -> str:
    """Of the file that has the settings, as it then is."""
    written = [each.after for each in planned.files if each.path == state.where.settings]
    return (written[0] if written else state.own) or ""
