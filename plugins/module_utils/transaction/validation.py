# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates a new configuration with the node's own programs before any service is stopped.

The programs dump canonical TOML with one table header or value per line, which is searched here. This is not a TOML
parser: it skips multi-line strings and arrays, and is not suitable for hand-written files.
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
    """The value of ``key`` in ``[table]`` as text, without the quotes of a string; None if absent."""
    value = dump_values(text).get((table, key))
    return None if value is None else _unquote(value)


def dump_values(text: str) -> Values:
    """Every value as text by table and key, except in arrays of tables."""
    values: Values = {}
    table: tuple[str, ...] | None = ()
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            table = _name_parts(header.group(1))
        elif line.lstrip().startswith("[["):
            table = None
        value = VALUE.match(line)
        if value and table is not None:
            values.setdefault((table, _matched_group(value)), value.group(4))
    return values


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
"""Placeholder in a candidate's text for the directory of the candidate."""
UNSET = ('""', "''", "0", "false", "[]", "{}")
"""A setting with one of these values may be missing in the new dump."""
MAX_NAMES = 5


class ValidationFailed(ColocationError):
    """The program that will read the file rejects it, or reads another value from it."""


def validate(node: Node, plan: Plan, directory: str) -> str:
    """Run every validation on private copies in ``directory``; returns the names of the validations."""
    if not node.host.live:
        return "skipped: the programs of an image are not run"
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
    output = node.host.run(_argv(validation, candidate), timeout=TIMEOUT)
    if output.rc != 0:
        lines = [mask_secrets(line) for line in output.stderr.strip().splitlines()[-3:]]
        raise ValidationFailed(
            f"{validation.name} rejects the new file: {' | '.join(lines) or 'without a reason'}",
            "Correct the file by hand, then run this again",
            validation.file,
        )
    for expectation in validation.expect:
        _require(validation, expectation, find_value(output.stdout, expectation.table, expectation.key))
    if validation.compare:
        current = node.host.run(_argv(validation, node.host.path(validation.file)), timeout=TIMEOUT)
        # If the file is missing or the program rejects it, no settings can get lost.
        if current.rc == 0:
            _require_no_other_changes(validation, validation.compare, current.stdout, output.stdout)


def _argv(validation: Validation, file: str) -> list[str]:
    return [part.replace("{file}", file).replace("{folder}", os.path.dirname(file)) for part in validation.argv]


def _require(validation: Validation, expectation: Expectation, actual: str | None) -> None:
    if actual == expectation.value:
        return
    name = ".".join((*expectation.table, expectation.key))
    value = "nothing" if actual is None else actual
    raise ValidationFailed(
        f"{validation.name} reads {name} = {value} from the new file, not {expectation.value}",
        "Check the schema version of this file, and whether an imported file sets the value",
        validation.file,
    )


def _require_no_other_changes(validation: Validation, compare: Comparison, current: str, new: str) -> None:
    """ValidationFailed if other settings would change, for example a handler's program or the sandbox image."""
    intended = {(expectation.table, expectation.key) for expectation in validation.expect} | {
        ((), key) for key in compare.settings
    }
    after = dump_values(new)
    changed = [
        ".".join((*table, key))
        for (table, key), value in dump_values(current).items()
        if (table, key) not in intended
        and table not in compare.tables
        and after.get((table, key), value if value in UNSET else None) != value
    ]
    if changed:
        more = f" and {len(changed) - MAX_NAMES} more" if len(changed) > MAX_NAMES else ""
        # Do not print values: they may be passwords of registries.
        raise ValidationFailed(
            f"{validation.name} shows that the new file would also change {', '.join(changed[:MAX_NAMES])}{more}",
            "No other setting may change: compare the dump of the current file with that of the planned one",
            validation.file,
        )
