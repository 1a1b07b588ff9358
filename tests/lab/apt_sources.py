# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Debian mirror of this host, from its apt sources (sources.list(5), both formats)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

DEBIAN_SUITES = ("bullseye", "bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclass(frozen=True)
class Source:
    """One archive: its URI, the suites and components in use, and its signing key ('' for apt's own keyrings)."""

    types: tuple[str, ...]
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""

    @property
    def is_debian(self) -> bool:
        """True for a main archive of Debian releases; false for security and updates archives and for other vendors."""
        return "main" in self.components and any(suite in DEBIAN_SUITES for suite in self.suites)


def parse_one_line(text: str) -> Iterator[Source]:
    """Sources of a ``*.list`` file: ``deb [option=value …] URI suite component …``."""
    for line in text.splitlines():
        match = re.match(r"\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)", line)
        if match:
            kind, options, uri, suite, components = match.groups()
            signed_by = re.search(r"(?:^|\s)signed-by=(\S+)", options or "")
            yield Source((kind,), uri, (suite,), tuple(components.split()), signed_by.group(1) if signed_by else "")


def parse_deb822(text: str) -> Iterator[Source]:
    """Sources of a ``*.sources`` file: one for each URI of each stanza."""
    for stanza in re.split(r"\n(?:[ \t]*\n)+", text):
        fields = _fields(stanza)
        if fields.get("enabled", "yes").strip().lower() in ("no", "false", "0"):
            continue
        for uri in fields.get("uris", "").split():
            yield Source(
                tuple(fields.get("types", "").split()),
                uri,
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
                _key_file(fields.get("signed-by", "")),
            )


def host_sources(apt: Path = Path("/etc/apt")) -> list[Source]:
    """All sources of this host, in the order in which apt reads them."""
    sources: list[Source] = []
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if path.suffix in (".list", ".sources") and path.is_file():
            text = path.read_text(errors="replace")
            sources.extend(parse_deb822(text) if path.suffix == ".sources" else parse_one_line(text))
    return sources


def debian_source(sources: Iterable[Source]) -> Source:
    """The first Debian archive among ``sources``; COLOCATION_LAB_MIRROR overrides it (hosts that are not Debian)."""
    if os.environ.get("COLOCATION_LAB_MIRROR"):
        return Source(("deb",), os.environ["COLOCATION_LAB_MIRROR"], ("stable",), ("main",), KEYRING)
    debian: Source | None = next((source for source in sources if source.is_debian), None)
    if debian is None:
        raise LabError(
            "the apt sources of this host name no Debian mirror: set COLOCATION_LAB_MIRROR to the URI of one"
        )
    return debian


def source_line(source: Source, kind: str, suite: str) -> str:
    """A line for sources.list with the archive's own signing key."""
    keyring = source.signed_by or (KEYRING if Path(KEYRING).exists() else "")
    options = f"[signed-by={keyring}] " if keyring else ""
    return f"{kind} {options}{source.uri} {suite} main"


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t"):
            fields[name] = fields.get(name, "") + "\n" + line
        elif ":" in line:
            name, value = line.split(":", 1)
            name = name.strip().lower()
            fields[name] = value
    return fields


def _key_file(value: str) -> str:
    """The path of the key; '' for an inline key, which apt then has to find in its own keyrings."""
    words = value.split()
    return words[0] if len(words) == 1 and words[0].startswith("/") else ""
