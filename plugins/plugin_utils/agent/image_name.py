# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images as kubelet's runtimes keep them: with registry and tag (distribution/reference normalize.go)."""

from __future__ import annotations

import re

from ..profile.validators import ProfileError

IMAGE = "colocation_agent_image"
DOMAIN, LIBRARY, TAG = "docker.io", "library", "latest"
_OLD_DOMAIN = "index.docker.io"
_REPOSITORY = re.compile(
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
    r"(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+"
)
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)


def normalized(name: str) -> str:
    """``docker.io/library/a:latest`` for ``a``; ProfileError for a name with a digest, or that is none."""
    if "@" in name:
        raise ProfileError(
            IMAGE,
            f"{name!r} has a digest, and an image from an archive is known to the runtime by its tag only; write"
            " registry/name:tag, and the digest into colocation_agent_image_digest",
        )
    found = _full(name)
    if found is None:
        raise ProfileError(IMAGE, f"{name!r} is no name of an image such as docker.io/volcanosh/vc-agent:v1.14.0")
    return found


def same(name: str, wanted: str) -> bool:
    """Whether a name, which may lack registry and tag, is that of ``wanted``, which has both."""
    return _full(name) == wanted


def repository(name: str) -> str:
    """Of a normalized name, what stands before the tag."""
    return name.rpartition(":")[0]


def _full(name: str) -> str | None:
    first, slash, rest = name.partition("/")
    # splitDockerDomain: a first part without . and : is a folder of Docker Hub, unless it is localhost or has capitals.
    if not slash or (not {".", ":"} & set(first) and first != "localhost" and first == first.lower()):
        first, rest = DOMAIN, name
    first = DOMAIN if first == _OLD_DOMAIN else first
    if first == DOMAIN and "/" not in rest:
        rest = f"{LIBRARY}/{rest}"
    path, colon, tag = rest.partition(":")
    tag = tag if colon else TAG
    if not _REPOSITORY.fullmatch(f"{first}/{path}") or not _TAG.fullmatch(tag):
        return None
    return f"{first}/{path}:{tag}"
