# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files with kubelet's values on a node, and the fields that are read from its endpoint."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot import kubelet_files
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_endpoints import (
    CONFIGZ_LIMIT,
    configz,
    parse_response,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_evidence import kubelet
from ansible_collections.volcano.colocation.plugins.module_utils.systemd import unit_syntax
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.unit_syntax import (
    environment_files,
    parse_environment,
    section_settings,
    split_words,
)
from ansible_collections.volcano.colocation.tests.support.node.tcp_listener import listening

DIRECTORY = "/etc/kubernetes/kubelet.conf.d"
UNIT = "/usr/lib/systemd/system/kubelet.service"
OVER = "/etc/systemd/system/kubelet.service"


def grow(root: Path, **files: str) -> Host:
    for path, text in files.items():
        write(root, path, text)
    return Host(str(root))


def write(root: Path, path: str, text: str) -> None:
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def test_dropins_come_in_the_order_of_walkdir(tmp_path: Path) -> None:
    for name in ("b.conf", "a/z.conf", "a.conf", "a/README", "c.conf/inner.conf", ".conf", "d.yaml"):
        write(tmp_path, f"{DIRECTORY}/{name}", "")
    (tmp_path / DIRECTORY.lstrip("/") / "linked").symlink_to("a")
    (tmp_path / DIRECTORY.lstrip("/") / "linked.conf").symlink_to("a.conf")
    evidence = kubelet_files.dropins(Host(str(tmp_path)), DIRECTORY)
    names = [path[len(DIRECTORY) + 1 :] for path in evidence["paths"]]
    assert names == [".conf", "a/z.conf", "a.conf", "b.conf", "c.conf/inner.conf", "linked.conf"]
    assert (evidence["exists"], evidence["left_out"]) == (True, 0)


def test_too_many_dropins_are_counted(tmp_path: Path) -> None:
    for number in range(kubelet_files.MAX_DROPINS + 3):
        write(tmp_path, f"{DIRECTORY}/{number:03}.conf", "")
    evidence = kubelet_files.dropins(Host(str(tmp_path)), DIRECTORY)
    assert (len(evidence["paths"]), evidence["left_out"]) == (kubelet_files.MAX_DROPINS, 3)


@pytest.mark.parametrize("directory", [None, "", "relative"])
def test_no_directory_is_looked_at_without_the_flag(tmp_path: Path, directory: str | None) -> None:
    evidence = kubelet_files.dropins(Host(str(tmp_path)), directory)
    assert evidence == {"folder": directory, "exists": None, "paths": [], "left_out": 0}


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    assert kubelet_files.dropins(Host(str(tmp_path)), "/nowhere")["exists"] is False
    write(tmp_path, "/etc/file", "")
    assert kubelet_files.dropins(Host(str(tmp_path)), "/etc/file")["exists"] is False


def test_links_in_a_circle_are_one_dropin_that_cannot_be_read(tmp_path: Path) -> None:
    place = tmp_path / DIRECTORY.lstrip("/")
    place.mkdir(parents=True)
    (place / "loop.conf").symlink_to("loop.conf")
    os.mkfifo(place / "pipe.conf")
    evidence = kubelet_files.dropin_sources(Host(str(tmp_path)), DIRECTORY)
    assert evidence["files"][f"{DIRECTORY}/loop.conf"]["error"]
    assert evidence["files"][f"{DIRECTORY}/pipe.conf"]["kind"] == "special"


def test_the_unit_is_where_systemd_says(tmp_path: Path) -> None:
    unit_properties = {"FragmentPath": UNIT, "DropInPaths": f"{UNIT}.d/10-kubeadm.conf {OVER}.d/20-own.conf"}
    assert kubelet_files.unit_paths(Host(str(tmp_path)), unit_properties) == [
        UNIT,
        f"{UNIT}.d/10-kubeadm.conf",
        f"{OVER}.d/20-own.conf",
    ]


def test_without_systemd_the_unit_is_found_on_its_search_path(tmp_path: Path) -> None:
    host = grow(
        tmp_path,
        **{
            UNIT: "",
            f"{UNIT}.d/10-kubeadm.conf": "lower",
            f"{OVER}.d/10-kubeadm.conf": "higher",
            f"{OVER}.d/05-first.conf": "",
            f"{OVER}.d/README": "",
        },
    )
    assert kubelet_files.unit_paths(host, {}) == [UNIT, f"{OVER}.d/05-first.conf", f"{OVER}.d/10-kubeadm.conf"]
    assert kubelet_files.unit_paths(Host(str(tmp_path / "etc")), {}) == []


def test_environment_files_are_those_of_the_unit_and_the_well_known(tmp_path: Path) -> None:
    text = "[Service]\nEnvironmentFile=-/etc/own.env\nEnvironmentFile=/etc/*.env\nEnvironmentFile=\n"
    host = grow(tmp_path, **{"/etc/b.env": "", "/etc/a.env": "", "/etc/.c.env": "", "/etc/d.env.d/x": ""})
    patterns = kubelet_files.environment_patterns(host, [text])
    assert patterns == {"/etc/*.env": ["/etc/a.env", "/etc/b.env"]}
    evidence = kubelet_files.environment_paths([text], patterns)
    assert evidence == ["/etc/own.env", "/etc/a.env", "/etc/b.env", *kubelet_files.ENVIRONMENT_FILES]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("/etc/*/*.env", ["/etc/a/1.env", "/etc/b/1.env"]),
        ("/etc/[^a]/1.env", ["/etc/b/1.env"]),
        ("/etc/?/[0-9].env", ["/etc/a/1.env", "/etc/b/1.env"]),
        ("/etc/a/.*.env", ["/etc/a/.2.env"]),
        ("/etc/a/*", ["/etc/a/1.env"]),
        ("/etc/[z-a]/*", []),
        ("/gone/*", []),
    ],
)
def test_patterns_as_glob_reads_them(tmp_path: Path, pattern: str, names: list[str]) -> None:
    host = grow(tmp_path, **{"/etc/a/1.env": "", "/etc/b/1.env": "", "/etc/a/.2.env": ""})
    assert unit_syntax.expand_pattern(host, pattern, 8) == names
    assert all(unit_syntax.matches_pattern(name, pattern) for name in names)
    assert unit_syntax.expand_pattern(host, pattern, 0) == ([] if not names else None)


