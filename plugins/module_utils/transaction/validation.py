# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the node's own programs about a new configuration before anything is stopped."""

from __future__ import annotations

import os

from ..errors import ColocationError
from .files import content, private_folder, write_private
from .node import Node
from .plan import Expectation, Plan, Validation
from .toml_dump import find
from .unit_log import mask

TIMEOUT = 60.0


class ValidationFailed(ColocationError):
    """The program that will read the file does not take it, or reads something else in it."""


def validate(node: Node, plan: Plan, folder: str) -> str:
    """Run every validation on private copies in ``folder``; says what was asked."""
    if not node.host.live:
        return "not asked: the programs of an image are not run"
    if not plan.validate:
        return ""
    private_folder(folder)
    for validation in plan.validate:
        _run(node, validation, _candidate(node, plan, validation, folder))
    os.rmdir(folder)
    return ", ".join(validation.name for validation in plan.validate)


def _candidate(node: Node, plan: Plan, validation: Validation, folder: str) -> str:
    planned = [edit.after for edit in plan.files if edit.path == validation.file]
    text = planned[0] if planned else content(node.host, validation.file)
    path = os.path.join(folder, os.path.basename(validation.file))
    write_private(path, text or b"")
    return path


def _run(node: Node, validation: Validation, candidate: str) -> None:
    places = {"{file}": candidate, "{folder}": os.path.dirname(candidate)}
    answer = node.host.run([_placed(part, places) for part in validation.argv], timeout=TIMEOUT)
    os.unlink(candidate)
    if answer.rc != 0:
        lines = [mask(line) for line in answer.stderr.strip().splitlines()[-3:]]
        raise ValidationFailed(
            f"{validation.name} does not accept the new text: {' | '.join(lines) or 'it gave no reason'}",
            "Correct the file by hand, then run this again",
            validation.file,
        )
    for expectation in validation.expect:
        _require(validation, expectation, find(answer.stdout, expectation.table, expectation.key))


def _placed(part: str, places: dict[str, str]) -> str:
    """An argument with the candidate's file or folder, in which nothing else lies, in its place."""
    for name, place in places.items():
        part = part.replace(name, place)
    return part


def _require(validation: Validation, expectation: Expectation, found: str | None) -> None:
    if found == expectation.value:
        return
    name = ".".join((*expectation.table, expectation.key))
    read = "nothing" if found is None else found
    raise ValidationFailed(
        f"{validation.name} reads {name} = {read} from the new text, not {expectation.value}",
        "Look for another file that sets it (imports) and for the schema version of this one",
        validation.file,
    )
