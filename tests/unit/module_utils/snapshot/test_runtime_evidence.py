# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about runtimes: imports without a TOML parser, the excerpt of a dump, and the owner of a socket."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot import runtime_files
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.installer_evidence import (
    installer,
    relevant_settings,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_evidence import (
    cri_evidence,
    kubelets_endpoint,
    running_handlers,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_files import (
    MAX_BYTES,
    MAX_FILES,
    containerd_files,
    containerd_program,
    crio,
    docker,
    dump_excerpt,
    import_patterns,
    sort_by_endpoint,
)
from ansible_collections.volcano.colocation.tests.support.node import cri_server
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Runtime, serving
from ansible_collections.volcano.colocation.tests.unit.module_utils.snapshot.test_collect import grow

MAIN = "etc/containerd/config.toml"
DUMP = """disabled_plugins = []
imports = ["/etc/containerd/conf.d/*.toml"]
version = 3

[debug]
  address = "/run/debug.sock"
  disable = true

[plugins]

  [plugins.'io.containerd.cri.v1.images'.registry.configs.'r.example'.auth]
    username = "u"
    password = "hunter2"

  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "nvidia"
    ignore_rdt_not_enabled_errors = false

  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    pod_annotations = ["a"]

  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
    BinaryName = "/usr/bin/nvidia-container-runtime"
    SystemdCgroup = true

  [plugins.'io.containerd.nri.v1.nri']
    disable = false
    socket_path = "/var/run/nri/nri.sock"

[[plugins.strange]]
  SystemdCgroup = false
"""
EXCERPT = """disabled_plugins = []
version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = "nvidia"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
SystemdCgroup = true
[plugins.'io.containerd.nri.v1.nri']
disable = false
socket_path = "/var/run/nri/nri.sock"
"""


def files(root: Path, *argv: str) -> dict[str, Any]:
    evidence = containerd_files(Host(str(root)), ["/usr/bin/containerd", *argv], None)
    assert json.loads(json.dumps(evidence)) == evidence
    return evidence


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ('imports = ["/a", "b/*.toml"]', ["/a", "b/*.toml"]),
        ("imports=['/a']", ["/a"]),
        ('imports = [\n  "/a", # "no"\n  # "/not"\n  "/b",\n]\n', ["/a", "/b"]),
        ('"imports" = ["/a"]', ["/a"]),
        ('# imports = ["/a"]', []),
        ("imports = []", []),
        ('imports = "/a"', []),
        ('imports = ["/[ab]*"]\nother = ["/c"]', ["/[ab]*"]),
        ('[plugins]\n  imports = ["/too-much"]', ["/too-much"]),
        ('imports = ["/unclosed', []),
        ('imports = ["/a" garbage "/b"]', ["/a"]),
        ('\ufeffimports = ["/a"]', ["/a"]),
        (r'imports = ["/a\\*\"", "/\u0061", "/\U00000061", ' + r"'/a\*']", [r'/a\*"', "/a", r"/\U00000061", r"/a\*"]),
    ],
)
def test_strings_of_imports(text: str, patterns: list[str]) -> None:
    assert import_patterns(text) == patterns


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("[^2]*", {"10.toml", "3.toml", "^.toml"}),
        ("[!2]*", {"2.toml"}),
        (r"\\^*", {"^.toml"}),
        ("[12]?.t*", {"10.toml"}),
    ],
)
def test_whatever_go_would_import_is_gathered(tmp_path: Path, pattern: str, names: set[str]) -> None:
    drop_ins = {f"etc/containerd/x/{name}": "" for name in ("10.toml", "2.toml", "3.toml", "^.toml")}
    grow(tmp_path, {MAIN: f'imports = ["x/{pattern}", "x/*.none"]\n', **drop_ins})
    names_found = {path.rpartition("/")[2] for path in files(tmp_path)["files"]}
    assert names <= names_found


