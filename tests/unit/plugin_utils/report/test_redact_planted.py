# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random secrets in all parts of a snapshot are redacted, and surrounding values stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import MARK, redact_snapshot, redact_text

S = "@SECRET@"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{S}\n{S}\n-----END RSA PRIVATE KEY-----\n"

YAML = {
    "scalar": f"a: 1\nclientSecret: {S}\nb: 2\n",
    "comment after": f"a: 1\npassword: {S} # {S}\nb: 2\n",
    "comment after nothing": f"headers: # {S}\n  X: {S}\nb: 2\n",
    "quoted": f"a: 1\npassword: \"{S}\"\ntoken: '{S}'\nb: 2\n",
    "doubled quotes": f"a: 1\npassword: 'it''s {S}'\nb: 2\n",
    "tagged": f"a: 1\npassword: !!str {S}\ntoken: &x {S}\nb: 2\n",
    "quoted key": f'a: 1\n"password": "{S}"\nb: 2\n',
    "quoted, over lines": f'a: 1\npassword: "{S}\n  {S}"\nb: 2\n',
    "plain, over lines": f"a: 1\npassword: {S}\n  {S}\nb: 2\n",
    "below": f"a: 1\ntoken:\n  {S}\nb: 2\n",
    "mapping below": f"a: 1\nstaticPodURLHeader:\n  X-Access:\n  - {S}\n  - '{S}'\n  X-Y: {S}\nb: 2\n",
    "comment below": f"a: 1\nheaders:\n# a note\n  X: {S}\n  # {S}\n  Y: {S}\nb: 2\n",
    "list at key level": f"a: 1\ntokens:\n- {S}\n- |\n  {S}\n- x: {S}\n  y: {S}\nb: 2\n",
    "list of mappings": f"a: 1\nusers:\n- name: u\n  user:\n    token: {S}\n    client-key-data: {S}\nb: 2\n",
    "named values": f"a: 1\nenv:\n- name: API_TOKEN\n  value: {S}\n- {{key: DB_PASSWORD, value: '{S}'}}\nb: 2\n",
    "complex key": f"a: 1\nx:\n  ? password\n  : {S}\nb: 2\n",
    "camel case": f"a: 1\ndbPass: {S}\nb: 2\n",
    "key of words": f'a: 1\n"my password": {S}\n"your password": "{S}"\nb: 2\n',
    "mapping in list": f"a: 1\nusers:\n- token: {S}\n  name: u\nb: 2\n",
    "block scalar": f"a: 1\npassword: |-\n  {S}\n\n  {S}: x\nb: 2\n",
    "block scalar below": f"a: 1\nheaders:\n  X: >\n    {S}: {S}\n  Y: z\nb: 2\n",
    "flow": f"a: 1\nheaders: {{X: {S}, Y: ['{S}', \"{S}\"]}}\nb: 2\n",
    "flow over lines": f"a: 1\nheaders: {{\n  X: {S},\n  Y: [{S},\n    {S}]\n  }}\nb: 2\n",
    "inner flow": f"x: {{b: 1, token: {S}, c: 2}}\nb: 2\n",
    "commented out": f"# password: {S}\na: 1\n#token: {S}\n#   {S}\nb: 2\n",
    "option in a list": f"a: 1\nargs:\n- --token={S}\n- --cgroup-driver=systemd\n- --token\n- {S}\n- --v=2\nb: 2\n",
    "pem": "a: 1\nca: |\n" + "".join(f"  {line}\n" for line in PEM.splitlines()) + "b: 2\n",
    "pem in a string": f'a: 1\nca: "-----BEGIN CERTIFICATE-----\\n{S}\\n-----END CERTIFICATE-----\\n"\nb: 2\n',
    "url": f"a: https://user:{S}@proxy.example/\nb: 2\n",
}
TOML = {
    "scalar": f'a = 1\npassword = "{S}"\nb = 2\n',
    "literal": f"a = 1\ntoken = '{S}' # {S}\nb = 2\n",
    "inline table": f'a = 1\nx = {{ "r" = {{ auth = {{ username = "u", password = "{S}" }} }} }}\nb = 2\n',
    "auth table": f'a = 1\n[registry.configs."r".auth]\n  username = "{S}"\n  # {S}\n  x = ["{S}"]\n[t]\nb = 2\n',
    "below an auth table": f'a = 1\n[registry.auths."reg".more]\n  x = "{S}"\n[t]\nb = 2\n',
    "multi-line string": f'a = 1\nidentitytoken = """\n{S}\n{S} = 1\n"""\nb = 2\n',
    "multi-line literal": f"a = 1\nidentitytoken = '''{S}\n{S}'''\nb = 2\n",
    "multi-line array": f'a = 1\nheaders = [\n  "{S}", # {S}\n  "{S}",\n]\nb = 2\n',
    "header table": f'a = 1\n[host."https://r".header]\n  x-auth = ["{S}"]\n[t]\nb = 2\n',
    "dotted parent": f'a = 1\nreg."r.io".auth.username = "{S}"\nauth.user = "{S}"\nb = 2\n',
    "narrow": f'a=1\nheaders=[\n"{S}",\n"{S}"]\nauth={{u="{S}"}}\nb=2\n',
    "dotted": f'a = 1\nreg.auth.password = "{S}"\nb = 2\n',
    "url": f'a = "https://oauth2:{S}@r.example/v2"\nb = 2\n',
    "crlf": f'a = 1\r\npassword = "{S}"\r\nb = 2\r\n',
}
JSON = {
    "daemon": json.dumps({"a": 1, "auths": {"r": {"auth": S}}, "identitytoken": S, "b": 2}, indent=2),
    "one line": json.dumps({"a": 1, "env": ["X_TOKEN=" + S, "B=1"], "password": S, "b": 2}),
    "named values": json.dumps({"a": 1, "envs": [{"key": "API_TOKEN", "value": S}], "b": 2}),
    "in the next line": f'{{"a": 1,\n"password":\n"{S}",\n"token":\n["{S}",\n"{S}"], "pwd"\n: "{S}", "b": 2}}\n',
    "narrow": json.dumps({"a": 1, "secret": [S, {"x": S}], "b": 2}, separators=(",", ":")),
    "command": json.dumps({"a": 1, "args": ["--token", S, "--password=" + S, "--v=2"], "b": 2}),
    "command over lines": json.dumps({"a": 1, "args": ["--token", S, "--v=2"], "b": 2}, indent=1),
    "pem": json.dumps({"a": 1, "ca": PEM, "b": 2}),
    "inside a string": json.dumps({"a": 1, "x": json.dumps({"auths": {"r": {"auth": S}}, "token": S}), "b": 2}),
    "twice inside": json.dumps({"a": 1, "x": json.dumps({"y": json.dumps({"password": S})}), "b": 2}),
    "escaped": json.dumps({"a": 1, "password": f'x"{S}\\"{S}', "b": 2}),
    "proxy": json.dumps({"a": 1, "proxies": {"http-proxy": f"http://u:{S}@p:3128"}, "b": 2}, indent=1),
}
TEXTS = {
    "variable": f"A=1\nAPI_TOKEN={S}\nB=2\n",
    "variable with words": f"A=1\nDB_PASSWORD={S} {S}\nB=2\n",
    "exported": f"export A=1\nexport API_TOKEN='{S}'\nB=2\n",
    "joined strings": f"A=1\nAPI_TOKEN=\"{S}\"'{S}'{S}\nB=2\n",
    "continued": f"A=1\nAPI_TOKEN={S}\\\n{S}\nB=2\n",
    "begun below": f"A=1\nAPI_TOKEN=\\\n{S}\nB=2\n",
    "string over lines": f'A=1\nAPI_TOKEN="{S}\n{S}"\nB=2\n',
    "arguments": f'A=1\nKUBELET_ARGS="--token={S} --password {S} --v=2"\nB=2\n',
    "bare arguments": f"A=1\nKUBELET_ARGS=--token={S} --password {S} --v=2\nB=2\n",
    "unit": f'[Service]\nEnvironment="A=b API_TOKEN={S}" "C=d" "DB_PASSWORD={S} {S}"\nExecStart=/x\n',
    "bare unit": f"[Service]\nEnvironment=A=b API_TOKEN={S} C=d\nExecStart=/x\n",
    "command": f"[Service]\nExecStart=/usr/bin/kubelet --token {S} --password={S} --token '{S}' --v=2\nRestart=no\n",
    "command over lines": f"[Service]\nExecStart=/x --token \\\n  {S} \\\n  --password={S} \\\n  --v=2\nRestart=no\n",
    "header option": f'[Service]\nExecStart=/usr/bin/curl -H "Authorization: Bearer {S}" https://x\nRestart=no\n',
    "quoted unit": f"[Service]\nEnvironment='API_TOKEN={S}' C=d\nExecStart=/x\n",
    "shell": f'[Service]\nExecStart=/bin/sh -c "API_TOKEN={S} exec kubelet"\nRestart=no\n',
    "data source": f"A=1\nDATASTORE=user=k password={S} host=x\nB=2\n",
    "proxy header": f"A=1\nProxy-Authorization: Basic {S}\nB=2\n",
    "credential": f"[Service]\nSetCredential=db:{S}\nRestart=no\n",
    "kubeconfig": f"users:\n- name: b\n  user:\n    token: {S}\n    client-certificate-data: {S}\n",
    "pem": f"before\n{PEM}after\n",
}
EVERY = {
    f"{kind}: {name}": (kind, text)
    for kind, texts in (("yaml", YAML), ("toml", TOML), ("json", JSON), ("text", TEXTS))
    for name, text in texts.items()
}