def test_a_pattern_with_too_many_files_is_said_to_be_cut(tmp_path: Path) -> None:
    files = {f"/etc/k/{number:02}.env": "" for number in range(20)}
    host = grow(tmp_path, **{UNIT: "[Service]\nEnvironmentFile=/etc/k/*.env\n", **files})
    evidence = kubelet_files.unit_sources(host, {})
    assert evidence["files"]["/etc/k/*.env"] == {
        "kind": "pattern",
        "error": "not taken along: more than 16 environment files",
    }
    assert evidence["environment_files"] == list(kubelet_files.ENVIRONMENT_FILES)


def test_the_files_of_a_pattern_are_in_the_evidence(tmp_path: Path) -> None:
    text = "[Service]\nEnvironmentFile=-/etc/k/*.env\n"
    evidence = kubelet_files.unit_sources(grow(tmp_path, **{UNIT: text, "/etc/k/a.env": "A=1\n"}), {})
    assert evidence["files"]["/etc/k/*.env"] == {"kind": "pattern"}
    assert evidence["files"]["/etc/k/a.env"]["text"] == "A=1\n"


def test_the_variable_of_the_running_process_is_found_or_unknown(tmp_path: Path) -> None:
    block = "PATH=/bin\0KUBELET_CONFIG_DROPIN_DIR_ALPHA=on\0"
    host = grow(tmp_path, **{"/proc/7/environ": block, "/proc/8/environ": "X=KUBELET"})
    assert [kubelet_files.dropin_variable(host, pid) for pid in (7, 8, 9, None)] == [True, False, None, None]