def test_imports_are_followed_from_the_importing_file(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            MAIN: 'imports = ["a.toml", "sub/*.toml", "/gone.toml"]\n',
            "etc/containerd/a.toml": 'imports = ["config.toml", "/srv/*/x.toml"]\n',
            "etc/containerd/sub/1.toml": "",
            "etc/containerd/sub/2.conf": "",
            "srv/one/x.toml": "",
            "srv/two/y.toml": "",
        },
    )
    evidence = files(tmp_path)["files"]
    assert sorted(evidence) == [
        "/etc/containerd/a.toml",
        "/etc/containerd/config.toml",
        "/etc/containerd/sub/1.toml",
        "/gone.toml",
        "/srv/one/x.toml",
    ]
    assert evidence["/gone.toml"] == {"kind": "missing"}


def test_drop_ins_of_the_usual_directory_are_taken_along_imported_or_not(tmp_path: Path) -> None:
    grow(
        tmp_path, {MAIN: "", "etc/containerd/conf.d/a.toml": 'imports = ["b.toml"]', "etc/containerd/conf.d/c.txt": ""}
    )
    assert sorted(files(tmp_path)["files"]) == [
        "/etc/containerd/conf.d/a.toml",
        "/etc/containerd/conf.d/b.toml",
        "/etc/containerd/config.toml",
    ]


def test_a_main_file_elsewhere_is_followed_with_its_imports(tmp_path: Path) -> None:
    grow(tmp_path, {"srv/c.toml": 'imports = ["d.toml"]', "srv/d.toml": ""})
    evidence = files(tmp_path, "--config=/srv/c.toml")
    assert evidence["config_path"] == "/srv/c.toml"
    assert sorted(evidence["files"]) == ["/srv/c.toml", "/srv/d.toml"]


def test_imports_end_somewhere(tmp_path: Path) -> None:
    chain = {f"c/{n}.toml": f'imports = ["{n + 1}.toml"]\n' for n in range(3 * MAX_FILES)}
    grow(tmp_path, {**chain, MAIN: 'imports = ["/c/0.toml"]'})
    evidence = files(tmp_path)
    assert len(evidence["files"]) == MAX_FILES
    assert evidence["import_limit"] is True


def test_imports_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    big = "#" * (MAX_BYTES // 2 + 1)
    grow(tmp_path, {MAIN: 'imports = ["a", "b", "c"]\n', **{f"etc/containerd/{name}": big for name in "abc"}})
    evidence = files(tmp_path)
    assert sorted(evidence["files"]) == ["/etc/containerd/a", "/etc/containerd/b", "/etc/containerd/config.toml"]
    assert evidence["import_limit"] is True


def test_hostile_imports_neither_hang_nor_raise(tmp_path: Path) -> None:
    patterns = [
        "/*/*/*/*/*/*",
        "\\u0000",
        "*" * 500,
        "[",
        "[z-a]*",
        "../" * 400 + "*",
        "/loop/*/*/*",
        "/fifo",
        "/\udce9*",
    ]
    text = "imports = [" + ", ".join(f"'{pattern}'" for pattern in patterns) + ", '/nul\0*']\n"
    grow(tmp_path, {f"d{n}/e{m}/f": "" for n in range(20) for m in range(20)})
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / MAIN).parent.mkdir(parents=True)
    (tmp_path / MAIN).write_bytes(text.encode("utf-8", "surrogateescape"))
    began = time.monotonic()
    evidence = files(tmp_path)
    assert time.monotonic() - began < 5
    assert evidence["files"]["/fifo"]["kind"] == "special"


def test_a_long_text_without_an_end(tmp_path: Path) -> None:
    began = time.monotonic()
    assert len(import_patterns("imports = [" + '"a",' * 250_000)) == MAX_FILES
    assert import_patterns("imports = [" + " " * 500_000 + "\\") == []
    assert import_patterns("imports = [\n" * 80_000) == []
    assert time.monotonic() - began < 5


def test_a_dump_carries_handlers_and_nri_and_nothing_secret() -> None:
    assert dump_excerpt(DUMP) == EXCERPT


