# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the node's own programs about a new configuration before anything is stopped."""

from __future__ import annotations

import os

from ..errors import ColocationError
from .files import content, private_folder, write_private
from .node import Node
from .plan import Plan
from .toml_dump import find, values
from .unit_log import mask
from .validation_section import Candidate, Comparison, Expectation, Validation

TIMEOUT = 60.0
FOLDER = b"@volcano-colocation-candidates@"
"""Stands in a candidate's text for the folder it lies in."""
UNSET = ('""', "''", "0", "false", "[]", "{}")
"""A setting that a dump no longer shows and that had such a value is no setting lost."""
SHOWN = 5


class ValidationFailed(ColocationError):
    """The program that will read the file does not take it, or reads something else in it."""


def validate(node: Node, plan: Plan, folder: str) -> str:
    """Run every validation on private copies in ``folder``; says what was asked."""
    if not node.host.live:
        return "not asked: the programs of an image are not run"
    if not plan.validate:
        return ""
    private_folder(folder)
    try:
        for validation in plan.validate:
            _validate(node, plan, validation, folder)
    finally:
        os.rmdir(folder)
    return ", ".join(validation.name for validation in plan.validate)


def _validate(node: Node, plan: Plan, validation: Validation, folder: str) -> None:
    candidates = validation.candidates or (_lone(validation),)
    paths = [os.path.join(folder, candidate.name) for candidate in candidates]
    try:
        for candidate, path in zip(candidates, paths):
            write_private(path, _text(node, plan, candidate, folder))
        _judge(node, validation, paths[0])
    finally:
        for path in filter(os.path.exists, paths):
            os.unlink(path)


def _lone(validation: Validation) -> Candidate:
    return Candidate(os.path.basename(validation.file), validation.file, None)


def _text(node: Node, plan: Plan, candidate: Candidate, folder: str) -> bytes:
    if candidate.text is not None:
        return candidate.text.replace(FOLDER, os.fsencode(folder))
    planned = [edit.after for edit in plan.files if edit.path == candidate.path]
    return (planned[0] if planned else content(node.host, candidate.path)) or b""


def _judge(node: Node, validation: Validation, candidate: str) -> None:
    answer = node.host.run(_argv(validation, candidate), timeout=TIMEOUT)
    if answer.rc != 0:
        lines = [mask(line) for line in answer.stderr.strip().splitlines()[-3:]]
        raise ValidationFailed(
            f"{validation.name} does not accept the new text: {' | '.join(lines) or 'it gave no reason'}",
            "Correct the file by hand, then run this again",
            validation.file,
        )
    for expectation in validation.expect:
        _require(validation, expectation, find(answer.stdout, expectation.table, expectation.key))
    if validation.compare:
        present = node.host.run(_argv(validation, node.host.path(validation.file)), timeout=TIMEOUT)
        # A file that is missing, or that the program does not take as it is, holds nothing that could be lost.
        if present.rc == 0:
            _require_kept(validation, validation.compare, present.stdout, answer.stdout)


def _argv(validation: Validation, file: str) -> list[str]:
    return [part.replace("{file}", file).replace("{folder}", os.path.dirname(file)) for part in validation.argv]


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


def _require_kept(validation: Validation, compare: Comparison, present: str, new: str) -> None:
    """Nothing but what was asked for may change: a handler's program, registries, the sandbox image."""
    meant = {(each.table, each.key) for each in validation.expect} | {((), key) for key in compare.settings}
    after = values(new)
    lost = [
        ".".join((*table, key))
        for (table, key), value in values(present).items()
        if (table, key) not in meant
        and table not in compare.tables
        and after.get((table, key), value if value in UNSET else None) != value
    ]
    if lost:
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        # Values stay unsaid: passwords of registries are among them.
        raise ValidationFailed(
            f"{validation.name} shows that the new text would also change {', '.join(lost[:SHOWN])}{more}",
            "Nothing else may change: compare the dump of the file with that of the planned text",
            validation.file,
        )