def test_all_of_it_is_in_the_evidence(tmp_path: Path) -> None:
    host = grow(
        tmp_path,
        **{
            "/etc/k.yaml": "cgroupDriver: systemd\n",
            f"{DIRECTORY}/a.conf": "x",
            UNIT: "[Service]\nEnvironmentFile=-/etc/own.env\n",
            "/etc/own.env": "KUBELET_EXTRA_ARGS=--v=2\n",
            "/data/memory_manager_state": "{}",
        },
    )
    argv = ["/usr/bin/kubelet", "--config", "/etc/k.yaml", f"--config-dir={DIRECTORY}", "--root-dir=/data/", "--port=x"]
    evidence = kubelet(host, [{"pid": 7, "argv": argv}])
    assert json.loads(json.dumps(evidence)) == evidence
    assert evidence["config_dir"]["paths"] == [f"{DIRECTORY}/a.conf"]
    assert (evidence["checkpoint_path"], evidence["memory_checkpoint_path"]) == (
        "/data/cpu_manager_state",
        "/data/memory_manager_state",
    )
    assert evidence["files"]["/etc/own.env"]["text"] == "KUBELET_EXTRA_ARGS=--v=2\n"
    assert evidence["files"]["/etc/default/kubelet"] == {"kind": "missing"}
    assert (evidence["configz"], evidence["dropin_variable"]) == (None, None)


def test_a_kubelet_that_does_not_run_is_looked_for_where_its_unit_says(tmp_path: Path) -> None:
    host = grow(
        tmp_path,
        **{
            UNIT: '[Service]\nEnvironment="A=--config=/etc/k.yaml --v=2"\nEnvironmentFile=/etc/own.env\n',
            "/etc/own.env": f"B='--root-dir /data --config-dir {DIRECTORY}'\n",
            "/etc/k.yaml": "x",
            f"{DIRECTORY}/a.conf": "y",
        },
    )
    evidence = kubelet(host, [])
    assert (evidence["config_path"], evidence["checkpoint_path"]) == ("/etc/k.yaml", "/data/cpu_manager_state")
    assert evidence["config_dir"]["paths"] == [f"{DIRECTORY}/a.conf"]


def test_settings_of_a_unit_are_read_over_continued_lines() -> None:
    text = (
        "[Unit]\nDescription=x\n[Service]\n# ExecStart=no\nExecStart=/usr/bin/kubelet \\\n; between\n  --v=2 \\\n"
        "  --config=/x\nRestart = always\nnonsense\n[Install]\nExecStart=other\n"
    )
    assert section_settings(text) == [("ExecStart", "/usr/bin/kubelet    --v=2    --config=/x"), ("Restart", "always")]
    assert section_settings("[Service]\nExecStart=a \\") == [("ExecStart", "a")]
    assert environment_files(text) == []


def test_variables_of_an_environment_file_are_read_as_systemd_reads_them() -> None:
    text = (
        '# c\nKUBELET_KUBEADM_ARGS="--a=b --c=\'d\'"\nEMPTY=\n export X=1\nKUBELET_EXTRA_ARGS=--v=2 "x"\n'
        "TWICE=1\nTWICE='2'\nJOINED=a \\\nb\nno assignment\n"
    )
    assert parse_environment(text) == {
        "KUBELET_KUBEADM_ARGS": "--a=b --c='d'",
        "EMPTY": "",
        "KUBELET_EXTRA_ARGS": '--v=2 "x"',
        "TWICE": "2",
        "JOINED": "a  b",
    }


def test_a_quoted_value_may_go_over_lines() -> None:
    text = 'KUBELET_ARGS="--a=b\n--c=d \\\n --e"\nNEXT=1\nOPEN=\'x\n'
    assert parse_environment(text) == {"KUBELET_ARGS": "--a=b --c=d   --e", "NEXT": "1", "OPEN": "x"}


