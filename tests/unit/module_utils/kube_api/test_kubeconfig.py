# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.kube_api.kubeconfig import Access, read_access
from ansible_collections.volcano.colocation.plugins.module_utils.kube_api.yaml_subset import UnsupportedSyntax
from ansible_collections.volcano.colocation.tests.support.node.tls_api_server import kubeadm_1_20

PATH = "/etc/kubernetes/kubelet.conf"
SECRET = "hunter2"
CURRENT = "/var/lib/kubelet/pki/kubelet-client-current.pem"
ROTATED = f"    client-certificate: {CURRENT}\n    client-key: {CURRENT}\n"
TOKEN = "    token: abc.def-{}\n"

# k3s: the template in pkg/daemons/control/deps/deps.go; RKE2 uses it too.
K3S = """\
apiVersion: v1
clusters:
- cluster:
    server: https://127.0.0.1:6444
    certificate-authority: /var/lib/rancher/k3s/agent/server-ca.crt
  name: local
contexts:
- context:
    cluster: local
    namespace: default
    user: user
  name: Default
current-context: Default
kind: Config
preferences: {}
users:
- name: user
  user:
    client-certificate: /var/lib/rancher/k3s/agent/client-kubelet.crt
    client-key: /var/lib/rancher/k3s/agent/client-kubelet.key
"""
# Written by hand or from a template: other indentation, quotes, comments, several entries.
BY_HAND = """\
---
# kubelet's
kind: Config
apiVersion: "v1"
current-context: 'two'   # of two
clusters:
    -   name: "other"
        cluster:
            server: "https://other.example"
    -   name: own
        cluster:
            server: "https://[fd00::1]/prefix/"
            certificate-authority: pki/ca.crt
            tls-server-name: kubernetes
users:
    - name: empty
      user:
    - name: 'it''s'
      user: {tokenFile: nothing}
    - name: own
      user:
        tokenFile: token
contexts:
    - name: one
      context: {}
    - name: two
      context:
        cluster: own
        user: own
"""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(str(tmp_path))
    write(host, CURRENT, "CERTIFICATE AND KEY")
    return host


