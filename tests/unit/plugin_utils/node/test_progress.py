# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a task: shown when it changes or after a while, with the time."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.progress import Progress


def test_a_text_is_shown_when_it_is_new_or_was_shown_long_ago() -> None:
    clock = [100.0]
    lines: list[str] = []
    progress = Progress(lines.append, lambda: clock[0])
    for seconds, text in ((0, "drain"), (5, "drain"), (10, "apply"), (39, "apply"), (40, "apply"), (125, "drain")):
        clock[0] = 100.0 + seconds
        progress(text)
    assert lines == ["drain, 0 s", "apply, 10 s", "apply, 40 s", "drain, 2 min 5 s"]
