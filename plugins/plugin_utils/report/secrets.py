# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detection of secrets: names of settings, formats of tokens, hints of either. False positives are acceptable.

A line without any hint has no secret name (``is_secret_name``) and no token (``without_tokens``). When you add a name
or format, add a hint too; the tests compare them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from ...module_utils.safe_text import SIGNATURES, VENDORS

MARK = "REDACTED"

_IN_NAME = re.compile(
    r"pass(?:word|wd|phrase)|secret|token|credential|header|cookie|bearer|dockerconfig|dockercfg"
    r"|(?:access|account|api|client|deploy|encryption|host|hmac|license|pre-?shared|private|server|shared|signing|ssh|tls)"
    r"[-_]?key|(?:key|cert|certificate|authority|\bca)[-_.]?(?:data|bundle)",
    re.IGNORECASE,
)
_WHOLE_NAME = re.compile(
    r"[\w.-]*auths?|(?:[\w.]+-)?authorization|(?:[\w.-]*(?:[-_.]|(?-i:[a-z](?=[A-Z]))))?(?:pass|pwd|psk|jwt|sas|creds?)"
    r"|(?:[\w.-]*\.)?(?:ca|client|etcd|peer|server|tls)\.key",  # tls.key: kubernetes.io/tls Secrets
    re.IGNORECASE,
)
_PUBLIC = re.compile(r"true|false|null|~|/(?:etc|home|lib|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)/[\w./@-]*")
"""Values that are not secret under any name: booleans, and paths of secrets."""
_SHAPE = re.compile(
    # user:password@ of a URL, or a token in its place; bounded, since a hostile text holds many ://
    r"""(?<=://)(?:[^\s"'/?\#]{1,512}|[^\s"'/@:]{1,256}:[^\s"']{1,512})(?=@)"""
    r"|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"  # JSON web token
    r"|(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])"  # bootstrap token, kubeadm
    r"|\bK10[0-9a-f]{16,}\S*"  # join token, k3s
    r"|(?<![\w.:-])[\w.%-]{1,64}:[^\s@/\"':,]{1,256}(?=@[\w.-]{1,253}:\d)"  # user:password@host:port of a proxy
    r"|\bLS0tLS1CRUdJTi[\w+/=-]*|\bMII[\w+/]{61,}=*"  # base64 of a PEM block, or its content
    r"|\bA[KS]IA[0-9A-Z]{16}\b|\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}"
    r"|(?<=[Bb]earer )\s*[\w.~+/=-]{8,}"
    rf"|{VENDORS}|{SIGNATURES}"
)

PASSWORD_FLAG = "-p"  # noqa: S105 - the name of an option, not a password
"""Flag of docker login, sshpass and others. Elsewhere it means a port, a path or a boolean, see ``is_password``."""
_ADDRESS = r"(?:(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\]|localhost):)?"
_PORT = r"\d{1,5}(?:-\d{1,5})?"
_PORTS = re.compile(rf"{_ADDRESS}{_PORT}(?::{_PORT})?(?:/(?:tcp|udp|sctp))?")
_OTHER_MEANING = re.compile(
    r"""(?:^|[^\w.-])(?:busctl|chrt|cp|install|journalctl|loginctl|mkdir|pgrep|ps|renice|sysctl|systemctl|tar|taskset)"""
    r"""["']?(?:[\s,][^;&|`]*)?$"""
)
"""Programs without password options that start no other program, with no other command before the flag."""
REACH = 200
"""Characters that are examined on each side of the flag; a hostile line has many flags."""
_VALUE = re.compile(r"""[\\"']*((?:\[[0-9A-Fa-f:]+\])?[^\s"',\]]*)""")


def is_secret_name(name: str) -> bool:
    """Whether a setting with this name is secret: an option with dashes, a variable, or a key of a file."""
    bare = name.lstrip("-")
    parts = (bare, *bare.split(".")) if "." in bare else (bare,)
    return _IN_NAME.search(bare) is not None or any(map(_WHOLE_NAME.fullmatch, parts))


def is_public_value(value: str) -> bool:
    """Whether a value is not secret, whatever its name: empty, a boolean, or the path of a file."""
    bare = value.strip().strip("\"'")
    return not bare or bare == MARK or _PUBLIC.fullmatch(bare) is not None


def is_password(before: str, after: str) -> bool:
    """Whether the text after ``PASSWORD_FLAG`` may be a password: not a port, a path or an option of a known program.

    ``before`` and ``after`` are the rest of the command line. If ``after`` is empty, it may be in the next line.
    """
    value = cast("re.Match[str]", _VALUE.match(after))[1]
    is_plain = value.startswith("-") or _PORTS.fullmatch(value) or (value and is_public_value(value))
    return not is_plain and _OTHER_MEANING.search(before[-REACH:]) is None


def without_tokens(text: str) -> str:
    """The text without tokens of known formats and passwords in URLs."""
    return _SHAPE.sub(MARK, text)


_IN_NAMES = (
    *("pass", "secret", "token", "credential", "header", "cookie", "bearer", "docker", "data", "bundle", "auth"),
    *("pwd", "psk", "jwt", "sas", "cred", ".key", "-----begin "),
)
_KEYS = re.compile(
    r"(?:access|account|api|client|deploy|encryption|host|hmac|license|shared|private|server|signing|ssh|tls)[-_]?key"
    r"|(?<![\w.-])-p(?![\w.-])"
)
_IN_TOKENS = (
    *("://", "@", "eyj", "k10", "ls0tls1crudjti", "mii", "akia", "asia", "github_pat_", "earer "),
    *("xox", "xapp-", "aiza", "npm_", "hf_", "k_live_", "k_test_", "sig=", "signature="),
)
_SHAPES = re.compile(r"\.[a-z0-9]{16}|gh[a-z]_|gl[a-z]{2,5}-")
_FOLDED = str.maketrans(
    {
        **{chr(upper): chr(upper + 32) for upper in range(ord("A"), ord("Z") + 1)},
        # Characters that a case-insensitive pattern matches as i, k and s.
        "\u0130": "i",
        "\u0131": "i",
        "\u017f": "s",
        "\u212a": "k",
    }
)


@dataclass(frozen=True)
class Hints:
    """Start positions of lines that may contain a secret name, and of lines that may contain a token."""

    names: frozenset[int]
    tokens: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Hints:
        folded = text.translate(_FOLDED)
        return cls(
            frozenset(_line_starts(folded, _IN_NAMES, _KEYS)), frozenset(_line_starts(folded, _IN_TOKENS, _SHAPES))
        )


def _line_starts(folded: str, words: Iterable[str], pattern: re.Pattern[str]) -> Iterator[int]:
    for word in words:
        position = folded.find(word)
        while position >= 0:
            yield folded.rfind("\n", 0, position) + 1
            # One hit per line is enough.
            end_of_line = folded.find("\n", position)
            position = folded.find(word, end_of_line) if end_of_line >= 0 else -1
    for match in pattern.finditer(folded):
        yield folded.rfind("\n", 0, match.start()) + 1
