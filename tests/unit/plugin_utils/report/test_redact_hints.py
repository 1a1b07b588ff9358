# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Skipped lines contain nothing that examining them would have redacted."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import redact_text
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact_lines import LineRedactor
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.secrets import (
    MARK,
    Hints,
    is_secret_name,
    without_tokens,
)

RELAXED = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])

SECRET_NAMES = (
    *(
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "psk",
        "jwt",
        "sas",
        "secret",
        "token",
        "credential",
        "header",
    ),
    *(
        "cookie",
        "bearer",
        "dockerconfig",
        "dockercfg",
        "auth",
        "auths",
        "x-auth",
        "authorization",
        "proxy-authorization",
    ),
    *("access_key", "account-key", "apiKey", "client-key", "deployKey", "encryption_key", "host-key", "hmackey"),
    *("license-key", "pre-shared-key", "presharedkey", "private-key", "server_key", "shared-key", "signing-key"),
    *("ssh-key", "tls-key", "key-data", "cert.data", "certificate_bundle", "authority-data", "ca-bundle", "my.pass"),
    *("cred", "creds", "awsCreds", "tls.key", "ca.key"),
    *("dbPass", "PASSWORD", "TLS_KEY", "Api-Key", "\u017fecret", "to\u212aen", "cred\u0130ntial", "cred\u0131ntial"),
)
TOKENS = (
    *("https://user:hunter2@h/x", "https://hunter2@h", "eyJabcdefghij.abc.def", "abcdef.0123456789abcdef"),
    *("K100123456789abcdef0::x", "me:hunter2@proxy:3128", "LS0tLS1CRUdJTiBD", "MII" + "a" * 64, "AKIA" + "A" * 16),
    *("ASIA" + "B" * 16, "ghp_" + "a" * 20, "github_pat_" + "a" * 20, "Bearer abcdefgh", "bearer  abcdefgh"),
    *("glpat-" + "a" * 20, "glagent-" + "b" * 20, "xoxb-1234567890", "xapp-1-1234567890", "AIza" + "C" * 35),
    *("npm_" + "d" * 36, "hf_" + "e" * 34, "sk_live_" + "f" * 24, "rk_test_" + "g" * 24),
    *("?sig=abc%2B", "\\u0026sig=abc", "&Signature=abc", "X-Amz-Signature=0a", "?X-Goog-Signature=0b"),
    "-----BEGIN RSA PRIVATE KEY-----",
)
PIECES = st.one_of(
    st.sampled_from((*SECRET_NAMES, *TOKENS, "-----END RSA PRIVATE KEY-----")),
    st.sampled_from(("name", "key", "value", "kind", "data", "a.b", "--config", "x", "é", "key1", "0.5", "true")),
    st.sampled_from(("-p", "-p hunter2", "sshpass -p", "mkdir -p /var/x", "-p 8080", "--port")),
    st.sampled_from(
        (" ", "  ", ": ", ":", "=", " = ", ",", '"', "'", "- ", "#", "[", "]", "{", "}", "|", "\\", "--", "\n", "\r\n")
    ),
)


def looked_at(text: str) -> str:
    """Redaction that examines every line."""
    redactor = LineRedactor()
    lines = []
    for line in text.split("\n"):
        body = line.rstrip("\r")
        lines.append(without_tokens(redactor.line(body)) + line[len(body) :])
    return "\n".join(lines)


@RELAXED
@given(st.lists(PIECES, max_size=40).map("".join))
def test_what_is_passed_over_would_have_stayed(text: str) -> None:
    assert redact_text(text) == looked_at(text)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_secret_name_is_looked_at(name: str) -> None:
    for case in (name, name.upper(), name.capitalize()):
        if is_secret_name(case):
            assert Hints.of(f"a: 1\n  {case}: x\nb: 2").names == {5}


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_looked_at(token: str) -> None:
    assert without_tokens(token) != token or token.startswith("-----BEGIN")
    hints = Hints.of(f"a: 1\n  {token}\nb: 2")
    assert hints.names | hints.tokens == {5}
    assert MARK in redact_text(f"a: 1\n  {token}\nb: 2")


def test_of_a_long_text_only_the_lines_with_secrets_are_looked_at() -> None:
    lines = [f"  key{number:05}: value {number}.{number}" for number in range(20_000)]
    lines[7] = "  password: hunter2"
    hints = Hints.of("\n".join(lines))
    assert (len(hints.names), len(hints.tokens)) == (1, 0)
    assert "hunter2" not in redact_text("\n".join(lines))
