# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What looks secret: names of settings, and the shapes of tokens. Rather too much than too little."""

from __future__ import annotations

import re
from typing import cast

from ..module_utils.safe_text import SIGNATURES, VENDORS

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
"""Values that are no secret under any name: switches, and where a secret is kept."""
_SHAPE = re.compile(
    # user:password@ of a URL, or a token in its place; bounded, since a hostile text holds many ://
    r"""(?<=://)(?:[^\s"'/?\#]{1,512}|[^\s"'/@:]{1,256}:[^\s"']{1,512})(?=@)"""
    r"|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"  # JSON web token
    r"|(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])"  # bootstrap token, kubeadm
    r"|\bK10[0-9a-f]{16,}\S*"  # join token, k3s
    r"|(?<![\w.:-])[\w.%-]{1,64}:[^\s@/\"':,]{1,256}(?=@[\w.-]{1,253}:\d)"  # user:password@host:port of a proxy
    r"|\bLS0tLS1CRUdJTi[\w+/=-]*|\bMII[\w+/]{61,}=*"  # base64 of a PEM block, or what is inside of one
    r"|\bA[KS]IA[0-9A-Z]{16}\b|\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}"
    r"|(?<=[Bb]earer )\s*[\w.~+/=-]{8,}"
    rf"|{VENDORS}|{SIGNATURES}"
)

PASSWORD_FLAG = "-p"  # noqa: S105 - the name of an option, no password
"""Of docker login, sshpass and others. Elsewhere it is a port, a path or a switch, see ``is_password``."""
_ADDRESS = r"(?:(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\]|localhost):)?"
_PORT = r"\d{1,5}(?:-\d{1,5})?"
_PORTS = re.compile(rf"{_ADDRESS}{_PORT}(?::{_PORT})?(?:/(?:tcp|udp|sctp))?")
_OTHER_MEANING = re.compile(
    r"""(?:^|[^\w.-])(?:busctl|chrt|cp|install|journalctl|loginctl|mkdir|pgrep|ps|renice|sysctl|systemctl|tar|taskset)"""
    r"""["']?(?:[\s,][^;&|`]*)?$"""
)
"""Programs that take no password and start no other program, between themselves and the flag no other command."""
REACH = 200
"""Characters on each side of the flag that count; a hostile line holds many flags."""
_VALUE = re.compile(r"""[\\"']*((?:\[[0-9A-Fa-f:]+\])?[^\s"',\]]*)""")


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a secret: an option with its dashes, a variable, a key of a file."""
    bare = name.lstrip("-")
    parts = (bare, *bare.split(".")) if "." in bare else (bare,)
    return _IN_NAME.search(bare) is not None or any(map(_WHOLE_NAME.fullmatch, parts))


def is_public_value(value: str) -> bool:
    """Whether a value is no secret whatever its name: nothing, a switch, or the path of a file."""
    bare = value.strip().strip("\"'")
    return not bare or bare == MARK or _PUBLIC.fullmatch(bare) is not None


def is_password(before: str, after: str) -> bool:
    """Whether what comes after ``PASSWORD_FLAG`` may be a password: not a port, a path or the value of a known program.

    ``before`` and ``after`` are the rest of the command line. Nothing after it: it may be in the next line.
    """
    value = cast("re.Match[str]", _VALUE.match(after))[1]
    is_plain = value.startswith("-") or _PORTS.fullmatch(value) or (value and is_public_value(value))
    return not is_plain and _OTHER_MEANING.search(before[-REACH:]) is None


def without_tokens(text: str) -> str:
    """The text without what gives itself away: tokens of known shapes, passwords in URLs."""
    return _SHAPE.sub(MARK, text)
