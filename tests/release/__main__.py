# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make release VERSION=1.2.3`: a release as far as it needs no registry; CONTRIBUTING.md explains it.

Everything is made in a temporary clone. Without `--apply` only the files in .cache/release are written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from ..run.places import CACHE, CHECKOUT
from .artifacts import write_artifacts
from .commits import check_checkout, git, make_release_commit, take_over
from .errors import ReleaseError
from .signatures import check_key
from .versions import parse_version

DRY_RUN = """\
This was a dry run: the checkout was not changed. To create the commit and the tag, run
  make release VERSION={version}{key} APPLY=yes
"""

NEXT = """\
The branch {branch} has the release commit, and the tag {version} exists. Nothing was published. The next commands:
  git push origin {branch} {version}
  ansible-galaxy collection publish {directory}/volcano-colocation-{version}.tar.gz --token TOKEN
Attach the files in {directory} to the release on the forge.
"""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make release")
    parser.add_argument("version")
    parser.add_argument("--key", default=None)
    parser.add_argument("--apply", action="store_true")
    return parser.parse_args()


def release(version: str, directory: Path, arguments: argparse.Namespace) -> None:
    """ReleaseError if a condition of a release is not met; then the checkout was not changed."""
    parse_version(version)
    if arguments.key:
        check_key(arguments.key)
    check_checkout(CHECKOUT, version)
    with tempfile.TemporaryDirectory() as collections:
        clone = make_release_commit(CHECKOUT, Path(collections), version, arguments.key)
        print(git(clone, "show", "--stat=100", "--format=%H %an <%ae>%n%B", f"{version}^{{commit}}"), flush=True)
        write_artifacts(clone, version, directory, arguments.key)
        if arguments.apply:
            take_over(CHECKOUT, clone, version)
    print(f"\nfiles in {directory}:", *sorted(path.name for path in directory.iterdir()), sep="\n  ")


def main() -> int:
    arguments = parse_arguments()
    version = arguments.version
    directory = CACHE / "release" / version
    try:
        release(version, directory, arguments)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        command = " ".join(map(str, error.cmd))
        print(f"{command}: exit status {error.returncode}; the checkout was not changed", file=sys.stderr)
        return 1
    if arguments.apply:
        print(NEXT.format(version=version, branch=git(CHECKOUT, "branch", "--show-current"), directory=directory))
    else:
        print(DRY_RUN.format(version=version, key=f" KEY={arguments.key}" if arguments.key else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
