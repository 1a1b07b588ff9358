# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the tests' small Go programs in the module of one of the lab's families, with the versions that it locks."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab.cache import Cache, Recipe
from ansible_collections.volcano.colocation.tests.lab.golang import BUILD_FLAGS, GoTool, find_go, in_use, to_text
from ansible_collections.volcano.colocation.tests.lab.golang import obtain as obtain_go
from ansible_collections.volcano.colocation.tests.lab.program_table import family as family_of
from ansible_collections.volcano.colocation.tests.lab.programs import minimum_go
from ansible_collections.volcano.colocation.tests.lab.progress import Progress

KIND = "judges"
LINKER_FLAGS = "-s -w"


def obtain(cache: Cache, name: str, family: str, sources: tuple[Path, ...]) -> Path:
    """The program of these sources; it is built unless the cache has it."""
    known = family_of(family)
    go = find_go(minimum_go(known))
    texts = [path.read_text() for path in (*sources, known.directory / "go.mod", known.directory / "go.sum")]
    recipe = Recipe(KIND, name, (to_text(go.release), *BUILD_FLAGS, LINKER_FLAGS, *texts))

    def build(directory: Path, log: Path) -> None:
        with in_use(cache):
            tool = GoTool(cache, obtain_go(cache, go), known.directory, log)
            tool.build([str(path) for path in sources], directory / name, LINKER_FLAGS)

    return cache.obtain(recipe, build, Progress(name)) / name
