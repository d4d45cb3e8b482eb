# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a kernel cache of their own, small robots, states, comparisons."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hurried_compiler import hurry
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from public_vectors import reads_vectors
from random_urdfs import random_urdfs

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.model import RobotModel, load_model

PROJECT = Path(__file__).parents[1]
ROBOTS = PROJECT / 'test' / 'robots'
# Names a folder for the kernels of all parts of a run.
KERNELS = 'KRON_DYNAMICS_TEST_KERNELS'
# Of several processes that share the tests, the name of this one: gw0, gw1, ...
WORKER = os.environ.get('PYTEST_XDIST_WORKER', '')
# The compiler that is asked for.
COMPILER = os.environ.get('CC')
# Folders of tests about compiled code.
ABOUT_CODE = ('kernels', 'export')
NAMES = sorted(path.stem for path in ROBOTS.glob('*.urdf'))
# The files that take longest, which processes that share the tests begin with.
LONGEST = (
    *('test_reference_vectors.py', 'test_loops_that_bend.py', 'test_campaign_command.py'),
    *('test_tuned_loops.py', 'test_library.py', 'test_pinocchio_oracle.py'),
    *('test_long_recordings.py', 'test_retime.py', 'test_loops.py', 'test_parsa_2007.py'),
    *('test_caller_over_time.py', 'test_identify.py', 'test_robot.py', 'test_sources.py'),
    *('test_loops_of_bending_links.py', 'test_vibration_of_the_boom.py', 'test_symbolic.py'),
    *('test_known_truth.py', 'test_tune_command.py', 'test_gravity_direction.py'),
    *('test_closed_loop_dynamics.py', 'test_series.py', 'test_identify_loads.py'),
    *('test_payload.py', 'test_modal_content.py', 'test_lanes.py', 'test_flexible_load.py'),
    *('test_identify_command.py', 'test_fuzz.py', 'test_constraints_page.py'),
    *('test_analyze_command.py', 'test_interrupts.py', 'test_negrean_2012.py'),
    # Those with ROS.
    *('test_demo.py', 'test_commands.py', 'test_closed_loops.py', 'test_simulator_node.py'),
    *('test_fault_stop.py', 'test_flexible_simulator.py', 'test_set_payload.py'),
    *('test_examples.py', 'test_description.py', 'test_stacker_reclaimer.py'),
    *('test_tuned_files.py', 'test_main.py', 'test_start_up.py', 'test_parameters.py'),
)

