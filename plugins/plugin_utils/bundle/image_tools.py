# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that save an image of a registry as an archive.

Source: skopeo-copy(1), podman-save(1), docker-save(1). skopeo is preferred: it needs neither a daemon nor root, and
saves all architectures of an image.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from ..profile.validators import ProfileError

TOOL = "image_tool"
"""The option, for errors."""


@dataclass(frozen=True)
class ImageTool:
    """The arguments of each command that saves ``{image}`` in ``{file}``."""

    name: str
    commands: tuple[tuple[str, ...], ...]

    def save_commands(self, program: str, image: str, file: Path) -> list[list[str]]:
        return [
            [program, *(argument.format(image=image, file=file) for argument in command)] for command in self.commands
        ]


TOOLS = (
    ImageTool("skopeo", (("copy", "--all", "docker://{image}", "oci-archive:{file}:{image}"),)),
    ImageTool("podman", (("pull", "{image}"), ("save", "--format", "oci-archive", "--output", "{file}", "{image}"))),
    ImageTool("docker", (("pull", "{image}"), ("save", "--output", "{file}", "{image}"))),
)
NAMES = tuple(tool.name for tool in TOOLS)


@dataclass(frozen=True)
class FoundTool:
    """A tool, and the path of its program."""

    tool: ImageTool
    program: str

    def save_commands(self, image: str, file: Path) -> list[list[str]]:
        return self.tool.save_commands(self.program, image, file)


def find_tool(name: str, images: Collection[str], which: Callable[[str], str | None]) -> FoundTool:
    """The tool of this name, or the first that is installed; ProfileError with the remedy if there is none."""
    candidates = [tool for tool in TOOLS if name in ("", tool.name)]
    for tool in candidates:
        program = which(tool.name)
        if program:
            return FoundTool(tool, program)
    names = ", ".join(tool.name for tool in candidates)
    raise ProfileError(
        TOOL,
        f"{names} {'is' if len(candidates) == 1 else 'are'} not installed, and {', '.join(images)} must be saved."
        " Nothing was changed. Install skopeo on this machine, or set colocation_bundle_image_archives to archives that"
        " you have",
    )