SECRETS = st.text("abcdefghijkLMNOPQRSTuvwxyz0123456789_-+/=.", min_size=8, max_size=60).filter(
    # What a YAML or a command line reads as something else, or we as the path of a file.
    lambda text: text[0].isalnum() and text[-1].isalnum() and MARK not in text and not text.isdigit()
)


def parsed(kind: str, text: str) -> Any:
    readers: dict[str, Callable[[str], Any]] = {"yaml": read_yaml, "toml": read_toml, "json": json.loads}
    return readers[kind](text) if kind in readers else None


def public_values(document: Any) -> Any:
    """The values of a document that have nothing to do with its secrets."""
    return (
        {key: document[key] for key in ("a", "b", "t") if isinstance(document.get(key), (int, dict))}
        if document
        else document
    )


def shape(result: Any) -> Any:
    """The types of a document's leaves, without keys of secrets."""
    if isinstance(result, dict):
        return {key: shape(item) for key, item in result.items() if S not in key}
    return [shape(item) for item in result] if isinstance(result, list) else type(result).__name__


@pytest.mark.parametrize(("kind", "template"), EVERY.values(), ids=EVERY)
@settings(max_examples=25, deadline=None)
@given(secret=SECRETS)
@example("hunter2-Zm9v")
@example("YWJjZGVmZ2g==a")
@example("true-hunter2")
@example("abc.def=ghi=jkl")
def test_a_planted_secret_never_survives(kind: str, template: str, secret: str) -> None:
    text = template.replace(S, secret)
    redacted = redact_text(text)
    assert secret not in redacted
    assert MARK in redacted
    assert len(redacted.splitlines()) == len(text.splitlines())
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize(("kind", "template"), EVERY.values(), ids=EVERY)
def test_what_is_left_parses_and_says_the_same(kind: str, template: str) -> None:
    text = template.replace(S, "hunter2Zm9v")
    before, after = parsed(kind, text), parsed(kind, redact_text(text))
    assert public_values(after) == public_values(before)
    assert shape(after) == shape(before)


