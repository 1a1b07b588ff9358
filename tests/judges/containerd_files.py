# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated containerd files: a main file and what it imports, the same for a number in every run.

containerd starts with most of them. Each has a few variations in how people and tools write it; some have a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ansible_collections.volcano.colocation.tests.judges.chance import Chance
from ansible_collections.volcano.colocation.tests.judges.toml_writing import Setting, render

MAIN = "etc/config.toml"
CRI = {1: "cri", 2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime", 4: "io.containerd.cri.v1.runtime"}
NRI = "io.containerd.nri.v1.nri"
RUNC = '"io.containerd.runc.v2"'
SWITCH_MISTAKES = ('"true"', "1", "1.0", "[true]", "{}")
TEXT_MISTAKES = ("1", "true", "['a']", "{}")
TABLE_MISTAKES = ("1", "true", "['a']", "[]", "'x'", "[{ runtime_type = 'x' }]")
TEXTS_MISTAKES = ('"cri"', "1", "[1]", "[true, 'cri']", "{}", "[['cri']]")
VERSIONS = ("0", "0x2", "2.0", '"2"', "true", "5", "1_0", "02", "[2]")
IMPORTS = ("../conf.d/*.toml", "@/conf.d/*.toml", "../conf.d/1*.toml", "../conf.d/[0-4]*.toml", "../conf.d/[^2]*.toml")
ODD_IMPORTS = (
    "../conf.d/10-a.toml",
    "../missing.toml",
    "../missing/*.toml",
    "config.toml",
    "../conf.d/{10,20}*.toml",
    "../conf.d/[*.toml",
    "./../conf.d/./*.toml",
    "",
    "../conf.d/?0-a.toml",
    "../conf.d/\\\\*.toml",
    "../*/20-b.toml",
)


@dataclass(frozen=True)
class Case:
    """Files by their path below a directory; ``@`` in them stands for the path of that directory."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)


def cases(label: str, schemas: tuple[int, ...], count: int) -> Iterator[Case]:
    """``count`` cases; ``schemas`` are those that the release reads and that most files use."""
    for number in range(count):
        yield _case(f"{label}-{number}", Chance(f"containerd {label} {number}"), schemas)


def _case(name: str, chance: Chance, schemas: tuple[int, ...]) -> Case:
    schema = chance.one(schemas)
    names = [name for name in ("10-a.toml", "20-b.toml", "30-c.toml") if chance.happens(0.35)]
    files = {MAIN: _file(chance, schema, schemas, imports=bool(names) or chance.happens(0.1))}
    for file_name in names:
        file_schema = chance.one(schemas) if chance.happens(0.25) else schema
        files[f"conf.d/{file_name}"] = _file(chance, file_schema, schemas, imports=chance.happens(0.08))
    return Case(name, files)


def _file(chance: Chance, schema: int, schemas: tuple[int, ...], imports: bool) -> bytes:
    settings = [*_top(chance, schema, imports), *_cri_tables(chance, schema, schemas), *_nri(chance, schema)]
    settings += _other_tables(chance)
    settings = _respelled(chance, settings)
    if chance.happens(0.02):
        settings.append(chance.one(settings) if settings else Setting(("version",), "2"))
    text = render(chance, settings)
    if chance.happens(0.02):
        text = chance.one((text.replace("=", "", 1), text + "[unclosed\n", text + "x = \n", text + "[plugins]\n"))
    if chance.happens(0.05):
        text = "\ufeff" + text
    if chance.happens(0.1):
        text = text.replace("\n", "\r\n")
    return text.encode()


def _top(chance: Chance, schema: int, imports: bool) -> Iterator[Setting]:
    if not chance.happens(0.1) and (schema > 1 or chance.happens(0.4)):
        yield Setting(("version",), chance.one(VERSIONS) if chance.happens(0.05) else str(schema))
    if imports:
        named = [chance.one(ODD_IMPORTS if chance.happens(0.15) else IMPORTS) for _index in range(chance.below(2) + 1)]
        listed = "[" + ", ".join(f'"{pattern}"' for pattern in named) + "]"
        yield Setting(("imports",), chance.one(TEXTS_MISTAKES) if chance.happens(0.04) else listed)
    for key, often in (("disabled_plugins", 0.1), ("required_plugins", 0.04)):
        if chance.happens(often):
            fitting = ("cri", "nri", "btrfs") if schema == 1 else (CRI[2], CRI[3], NRI, "io.containerd.x.v1.y")
            anyhow = (CRI[1], CRI[2], CRI[3], NRI, "nri", "btrfs", "io.containerd.x.v1.y")
            listed = f'["{chance.one(fitting if chance.happens(0.7) else anyhow)}"]'
            yield Setting((key,), chance.one((*TEXTS_MISTAKES, "[]")) if chance.happens(0.15) else listed)


def _cri_tables(chance: Chance, schema: int, schemas: tuple[int, ...]) -> Iterator[Setting]:
    table_schemas = [schema] if not chance.happens(0.1) else []
    if chance.happens(0.15):
        # 2.x merges the tables of schemas 1 and 2, in the random order of a Go map.
        other = chance.one((1, *schemas))
        table_schemas += [other] if {schema, other} != {1, 2} else []
    for table_schema in table_schemas:
        yield from _cri(chance, ("plugins", CRI[table_schema]))


def _cri(chance: Chance, base: tuple[str, ...]) -> Iterator[Setting]:
    containerd = (*base, "containerd")
    if chance.happens(0.02):
        yield Setting(base, chance.one(TABLE_MISTAKES))
        return
    yield from _of_other_parts(chance, base)
    if chance.happens(0.03):
        yield Setting(containerd, chance.one(TABLE_MISTAKES))
        return
    if chance.happens(0.3):
        named = (
            chance.one(TEXT_MISTAKES) if chance.happens(0.08) else chance.one(('"runc"', '"nvidia"', '"kata"', '""'))
        )
        yield Setting((*containerd, "default_runtime_name"), named)
    if chance.happens(0.06):
        yield Setting((*base, "systemd_cgroup"), chance.one(("true", "true", "false", '"true"')))
    if chance.happens(0.04):
        yield Setting((*containerd, "runtimes"), chance.one((*TABLE_MISTAKES, "{}")))
    else:
        yield from _handlers(chance, containerd)
    if chance.happens(0.1):
        yield Setting((*containerd, "snapshotter"), chance.one(('"overlayfs"', '"native"', "3")))


def _handlers(chance: Chance, containerd: tuple[str, ...]) -> Iterator[Setting]:
    for name in ("runc", "nvidia", "kata", "RUNC"):
        if chance.happens({"runc": 0.85, "nvidia": 0.35}.get(name, 0.08)):
            yield from _handler(chance, (*containerd, "runtimes", name), "kata" if name == "kata" else "runc")
    for name in ("default_runtime", "untrusted_workload_runtime"):
        if chance.happens(0.06):
            yield from _handler(chance, (*containerd, name), "runc")


def _of_other_parts(chance: Chance, base: tuple[str, ...]) -> Iterator[Setting]:
    """Settings that 2.x moves to other tables, or drops."""
    for path, values in (
        (("sandbox_image",), ('"pause:3.9"', "3")),
        (("registry",), ("{}", "3")),
        (("max_concurrent_downloads",), ("3", '"3"')),
        (("stream_server_port",), ('"0"', "0")),
        (("enable_cdi",), ("true", "3")),
        (("enable_selinux",), ("false", '"false"')),
    ):
        if chance.happens(0.06):
            yield Setting((*base, *path), values[0] if chance.happens(0.6) else values[1])
    if chance.happens(0.03):
        yield Setting((*base, "cni"), chance.one(TABLE_MISTAKES))
    elif chance.happens(0.08):
        yield Setting(
            (*base, "cni", chance.one(("bin_dir", "conf_dir"))), chance.one(('"/opt/cni/bin"', "['/opt']", "3"))
        )


def _handler(chance: Chance, base: tuple[str, ...], kind: str) -> Iterator[Setting]:
    if chance.happens(0.02):
        yield Setting(base, chance.one(TEXT_MISTAKES[:3]))
        return
    if not chance.happens(0.12):
        named = RUNC if kind == "runc" else '"io.containerd.kata.v2"'
        odd = (*TEXT_MISTAKES, '""', '"io.containerd.runtime.v1.linux"', '"io.containerd.runc.v1"')
        yield Setting((*base, "runtime_type"), chance.one(odd) if chance.happens(0.08) else named)
    if chance.happens(0.02):
        yield Setting((*base, "options"), chance.one(TEXT_MISTAKES[:3]))
        return
    if chance.happens(0.85):
        word = chance.one(SWITCH_MISTAKES) if chance.happens(0.03) else chance.one(("true", "true", "false"))
        yield Setting((*base, "options", "SystemdCgroup"), word)
    if chance.happens(0.2):
        named = chance.one(TEXT_MISTAKES) if chance.happens(0.08) else chance.one(('"/usr/bin/nv"', '""', "'crun'"))
        yield Setting((*base, "options", "BinaryName"), named)
    if chance.happens(0.06):
        yield Setting((*base, "options", chance.one(("Root", "Unknown", "NoPivotRoot"))), chance.one(('"x"', "true")))


def _nri(chance: Chance, schema: int) -> Iterator[Setting]:
    for name in (NRI, "nri"):
        if not chance.happens(0.4 if (name == "nri") == (schema == 1) else 0.06):
            continue
        base = ("plugins", name)
        if chance.happens(0.9):
            yield Setting(
                (*base, "disable"), chance.one(SWITCH_MISTAKES if chance.happens(0.06) else ("true", "false"))
            )
        for key, values in (
            (
                "socket_path",
                ('"/run/nri/nri.sock"', '"/var/run/nri/nri.sock"', '"run/x.sock"', '"./x/../y.sock"', '""', "1"),
            ),
            ("plugin_path", ('"/opt/nri/plugins"', "true")),
            ("plugin_registration_timeout", ('"5s"', '"3"', "5", '"soon"', '""')),
            ("plugin_request_timeout", ('"2s"', '"500ms"', "2", "true", "2.5", '"2 s"')),
            ("disable_connections", ("true", "false", '"no"')),
            ("unknown_key", ("1",)),
        ):
            if chance.happens(0.12):
                yield Setting((*base, key), values[0] if chance.happens(0.8) else chance.one(values))


def _other_tables(chance: Chance) -> Iterator[Setting]:
    """Tables that the collection does not use; some have a mistake, with which containerd does not start either."""
    for path, values in (
        (("root",), ('"/var/lib/containerd"', "1")),
        (("oom_score",), ("-999", "0", '"0"', "1.5")),
        (("grpc", "address"), ('"/run/containerd/containerd.sock"', "1")),
        (("debug", "level"), ('"info"', "1")),
        (("timeouts", "io.containerd.timeout.task.state"), ('"2s"', "2")),
        (("plugins", "io.containerd.internal.v1.opt", "path"), ('"/opt/containerd"', "false")),
        (("plugins", "io.containerd.unknown.v1.thing", "a"), ("1", '"b"')),
        (("plugins", "io.containerd.cri.v1.images", "pinned_images"), ("{}", "3", "[]")),
        (("plugins", "io.containerd.runtime.v2.task", "sched_core"), ("true", '"true"')),
        (("plugins", "io.containerd.shim.v1.manager", "env"), ("['A=b']", "3")),
        (("plugins", "io.containerd.internal.v1.restart", "interval"), ('"10s"', "'soon'")),
        (("plugins", "restart", "interval"), ('"10s"', "'soon'")),
        (("plugins", "io.containerd.service.v1.diff-service"), ("{}", "3")),
        (("unknown_key",), ("1", "{}")),
    ):
        if chance.happens(0.06):
            yield Setting(path, values[0] if chance.happens(0.85) else chance.one(values))


def _respelled(chance: Chance, settings: list[Setting]) -> list[Setting]:
    """Some keys in another letter case; sometimes in addition to the original key, with another value."""
    result: list[Setting] = []
    for setting in settings:
        if not chance.happens(0.025):
            result.append(setting)
            continue
        depth = chance.below(len(setting.path))
        other = Setting(
            (*setting.path[:depth], _spelling(chance, setting.path[depth]), *setting.path[depth + 1 :]), setting.value
        )
        if not chance.happens(0.4):
            result.append(other)
            continue
        flipped = {"true": "false", "false": "true"}.get(other.value, other.value)
        pair = [setting, Setting(other.path, flipped)]
        result += pair if chance.happens(0.5) else pair[::-1]
    return result


def _spelling(chance: Chance, key: str) -> str:
    forms = (
        key.lower(),
        key.upper(),
        key[:1].lower() + key[1:],
        key.title(),
        key.swapcase(),
        key[:-1] + key[-1:].upper(),
    )
    return chance.one(forms)
