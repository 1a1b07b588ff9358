# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the node's own programs about a new configuration before anything is stopped.

They dump canonical TOML, one table header or value a line, in which values are found here. That is not a TOML parser:
multi-line strings and arrays are passed over, and files written by people are not for it.
"""

from __future__ import annotations

import os
import re
from typing import Dict, Tuple

from ..cri.node_access import Node
from ..errors import ColocationError
from ..state.files import make_private_directory, read_content, write_private
from ..state.plan_document import Plan
from ..state.plan_validations import Candidate, Comparison, Expectation, Validation
from ..systemd.service_units import mask_secrets

PART = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.|\Z)")
HEADER = re.compile(r"\s*\[([^\[\]].*)\]\s*\Z")
VALUE = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\s*=\s*(.*?)\s*\Z")


Values = Dict[Tuple[Tuple[str, ...], str], str]


def find_value(text: str, table: tuple[str, ...], key: str) -> str | None:
    """The value of ``key`` in ``[table]`` as it stands there, quotes of a string taken off; None when absent."""
    found = dump_values(text).get((table, key))
    return None if found is None else _unquote(found)


def dump_values(text: str) -> Values:
    """Every value by its table and key, as it stands there. Those of arrays of tables are left out."""
    found: Values = {}
    here: tuple[str, ...] | None = ()
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            here = _name_parts(header.group(1))
        elif line.lstrip().startswith("[["):
            here = None
        value = VALUE.match(line)
        if value and here is not None:
            found.setdefault((here, _matched_group(value)), value.group(4))
    return found


def _name_parts(name: str) -> tuple[str, ...] | None:
    parts: list[str] = []
    at = 0
    while at < len(name):
        part = PART.match(name, at)
        if part is None:
            return None
        parts.append(_matched_group(part))
        at = part.end()
    return tuple(parts)


def _matched_group(match: re.Match[str]) -> str:
    return next(group for group in match.groups()[:3] if group is not None)


def _unquote(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


TIMEOUT = 60.0
DIRECTORY_MARK = b"@volcano-colocation-candidates@"
"""Stands in a candidate's text for the directory it lies in."""
UNSET = ('""', "''", "0", "false", "[]", "{}")
"""A setting that a dump no longer shows and that had such a value is no setting lost."""
MAX_NAMES = 5


class ValidationFailed(ColocationError):
    """The program that will read the file does not take it, or reads something else in it."""


def validate(node: Node, plan: Plan, directory: str) -> str:
    """Run every validation on private copies in ``directory``; says what was asked."""
    if not node.host.live:
        return "not asked: the programs of an image are not run"
    if not plan.validate:
        return ""
    make_private_directory(directory)
    try:
        for validation in plan.validate:
            _validate(node, plan, validation, directory)
    finally:
        os.rmdir(directory)
    return ", ".join(validation.name for validation in plan.validate)


def _validate(node: Node, plan: Plan, validation: Validation, directory: str) -> None:
    candidates = validation.candidates or (_single_candidate(validation),)
    paths = [os.path.join(directory, candidate.name) for candidate in candidates]
    try:
        for candidate, path in zip(candidates, paths):
            write_private(path, _text(node, plan, candidate, directory))
        _run_validation(node, validation, paths[0])
    finally:
        for path in filter(os.path.exists, paths):
            os.unlink(path)


def _single_candidate(validation: Validation) -> Candidate:
    return Candidate(os.path.basename(validation.file), validation.file, None)


def _text(node: Node, plan: Plan, candidate: Candidate, directory: str) -> bytes:
    if candidate.text is not None:
        return candidate.text.replace(DIRECTORY_MARK, os.fsencode(directory))
    planned = [edit.after for edit in plan.files if edit.path == candidate.path]
    return (planned[0] if planned else read_content(node.host, candidate.path)) or b""


def _run_validation(node: Node, validation: Validation, candidate: str) -> None:
    answer = node.host.run(_argv(validation, candidate), timeout=TIMEOUT)
    if answer.rc != 0:
        lines = [mask_secrets(line) for line in answer.stderr.strip().splitlines()[-3:]]
        raise ValidationFailed(
            f"{validation.name} does not accept the new text: {' | '.join(lines) or 'it gave no reason'}",
            "Correct the file by hand, then run this again",
            validation.file,
        )
    for expectation in validation.expect:
        _require(validation, expectation, find_value(answer.stdout, expectation.table, expectation.key))
    if validation.compare:
        present = node.host.run(_argv(validation, node.host.path(validation.file)), timeout=TIMEOUT)
        # A file that is missing, or that the program does not take as it is, holds nothing that could be lost.
        if present.rc == 0:
            _require_unchanged_rest(validation, validation.compare, present.stdout, answer.stdout)


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


def _require_unchanged_rest(validation: Validation, compare: Comparison, present: str, new: str) -> None:
    """Nothing but what was asked for may change: a handler's program, registries, the sandbox image."""
    meant = {(each.table, each.key) for each in validation.expect} | {((), key) for key in compare.settings}
    after = dump_values(new)
    lost = [
        ".".join((*table, key))
        for (table, key), value in dump_values(present).items()
        if (table, key) not in meant
        and table not in compare.tables
        and after.get((table, key), value if value in UNSET else None) != value
    ]
    if lost:
        more = f" and {len(lost) - MAX_NAMES} more" if len(lost) > MAX_NAMES else ""
        # Values stay unsaid: passwords of registries are among them.
        raise ValidationFailed(
            f"{validation.name} shows that the new text would also change {', '.join(lost[:MAX_NAMES])}{more}",
            "Nothing else may change: compare the dump of the file with that of the planned text",
            validation.file,
        )
