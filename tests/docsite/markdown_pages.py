# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Markdown pages of the checkout as pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from pathlib import Path

HOME = "README.md"
"""It becomes index.md, the first page of the site."""

INDEX = "index.md"
REFERENCE = "reference/index"

FENCE = re.compile(r"^ *(```|~~~)")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
EXTERNAL = re.compile(r"^(?:[a-z]+:|#)")

TOCTREE = """\

```{{toctree}}
:hidden:
:caption: {caption}

{entries}
```
"""


class BrokenLinkError(ValueError):
    """A page has a link to a file that does not exist."""


def rewrite_links(text: str, page: str, pages: Collection[str], root: Path, files_url: str) -> str:
    """The text of a page, with links to files that are not pages of the site as links to ``files_url``.

    BrokenLinkError for a link to a file that does not exist.
    """
    lines = []
    in_code = False
    for line in text.splitlines(keepends=True):
        in_code ^= bool(FENCE.match(line))
        lines.append(
            line
            if in_code
            else LINK.sub(lambda link: f"]({_target(link['target'], page, pages, root, files_url)})", line)
        )
    return "".join(lines)


def _target(target: str, page: str, pages: Collection[str], root: Path, files_url: str) -> str:
    path, mark, anchor = target.partition("#")
    if EXTERNAL.match(target):
        return target
    directory = posixpath.dirname(page)
    file = posixpath.normpath(posixpath.join(directory, path))
    if not (root / file).exists():
        raise BrokenLinkError(f"{page}: the link {target} leads to {file}, which does not exist; correct the link")
    if file == HOME:
        return posixpath.relpath(INDEX, directory or ".") + mark + anchor
    return target if file in pages else f"{files_url}/{file}{mark}{anchor}"


def index_page(readme: str, sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    """The first page: the README and the table of contents, by caption and pages."""
    trees = [TOCTREE.format(caption=caption, entries="\n".join(entries)) for caption, entries in sections]
    return readme + "".join(trees)