# The same examples in every run: a failure in CI is a failure on the desk.
settings.register_profile(
    'repeatable',
    derandomize=True,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile('long', settings.get_profile('repeatable'), max_examples=100)
settings.load_profile('repeatable')


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        '--long',
        action='store_true',
        help='also what is marked long: every robot that can be had, more examples',
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption('--long'):
        settings.load_profile('long')


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that have nothing for a part of tools/test.sh.

    Every process that shares the tests would import them, which takes longer than the tests of
    many files.
    """
    if not collection_path.name.startswith('test_') or collection_path.is_dir():
        return None
    text = collection_path.read_text(encoding='utf-8')
    part = config.option.markexpr
    if part == 'not ros' and re.search(
        r'^pytestmark = \[?pytest\.mark\.ros\b', text, re.MULTILINE
    ):
        return True
    return True if part == 'ros' and 'pytest.mark.ros' not in text else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every second process that shares the tests begin with the last file of each folder.

    Their assertions are rewritten, which takes longer than their import: what one process has
    written, the other reads.
    """
    report = yield
    if isinstance(collector, pytest.Directory) and int(WORKER[2:] or 0) % 2:
        report.result.reverse()
    return report


@functools.cache
def group_of(file: str) -> str:
    """What one process runs alone where several share the tests.

    The tests of a file share fixtures; those of a dynamics_node share its process, and those of
    the vectors the record of what has been read.
    """
    path = PROJECT / file
    if path.parent.name == 'dynamics_node':
        return str(path.parent)
    return 'vectors' if reads_vectors(path) else str(path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests of several processes out by groups, in the order of `place_of`."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid.partition('::')[0])

        def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
            # Called after every test: groups that are done are not counted again and again.
            for done in [group for group, tests in workload.items() if all(tests.values())]:
                del workload[done]
            return super()._pending_of(workload)

    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Leave out long tests unless they are asked for, and order the others, as the last word.

    All processes that share the tests must have them in the same order.
    """
    if not config.getoption('--long'):
        left_out = [item for item in items if item.get_closest_marker('long')]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker('long')]
    if WORKER:
        items.sort(key=lambda item: item.path)
    yield
    items.sort(key=place_of)


def pytest_collection_finish() -> None:
    """Keep Python from looking through the thousands of tests again whenever it frees memory.

    Recording an equation makes many objects that stay, so that it would look often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def place_of(item: pytest.Item) -> tuple[int, ...]:
    """Sort key of a test.

    Nodes come last, when nothing else keeps the computer busy; what looks at the vectors, after
    all that read them. Where processes share the tests, no long file may be left for the end.
    """
    name = item.path.name
    early = LONGEST.index(name) if WORKER and name in LONGEST else len(LONGEST)
    ros = item.get_closest_marker('ros') is not None
    return ros, early, name == 'test_vectors_are_read.py'


@pytest.fixture(scope='session', autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache that starts empty, serves the whole session and leaves the user's alone.

    Processes that share the tests share it, too; so do the parts of tools/test.sh.
    """
    if os.environ.get(KERNELS):
        folder = Path(os.environ[KERNELS])
    elif WORKER:
        folder = tmp_path_factory.getbasetemp().parent / 'kernels'
        folder.mkdir(mode=0o700, exist_ok=True)
    else:
        folder = tmp_path_factory.mktemp('kernels')
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, 'KRON_DYNAMICS_CACHE', str(folder))
        yield folder


@pytest.fixture(scope='module', autouse=True)
def compiler_where_it_matters(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide the compiler from files that are marked `interpreted`; let it hurry for most others.

    It takes longer than their tests, and others hold what it makes against the same code.
    """
    folders = request.path.relative_to(PROJECT).parts
    with pytest.MonkeyPatch.context() as patch:
        hurried = request.node.get_closest_marker('hurried') or not {*ABOUT_CODE} & {*folders}
        if hurried and not request.config.getoption('--long'):
            hurry(patch)
        with compiler_as_marked(request.node):
            yield


@contextlib.contextmanager
def compiler_as_marked(node: pytest.Item | pytest.Collector) -> Iterator[None]:
    """Hide the compiler from what is `interpreted`; for what is `compiled` it is the user's."""
    with pytest.MonkeyPatch.context() as patch:
        if node.config.getoption('--long'):
            pass
        elif node.get_closest_marker('compiled'):
            patch.delenv('CC', raising=False)
            if COMPILER is not None:
                patch.setenv('CC', COMPILER)
        elif node.get_closest_marker('interpreted'):
            patch.setenv('CC', 'no-compiler')
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hide the compiler from single tests that are marked; show it to what is `compiled`."""
    with compiler_as_marked(item):
        return (yield)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20190301)


@pytest.fixture(scope='session')
def robot_text() -> Callable[[str], str]:
    """URDF text of one of the robots beside this file."""
    return lambda name: (ROBOTS / f'{name}.urdf').read_text(encoding='utf-8')


@pytest.fixture(scope='session', params=NAMES)
def model(request: pytest.FixtureRequest, robot_text: Callable[[str], str]) -> RobotModel:
    """Every small robot in turn."""
    return load_model(robot_text(request.param))


@pytest.fixture(scope='session')
def random_state() -> Callable[..., SimpleNamespace]:
    """State of n coordinates from a generator, away from zero and other special places."""

    def draw(n: int, rng: np.random.Generator, *batch: int) -> SimpleNamespace:
        q, qd, qdd, qddd = rng.uniform(-1.3, 1.3, (4, *batch, n))
        return SimpleNamespace(q=q, qd=qd, qdd=qdd, qddd=qddd)

    return draw


@pytest.fixture
def state(
    model: RobotModel, rng: np.random.Generator, random_state: Callable[..., SimpleNamespace]
) -> SimpleNamespace:
    """A state of `model`: q, qd, qdd, qddd."""
    return random_state(model.n, rng)


@pytest.fixture(scope='session')
def assert_close() -> Callable[..., None]:
    """Assert that all entries agree, relative to the largest; a floor is for expected zeros."""

    def check(actual: Any, expected: Any, rel: float = 1e-12, floor: float = 0.0) -> None:
        actual, expected = np.asarray(actual, float), np.asarray(expected, float)
        assert actual.shape == expected.shape
        scale = max(np.abs(expected).max(initial=0.0), floor)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=rel * scale)

    return check


@pytest.fixture(scope='session')
def derivative() -> Callable[..., np.ndarray]:
    """Derivative of an array function by five-point differences; the new axis is the last.

    Of a function of a number at 0, or, where x is given, of a function of an array at x.
    """

    def along(function: Callable[[float], Any], h: float) -> np.ndarray:
        near, far = (np.subtract(function(k * h), function(-k * h)) for k in (1, 2))
        return (8 * near - far) / (12 * h)

    def differentiate(function: Callable[[Any], Any], x: Any = None, h: float = 1e-3) -> Any:
        if x is None:
            return along(function, h)
        columns = [along(lambda t, e=e: function(x + t * e), h) for e in np.eye(len(x))]
        return np.stack(columns, axis=-1)

    return differentiate


class FloatFrame:
    """`RobotFrame` on floats: the same equations without tracing and compiling."""

    FUNCTIONS = {
        'pose': 'forward_kinematics',
        'velocity': 'frame_velocity',
        'acceleration': 'frame_acceleration',
        'jerk': 'frame_jerk',
    }

    def __init__(self, model: RobotModel, link: str) -> None:
        self.model, self.name = model, link

    def __getattr__(self, quantity: str) -> Callable[..., Any]:
        function = getattr(kinematics, self.FUNCTIONS.get(quantity, quantity))
        return lambda *arrays: function(self.model, *arrays, self.name)


class FloatRobot:
    """`Robot` on floats."""

    def __init__(self, model: RobotModel) -> None:
        self.model, self.n, self.joint_names = model, model.n, model.joint_names

    def __getattr__(self, quantity: str) -> Callable[..., Any]:
        function = getattr(dynamics, quantity)
        return lambda *arrays: function(self.model, *arrays)

    def frame(self, link: str) -> FloatFrame:
        return FloatFrame(self.model, link)


@pytest.fixture(scope='session', params=['float', 'compiled'])
def make_robot(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """One suite, two back ends: the equations on floats and their compiled kernels.

    The same text, gravity and order give the same object, whose kernels are compiled once.
    """
    known: dict[Any, Any] = {}
    back_end = FloatRobot if request.param == 'float' else kd.Robot

    def make(text: str, gravity: Any = (0.0, 0.0, -9.80665), joints: Any = None) -> Any:
        key = (text, tuple(gravity), None if joints is None else tuple(joints))
        if key not in known:
            known[key] = back_end(load_model(text, gravity=gravity, joints=joints))
        return known[key]

    return make


@pytest.fixture(scope='session')
def random_trees() -> st.SearchStrategy[str]:
    """Strategy for URDF texts: ``data.draw(random_trees)``."""
    return random_urdfs()


@pytest.fixture(scope='session')
def large_trees() -> st.SearchStrategy[str]:
    """The same with up to twelve joints."""
    return random_urdfs(max_joints=12)


@pytest.fixture(scope='session')
def random_robots(
    random_trees: st.SearchStrategy[str], random_state: Callable[..., SimpleNamespace]
) -> st.SearchStrategy[tuple[RobotModel, SimpleNamespace]]:
    """Strategy for pairs of a random tree's model and a state of it."""

    @st.composite
    def draw_both(draw: st.DrawFn) -> tuple[RobotModel, SimpleNamespace]:
        model = load_model(draw(random_trees))
        generator = np.random.default_rng(draw(st.integers(0, 2**16)))
        return model, random_state(model.n, generator)

    return draw_both()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the robot descriptions that were refused, and why."""
    refused = [
        text
        for report in terminalreporter.getreports('passed')
        for key, text in report.user_properties
        if key == 'refused'
    ]
    if refused:
        terminalreporter.section('refused robot descriptions')
        for text in refused:
            terminalreporter.write_line(text)
