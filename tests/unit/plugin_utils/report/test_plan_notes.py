# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes about a plan: the missing permission, an open port, pending changes, settings that are not supported."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.plan_notes import plan_notes

PERMISSION = {"message": "the change stops pods", "remedy": "Set colocation_allow_disruption to true"}


def observed(port: int = 0, **plan: Any) -> dict[str, Any]:
    options = [
        {"option": "read_only_port", "value": port, "source": "set"},
        {"option": "x", "value": 1, "source": "set"},
    ]
    empty: dict[str, Any] = {"permission": None, "pending": [], "unsupported": []}
    return {"plan": {**empty, **plan}, "facts": {"profile": {"options": options}}}


def test_a_plan_without_anything_special_has_no_notes() -> None:
    assert list(plan_notes(observed(), is_preview=True)) == []


def test_a_preview_shows_the_missing_permission_and_a_real_run_is_refused() -> None:
    result = observed(permission=PERMISSION)
    (note,) = plan_notes(result, is_preview=True)
    assert note.label == "permission"
    assert note.text.endswith("is refused: the change stops pods. Set colocation_allow_disruption to true")
    assert note.common.endswith("is refused. Set colocation_allow_disruption to true")
    assert list(plan_notes(result, is_preview=False)) == []


def test_pending_unsupported_and_the_open_port_are_always_shown() -> None:
    result = observed(
        10255,
        pending=[{"message": "cpuManagerPolicy: pods must be stopped"}],
        unsupported=[{"message": "nri.enabled: containerd has no NRI"}],
    )
    notes = list(plan_notes(result, is_preview=False))
    assert [(note.label, note.text) for note in notes] == [
        ("warning", "readOnlyPort 10255 will serve everyone who can reach the node, without authentication."),
        ("pending", "cpuManagerPolicy: pods must be stopped"),
        ("skipped", "nri.enabled: containerd has no NRI"),
    ]
    assert all(note.common == note.text for note in notes)
