# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release of the Volcano agent an image holds, and what each release can do."""

from __future__ import annotations

import re

from ..profile.validators import ProfileError

Release = tuple[int, int]

FIRST: Release = (1, 11)
"""cmd/agent exists from this release on."""
BOTH_DRIVERS: Release = (1, 14)
"""Before it cmd/agent/app/agent.go hands the driver cgroupfs to a manager that knows v1 only."""
_TAG = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+.].*)?")


def release_of(image: str, version: str) -> Release:
    """(major, minor) of ``version``, or of the image's tag where that is empty; ProfileError where neither tells."""
    if version:
        found = _TAG.fullmatch(version)
        if not found:
            raise ProfileError("colocation_agent_version", f"{version!r} is no version such as v1.14.0")
    else:
        found = _TAG.fullmatch(tag(image))
        if not found:
            raise ProfileError(
                "colocation_agent_image",
                f"{image!r} does not tell which release it is, and what a node needs depends on it;"
                " name it in colocation_agent_version, such as v1.14.0",
            )
    release = int(found[1]), int(found[2])
    if release < FIRST:
        raise ProfileError(
            "colocation_agent_version" if version else "colocation_agent_image",
            f"Volcano {release[0]}.{release[1]} has no agent; the first that has is {FIRST[0]}.{FIRST[1]}",
        )
    return release


def tag(image: str) -> str:
    """What stands behind the colon of the last part, without a digest; empty where nothing does."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]
