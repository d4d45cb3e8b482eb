# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A description that arrives while commands are sent waits for the next configuration."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.lifecycle import TransitionCallbackReturn

from kron_dynamics.exceptions import ModelError
from kron_dynamics.ros import description_source

pytestmark = pytest.mark.ros

UNUSABLE = 'no robot'


@pytest.fixture
def source(local, bench, monkeypatch):
    """The active node's; its texts are names of robots that are found at once."""
    read, said = [], []
    rigid, other = bench.robot, SimpleNamespace(model=SimpleNamespace(fingerprint='other'))

    def robot(parameters, text):
        read.append(text)
        if text == UNUSABLE:
            raise ModelError('it has no links')
        return other if text == 'other' else rigid

    monkeypatch.setattr(description_source, 'robot_from_text', robot)
    log = SimpleNamespace(warning=lambda line, **_: said.append(line))
    source = local.node._descriptions
    monkeypatch.setattr(source, '_node', SimpleNamespace(get_logger=lambda: log))
    assert local.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    source.receive('present')
    assert local.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    del read[:]
    return SimpleNamespace(node=local.node, receive=source.receive, read=read, said=said)


def configured_anew(node):
    node.trigger_deactivate()
    node.trigger_cleanup()
    return node.trigger_configure() == TransitionCallbackReturn.SUCCESS


def test_no_text_is_read_while_commands_are_sent(source):
    """Reading one took up to seconds without a command, also of the text that is in use."""
    for text in ('other', 'present'):
        source.receive(text)
    assert source.read == []
    assert configured_anew(source.node)
    assert source.read == ['present']  # the last one
    assert configured_anew(source.node)
    assert source.read == ['present']


def test_only_another_description_is_announced(source):
    source.receive('present')
    assert source.said == []
    source.receive('other')
    assert len(source.said) == 1
    assert 'takes effect after cleanup and configure' in source.said[0]


def test_an_unusable_one_is_found_at_the_configuration_and_not_passed_over(source):
    source.receive(UNUSABLE)
    for _ in range(2):
        assert not configured_anew(source.node)
        assert source.node._notes['error'] == 'robot_description refused: it has no links'
    source.receive('present')
    assert configured_anew(source.node)


def test_a_node_that_sends_no_commands_reads_at_once(source):
    source.node.trigger_deactivate()
    source.receive('other')
    source.receive(UNUSABLE)
    assert source.read == ['other', UNUSABLE]
    assert source.node._notes['error'] == 'it has no links'
    assert len(source.said) == 1
