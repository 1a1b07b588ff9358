# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the tree of a number, or writes it to a new directory.

Run: python -m ansible_collections.volcano.colocation.tests.trees NUMBER [DIRECTORY], with PYTHONPATH=.cache/dev
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .entries import plant
from .node import generate


def main() -> None:
    parser = argparse.ArgumentParser(description="The generated file system of a node.")
    parser.add_argument("number", type=int)
    parser.add_argument("directory", type=Path, nargs="?", help="new directory for the tree, with 'root' and 'outside'")
    chosen = parser.parse_args()
    tree = generate(chosen.number)
    if chosen.directory is None:
        print(tree.described())
    else:
        print(plant(tree, chosen.directory / "root"))


if __name__ == "__main__":
    main()