def write(host: Host, path: str, text: str) -> None:
    target = Path(host.path(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def access(host: Host, text: str) -> Access:
    write(host, PATH, text)
    return read_access(host, PATH)


def test_a_kubeconfig_of_kubeadm(host: Host) -> None:
    authority = base64.b64encode(b"AUTHORITY").decode()
    settings = access(host, kubeadm_1_20("https://10.0.0.1:6443", authority, ROTATED))
    assert (settings.address, settings.port, settings.prefix, settings.server_name) == (
        "10.0.0.1",
        6443,
        "",
        "10.0.0.1",
    )
    assert (settings.authority, settings.verified, settings.token) == (b"AUTHORITY", True, None)
    assert settings.certificate == settings.key == b"CERTIFICATE AND KEY"


def test_a_kubeconfig_of_k3s(host: Host) -> None:
    directory = "/var/lib/rancher/k3s/agent"
    for name in ("server-ca.crt", "client-kubelet.crt", "client-kubelet.key"):
        write(host, f"{directory}/{name}", name)
    settings = access(host, K3S)
    assert (settings.address, settings.port) == ("127.0.0.1", 6444)
    assert (settings.authority, settings.certificate, settings.key) == (
        b"server-ca.crt",
        b"client-kubelet.crt",
        b"client-kubelet.key",
    )


def test_a_handwritten_kubeconfig(host: Host) -> None:
    write(host, "/etc/kubernetes/pki/ca.crt", "CA")
    write(host, "/etc/kubernetes/token", "abc\n")
    settings = access(host, BY_HAND.replace("user: {tokenFile: nothing}", "user: {}"))
    assert (settings.address, settings.port, settings.prefix) == ("fd00::1", 443, "/prefix")
    assert (settings.server_name, settings.authority, settings.token) == ("kubernetes", b"CA", "abc")
    assert settings.certificate is None


def test_json_and_embedded_data_takes_precedence(host: Host) -> None:
    embedded = base64.b64encode(b"EMBEDDED").decode()
    user = {"client-certificate": "/none", "client-certificate-data": embedded, "client-key-data": embedded}
    document = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://a:1", "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": {**user, "exec": None}}],
    }
    settings = access(host, json.dumps(document, indent=1))
    assert (settings.certificate, settings.key, settings.verified, settings.authority) == (
        b"EMBEDDED",
        b"EMBEDDED",
        False,
        None,
    )


def test_a_token_file_takes_precedence_over_a_token(host: Host) -> None:
    write(host, "/run/token", "from-file\n")
    user = TOKEN + "    tokenFile: /run/token\n"
    assert access(host, kubeadm_1_20("https://a", "", user)).token == "from-file"


def test_its_representation_has_no_secrets(host: Host) -> None:
    settings = access(host, kubeadm_1_20("https://secret-server", "", ROTATED + f"    token: {SECRET}\n"))
    assert repr(settings) == "Access(verified=True)"


GOOD = kubeadm_1_20("https://a", "", f"    token: {SECRET}\n")
EXEC = f"    exec:\n      command: {SECRET}\n"
PROVIDER = f"    auth-provider:\n      name: {SECRET}\n"
REFUSED = [
    (kubeadm_1_20("https://a", "", EXEC), f"{PATH}:18: its exec"),
    (kubeadm_1_20("https://a", "", PROVIDER), f"{PATH}:18: its auth-provider"),
    (kubeadm_1_20("https://a", "", f"    username: a\n    password: {SECRET}\n"), f"{PATH}:18: its username"),
    (GOOD.replace("    server:", f"    proxy-url: http://{SECRET}\n    server:"), f"{PATH}:5: its proxy-url"),
    (kubeadm_1_20("https://a", "", f"    {SECRET}: 1\n"), f"{PATH}:18: one of its keys"),
    (GOOD.replace("token: ", "token: &t "), f"{PATH}:18: an anchor"),
    (GOOD + "---\nkind: Config\n", f"{PATH}:19: it begins another document, or a directive"),
    (GOOD.replace("current-context", "#"), f"{PATH}: its contexts have no entry with the selected name"),
    (
        GOOD.replace("    user: system", f"    user: {SECRET}"),
        f"{PATH}: its users have no entry with the selected name",
    ),
    (GOOD.replace("    cluster: kub", "    cluster: x"), f"{PATH}: its clusters have no entry with the selected name"),
    (kubeadm_1_20(f"http://{SECRET}", "", ""), f"{PATH}: the server of its cluster is not an https:// URL"),
    (kubeadm_1_20(f"https://a:{SECRET}", "", ""), f"{PATH}: the server of its cluster is not a URL"),
    (kubeadm_1_20(f"https://u:{SECRET}@a", "", ""), f"{PATH}: the server of its cluster is not an https:// URL"),
    (kubeadm_1_20("", "", ""), f"{PATH}: the server of its cluster is not an https:// URL"),
    (kubeadm_1_20("https://a", f"{SECRET}!", ""), f"{PATH}: certificate-authority-data is not base64"),
    (
        kubeadm_1_20("https://a", "", "    client-key-data: aaaa\n"),
        "a client certificate or key is set without the other one",
    ),
    (
        kubeadm_1_20("https://a", "", f"    tokenFile: {SECRET}\n"),
        "the tokenFile of kubelet's kubeconfig: No such file",
    ),
    (
        kubeadm_1_20("https://a", "", f"    token: '{SECRET} x'\n"),
        f"{PATH}: the token has characters that are not printable",
    ),
    (kubeadm_1_20("https://a", "", f"    token:\n    - {SECRET}\n"), f"{PATH}: token is not a string"),
    (kubeadm_1_20("https://a\n    insecure-skip-tls-verify: yes", "", ""), "insecure-skip-tls-verify is neither"),
    ("- a\n", f"{PATH}: the document is not a mapping"),
    ("", f"{PATH}: the document is not a mapping"),
    (f'{{\n "a": {SECRET}\n}}', f"{PATH}:2: it is neither JSON nor block-style YAML"),
    ('{"a":' * 100_000, f"{PATH}: it is nested too deeply"),
    ('{"contexts": [], "current-context": ["x"]}', f"{PATH}: current-context is not a string"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=range(len(REFUSED)))
def test_unsupported_content_is_named_and_not_quoted(host: Host, text: str, message: str) -> None:
    with pytest.raises(UnsupportedSyntax) as caught:
        access(host, text)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_missing_kubeconfig(host: Host) -> None:
    with pytest.raises(UnsupportedSyntax, match=f"{PATH}: No such file or directory"):
        read_access(host, PATH)
