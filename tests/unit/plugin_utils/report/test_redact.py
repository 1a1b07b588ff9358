# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted secrets are redacted, and other values stay readable."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import (
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
    redacted = redact_text(text)
    assert PLANTED not in redacted
    assert MARK in redacted
    assert redacted.count("\n") == text.count("\n")


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


def test_secrets_in_options_of_a_command_line_are_hidden() -> None:
    argv = ["kubelet", f"--api-token={PLANTED}", "--password", PLANTED, "--config", "/x", "--token"]
    assert redact_argv(argv) == ["kubelet", f"--api-token={MARK}", "--password", MARK, "--config", "/x", "--token"]


def test_a_snapshot_is_redacted_at_every_depth_and_keeps_its_shape() -> None:
    snapshot = {
        "kubelet": {
            "files": {"/x": {"text": f"password: {PLANTED}\n", "kind": "regular"}},
            "processes": [{"argv": ["kubelet", f"--token={PLANTED}"], "pid": 1}],
        }
    }
    redacted = redact_snapshot(snapshot)
    assert PLANTED not in str(redacted)
    assert redacted["kubelet"]["files"]["/x"]["kind"] == "regular"
    assert redacted["kubelet"]["processes"][0]["pid"] == 1


RANDOM = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
TOKENS = {
    **{f"GitLab {kind}": f"{kind}-{RANDOM[:20]}" for kind in ("glpat", "gldt", "glrt", "glcbt", "glptt", "glft")},
    "GitLab, routable": f"glpat-{RANDOM[:27]}.01.{RANDOM[:9].lower()}",
    **{f"Slack xox{kind}": f"xox{kind}-123456789012-{RANDOM[:24]}" for kind in "bpars"},
    "Slack, rotated": f"xoxe.xoxp-1-{RANDOM}",
    "Slack app": f"xapp-1-A01-123456-{RANDOM}",
    "Google": f"AIzaSy{RANDOM[:31]}-_",
    "npm": f"npm_{RANDOM}Ab",
    "Hugging Face": f"hf_{RANDOM}",
    "Stripe": f"sk_live_{RANDOM[:24]}",
    "Stripe, restricted": f"rk_live_{RANDOM[:24]}",
    "Stripe, test": f"sk_test_{RANDOM[:24]}",
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS.keys())
def test_a_token_is_hidden_by_its_shape_wherever_it_stands(token: str) -> None:
    for text in (token, f"note: x {token}, y", f'a = "{token}"', f"https://x.example/{token}/y", f"# {token}"):
        assert token not in redact_text(text)
        assert MARK in redact_text(text)
    assert redact_argv(["tool", token, f"--x={token}"]) == ["tool", MARK, f"--x={MARK}"]
    assert token not in str(redact_snapshot({"a": token, token: [f"b {token}"]}))


URLS = {
    "first": "https://a.blob.example/x?sig={}&sv=2022",
    "later": "https://a.blob.example/x?sv=2022&sig={}",
    "capitals": "https://a.blob.example/x?sv=2022&Sig={}#part",
    "JSON of Go": "https://a.blob.example/x?sv=2022\\u0026sig={}\\u0026se=1",
    "XML": "https://a.blob.example/x?sv=2022&amp;sig={}&amp;se=1",
    "S3": "https://b.s3.example/x?X-Amz-Date=1&X-Amz-Signature={}",
    "Cloud Storage": "https://b.gcs.example/x?X-Goog-Signature={}&y=1",
    "CloudFront": "https://c.example/x?Expires=1&Signature={}&y=1",
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS.keys())
def test_a_signature_in_a_url_is_hidden_and_nothing_else_of_it(url: str) -> None:
    signature = "Zm9vYmFy%2Fabc%3D"
    assert redact_text(f"endpoint: {url.format(signature)}\n") == f"endpoint: {url.format(MARK)}\n"
    assert redact_argv(["tool", url.format(signature)]) == ["tool", url.format(MARK)]


@pytest.mark.parametrize("key", ["cred", "creds", "dbCreds", "registry_cred", "tls.key", "ca.key", "data.tls.key"])
def test_further_keys_are_secret(key: str) -> None:
    assert redact_text(f"{key}: {PLANTED}\nnext: 1\n") == f"{key}: {MARK}\nnext: 1\n"
    assert redact_text(f'{{"{key}": "{PLANTED}", "b": 1}}') == f'{{"{key}": "{MARK}", "b": 1}}'
    assert redact_snapshot({key: PLANTED}) == {key: MARK}
    assert redact_argv([f"--{key}={PLANTED}"]) == [f"--{key}={MARK}"]


