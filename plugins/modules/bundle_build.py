#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of bundle_build, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bundle_build
short_description: Build a bundle for an installation without a registry
version_added: 0.1.0
description:
  - Collects in one directory what M(volcano.colocation.bundle_info) and the playbook C(bundle_install) need to install
    Volcano and its agent without a registry and without a package index. The images as archives, Volcano's manifest,
    the tarball of this collection, and the Python libraries of the controller as wheels.
  - Runs on a machine that can access these, and changes nothing but the directory.
  - The directory is created when the bundle is complete. Its file C(SHA256SUMS) is written last.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  directory:
    description:
      - Path of the bundle. A directory that has the same bundle is verified and not changed; other content is refused.
    type: path
    required: true
  volcano_release:
    description: The release of Volcano, without C(v).
    type: str
    default: 1.14.1
  volcano_manifest:
    description:
      - Path or HTTPS address of the manifest that installs Volcano. If it is empty, upstream's
        C(installer/volcano-development.yaml) of O(volcano_release) is downloaded from GitHub.
      - The bundle has the images of all containers in it.
    type: str
    default: ""
  volcano_manifest_sha256:
    description: The SHA-256 of the manifest. If it is set, a manifest with another one is refused.
    type: str
    default: ""
  agent_image:
    description:
      - The image of Volcano's agent, with a tag. If it is empty, it is C(docker.io/volcanosh/vc-agent) of
        O(volcano_release).
    type: str
    default: ""
  image_archives:
    description:
      - Paths of archives that exist already, by the image's full name. They are copied. All other images are saved with
        O(image_tool).
    type: dict
    default: {}
  image_tool:
    description:
      - The program that saves images of a registry. If it is empty, the first that is installed is used.
      - C(skopeo) saves all architectures of an image. C(podman) and C(docker) save only that of this machine.
    type: str
    choices: ["", skopeo, podman, docker]
    default: ""
  collection:
    description:
      - Path of the tarball of this collection, such as one whose signature was verified. If it is not set, the tarball
        is made of the files of the collection that runs, each of which is compared with its digest.
    type: path
attributes:
  check_mode:
    support: full
    details: [Volcano's manifest is downloaded, since it has the names of the images. Nothing is written.]
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Build a bundle
  volcano.colocation.bundle_build:
    directory: /srv/volcano-1.14.1
    volcano_release: 1.14.1
    image_archives:
      docker.io/volcanosh/vc-agent:v1.14.1: /srv/images/vc-agent.tar
  delegate_to: localhost
  become: false
  run_once: true
  register: bundle_built
"""

RETURN = r"""
directory:
  description: The absolute path of the bundle.
  returned: success
  type: str
sha256:
  description: SHA-256 of the file C(SHA256SUMS), which identifies the bundle. Empty if it would be built.
  returned: success
  type: str
images:
  description: The images in the bundle.
  returned: success
  type: list
  elements: str
collection_version:
  description: The version of the collection in the bundle.
  returned: success
  type: str
"""
