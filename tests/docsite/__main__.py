# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make docs-site` builds the documentation as a site: the Markdown pages, and a page for each module and role.

A warning of antsibull-docs or of Sphinx is an error. The site is .cache/docsite/html; it needs no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from ..run.places import CACHE, CHECKOUT, tool_environment
from . import markdown_pages
from .markdown_pages import BrokenLinkError

SITE = CACHE / "docsite"
SOURCE = SITE / "source"
HTML = SITE / "html"
REFERENCE = SOURCE / "reference"
SETTINGS = Path(__file__).parent
COLLECTION = "volcano.colocation"

PROJECT_PAGES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "MAINTAINERS.md",
    "LICENSES.md",
)


def main() -> int:
    shutil.rmtree(SITE, ignore_errors=True)
    REFERENCE.mkdir(parents=True)
    # antsibull-docs refuses a directory that others can write.
    REFERENCE.chmod(0o755)
    try:
        write_pages()
    except BrokenLinkError as error:
        print(error, file=sys.stderr)
        return 1
    for command in (reference_command(), site_command()):
        status = subprocess.run(command, cwd=CHECKOUT, env=tool_environment(os.environ), check=False).returncode
        if status:
            return status
    print(f"{HTML / 'index.html'}")
    return 0


def pages() -> list[str]:
    return sorted(path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "docs").glob("*.md"))


def write_pages() -> None:
    """Copy all pages to the source of the site. BrokenLinkError names a link to a file that does not exist."""
    names = [*pages(), *(name for name in PROJECT_PAGES if (CHECKOUT / name).exists())]
    repository = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text(encoding="utf-8"))["repository"]
    for name in (markdown_pages.HOME, *names):
        text = (CHECKOUT / name).read_text(encoding="utf-8")
        text = markdown_pages.rewrite_links(text, name, names, CHECKOUT, f"{repository}/blob/main")
        if name == markdown_pages.HOME:
            contents = (("Pages", pages()), ("Modules and roles", [markdown_pages.REFERENCE]))
            project = ("Project", [name for name in names if "/" not in name])
            name, text = markdown_pages.INDEX, markdown_pages.index_page(text, (*contents, project))
        path = SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def reference_command() -> Sequence[str | Path]:
    """The page of each module and role; an error in a documentation ends it."""
    return (
        *("antsibull-docs", "--config-file", SETTINGS / "antsibull-docs.cfg", "collection", "--use-current"),
        *("--squash-hierarchy", "--fail-on-error", "--dest-dir", REFERENCE, COLLECTION),
    )


def site_command() -> Sequence[str | Path]:
    return (
        *("sphinx-build", "--quiet", "--builder", "html", "--jobs", "auto", "--fail-on-warning", "--keep-going"),
        *("--conf-dir", SETTINGS, "--doctree-dir", SITE / "doctrees", SOURCE, HTML),
    )


if __name__ == "__main__":
    sys.exit(main())
