# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches the code that Python compiles from zip files, until the next boot.

Ansible sends each module as a zip file of sources. Python does not cache their compiled form, and compiling takes half
of a module's time on an emulated CPU. The code itself is unchanged.
"""

from __future__ import annotations

import _imp
import marshal
import os
import zipimport
from importlib._bootstrap_external import MAGIC_NUMBER
from types import CodeType

DIRECTORY = "/run/lab-compiled"

_KEY = int.from_bytes(MAGIC_NUMBER, "little")
_compile = zipimport._compile_source  # type: ignore[attr-defined]


def compile_cached(pathname: str, source: bytes) -> CodeType:
    """The code of ``source``; its tracebacks name the ``pathname`` of the first compilation."""
    path = os.path.join(DIRECTORY, _imp.source_hash(_KEY, source).hex())
    return _load(path) or _store(path, _compile(pathname, source))


def _load(path: str) -> CodeType | None:
    try:
        with open(path, "rb") as stream:
            return marshal.load(stream)  # noqa: S302 - only root writes there
    except (OSError, EOFError, ValueError, TypeError):
        return None


def _store(path: str, code: CodeType) -> CodeType:
    try:
        os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
        partial = "%s.%d" % (path, os.getpid())
        with open(partial, "wb") as stream:
            marshal.dump(code, stream)
        os.rename(partial, path)
    except OSError:
        pass
    return code


zipimport._compile_source = compile_cached  # type: ignore[attr-defined]
