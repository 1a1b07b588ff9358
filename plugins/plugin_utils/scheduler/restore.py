# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: what was made goes, what was changed is as it was, what others changed since is a conflict."""

from __future__ import annotations

from dataclasses import dataclass

from ..kube.changes import ObjectChange, deletion, patch_of, text_change
from ..kube.errors import ClusterError
from ..kube.identity import require_cluster
from ..kube.merge import covers
from ..kube.objects import Object, body, patched, projected
from .journal import Entry, Journal, Text
from .plan import RULES
from .seen import Seen


@dataclass(frozen=True)
class Return:
    """What is to be done in this order: the text, the objects, the journal's end."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    forget: bool = False

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text or self.forget)


def make_return(seen: Seen, cluster_uid: str) -> Return:
    """What to put back; ClusterError with all conflicts, and nothing is put back then."""
    require_cluster(seen.uid, cluster_uid, changing=seen.journal_version is not None)
    conflicts: list[str] = []
    objects = [_object(each, seen, conflicts) for each in reversed(seen.journal.entries)]
    text = _text(seen.journal, seen, conflicts)
    if conflicts:
        raise ClusterError(
            f"Changed by somebody else since: {'; '.join(conflicts)}",
            "Nothing was put back. Undo these changes and run this again, or put the rest back by hand and delete the"
            " ConfigMap volcano-colocation-scheduler, which has all that was there before.",
        )
    return Return(tuple(each for each in objects if each), text, seen.journal_version is not None)


def _object(entry: Entry, seen: Seen, conflicts: list[str]) -> ObjectChange | None:
    found = seen.found(entry.ref)
    if found is None:
        return None
    own = body(found)
    back = patched(own, entry.back)
    if not entry.created and _covers(back, own) and _covers(own, back):
        return None
    if not _covers(own, entry.after):
        conflicts.append(entry.ref.place)
        return None
    if entry.created:
        return deletion(entry.ref, projected(own, entry.after))
    return patch_of(found, entry.back, back, ref=entry.ref)


def _covers(found: Object, desired: Object) -> bool:
    return covers(found, desired, RULES.absent)


def _text(journal: Journal, seen: Seen, conflicts: list[str]) -> ObjectChange | None:
    """The original byte for byte, or a conflict: what others wrote into our text is not taken apart."""
    text = journal.text
    if text is None or seen.conf is None:
        return None
    now = seen.conf.data.get(text.key, "")
    if now == text.original:
        return None
    if text.foreign or now not in (text.committed, text.previous):
        conflicts.append(_where(text))
        return None
    return text_change(seen.conf, text.key, text.original)


def _where(text: Text) -> str:
    return f"{text.ref.place}, key {text.key}"
