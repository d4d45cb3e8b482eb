# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A one-joint robot to be spoilt in one place at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kron_dynamics import ModelError
from kron_dynamics.model import RobotModel, load_model

MOMENTS = 'ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'


class Parts:
    """Pieces of URDF text with one good value for everything."""

    @staticmethod
    def link(name: str, mass: str = '1', moments: str = MOMENTS) -> str:
        inertial = f'<mass value="{mass}"/><inertia {moments}/>'
        return f'<link name="{name}"><inertial>{inertial}</inertial></link>'

    @staticmethod
    def joint(
        name: str = 'hinge',
        kind: str = 'revolute',
        parent: str = 'base',
        child: str = 'arm',
        axis: str = '<axis xyz="0 0 1"/>',
        limit: str = LIMIT,
        more: str = '',
    ) -> str:
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{axis}{limit}{more}</joint>'
        )

    def robot(self, *more: str, arm: str | None = None, hinge: str | None = None) -> str:
        arm = self.link('arm') if arm is None else arm
        hinge = self.joint() if hinge is None else hinge
        return f'<robot name="toy"><link name="base"/>{arm}{hinge}{"".join(more)}</robot>'


@pytest.fixture(scope='session')
def parts() -> Parts:
    return Parts()


@pytest.fixture(scope='session')
def assert_refused() -> Callable[..., None]:
    """Assert that a text is refused by exactly this error, in one line that holds these words."""

    def check(text: str, error: type[ModelError], *words: str, **options: Any) -> None:
        with pytest.raises(error) as caught:
            load_model(text, **options)
        message = str(caught.value)
        assert type(caught.value) is error
        assert len(message.splitlines()) == 1, message
        for word in words:
            assert word in message

    return check


@pytest.fixture(scope='session')
def assert_warned() -> Callable[..., RobotModel]:
    """Assert that a text loads with one warning of a kind, one line that holds these words.

    Strict, it is an error of this class from that warning; allowed by its kind, it is none.
    """

    def check(
        text: str, kind: str, error: type[ModelError], *words: str, **options: Any
    ) -> RobotModel:
        model = load_model(text, **options)
        (warning,) = (found for found in model.warnings if found.kind == kind)
        message = str(warning)
        assert len(message.splitlines()) == 1, message
        assert message.isprintable()
        for word in words:
            assert word in message
        if warning.severity == 'hint':
            load_model(text, strict=True, **options)
            return model
        others = {found.kind for found in model.warnings} - {kind}
        with pytest.raises(error) as caught:
            load_model(text, strict=True, allow=tuple(others), **options)
        assert type(caught.value) is error
        assert str(caught.value) == message
        assert caught.value.__cause__.args == warning.args
        load_model(text, strict=True, allow=(kind, *others), **options)
        return model

    return check