@pytest.mark.parametrize("name", ["arguments", "bare arguments", "command", "command over lines", "unit", "bare unit"])
def test_what_stands_beside_a_secret_is_still_read(name: str) -> None:
    redacted = redact_text(TEXTS[name].replace(S, "hunter2-Zm9v"))
    assert "--v=2" in redacted if "unit" not in name else "C=d" in redacted


UNKNOWN: dict[str, Any] = {
    "file": {"/etc/token.conf": {"kind": "regular", "text": f"x_token: {S}", "sha256": "ab", "mode": "0600"}},
    "environment": {"API_TOKEN": S, "HTTP_PROXY": f"http://u:{S}@p", "ARGS": f"--token={S} --v=2", "A": "1"},
    "environ list": {"environ": [f"API_TOKEN={S}", "A=1"]},
    "argv": {"argv": ["kubelet", "--token", S, f"--password={S}", "--v=2"]},
    "tuple": {"argv": ("kubelet", f"--bootstrap-token={S}")},
    "unknown list": {"words": ["/usr/bin/x", "--token", S]},
    "kernel": {"system": {"kernel_command_line": f"quiet my.password={S} root=/dev/vda1 token={S}"}},
    "kernel, quoted": {"system": {"kernel_command_line": f'quiet iscsi_password="{S} {S}" root=/dev/vda1'}},
    "answer": {"configz": {"staticPodURLHeader": {"X": [S]}, "authorization": {"mode": "Webhook"}}},
    "registry": {"config": {"registry": {"configs": {"r": {"auth": {"username": S, "password": S}}}}}},
    "unit": {"units": {"kubelet.service": {"Environment": f"A=1 API_TOKEN={S}", "ExecStart": f"x --token={S} ;"}}},
    "key": {f"http://user:{S}@host": 1},
    "named value": {"envs": [{"key": "API_TOKEN", "value": S}, {"name": "TOKEN", "value": [S]}]},
    "number": {"pin_token": 12345678},
    "error": {"error": f"cannot pull: password={S}"},
}