def test_a_command_line_is_split_at_blanks_outside_of_quotes() -> None:
    assert split_words("--a='b c' --d \"e\"") == ["--a=b c", "--d", "e"]
    assert split_words("--a='b c") == ["--a='b", "c"]


OK = b"HTTP/1.0 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (b"", {"status": None, "error": "no HTTP answer"}),
        (b"HTTP/1.0 2000 x\r\n\r\n", {"status": None, "error": "no HTTP answer"}),
        (b"HTTP/1.0 401 Unauthorized\r\n\r\nUnauthorized", {"status": 401, "error": "refused"}),
        (OK + b"{", {"status": 200, "error": "not a configz document"}),
        (OK + b"[]", {"status": 200, "error": "not a configz document"}),
        (OK + b"[" * 100_000, {"status": 200, "error": "not a configz document"}),
        (OK + b'{"kubeletconfig": 5}', {"status": 200, "error": "not a configz document"}),
        (
            OK + b'{"kubeletconfig": {"cgroupDriver": "systemd", "staticPodURLHeader": {"Authorization": ["s"]}}}',
            {"status": 200, "config": {"cgroupDriver": "systemd"}},
        ),
    ],
)
def test_only_known_fields_of_configz_are_kept(response: bytes, expected: dict[str, Any]) -> None:
    assert parse_response(response) == expected


@contextmanager
def plain_server() -> Iterator[tuple[str, int]]:
    """A server on kubelet's port without TLS."""
    with listening() as server:

        def serve() -> None:
            connection, _peer = server.accept()
            with connection:
                connection.recv(1)
                connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def test_what_speaks_no_tls_is_recorded_as_unreachable() -> None:
    with plain_server() as address:
        evidence = configz(address)
    assert evidence["status"] is None
    assert evidence["error"]


def test_a_closed_port_is_recorded_as_unreachable() -> None:
    with listening() as server:
        address = server.getsockname()
    assert configz(address) == {"status": None, "error": "Connection refused"}


def test_what_is_taken_along_is_bounded(tmp_path: Path) -> None:
    paths = [f"/etc/{number}" for number in range(6)]
    for path in paths:
        write(tmp_path, path, "x" * (1 << 20))
    evidence = kubelet_files.capture_all(Host(str(tmp_path)), paths)
    assert ["text" in evidence[path] for path in paths] == [True, True, True, True, False, False]
    assert "not taken along" in evidence[paths[4]]["error"]


def test_a_text_that_is_no_command_line_has_no_words() -> None:
    assert split_words("a " * 40_000) == []


@contextmanager
def kubelet_server(directory: Path, result: bytes) -> Iterator[tuple[str, int]]:
    """A TLS server with a self-signed certificate, as kubelet has; it responds to one request."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node", "-days", "1"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listening() as server:

        def serve() -> None:
            plain, _peer = server.accept()
            with context.wrap_socket(plain, server_side=True) as connection:
                assert connection.recv(4096).startswith(b"GET /configz HTTP/1.0\r\n")
                connection.sendall(result)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def test_configz_over_tls_is_taken_without_secrets(tmp_path: Path) -> None:
    body = json.dumps({"kubeletconfig": {"cgroupDriver": "systemd", "staticPodURLHeader": {"X": ["secret"]}}})
    with kubelet_server(tmp_path, OK + body.encode()) as address:
        evidence = configz(address)
    assert evidence == {"status": 200, "config": {"cgroupDriver": "systemd"}}


def test_an_answer_without_an_end_is_cut_off(tmp_path: Path) -> None:
    with kubelet_server(tmp_path, OK + b"[" * (CONFIGZ_LIMIT + 70_000)) as address:
        evidence = configz(address)
    assert evidence == {"status": 200, "error": "not a configz document"}
