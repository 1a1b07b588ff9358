# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signatures by GnuPG, as `ansible-galaxy collection install --signature` verifies them."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

from .errors import ReleaseError
from .reproducible import MANIFEST


def check_key(key: str) -> None:
    """ReleaseError unless GnuPG has the private key."""
    if shutil.which("gpg") is None:
        raise ReleaseError("KEY needs GnuPG: install gpg and gpg-agent")
    known = subprocess.run(["gpg", "--batch", "--list-secret-keys", key], capture_output=True, text=True, check=False)
    if known.returncode:
        raise ReleaseError(
            f"GnuPG has no private key {key}; `gpg --list-secret-keys` lists them: {known.stderr.strip()}"
        )


def sign_manifest(tarball: Path, key: str) -> Path:
    """Sign the MANIFEST.json of a tarball, which has the checksum of the list of all files."""
    with tarfile.open(tarball) as archive:
        content = archive.extractfile(MANIFEST)
        assert content
        return sign(content.read(), tarball.with_name(f"{tarball.name}.asc"), key)


def sign(data: bytes, signature: Path, key: str) -> Path:
    """Write a detached signature."""
    options = ["--batch", "--yes", "--armor", "--local-user", key, "--output", str(signature), "--detach-sign"]
    subprocess.run(["gpg", *options], input=data, check=True)
    return signature
