# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiler: found, failing, hanging, lying; and the processor it compiles for."""

from __future__ import annotations

import ctypes
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics import KernelBuildError
from kron_dynamics.kernels import Kernel, compiler, compiler_process
from kron_dynamics.kernels.compiler import compiler_identity, find_compiler, processor_identity
from kron_dynamics.kernels.compiler_process import compile_library


@pytest.fixture
def make_product(make_kernel: Any) -> Callable[[], Kernel]:
    return lambda: make_kernel('build', lambda x: [x[0] * x[1]], ('x', 2))


def test_compiler_is_taken_from_cc_with_its_options(fake_compiler: Any) -> None:
    path = fake_compiler('exit 0')
    assert find_compiler() == (str(path),)


def test_options_in_cc_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', 'cc -O1 "-I/two words"')
    command = find_compiler()
    assert command is not None
    assert Path(command[0]).name == 'cc'
    assert command[1:] == ('-O1', '-I/two words')


@pytest.mark.parametrize('value', ['', ' '])
def test_empty_cc_means_cc(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', value)
    command = find_compiler()
    assert command is not None
    assert Path(command[0]).name == 'cc'


def test_missing_compiler_is_none(no_compiler: None) -> None:
    assert find_compiler() is None


def test_identity_changes_with_the_compiler(fake_compiler: Any) -> None:
    path = fake_compiler('exit 0')
    first = compiler_identity((str(path),))
    assert compiler_identity((str(path), '-O1')) != first
    fake_compiler('exit 00')
    assert compiler_identity((str(path),)) != first


def test_failing_compiler_is_an_error_with_its_message(
    fake_compiler: Any, own_cache: Path, make_product: Any
) -> None:
    path = fake_compiler('echo "disk of the compiler is on fire" >&2; exit 3')
    with pytest.raises(KernelBuildError) as caught:
        make_product()
    assert str(caught.value) == f'{path} failed with exit code 3: disk of the compiler is on fire'

    left = {path.suffix for path in own_cache.iterdir()}
    assert left <= {'.lock'}


def test_what_a_compiler_says_at_length_is_one_line(
    fake_compiler: Any, own_cache: Path, make_product: Any
) -> None:
    fake_compiler('printf "first\\n  error\\n" >&2; seq 1000 >&2; exit 1')
    with pytest.raises(KernelBuildError, match='exit code 1: first error 1 2 3 ') as caught:
        make_product()
    assert len(str(caught.value)) < 800
    assert str(caught.value).endswith('...')


def test_what_a_compiler_repeats_hides_nothing(fake_compiler: Any, make_product: Any) -> None:
    fake_compiler('for i in $(seq 300); do echo "in a header" >&2; done; echo cause >&2; exit 1')
    with pytest.raises(KernelBuildError, match='exit code 1: in a header cause$'):
        make_product()


def test_failure_is_not_remembered(
    fake_compiler: Any, own_cache: Path, make_product: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler('exit 1')
    with pytest.raises(KernelBuildError):
        make_product()
    monkeypatch.delenv('CC')
    np.testing.assert_array_equal(make_product()([2.0, 3.0]), [6.0])


@pytest.mark.parametrize('what', ['exec sleep 600', 'while :; do :; done'])
def test_hanging_compiler_times_out(
    fake_compiler: Any,
    own_cache: Path,
    make_product: Any,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    fake_compiler(what)
    monkeypatch.setattr(compiler_process, '_TIME_LIMIT', 0.2)
    started = time.monotonic()
    with pytest.raises(KernelBuildError, match=r'longer than 0\.2 s'):
        make_product()
    assert time.monotonic() - started < 300


def test_compiler_that_waits_for_the_processor_is_waited_for(
    fake_compiler: Any, own_cache: Path, make_product: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = find_compiler()
    assert compiler is not None
    some = 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.4'
    fake_compiler(f'{some}; {some}; {some}; exec {compiler[0]} "$@"')
    monkeypatch.setattr(compiler_process, '_TIME_LIMIT', 1.0)
    np.testing.assert_array_equal(make_product()([2.0, 3.0]), [6.0])


def test_compiler_that_cannot_be_run(
    fake_compiler: Any, own_cache: Path, make_product: Any
) -> None:
    path = fake_compiler('')
    path.write_text('#!/nonexistent/interpreter\n', encoding='utf-8')
    with pytest.raises(KernelBuildError, match='could not be run'):
        make_product()


def test_compiler_that_writes_nothing(
    fake_compiler: Any, own_cache: Path, make_product: Any
) -> None:
    fake_compiler('exit 0')
    with pytest.raises(KernelBuildError):
        make_product()


def test_compiler_that_writes_no_library(
    fake_compiler: Any, own_cache: Path, make_product: Any
) -> None:
    fake_compiler('while [ "$1" != -o ]; do shift; done; echo garbage > "$2"')
    with pytest.raises(KernelBuildError):
        make_product()


def test_cc_that_cannot_be_parsed(
    own_cache: Path, make_product: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('CC', '"cc')
    with pytest.raises(KernelBuildError, match='CC'):
        make_product()


@pytest.mark.parametrize(
    ('given', 'level'), [(['-given'], ['-O2']), (['-O3'], []), (['cc', '-O', '-given'], [])]
)
def test_command_is_the_given_options_then_ours(
    given: list[str],
    level: list[str],
    fake_compiler: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = tmp_path / 'words'
    path = fake_compiler(
        f'printf "%s\\n" "$@" > "{log}"; while [ "$1" != -o ]; do shift; done; touch "$2"'
    )
    monkeypatch.setattr(compiler, 'flags', lambda: ('-ours', '-more'))
    target, folders = tmp_path / 'library.so', [tmp_path / 'with space', tmp_path / 'b']
    compile_library((str(path), *given), 'int x;', target, folders)
    assert log.read_text(encoding='utf-8').splitlines() == [
        *(*given, *level, '-ours', '-more', f'-I{folders[0]}', f'-I{folders[1]}'),
        *('-o', str(target), str(target.with_suffix('.c')), '-lm'),
    ]
    assert not target.with_suffix('.c').exists()


def test_headers_are_found_in_the_given_folders(tmp_path: Path) -> None:
    folder = tmp_path / 'with space'
    folder.mkdir()
    (folder / 'there.h').write_text('#define ANSWER 42\n', encoding='ascii')
    source = '#include "there.h"\nint answer(void) { return ANSWER; }\n'
    command = find_compiler()
    assert command is not None
    compile_library(command, source, tmp_path / 'a.so', [folder])
    assert ctypes.CDLL(str(tmp_path / 'a.so')).answer() == 42
    with pytest.raises(KernelBuildError, match=r'there\.h'):
        compile_library(command, source, tmp_path / 'b.so')
    assert {path.name for path in tmp_path.iterdir()} == {'with space', 'a.so'}


def test_what_the_compiler_says_is_in_the_error(tmp_path: Path) -> None:
    command = find_compiler()
    assert command is not None
    source = 'int f(void) { return nonsense; }\n'
    with pytest.raises(KernelBuildError, match=r'(?s)exit code 1: .*error: .*nonsense'):
        compile_library(command, source, tmp_path / 'a.so')
    assert not list(tmp_path.iterdir())


def test_whatever_a_hanging_compiler_has_started_ends_with_it(
    fake_compiler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / 'number'
    path = fake_compiler(f'sleep 600 & echo $! > "{log}"; wait')
    monkeypatch.setattr(compiler_process, '_TIME_LIMIT', 1.0)
    with pytest.raises(KernelBuildError, match='longer than 1 s to compile a kernel'):
        compile_library((str(path),), '', tmp_path / 'a.so')
    state = Path('/proc', log.read_text(encoding='ascii').strip(), 'stat')
    deadline = time.monotonic() + 120
    while state.exists() and state.read_text(encoding='ascii').rsplit(') ', 1)[1][0] != 'Z':
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_code_is_for_this_processor_where_these_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    command = find_compiler()
    assert command is not None
    identities = set()
    for machine, native in (('x86_64', True), ('aarch64', False), ('riscv64', False)):
        monkeypatch.setattr(platform, 'machine', lambda machine=machine: machine)
        assert ('-march=native' in compiler.flags()) == native
        assert set(compiler._FLAGS) <= set(compiler.flags())
        identities.add(compiler_identity(command))
    assert len(identities) == 2


def test_operations_are_not_rearranged(make_kernel: Any) -> None:
    kernel = make_kernel('order', lambda x: [(x[0] + 1e16) - 1e16], ('x', 1))
    np.testing.assert_array_equal(kernel(np.ones((40, 1))), np.zeros((40, 1)))


X86 = """processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
cpu MHz\t\t: 2596.096
core id\t\t: 0
flags\t\t: fpu vme avx2 avx512f

processor\t: 1
vendor_id\t: AuthenticAMD
"""
ARM = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd sve
CPU implementer\t: 0x41
CPU part\t: 0xd0c
"""


@pytest.fixture
def cpuinfo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str | None], str]]:
    """The processor's identity when the system describes it so; None: it does not."""
    read_text = Path.read_text

    def identity(text: str | None) -> str:
        def read(path: Path, *args: Any, **options: Any) -> str:
            if path != Path('/proc/cpuinfo'):
                return read_text(path, *args, **options)
            if text is None:
                raise FileNotFoundError(path)
            return text

        monkeypatch.setattr(Path, 'read_text', read)
        processor_identity.cache_clear()
        return processor_identity()

    yield identity
    processor_identity.cache_clear()


def test_processor_is_the_same_every_time() -> None:
    first = processor_identity()
    processor_identity.cache_clear()
    assert processor_identity() == first
    assert platform.machine() in first


@pytest.mark.parametrize('name', ['2596.096', 'core id\t\t: 0', 'processor\t: 1', '50.00'])
def test_what_changes_by_itself_is_no_other_processor(name: str, cpuinfo: Any) -> None:
    text = X86 if name in X86 else ARM
    assert name in text
    assert cpuinfo(text) == cpuinfo(text.replace(name, name[:-1] + '7'))


@pytest.mark.parametrize(
    'name', ['AuthenticAMD', '25', '17', 'avx512f', 'sve', '0x41', '0xd0c', 'fpu vme']
)
def test_another_model_or_feature_is_another_processor(name: str, cpuinfo: Any) -> None:
    text = X86 if name in X86 else ARM
    assert name in text
    assert cpuinfo(text) != cpuinfo(text.replace(name, 'other', 1))


def test_processor_without_a_description(cpuinfo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cpuinfo(None)
    assert platform.machine() in first
    monkeypatch.setattr(platform, 'processor', lambda: 'another')
    assert cpuinfo(None) != first
    assert cpuinfo('') != cpuinfo(X86)  # in a container: an empty file


def test_library_that_cannot_be_loaded_is_not_kept(
    fake_compiler: Any, own_cache: Path, make_product: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler('while [ "$1" != -o ]; do shift; done; echo garbage > "$2"')
    with pytest.raises(KernelBuildError, match='cannot be loaded'):
        make_product()
    assert not list(own_cache.glob('*.so'))
    monkeypatch.delenv('CC')
    np.testing.assert_array_equal(make_product()([2.0, 3.0]), [6.0])
