# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that the next run would refuse for their size are not written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.file_evidence import CONFIG_LIMIT
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import FileEdit, file_edits
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    DESIRED,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_text,
    profile_of,
    runtime_text,
)


def edits(snapshot: Snapshot) -> dict[str, FileEdit]:
    plan = make_plan(facts_of(snapshot), profile_of(**DESIRED), allow_disruption=True)
    assert plan.refusals == ()
    return {edit.path: edit for edit in file_edits(snapshot, plan.changes)}


def grown(snapshot: Snapshot, path: str, size: int) -> Snapshot:
    """A copy whose file has a comment that extends it to this size in bytes; one character has two bytes."""
    section: Callable[[Snapshot, str], Snapshot] = kubelet_text if path == KUBELET_FILE else runtime_text
    files = snapshot["kubelet" if path == KUBELET_FILE else "runtime"]["files"]
    comment = "# \u00e9"
    text = comment + "x" * (size - len(files[path]["text"].encode()) - len(comment.encode()) - 1) + "\n"
    return section(snapshot, text + files[path]["text"])


@pytest.mark.parametrize("path", [KUBELET_FILE, RUNTIME_FILE])
def test_a_file_that_would_be_too_long_is_refused_with_its_size(path: str) -> None:
    node = captured(DIFFERING)
    plain = edits(node)[path]
    more = len(plain.after.encode()) - len((plain.before or "").encode())
    fits = edits(grown(node, path, CONFIG_LIMIT - more))[path]
    assert len(fits.after.encode()) == CONFIG_LIMIT
    with pytest.raises(UneditableFile) as raised:
        edits(grown(node, path, CONFIG_LIMIT - more + 1))
    message = str(raised.value)
    assert message.startswith(f"Nothing was changed. {path}: it would have 1048577 bytes")
    assert "more than 1048576 (1 MiB) is not read" in message
    assert "Take out what is not configuration" in message
