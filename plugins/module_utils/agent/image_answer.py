# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What agent_image does and answers on a node: the same in check mode and after the real run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..host import Host
from ..immutable import IMAGES, require_changeable
from ..transaction.clock import Clock
from ..transaction.turn import require_turn
from . import image, image_record
from .runtime import architecture, runtime


def present(host: Host, given: dict[str, Any], machine: str, clock: Clock) -> dict[str, Any]:
    """Look, and import ``archive``, a file of this node, if there is one and it is needed."""
    wanted = image.wanted(given["image"], given["images"], architecture(machine))
    used = runtime(host)
    found = image.present(host, used, wanted)
    needed = not wanted.fits(found)
    before = found.id if found else ""
    after = wanted.ids[0] if needed else before
    if needed:
        require_changeable(host, IMAGES)
        image_record.load(host)
        require_turn(host)
    if needed and given["archive"]:
        after = image.load(host, used, wanted, given["archive"], given["sha256"], clock).id
    return {
        "changed": needed,
        "import_required": needed,
        "runtime": used.name,
        "image": {"name": wanted.name, "id": after, "before": before},
        "diff": _diff(wanted.name, before, after),
    }


def absent(host: Host, leaving: list[str], *, check: bool) -> dict[str, Any]:
    """Take away what is noted, or tell what would go once the containers that are ``leaving`` have ended."""
    entries = image_record.load(host)
    if not entries:
        return {"changed": False, "removed": [], "remaining": []}
    used = runtime(host)
    gone, kept = image.absent(host, used, entries, leaving) if check else image.remove(host, used)
    names = "".join(f"{each.name} {each.id}\n" for each in gone)
    return {
        "changed": bool(gone),
        "removed": [each.name for each in gone],
        "remaining": [asdict(each) for each in kept],
        "diff": {"before_header": "images", "after_header": "images", "before": names, "after": ""},
    }


def _diff(name: str, before: str, after: str) -> dict[str, str]:
    sides = {side: f"{name} {each}\n" if each else "" for side, each in (("before", before), ("after", after))}
    return {"before_header": "images", "after_header": "images", **sides}
