# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs built from Go modules, in the lab's cache: one entry for each group of a family."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import go_cache
from .cache import Cache, Recipe
from .errors import LabError, prefixed
from .go_failures import explain_system
from .golang import BUILD_FLAGS, Go, GoTool, Release, find_go, in_use, parse_release, to_text
from .golang import obtain as obtain_go
from .program_table import BuildSet, Family, Group, Program
from .program_table import family as family_of
from .progress import Progress

KIND = "programs"
BUILD = "build.json"


@dataclass(frozen=True)
class Programs:
    """Built programs of one family: ``directories`` maps a program's name to the directory of its cache entry."""

    family: Family
    directories: dict[str, Path]

    @property
    def release(self) -> str:
        """1.35.4"""
        return self.family.release

    def path(self, name: str) -> Path:
        """The path of a program; LabError when ``obtain`` did not request it."""
        if name not in self.directories:
            raise LabError(f"{self.family.name}: {name!r} is not among the requested programs")
        return self.directories[name] / name

    def file(self, name: str) -> Path:
        """The path of one of the files of a group whose programs were requested."""
        group = next(group for group in self.family.groups if name in group.files)
        return self.directories[group.programs[0].name] / Path(name).name


@dataclass(frozen=True)
class BuildRecord:
    """How a group was built: wall-clock seconds and the release of Go."""

    seconds: float
    go: str


def obtain(cache: Cache, family: str, names: Sequence[str] = ()) -> Programs:
    """Programs of a family, built unless the cache has them; without names, those of ``default_groups``."""
    known = family_of(family)
    groups = [known.group_of(name) for name in names] or default_groups(known)
    directories = {}
    for group in dict.fromkeys(groups):
        directory = obtain_group(cache, known, group)
        directories.update({program.name: directory for program in group.programs})
    return Programs(known, directories)


def default_groups(family: Family) -> list[Group]:
    """The groups that ``make test`` needs, or all groups of a family that only ``make test-matrix`` needs."""
    tested = [group for group in family.groups if group.build_set is BuildSet.TEST]
    return tested or list(family.groups)


def obtain_group(cache: Cache, family: Family, group: Group) -> Path:
    """The directory with a group's programs, built unless the cache has it."""
    go = find_go(minimum_go(family))
    group_recipe = recipe(family, group, go.release)
    subject = f"{family.name} ({family.release}) {group.name}"
    progress = Progress(f"{family.name} {group.name}")
    directory = cache.find(group_recipe)
    if directory:
        return directory
    try:
        directory = cache.obtain(
            group_recipe, lambda partial, log: _build(cache, go, family, group, partial, log), progress
        )
        go_cache.trim(cache, progress)
    except LabError as error:
        raise prefixed(subject, error) from error
    except OSError as error:
        raise LabError(f"{subject}: {explain_system(error)}") from error
    return directory


def find_group(cache: Cache, family: Family, group: Group) -> Path | None:
    """The directory with a group's programs; None when they are not built."""
    return cache.find(recipe(family, group, find_go(minimum_go(family)).release))


def recipe(family: Family, group: Group, go: Release) -> Recipe:
    """The inputs of a group's programs."""
    texts = [(family.directory / name).read_text() for name in ("go.mod", "go.sum")]
    packages = [f"{program.name}={program.package}" for program in group.programs]
    flags = [*BUILD_FLAGS, family.tags, family.linker_flags]
    own = [text for program in group.programs for text in _own_texts(program)]
    inputs = (to_text(go), *flags, *packages, *texts, *own, *group.files)
    return Recipe(KIND, f"{family.name}-{group.name}", inputs)


def _own_texts(program: Program) -> list[str]:
    """Texts of a program's own source; empty for a program of the project."""
    return [program.tags, *(f"{path.name}\n{path.read_text()}" for path in program.files)] if program.source else []


def minimum_go(family: Family) -> Release:
    """The oldest release of Go that builds a family's modules."""
    match = re.search(r"^go \S+$", (family.directory / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise LabError(f"{family.directory / 'go.mod'} has no line `go RELEASE`: run `make lock`")
    return parse_release(match.group())


def read_build(directory: Path) -> BuildRecord:
    """The record in a group's directory."""
    values = json.loads((directory / BUILD).read_text())
    return BuildRecord(float(values["seconds"]), str(values["go"]))


def _build(cache: Cache, go: Go, family: Family, group: Group, directory: Path, log: Path) -> None:
    began = time.monotonic()
    work = directory / "build"
    work.mkdir()
    with in_use(cache):
        known = obtain_go(cache, go)
        packages = [program.package for program in group.programs if program.source is None]
        if packages:
            GoTool(cache, known, family.directory, log).build(packages, work, family.linker_flags, family.tags)
        for program in group.programs:
            if program.source:
                tool = GoTool(cache, known, _copy_source(program, family, directory / "source"), log)
                tool.build([program.package], work / program.name, family.linker_flags, program.tags)
                shutil.rmtree(tool.directory)
        _copy_files(GoTool(cache, known, family.directory, log), family, group, directory)
    for program in group.programs:
        built = work / (program.name if program.source else _executable(program.package))
        if not built.is_file():
            raise LabError(f"go build wrote no program {built.name} from {program.package}; its output is in {log}")
        built.rename(directory / program.name)
    shutil.rmtree(work)
    record = {"seconds": round(time.monotonic() - began, 1), "go": to_text(go.release)}
    (directory / BUILD).write_text(json.dumps(record) + "\n")


def _copy_files(tool: GoTool, family: Family, group: Group, directory: Path) -> None:
    """Copy the group's files from the family's module, which the build has downloaded."""
    if not group.files:
        return
    module = Path(tool.output("list", "-m", "-f", "{{.Dir}}", family.module).strip())
    for name in group.files:
        shutil.copyfile(module / name, directory / Path(name).name)


def _copy_source(program: Program, family: Family, directory: Path) -> Path:
    """Copy a program's own source with the family's go.mod and go.sum into a new directory; its path."""
    directory.mkdir()
    for path in (*program.files, family.directory / "go.mod", family.directory / "go.sum"):
        shutil.copyfile(path, directory / path.name)
    return directory


def _executable(package: str) -> str:
    """The file name of ``go build -o DIRECTORY/``: the last element of the import path that is not a major version."""
    elements = [element for element in package.split("/") if not re.fullmatch(r"v[0-9]+", element)]
    return elements[-1]