@pytest.mark.parametrize("dump", ["", "\0", "[", "[[", "]\n[plugins.", "x = [\n1\n]\n", "version = {a = 1}\n"])
def test_a_dump_of_anything_else_leaves_nothing(dump: str) -> None:
    assert dump_excerpt(dump).strip() == ""


def test_options_are_kept_in_any_letter_case() -> None:
    dump = DUMP + "[plugins.'x'.containerd.runtimes.runc.options]\n  SystemdCgroup = false\n  systemdcgroup = true\n"
    assert dump_excerpt(dump).splitlines()[-2:] == ["SystemdCgroup = false", "systemdcgroup = true"]
    assert import_patterns('Imports = ["/a.toml"]\n') == ["/a.toml"]
    config = {"containerd": {"runtimes": {"runc": {"options": {"SystemdCgroup": False, "systemdcgroup": True}}}}}
    handlers = [running_handlers(json.dumps(config), version)["handlers"] for version in ("v2.4.2", "1.7.24")]
    assert [item["runc"]["systemd_cgroup"] for item in handlers] == [True, False]


def test_a_cri_that_shows_no_json() -> None:
    for text in ("", "[crio]\n", "[]", "3", '{"containerd": null}'):
        assert running_handlers(text) == {"default": None, "handlers": {}}


def agent(*argv: str) -> list[dict[str, Any]]:
    return [{"pid": 1, "argv": list(argv), "started_at": 1.0}]


@pytest.mark.parametrize(
    ("texts", "argv", "other_agents", "endpoint"),
    [
        ({}, ["--container-runtime-endpoint=unix:///a.sock"], [], "unix:///a.sock"),
        ({"var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///b.sock\n"}, [], [], "unix:///b.sock"),
        ({"k.yaml": 'containerRuntimeEndpoint: "unix:///c.sock" # x\n'}, ["--config=/k.yaml"], [], "unix:///c.sock"),
        (
            {"k.yaml": "containerRuntimeEndpoint: unix:///c.sock\n", "d/1.conf": "containerRuntimeEndpoint: unix:///d.sock",
             "d/2.yaml": "containerRuntimeEndpoint: unix:///e.sock"},
            ["--config=/k.yaml", "--config-dir=/d"],
            [],
            "unix:///d.sock",
        ),
        ({"k.yaml": "# containerRuntimeEndpoint: x\n  containerRuntimeEndpoint: y\n"}, ["--config=/k.yaml"], [],
         "unix:///run/containerd/containerd.sock"),
        ({}, ["--config-dir=relative"], [], "unix:///run/containerd/containerd.sock"),
        ({}, [], ["crio"], "unix:///var/run/crio/crio.sock"),
        ({}, [], ["crio", "containerd"], "unix:///run/containerd/containerd.sock"),
        ({}, [], ["k3s-server", "containerd"], "unix:///run/k3s/containerd/containerd.sock"),
        ({}, [], ["rke2", "containerd"], "unix:///run/k3s/containerd/containerd.sock"),
        ({"etc/rancher/k3s/config.yaml": "container-runtime-endpoint: /run/x.sock\n"}, [], ["k3s"], "/run/x.sock"),
    ],
)  # fmt: skip
def test_the_socket_kubelet_uses(
    tmp_path: Path, texts: dict[str, str], argv: list[str], other_agents: list[str], endpoint: str
) -> None:
    agents = {"kubelet": agent("/usr/bin/kubelet", *argv), **{name: agent(name) for name in other_agents}}
    assert kubelets_endpoint(Host(str(grow(tmp_path, texts))), agents) == endpoint


