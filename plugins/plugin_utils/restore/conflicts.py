# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why sections cannot be put back: above all what somebody else has changed since, with the difference, redacted."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...module_utils.state.store import STATE_DIRECTORY
from ..difference import difference
from .model import FILE_SECTIONS, QOS, SLICES, Conflict, Content, Evidence, Standing, Target

FORGET = f"remove its entry from {STATE_DIRECTORY}/ledger.json"


def conflicts(evidence: Evidence, sections: Collection[str]) -> tuple[Conflict, ...]:
    """All of the sections that are named, in their order."""
    found = [each for target in evidence.targets if target.section in sections for each in _of_target(target)]
    if SLICES in sections:
        for each in evidence.slices["slices"]:
            if each["error"]:
                found.append(Conflict(SLICES, each["name"], each["error"], _without(SLICES)))
    if QOS in sections and evidence.qos["error"]:
        found.append(Conflict(QOS, "the record", evidence.qos["error"], _without(QOS)))
    return tuple(found)


def _without(section: str) -> str:
    others = [each for each in (*FILE_SECTIONS, SLICES, QOS) if each != section]
    return f"The other sections ({', '.join(others)}) can be put back by naming them"


def _of_target(target: Target) -> Iterator[Conflict]:
    section, path = target.section, target.path
    if target.error:
        yield Conflict(section, path, target.error, _without(section))
    elif target.earlier:
        listed = ", ".join(each.id for each in target.earlier)
        places = ", ".join(each.backups for each in target.earlier)
        reason = (
            f"{listed} changed it and is not in the ledger (it kept none, or could not be undone),"
            " so that its original is not known"
        )
        yield Conflict(
            section,
            path,
            reason,
            f"Compare it with what is in {places}, put back by hand what you want, then {FORGET}. {_without(section)}",
        )
    elif target.standing is Standing.FOREIGN and not target.checkpoint:
        yield _foreign(target)


def _foreign(target: Target) -> Conflict:
    """Nobody's change is overwritten; how to agree with it is said."""
    back = f"remove {target.path}" if target.original is None else f"copy {target.original_file} over it, mode and all"
    return Conflict(
        target.section,
        target.path,
        f"{_what(target.committed, target.found)} by someone else since transaction {target.last}",
        f"Undo that change, or {back}, or {FORGET} to keep it; then run this again. {_without(target.section)}",
        difference(
            target.committed.text if target.committed else None,
            target.found.text if target.found else None,
            f"{target.path} as {target.last} left it",
            f"{target.path} now",
        ),
    )


def _what(committed: Content | None, found: Content | None) -> str:
    if found is None:
        return "it was removed"
    if committed is None:
        return "it was made again"
    parts = ["it was changed"] if committed.text != found.text else []
    for name, one, other in (
        ("mode", committed.mode, found.mode),
        ("owner", committed.owner, found.owner),
        ("attributes", committed.xattrs, found.xattrs),
    ):
        if one != other:
            values = "" if name == "attributes" else f" from {one} to {other}"
            parts.append(f"its {name} {'were' if name == 'attributes' else 'was'} changed{values}")
    return ", ".join(parts)
