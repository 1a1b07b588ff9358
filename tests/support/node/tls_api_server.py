# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server with TLS that requires a client certificate and serves one Node; kubeconfigs for it."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable

NODE = "node-1.example"
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
USER = f"system:node:{NODE}"


class Authority:
    """A certificate authority with a server's certificate for 127.0.0.1 and a kubelet's, made by openssl."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        _openssl(
            directory, "req", "-x509", *NEW_KEY, "-subj", "/CN=ca", "-days", "2", "-keyout", "ca.key", "-out", "ca.crt"
        )
        self._sign("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:kubernetes")
        self._sign("kubelet", f"/O=system:nodes/CN={USER}", "extendedKeyUsage=clientAuth")

    def _sign(self, name: str, subject: str, extension: str) -> None:
        (self.directory / "extension").write_text(extension + "\n")
        request = ["req", "-new", *NEW_KEY, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr"]
        _openssl(self.directory, *request)
        signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extension"]
        _openssl(self.directory, "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.crt")

    def text(self, name: str) -> str:
        return (self.directory / name).read_text()

    def data(self, name: str) -> str:
        """As a kubeconfig embeds it."""
        return base64.b64encode((self.directory / name).read_bytes()).decode()


def _openssl(directory: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=str(directory), check=True, capture_output=True)


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def node_document(status: str, heartbeat: str, name: str = NODE, **more: str) -> dict[str, Any]:
    """Return a Node with the fields that the engine reads."""
    ready = {"type": "Ready", "status": status, "lastHeartbeatTime": heartbeat, "lastTransitionTime": heartbeat, **more}
    other = {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": heartbeat}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "annotations": {"note": "ü"}},
        "status": {"conditions": [other, ready]},
    }


def refusal(message: str, code: int) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}


HANG_UP = "hang up"
Responder = Callable[[], Any]


class ApiServer:
    """Answers each connection with what ``respond`` returns: a status, and a document or bytes.

    None: it sends nothing. HANG_UP: it closes the connection immediately.
    """

    def __init__(self, authority: Authority, respond: Responder) -> None:
        self.respond = respond
        self.requests: list[str] = []
        self.users: list[Any] = []
        self.farewell = True
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(str(authority.directory / "server.crt"), str(authority.directory / "server.key"))
        self._context.load_verify_locations(str(authority.directory / "ca.crt"))
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._held: list[socket.socket] = []
        self._socket = socket.create_server(("127.0.0.1", 0)) if hasattr(socket, "create_server") else _listening()
        self.port = int(self._socket.getsockname()[1])
        self.url = f"https://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self._held:
            connection.close()

    def anonymous(self) -> None:
        """Do not require a client certificate."""
        self._context.verify_mode = ssl.CERT_NONE

    def _serve(self) -> None:
        while True:
            try:
                plain, _peer = self._socket.accept()
            except OSError:
                return
            response = self.respond()
            if response is None:
                self._held.append(plain)
                continue
            if response == HANG_UP:
                plain.close()
                continue
            try:
                with self._context.wrap_socket(plain, server_side=True) as connection:
                    self._reply(connection, *response)
                    if self.farewell:
                        connection.unwrap()
            except OSError:
                continue

    def _reply(self, connection: ssl.SSLSocket, status: int, body: Any) -> None:
        self.requests.append(connection.recv(65536).decode())
        self.users.append(connection.getpeercert())
        if isinstance(body, bytes):
            connection.sendall(body)
            return
        text = json.dumps(body, ensure_ascii=False).encode()
        connection.sendall(f"HTTP/1.0 {status} Said\r\nContent-Type: application/json\r\n\r\n".encode() + text)


def _listening() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    return listener


def kubeadm_1_20(server: str, authority: str, user: str) -> str:
    """As clientcmd writes it; ``user`` are the lines of the user."""
    return f"""\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {authority}
    server: {server}
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: {USER}
  name: {USER}@kubernetes
current-context: {USER}@kubernetes
kind: Config
preferences: {{}}
users:
- name: {USER}
  user:
{user}"""


def embedded(authority: Authority) -> str:
    """The lines of a user with its key in the kubeconfig."""
    certificate, key = authority.data("kubelet.crt"), authority.data("kubelet.key")
    return f"    client-certificate-data: {certificate}\n    client-key-data: {key}\n"
