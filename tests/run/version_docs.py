# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of minimum versions of docs/versions.md, from the table that the checks use."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.minimum_versions import MINIMUMS, Minimum

HEAD = ("| program | minimum | needed for | checked by | source |", "|---|---|---|---|---|")


def minimums_table() -> str:
    return "\n".join((*HEAD, *map(_row, MINIMUMS), ""))


def _row(minimum: Minimum) -> str:
    cells = (minimum.program, minimum.text, minimum.needed_by, minimum.check, minimum.source)
    return f"| {' | '.join(cells)} |"
