# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""URDF texts of the flexible links and chains of the reference vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

NO_HUB = {'m': 0.0, 'c': [0, 0, 0], 'I': np.zeros((3, 3))}


def numbers(values: Any) -> str:
    return ' '.join(repr(float(value)) for value in values)


def inertial(body: Mapping[str, Any], rho: float = 0.0, length: float = 0.0) -> str:
    """Return <inertial> of a hub or payload of the vectors, including a beam along x."""
    m, c, I = (np.array(body[key], dtype=float) for key in 'mcI')  # noqa: E741
    moments = I + m * (c @ c * np.eye(3) - np.outer(c, c))
    moments += rho * length**3 / 3 * np.diag([0, 1, 1])
    mass = m + rho * length
    centre = (m * c + rho * length**2 / 2 * np.eye(3)[0]) / (mass or 1.0)
    moments -= mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    entries = ((0, 0, 'ixx'), (1, 1, 'iyy'), (2, 2, 'izz'), (0, 1, 'ixy'), (0, 2, 'ixz'))
    rows = [f'{key}="{float(moments[a, b])!r}"' for a, b, key in (*entries, (1, 2, 'iyz'))]
    return (
        f'<inertial><origin xyz="{numbers(centre)}"/><mass value="{mass}"/>'
        f'<inertia {" ".join(rows)}/></inertial>'
    )


def chain_text(links: list[dict[str, Any]], payload: Mapping[str, Any]) -> str:
    """Return the URDF of a chain: hubs with beams along x or rigid offsets, and a payload."""
    text, at = '<link name="l0"/>', np.zeros(3)
    for k, link in enumerate(links, 1):
        beam = link.get('beam', {'rhoA': 0.0, 'l': 0.0})
        text += (
            f'<link name="l{k}">{inertial(link["hub"], beam["rhoA"], beam["l"])}</link>'
            f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="{numbers(at)}"/><axis xyz="{numbers(link["axis"])}"/></joint>'
        )
        at = np.array(link.get('offset', [beam['l'], 0, 0]), dtype=float)
    return (
        f'<robot name="chain">{text}<link name="tip">{inertial(payload)}</link>'
        f'<joint name="end" type="fixed"><parent link="l{len(links)}"/><child link="tip"/>'
        f'<origin xyz="{numbers(at)}"/></joint></robot>'
    )


def single_link(p: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return URDF and beam of a single flexible link of the vectors, with hub and tip."""
    hub = NO_HUB | {'I': p.get('J_1', 0.0) * np.eye(3)}
    tip = NO_HUB | {'m': p['m_E'], 'I': p['J_E'] * np.eye(3)}
    beam = {'l': p['l'], 'rhoA': p['rhoA'], 'EI_z': p['EI'], 'nv': p['n']}
    return chain_text([{'axis': [0, 0, 1], 'hub': hub, 'beam': beam}], tip), beam
