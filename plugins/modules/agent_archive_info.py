#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_archive_info; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_archive_info
short_description: Read the Volcano agent's images in an archive
version_added: 0.1.0
description:
  - Reads an OCI layout or the output of C(docker save), as one uncompressed tar file, on the controller.
  - Does not unpack the archive.
  - Fails if the archive does not contain the image, is not complete, or if the image has another digest than O(digest).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  path:
    description: Path of the archive on the controller.
    type: path
    required: true
  image:
    description: Name of the image, with a tag and without a digest.
    type: str
    required: true
  digest:
    description:
      - The expected digest of the image, starting with C(sha256:). It may be that of the index, of the manifest or of
        the configuration, which is the image's id. An archive in Docker's own format has only the last one.
    type: str
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Read the archive
  volcano.colocation.agent_archive_info:
    path: /srv/images/vc-agent.tar
    image: docker.io/volcanosh/vc-agent:v1.14.0
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_archived
"""

RETURN = r"""
archive:
  description: The archive, as input of M(volcano.colocation.agent_image).
  returned: success
  type: dict
  contains:
    path:
      description: The absolute path of the archive.
      type: str
    sha256:
      description: SHA-256 of the file.
      type: str
    size:
      description: Size of the file in bytes.
      type: int
    image:
      description: The full name of the image.
      type: str
    images:
      description: The images with that name, each with its C(architecture), its C(id) and all its C(digests).
      type: list
      elements: dict
"""
