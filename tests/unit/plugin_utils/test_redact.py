# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted secrets do not come out, and what is no secret stays readable."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.redact import (
    MARK,
    redact_argv,
    redact_snapshot,
    redact_text,
)

PLANTED = "hunter2-Zm9v"

HIDING_PLACES = {
    "yaml scalar": f"clientSecret: {PLANTED}\n",
    "yaml quoted key": f'"password": "{PLANTED}"\n',
    "yaml mapping below": f"staticPodURLHeader:\n  X-Access:\n  - {PLANTED}\nmaxPods: 10\n",
    "yaml list at key level": f"tokens:\n- {PLANTED}\n",
    "yaml block scalar": f"password: |-\n  {PLANTED}\n  {PLANTED}\n",
    "yaml flow mapping": f"headers: {{X: {PLANTED}}}\n",
    "yaml inner flow mapping": f"a: {{b: 1, token: {PLANTED}, c: 2}}\n",
    "commented out": f"# password: {PLANTED}\n",
    "toml scalar": f'password = "{PLANTED}"\n',
    "toml inline table": f'configs = {{ "reg" = {{ auth = {{ username = "u", password = "{PLANTED}" }} }} }}\n',
    "toml auth table": f'[registry.configs."reg.example".auth]\n  username = "{PLANTED}"\n',
    "toml quoted table": f'[registry."auth"]\n  x = "{PLANTED}"\n',
    "toml multi-line string": f'identitytoken = """\n{PLANTED}\n"""\n',
    "toml multi-line array": f'headers = [\n  "{PLANTED}",\n]\n',
    "url": f"endpoint: https://user:{PLANTED}@proxy.example/\n",
    "pem": f"-----BEGIN PRIVATE KEY-----\n{PLANTED}\n-----END PRIVATE KEY-----\n",
    "crlf": f"password: {PLANTED}\r\nnext: 1\r\n",
}


@pytest.mark.parametrize("text", HIDING_PLACES.values(), ids=HIDING_PLACES.keys())
def test_a_planted_secret_does_not_come_out(text: str) -> None:
    shown = redact_text(text)
    assert PLANTED not in shown
    assert MARK in shown
    assert shown.count("\n") == text.count("\n")


def test_a_kubelet_configuration_without_secrets_stays_as_it_is() -> None:
    text = (
        "authentication:\n  webhook:\n    enabled: false\nauthorization:\n  mode: AlwaysAllow\n"
        "cgroupDriver: systemd\nsystemReserved:\n  cpu: 500m\nrotateCertificates: true\n"
    )
    assert redact_text(text) == text


def test_lines_after_a_secret_block_are_shown() -> None:
    assert redact_text(HIDING_PLACES["yaml mapping below"]).endswith("maxPods: 10\n")
    assert redact_text('[a.auth]\nx = "1"\n[b]\ny = "2"\n').endswith('[b]\ny = "2"\n')


def test_line_ends_survive() -> None:
    assert redact_text(HIDING_PLACES["crlf"]) == f"password: {MARK}\r\nnext: 1\r\n"


def test_options_of_a_command_line() -> None:
    argv = ["kubelet", f"--api-token={PLANTED}", "--password", PLANTED, "--config", "/x", "--token"]
    assert redact_argv(argv) == ["kubelet", f"--api-token={MARK}", "--password", MARK, "--config", "/x", "--token"]


def test_a_snapshot_is_redacted_at_every_depth_and_keeps_its_shape() -> None:
    snapshot = {
        "kubelet": {
            "files": {"/x": {"text": f"password: {PLANTED}\n", "kind": "regular"}},
            "processes": [{"argv": ["kubelet", f"--token={PLANTED}"], "pid": 1}],
        }
    }
    shown = redact_snapshot(snapshot)
    assert PLANTED not in str(shown)
    assert shown["kubelet"]["files"]["/x"]["kind"] == "regular"
    assert shown["kubelet"]["processes"][0]["pid"] == 1
