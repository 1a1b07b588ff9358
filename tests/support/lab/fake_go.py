# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import golang
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES

SCRIPT = """\
#!/bin/sh
case "$1" in
env) echo go{release}; exit ;;
build) ;;
list)
    for file in {files}; do mkdir -p "{module}/${{file%/*}}"; echo "$file of $5" > "{module}/$file"; done
    echo "{module}"; exit ;;
*) exit 64 ;;
esac
echo "$*" >> {calls}
for word; do [ "$before" = -o ] && output=$word; before=$word; done
{failure}
while [ "$1" != -o ]; do shift; done
shift 2
for package; do
    if [ "$package" = . ]; then ls > "$output"; chmod 755 "$output"; continue; fi
    name=${{package##*/}}
    case $name in v[0-9]) name=${{package%/*}}; name=${{name##*/}} ;; esac
    echo "$package" > "$output/$name"; chmod 755 "$output/$name"
done
"""


class FakeGo:
    """A ``go`` that writes a file with its package for each program, or fails as requested."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.calls = directory / "calls"
        self.write()

    def write(self, release: str = "1.26.8", failure: str = "") -> None:
        """``failure`` is shell code to run before writing a program; ``$output`` is the directory of the programs."""
        program = self.directory / "go"
        files = " ".join(name for family in FAMILIES for group in family.groups for name in group.files)
        module = self.directory / "module"
        text = SCRIPT.format(release=release, calls=self.calls, failure=failure, files=files, module=module)
        program.write_text(text)
        program.chmod(0o755)

    @property
    def builds(self) -> list[str]:
        """The arguments of each ``go build``."""
        return self.calls.read_text().splitlines() if self.calls.exists() else []


def install(directory: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    """Make a fake Go below ``directory`` the only Go; the lab's cache is ``directory / "cache"``."""
    (directory / "bin").mkdir()
    hide(directory, monkeypatch)
    monkeypatch.setenv("PATH", f"{directory / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("COLOCATION_LAB_CACHE", str(directory / "cache"))
    return FakeGo(directory / "bin")


def hide(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide Go: on PATH, and where Go's archive and Debian's packages install it."""
    monkeypatch.setattr(golang, "UPSTREAM_PROGRAMS", str(directory / "none"))
    monkeypatch.setattr(golang, "DEBIAN_LIBRARIES", directory / "none")
    monkeypatch.setenv("PATH", str(directory / "none"))
