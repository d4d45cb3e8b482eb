# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with flexible links against the reference vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flexible_chain import chain_text, single_link
from long_runs import some_of
from public_vectors import cases_of
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.linearized import LinearizedModel

CHAINS = cases_of('flexible_chain')
LINKS = [
    case
    for case in cases_of('flexible_link')
    if case['inputs']['params']['modes'] == 'clamped_free'
]
TOLERANCE = 1e-9


def beam_entry(beam: dict[str, Any], **further: Any) -> dict[str, Any]:
    """Description of a beam of the vectors, in which EI_z resists deflections v along y."""
    modes = {plane: beam[f'n{plane}'] for plane in 'vw' if beam.get(f'n{plane}')}
    return {
        'length': beam['l'],
        'mass_per_length': beam['rhoA'],
        'bending_stiffness': {plane: beam[{'v': 'EI_z', 'w': 'EI_y'}[plane]] for plane in modes},
        'modes': modes,
        'mode_shapes': 'clamped_free',
        **further,
    }


def with_modes_at_rest(robot: kd.Robot, values: Any) -> np.ndarray:
    return np.concatenate([values, np.zeros(robot.n - len(values))])


def terms(linear: LinearizedModel, order: list[int]) -> dict[str, np.ndarray]:
    """M_L, D_L, K_L and h_L without drives, in the order of the vectors."""
    pairs = np.ix_(order, order)
    return {
        'M_L': linear.mass[pairs],
        'D_L': linear.damping[pairs],
        'K_L': linear.stiffness[pairs],
        'h_L_without_tau': -linear.effort[order],
    }


@pytest.mark.parametrize('load', some_of([uncompiled, kd.loads], [uncompiled]))
@pytest.mark.parametrize('case', CHAINS, ids=lambda case: case['id'])
def test_chains_of_flexible_links(
    case: dict[str, Any], load: Any, assert_close: Callable[..., None]
) -> None:
    chain, reference = case['inputs']['chain'], case['inputs']['reference']
    links = chain['links']
    flexible = {
        f'l{k}': beam_entry(link['beam']) for k, link in enumerate(links, 1) if 'beam' in link
    }
    robot = load(
        chain_text(links, chain['payload']),
        flexible={'flexible_links': flexible},
        gravity=chain['gravity'],
    )
    motion = [with_modes_at_rest(robot, reference[key]) for key in ('q', 'qd', 'qdd')]
    # The vectors put the modes of a link behind its joint.
    order = [
        robot.joint_names.index(name)
        for k in range(1, len(links) + 1)
        for name in (f'j{k}', *(n for n in robot.joint_names if n.startswith(f'l{k}/')))
    ]
    found = terms(robot.linearize(*motion), order)
    for key, expected in case['expected'].items():
        assert_close(found[key], np.reshape(expected, found[key].shape), TOLERANCE)


@pytest.mark.parametrize('geometric', [True, False])
@pytest.mark.parametrize('case', LINKS, ids=lambda case: case['id'])
def test_a_flexible_link_on_a_hub(
    case: dict[str, Any], geometric: bool, assert_close: Callable[..., None]
) -> None:
    p = case['inputs']['params']
    text, beam = single_link(p)
    description = {'l1': beam_entry(beam, geometric_stiffness=geometric)}
    robot = kd.loads(text, flexible={'flexible_links': description}, gravity=(0, -p['g'], 0))
    motion = [with_modes_at_rest(robot, [p[key]]) for key in ('q_a', 'qd_a', 'qdd_a')]
    found = terms(robot.linearize(*motion), list(range(robot.n)))
    expected = case['expected']['geometric' if geometric else 'as_printed']
    assert set(expected) == set(found)
    for key, values in expected.items():
        assert_close(found[key], np.reshape(values, found[key].shape), TOLERANCE)
