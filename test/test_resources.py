# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where files that come with the package are found."""

from __future__ import annotations

import sys

import pytest

from kron_dynamics import resources
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.resources import resource_path


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return folders that stand for the checkout, two ROS workspaces and the environment."""
    checkout = tmp_path / 'checkout'
    (checkout / 'kron_dynamics').mkdir(parents=True)
    monkeypatch.setattr(resources, '__file__', str(checkout / 'kron_dynamics' / 'resources.py'))
    overlay, underlay, environment = (tmp_path / name for name in ('over', 'under', 'env'))
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{overlay}:{underlay}')
    monkeypatch.setattr(sys, 'prefix', str(environment))
    shares = [root / 'share' / 'kron_dynamics' for root in (overlay, underlay, environment)]
    for root in (checkout, *shares):
        (root / 'urdf').mkdir(parents=True)
        (root / 'urdf' / 'robot.urdf').write_text('')
    (checkout / 'package.xml').write_text('')
    return [checkout, *shares]


def test_places_are_searched_in_the_documented_order(places):
    for root in places:
        found = resource_path('urdf', 'robot.urdf')
        assert found == root / 'urdf' / 'robot.urdf'
        found.unlink()


def test_folder_that_only_looks_like_a_checkout_is_not_used(places):
    (places[0] / 'package.xml').unlink()
    assert resource_path('urdf', 'robot.urdf') == places[1] / 'urdf' / 'robot.urdf'


def test_missing_file_lists_the_places_tried(places):
    with pytest.raises(ParameterError) as caught:
        resource_path('config', 'none.yaml')
    for root in places:
        assert str(root / 'config' / 'none.yaml') in str(caught.value)


def test_files_of_this_checkout_are_found():
    assert resource_path('urdf', 'stacker_reclaimer.urdf').is_file()