@pytest.mark.parametrize("name", UNKNOWN)
@settings(max_examples=25, deadline=None)
@given(secret=SECRETS)
@example("hunter2-Zm9v")
def test_a_snapshot_with_keys_that_nobody_knew_is_safe(name: str, secret: str) -> None:
    snapshot = json.loads(json.dumps(UNKNOWN[name]).replace(S, secret))
    redacted = redact_snapshot(snapshot)
    assert secret not in json.dumps(redacted)
    assert MARK in json.dumps(redacted)
    assert "12345678" not in json.dumps(redacted)


def test_what_is_no_secret_stays_in_a_snapshot() -> None:
    redacted = redact_snapshot({"a": UNKNOWN["environment"], "b": UNKNOWN["answer"], "c": UNKNOWN["file"]})
    assert redacted["a"]["A"] == "1"
    assert redacted["a"]["ARGS"].endswith("--v=2")
    assert redacted["b"]["configz"]["authorization"] == {"mode": "Webhook"}
    assert redacted["c"]["/etc/token.conf"] == {
        "kind": "regular",
        "text": f"x_token: {MARK}",
        "sha256": MARK,
        "mode": "0600",
    }


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:=-#\"'{}[],| \\\n\r\ttoken", max_size=80))
@example('token: "\ntoken: ]')
@example("token: {]]}\n")
def test_any_text_is_redacted_without_an_error_and_line_for_line(text: str) -> None:
    assert redact_text(text).count("\n") == text.count("\n")
    assert isinstance(redact_snapshot({"text": text, "x": [text]}), dict)


@pytest.mark.parametrize(
    "piece", ["a", "token=b;", "://", "://a:", "token: {", "-- ", '"', "[", "- ", "x=", "'token", " #", "\\"]
)
def test_a_hostile_line_takes_no_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    assert len(redact_text(text)) > 0


KNOWN = {
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "bootstrap token": "abcdef.0123456789abcdef",
    "k3s": "K10" + "ab" * 16 + "::server:secret",
    "pem in base64": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
    "der in base64": "MIIC" + "x9Az" * 20 + "==",
    "cloud key": "AKIA" + "ABCDEFGH01234567",
    "forge": "ghp_" + "a1B2" * 9,
}


@pytest.mark.parametrize("token", KNOWN.values(), ids=KNOWN)
def test_what_gives_itself_away_is_hidden_under_any_name(token: str) -> None:
    redacted = redact_snapshot(
        {"text": f"a: {token}\nb = '{token}'\n", "argv": ["x", token, f"--x={token}"], "y": token}
    )
    assert token not in json.dumps(redacted)


def test_credentials_of_a_proxy_without_a_scheme_are_hidden() -> None:
    assert redact_text("HTTP_PROXY=user:hunter2@proxy.example:3128\n") == f"HTTP_PROXY={MARK}@proxy.example:3128\n"


HARMLESS = """\
[Unit]
After=network-online.target containerd.service
Wants=foo@bar:1.service
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/x"
ExecStart=/usr/bin/kubelet $KUBELET_ARGS --authentication-token-webhook=true --tls-private-key-file=/etc/k.pem
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/c.sock --pod-infra-container-image=r.io/p:3"
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
  webhook: {cacheTTL: 0s, enabled: true}
authorization:
  mode: Webhook
featureGates: {LegacyServiceAccountTokenNoAutoGeneration: false, MemoryQoS: true}
tlsPrivateKeyFile: /var/lib/kubelet/pki/kubelet.key
registerWithTaints:
- {key: dedicated, value: x, effect: NoSchedule}
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
[plugins."io.containerd.grpc.v1.cri".registry.configs."r".tls]
  key_file = "/etc/certs/x.key"
31 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate
0::/system.slice/kubepods-pod1.slice:cri-containerd:%s
{"policyName":"none","defaultCpuSet":"","checksum":1353318690}
""" % ("ab" * 32)


@pytest.mark.parametrize("line", HARMLESS.splitlines())
def test_a_line_without_a_secret_stays_as_it_is(line: str) -> None:
    assert redact_text(line) == line


def test_a_text_without_a_secret_stays_as_it_is() -> None:
    assert redact_text(HARMLESS) == HARMLESS


CONFIG_FILES = Path(__file__).parents[2] / "fixtures" / "config_files"
REAL = [path for path in CONFIG_FILES.iterdir() if path.name != "README.md"]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_file_says_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    read = read_toml if path.suffix == ".toml" else read_yaml
    # One of them holds a registry's user and password.
    assert read(redact_text(text)) == read(text.replace("planted-secret", MARK).replace("someone", MARK))
