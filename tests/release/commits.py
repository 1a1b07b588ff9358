# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release commit and its tag, made in a clone of the checkout."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

import yaml

from ..run.places import tool_environment
from .errors import ReleaseError
from .versions import check_newer, set_version

CHANGELOG = Path("changelogs") / "changelog.yaml"
SUMMARY = "release_summary"


def git(repository: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """The output of git. subprocess.CalledProcessError if it fails; git has printed why."""
    command = ["git", *arguments]
    done = subprocess.run(
        command,
        cwd=repository,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def check_checkout(checkout: Path, version: str) -> None:
    """ReleaseError if the checkout has uncommitted changes or is not on a branch, or if the version is not new."""
    check_newer(version, git(checkout, "tag", "--list").split())
    if changed := git(checkout, "status", "--porcelain"):
        raise ReleaseError(f"the checkout has changes that are not committed; commit or stash them:\n{changed}")
    if not git(checkout, "branch", "--show-current"):
        raise ReleaseError("the checkout is not on a branch; switch to the branch that is released")


def make_release_commit(checkout: Path, collections: Path, version: str, key: str | None) -> Path:
    """A clone of the checkout with the release commit and its tag, below ``collections``."""
    # antsibull-changelog runs ansible-doc, which finds a collection in a directory with this name.
    clone = collections / "ansible_collections" / "volcano" / "colocation"
    git(collections, "clone", "--quiet", checkout.as_uri(), str(clone))
    for name in ("user.name", "user.email"):
        git(clone, "config", name, git(checkout, "config", name))
    now = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    write_version(clone, version)
    write_changelog(clone, collections, version, now)
    git(clone, "add", "--all")
    dates = {name: f"{now} +0000" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    if git(clone, "status", "--porcelain"):
        git(clone, "commit", "--quiet", "--message", f"Release {version}", environment=dates)
    signed = ["--local-user", key] if key else ["--annotate"]
    git(clone, "tag", *signed, "--message", f"volcano.colocation {version}", version, environment=dates)
    return clone


def write_version(clone: Path, version: str) -> None:
    galaxy = clone / "galaxy.yml"
    galaxy.write_text(set_version(galaxy.read_text(encoding="utf-8"), version), encoding="utf-8")


def write_changelog(clone: Path, collections: Path, version: str, now: int) -> None:
    """Move the fragments into the changelog. ReleaseError if the release then has no summary."""
    releases = load_releases(clone)
    if has_fragments(clone) or version not in releases:
        date = datetime.fromtimestamp(now, tz=timezone.utc).date().isoformat()
        command = ["antsibull-changelog", "release", "--version", version, "--date", date, "--update-existing"]
        environment = {**tool_environment(os.environ), "ANSIBLE_COLLECTIONS_PATH": str(collections)}
        subprocess.run(command, cwd=clone, env=environment, check=True)
        releases = load_releases(clone)
    if SUMMARY not in releases[version].get("changes", {}):
        raise ReleaseError(f"release {version} has no summary; add a fragment with {SUMMARY} to changelogs/fragments")


def has_fragments(clone: Path) -> bool:
    return any((clone / "changelogs" / "fragments").glob("*.yml"))


def load_releases(clone: Path) -> Mapping[str, Mapping[str, Mapping[str, object]]]:
    releases: Mapping[str, Mapping[str, Mapping[str, object]]] = yaml.safe_load(
        (clone / CHANGELOG).read_text(encoding="utf-8")
    )["releases"]
    return releases


def take_over(checkout: Path, clone: Path, version: str) -> None:
    """Move the branch of the checkout to the release commit, and create the tag."""
    git(checkout, "fetch", "--quiet", clone.as_uri(), "HEAD", f"refs/tags/{version}:refs/tags/{version}")
    git(checkout, "merge", "--quiet", "--ff-only", f"refs/tags/{version}")
