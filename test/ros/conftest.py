# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes as real processes in a ROS domain of their own, and a client that waits by polling."""

from __future__ import annotations

import os
import time
import warnings
from collections import deque

import pytest
from node_forks import Forks
from node_processes import PATIENCE, Launcher, Process, parameter_file
from ros_domains import domain_number, this_computer_only

try:
    import kron_dynamics_msgs  # noqa: F401
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState, GetState
    from rcl_interfaces.srv import GetParameterTypes, SetParametersAtomically
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.parameter import Parameter
    from rclpy.signals import SignalHandlerOptions
except ImportError as missing:
    # The core is tested without ROS too.
    collect_ignore_glob = ['*']
    warnings.warn(f'the nodes are not tested: {missing}', stacklevel=1)

_ATTEMPTS = 3
_AT_ONCE = 3


@pytest.fixture(scope='session', autouse=True)
def ros(kernel_cache):
    """One ROS context; other domains and other computers do not hear it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in this_computer_only(domain_number()).items():
            patch.setitem(os.environ, name, value)
        patch.setitem(os.environ, 'RCUTILS_COLORIZED_OUTPUT', '0')
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        yield
        rclpy.shutdown()


@pytest.fixture(scope='session')
def forks(ros):
    """The process that nodes are forks of."""
    server = Forks()
    yield server
    server.close()


@pytest.fixture(scope='session')
def launcher(forks, tmp_path_factory):
    """Starts nodes that serve many tests."""
    launch = Launcher(tmp_path_factory.mktemp('nodes'), forks)
    yield launch
    launch.close()


@pytest.fixture
def start(launcher):
    """Start nodes that end, in order, with the test; those it has ended itself do not count."""
    before = len(launcher.processes)
    yield launcher
    for process in launcher.processes[before:]:
        if process.running:
            process.stop(trouble=['[ERROR]'])


@pytest.fixture(scope='session')
def run_to_end(forks, tmp_path_factory):
    """Start nodes that end by themselves; return (exit code, output) by their keys."""

    def run(cases):
        """Start the nodes, a few at a time.

        Each is alone in its domain: where participants come and go at once, Fast DDS can wait for
        itself for ever (its issue 6502).

        Args:
            cases: {key: (node, parameters, *further arguments)}.
        """
        folder = tmp_path_factory.mktemp('ends')
        ends, running = {}, []

        def finish():
            key, process = running[0]
            ends[key] = process.wait(), process.output
            del running[0]

        try:
            for i, (key, (node, parameters, *more)) in enumerate(cases.items()):
                file = parameter_file(folder / f'{i}.yaml', parameters)
                arguments = ['--params-file', str(file), *more]
                log = folder / f'{i}.log'
                domain = {'ROS_DOMAIN_ID': str(domain_number(1 + i % _AT_ONCE))}
                running.append((key, Process(node, '', arguments, log, domain, forks)))
                if len(running) == _AT_ONCE:
                    finish()
            while running:
                finish()
        finally:
            for _, process in running:
                process.kill()
        return ends

    return run


class Client:
    """A node of the test: listens, sends and calls, in one namespace."""

    def __init__(self, namespace, launcher):
        self.namespace = namespace
        self._launcher = launcher
        # What the executor would look through for each message, and no test asks for.
        self.node = rclpy.create_node(
            'test', namespace=namespace, start_parameter_services=False, enable_rosout=False
        )
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._services = {}
        self._status = {}
        self.hear(DiagnosticArray, '/diagnostics', self._on_diagnostics)

    def close(self):
        self._executor.shutdown()
        self.node.destroy_node()

    def spin(self):
        self._executor.spin_once(timeout_sec=0.02)

    def wait_for(self, predicate, what, deadline=PATIENCE):
        """Return the first value of a predicate that is true."""
        end = time.monotonic() + deadline
        while not (value := predicate()):
            assert time.monotonic() < end, (
                f'{what}: not within {deadline:g} s\n{self._launcher.outputs()}'
            )
            self.spin()
        return value

    def hear(self, kind, topic, callback=None, qos=1000):
        """Return a list that fills with what comes on a topic."""
        heard = deque(maxlen=5000)
        self.node.create_subscription(
            kind,
            topic,
            callback or (lambda message: heard.append(message)),
            qos,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        return heard

    def publisher(self, kind, topic, qos=10):
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return self.node.create_publisher(kind, topic, qos, event_callbacks=events)

    def call(self, kind, name, **request):
        """Return the answer of a service.

        Middleware may lose a request, or what comes after a large one, for good: a client that
        gets no answer is replaced. A node that answers nobody is ended.
        """
        for _ in range(_ATTEMPTS):
            service = self._connected(kind, name)
            answer = self._answer(service, kind.Request(**request), PATIENCE / _ATTEMPTS)
            if answer is not None:
                return answer
            warnings.warn(f'{self.namespace}/{name} does not answer: asked anew', stacklevel=2)
            self.node.destroy_client(self._services.pop(name))
        return self._give_up(name)

    def _connected(self, kind, name):
        """Return the client of a service that the server knows.

        An answer is lost where the server has not heard of the client yet. Servers hear of clients
        in the order of their creation: one more, asked without harm until it is answered, tells
        that the first is known.
        """
        if name not in self._services:
            client = self.node.create_client(kind, name)
            node = name.rpartition('/')[0]
            witness = self.node.create_client(GetParameterTypes, f'{node}/get_parameter_types')
            self.wait_for(witness.service_is_ready, f'services of {node}')
            self.wait_for(client.service_is_ready, f'service {name}')
            request = GetParameterTypes.Request()
            end = time.monotonic() + PATIENCE
            while not self._answer(witness, request, 1.0):
                if time.monotonic() > end:
                    self._give_up(name)
            self.node.destroy_client(witness)
            self._services[name] = client
        return self._services[name]

    def _give_up(self, name):
        self._launcher.abort(name.rpartition('/')[0], self.namespace)
        raise AssertionError(f'no answer of {name}\n{self._launcher.outputs()}')

    def _answer(self, service, request, deadline):
        """Answer of a service, or None."""
        answer = service.call_async(request)
        end = time.monotonic() + deadline
        while not answer.done() and time.monotonic() < end:
            self.spin()
        return answer.result() if answer.done() else None

    def _on_diagnostics(self, message):
        for status in message.status:
            self._status[status.name] = message.header.stamp, status

    def status(self, node='dynamics_node'):
        """What the node said last on /diagnostics, or None."""
        return self._status.get(f'{self.namespace}/{node}: control', (None, None))[1]

    def status_time(self, node='dynamics_node'):
        """When the node said so, s."""
        stamp = self._status[f'{self.namespace}/{node}: control'][0]
        return stamp.sec + 1e-9 * stamp.nanosec

    def next_status(self, node='dynamics_node'):
        """What the node says on /diagnostics from now on, by its own clock: that of the wall."""
        now = time.time()

        def fresh():
            stamp, status = self._status.get(f'{self.namespace}/{node}: control', (None, None))
            return status if stamp and stamp.sec + 1e-9 * stamp.nanosec > now else None

        return self.wait_for(fresh, 'diagnostics')

    def transition(self, label, node='dynamics_node'):
        """Whether a lifecycle transition succeeds."""
        transition = Transition(label=label)
        return self.call(ChangeState, f'{node}/change_state', transition=transition).success

    def lifecycle_state(self, node='dynamics_node'):
        return self.call(GetState, f'{node}/get_state').current_state.label

    def set_parameters(self, values, node='dynamics_node'):
        """Set all or none; return why not, or an empty text."""
        parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        answer = self.call(
            SetParametersAtomically, f'{node}/set_parameters_atomically', parameters=parameters
        ).result
        return '' if answer.successful else answer.reason or 'refused'


@pytest.fixture(scope='session')
def connect(launcher):
    """Make clients that last for the session."""
    clients = []

    def make(namespace):
        clients.append(Client(namespace, launcher))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