def test_of_two_containerds_the_one_that_kubelet_uses_comes_first(tmp_path: Path) -> None:
    host = Host(str(grow(tmp_path, {MAIN: "[debug]\naddress = '/run/debug.sock'\n"})))
    system, k3s, own, docker_own = (
        agent("/usr/bin/containerd"),
        agent("containerd", "-c", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"),
        agent("containerd", "-a", "/srv/containerd.sock"),
        agent("containerd", "--config", "/var/run/docker/containerd/containerd.toml"),
    )
    every = [*docker_own, *system, *k3s, *own]
    assert sort_by_endpoint(host, every, "unix:///run/k3s/containerd/containerd.sock")[0] is k3s[0]
    assert sort_by_endpoint(host, every, "unix:///var/run/containerd/containerd.sock")[0] is system[0]
    assert sort_by_endpoint(host, every, "/srv/containerd.sock")[0] is own[0]
    assert sort_by_endpoint(host, every, "unix:///var/run/docker/containerd/containerd.sock")[0] is docker_own[0]
    assert sort_by_endpoint(host, [], "unix:///x") == []


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        (["/opt/bin/containerd"], "/opt/bin/containerd"),
        (["/gone/containerd"], "/usr/bin/containerd"),
        (["containerd", "-c", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"],
         "/var/lib/rancher/k3s/data/current/bin/containerd"),
        (["containerd", "-c", "/etc/containerd/config.toml"], "/usr/bin/containerd"),
        ([], "/usr/bin/containerd"),
    ],
)  # fmt: skip
def test_whose_program_it_is(tmp_path: Path, argv: list[str], program: str) -> None:
    places = ("opt/bin", "usr/bin", "var/lib/rancher/k3s/data/current/bin", "var/lib/rancher/rke2/bin")
    host = Host(str(grow(tmp_path, {f"{place}/containerd": "" for place in places})))
    assert containerd_program(host, argv) == program


def test_a_containerd_whose_file_names_its_socket(tmp_path: Path) -> None:
    host = Host(str(grow(tmp_path, {"srv/c.toml": '[grpc]\n  address = "/srv/run/containerd.sock"\n'})))
    own = agent("containerd", "--config", "/srv/c.toml")
    assert sort_by_endpoint(host, [*agent("containerd"), *own], "unix:///srv/run/containerd.sock")[0] is own[0]


def test_crio_is_found_with_its_file_and_drop_ins(tmp_path: Path) -> None:
    assert crio(Host(str(tmp_path)), []) is None
    grow(tmp_path, {"etc/crio/crio.conf": "a", "etc/crio/crio.conf.d/10.conf": "b", "usr/bin/crio": ""})
    evidence = crio(Host(str(tmp_path)), [])
    assert evidence
    assert (evidence["program"], evidence["config_path"]) == ("/usr/bin/crio", "/etc/crio/crio.conf")
    assert list(evidence["files"]) == ["/etc/crio/crio.conf", "/etc/crio/crio.conf.d/10.conf"]
    evidence = crio(Host(str(tmp_path)), agent("crio", "--config", "/srv/x", "--config-dir=relative"))
    assert evidence
    assert list(evidence["files"]) == ["/srv/x"]


def test_docker_only_where_it_runs(tmp_path: Path) -> None:
    grow(tmp_path, {"etc/docker/daemon.json": "{}"})
    assert docker(Host(str(tmp_path)), []) is None
    evidence = docker(Host(str(tmp_path)), agent("dockerd"))
    assert evidence
    assert evidence["config"]["text"] == "{}"
    evidence = docker(Host(str(tmp_path)), agent("dockerd", "--config-file=/gone"))
    assert evidence
    assert evidence["config"] == {"kind": "missing"}


RANCHER = """token: K10abc::server:hunter2
kubelet-arg:
  - "cgroup-driver=systemd"
# note
- "max-pods=200"
"kubelet-arg+": [x=y]
tls-san:
  - secret.example
docker: false
"""