PASSWORD_FLAGS = {
    "command": ("docker login -u me -p {} registry.example", "registry.example"),
    "equals": ("tool -p={} next", "next"),
    "quoted": ("tool -p '{}' next", "next"),
    "unit": ("ExecStart=/usr/bin/sshpass -p {} ssh -p 2222 host", "ssh -p 2222 host"),
    "JSON": ('["login", "-p", "{}", "next"]', "next"),
    "after another program": ("mkdir -p /srv/x && tool -p {} next", "mkdir -p /srv/x && tool"),
    "list": ("args:\n- -p\n- {}\n- next\n", "- next"),
    "continued": ("tool \\\n  -p \\\n  {} \\\n  next\n", "next"),
}


@pytest.mark.parametrize("name", PASSWORD_FLAGS)
def test_the_value_of_a_password_flag_is_hidden(name: str) -> None:
    text, remainder = PASSWORD_FLAGS[name]
    redacted = redact_text(text.format(PLANTED))
    assert PLANTED not in redacted
    assert MARK in redacted
    assert remainder in redacted


ORDINARY_FLAGS = (
    "docker run -p 8080 image",
    "docker run -p 8080:80 -p 127.0.0.1:53:53/udp -p [::1]:9000-9010:9000-9010/tcp image",
    "ssh -p 22 host",
    "mkdir -m 0755 -p var/x",
    "ExecStartPre=/bin/mkdir -p %S/x",
    "journalctl -p err -b",
    "/usr/bin/systemctl show -p ActiveState kubelet.service",
    "ps -p 1234567 -o comm=",
    "sysctl -p sysctl.conf",
    "tool -p -v",
    "tool -p",
    "tool -p /etc/tool/conf",
    "tool -px y -pp z --p q p r",
)


@pytest.mark.parametrize("line", ORDINARY_FLAGS)
def test_other_meanings_of_the_flag_stay(line: str) -> None:
    assert redact_text(f"{line}\n") == f"{line}\n"
    assert redact_argv(line.split()) == line.split()


def test_a_port_below_the_flag_stays() -> None:
    for text in (
        "args:\n- -p\n- 8080\n- next\n",
        "- -p\n- -v\n- --p\n- x\n",
        "tool \\\n  -p \\\n  8080:80 \\\n  next\n",
    ):
        assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "tool -p 8080 --token \\\n  4711\n",
        "args:\n- -p\n- 8080\n- --token\n- 4711\n",
        "tool -p abc\\\n4711\n",
        "- -p\n- --token\n- 4711\n",
        "- --password\n- --token\n- 4711\n",
    ],
)
def test_a_number_after_another_secret_option_is_no_port(text: str) -> None:
    assert "4711" not in redact_text(text)


def test_the_password_behind_the_flag_p_is_hidden() -> None:
    assert redact_argv(["login", "-p", PLANTED, "-u", "me"]) == ["login", "-p", MARK, "-u", "me"]
    assert redact_argv(["login", f"-p={PLANTED}", "x"]) == ["login", f"-p={MARK}", "x"]
    assert redact_argv(["sh", "-c", f"login -p {PLANTED}"]) == ["sh", "-c", f"login -p {MARK}"]
    assert redact_snapshot({"argv": ["login", "-p", PLANTED]}) == {"argv": ["login", "-p", MARK]}


@pytest.mark.parametrize(
    "text",
    [
        "npm_config_registry: https://registry.example",
        "npm_lifecycle_event=build",
        "hf_cache: /var/cache/hf_home",
        "glpat-short",
        "xoxo-hugs",
        "AIza",
        "sk_live_x",
        "desk_live_performance: yes",
        "credsStore: desktop",
        "credit: 5",
        "incredible: true",
        "sacred: 1",
        "tls.keylog: off",
        "monkey.key: 5",
        "keys: [a]",
        "https://x.example/?signal=on&design=flat&sigma=3",
        "sig: SIGTERM",
        "signature: none",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_text(text) == text
    assert redact_snapshot({"a": text}) == {"a": text}