def test_of_k3s_settings_only_those_about_kubelet_and_the_runtime_are_kept(tmp_path: Path) -> None:
    saved = relevant_settings(RANCHER)
    assert "hunter2" not in saved
    assert "secret" not in saved
    assert saved.splitlines() == [
        "kubelet-arg:",
        '  - "cgroup-driver=systemd"',
        "# note",
        '- "max-pods=200"',
        '"kubelet-arg+": [x=y]',
        "docker: false",
    ]
    grow(
        tmp_path,
        {
            "etc/rancher/k3s/config.yaml": RANCHER,
            "etc/rancher/k3s/config.yaml.d/a.yaml": "kubelet-arg: v=1\n",
            "etc/rancher/k3s/config.yaml.d/README": "",
            "var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl": "",
        },
    )
    evidence = installer(Host(str(tmp_path)), {"k3s-agent": agent("/usr/local/bin/k3s agent")})
    assert list(evidence["settings"]) == ["/etc/rancher/k3s/config.yaml", "/etc/rancher/k3s/config.yaml.d/a.yaml"]
    assert "hunter2" not in json.dumps(evidence)
    assert evidence["marks"] == ["/etc/rancher/k3s", "/var/lib/rancher/k3s/agent"]
    assert evidence["templates"] == ["/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl"]
    assert [process["argv"] for process in evidence["supervisors"]] == [["/usr/local/bin/k3s agent"]]


def test_an_empty_tree_tells_of_no_distribution(tmp_path: Path) -> None:
    nothing: dict[str, object] = {"marks": [], "settings": {}, "templates": [], "template_files": {}, "supervisors": []}
    assert installer(Host(str(tmp_path)), {}) == nothing


def answered(path: Path, served: Runtime) -> dict[str, Any]:
    """The evidence about a runtime with these responses."""
    with serving(path, served.converse):
        evidence = cri_evidence(Host("/"), f"unix://{path}")
    assert json.loads(json.dumps(evidence)) == evidence
    return evidence


@pytest.mark.parametrize(
    ("driver", "recorded"),
    [(0, {"cgroup_driver": "systemd"}), (1, {"cgroup_driver": "cgroupfs"}), (None, {"error": "unimplemented"})],
)
def test_the_runtime_config_that_is_recorded(tmp_path: Path, driver: int | None, recorded: dict[str, str]) -> None:
    evidence = answered(tmp_path / "s", Runtime(version="2.1.4", cgroup_driver=driver))
    assert evidence["runtime_config"] == recorded
    assert (evidence["name"], evidence["version"], evidence["ready"]) == ("containerd", "2.1.4", True)


def test_a_runtime_that_refuses_to_tell_its_driver(tmp_path: Path) -> None:
    class Stubborn(Runtime):
        def respond(self, stream: int, path: str, message: bytes) -> list[bytes]:
            if path.endswith("/RuntimeConfig"):
                return cri_server.failed(stream, 2, "not now")
            return super().respond(stream, path, message)

    evidence = answered(tmp_path / "s", Stubborn())
    assert evidence["runtime_config"] == {"error": "the container runtime answered UNKNOWN: not now"}
    assert evidence["sandboxes"] == []


def program(directory: Path, script: str) -> str:
    path = directory / "containerd"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def dump_of(directory: Path, script: str, main: str) -> dict[str, Any] | None:
    config = directory / "config.toml"
    config.write_text(main, encoding="utf-8")
    evidence = containerd_files(Host("/"), ["containerd", "-c", str(config)], program(directory, script))
    dump: dict[str, Any] | None = evidence.get("dump")
    return dump


def test_containerd_is_asked_what_it_makes_of_several_files(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(DUMP, encoding="utf-8")
    (tmp_path / "a.toml").touch()
    script = f'test "$*" = "--config {tmp_path}/config.toml config dump" && cat {tmp_path}/dump'
    evidence = dump_of(tmp_path, script, 'imports = ["a.toml"]\n')
    assert evidence
    assert evidence["text"] == EXCERPT


def test_a_containerd_that_does_not_dump_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.toml").touch()
    evidence = dump_of(tmp_path, "echo noise >&2; echo 'broken: a.toml' >&2; exit 1", 'imports = ["a.toml"]\n') or {}
    assert evidence["error"] == "broken: a.toml"


def test_a_single_file_needs_no_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_files, "CONTAINERD_DROP_INS", str(tmp_path / "conf.d"))
    assert dump_of(tmp_path, "echo no", "version = 2\n") is None
