# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`compiled`: decorator that replaces a method, whose body is an equation, by its kernel."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.kernels.captured import captured_text
from kron_dynamics.kernels.kernel import Kernel
from kron_dynamics.kernels.origins import CAPTURED, is_ours
from kron_dynamics.kernels.specification import Argument, KernelSpecification

P = ParamSpec('P')
R = TypeVar('R')


class Compiled(Generic[P, R]):
    """Descriptor of a compiled method; made by `compiled`.

    The first access on an instance stores the kernel's call in the instance's `__dict__`, where
    later accesses find it without this descriptor. The instance must have `model`; `_kernels`, a
    `KernelCollection`; and `_kernel_prefix`, the prefix of the method's name in the collection.

    Attributes:
        on_demand: whether `prepare` leaves it out.
        inverts_mass: whether it needs the inverse of M, which a joint without moving mass lacks.
        body: the method that was decorated.
    """

    def __init__(
        self,
        function: Callable[Concatenate[Any, P], R],
        lengths: dict[str, int | str],
        on_demand: bool = False,
        in_body_axes: bool = False,
        inverts_mass: bool = False,
        has_loops: bool = True,
        has_inertia: bool = False,
    ) -> None:
        """Describe a method.

        Args:
            function: the method; its positional arguments are arrays.
            lengths: lengths of arguments that are not n, as numbers or names of attributes.
            on_demand: see `compiled`, as for the other arguments.
            in_body_axes: see `compiled`.
            inverts_mass: see `compiled`.
            has_loops: see `compiled`.
            has_inertia: see `compiled`.
        """
        self.on_demand = on_demand
        self.inverts_mass = inverts_mass
        self._in_body_axes = in_body_axes
        self._has_loops = has_loops
        self._has_inertia = has_inertia
        self._name = function.__name__
        self.body = function
        signature = inspect.signature(function)
        itself, *parameters = signature.parameters.values()
        self._signature = signature.replace(parameters=parameters)
        names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        if unknown := set(lengths) - set(names):
            raise TypeError(f'{self._name} has no argument {", ".join(sorted(unknown))}')
        self._arguments = [(name, lengths.get(name)) for name in names]

        @functools.wraps(function)
        def plain(instance: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
            bound: Callable[P, R] = self.__get__(instance)
            return bound(*args, **kwargs)

        self.__wrapped__: Callable[Concatenate[Any, P], R] = plain
        self.__doc__ = function.__doc__

    @functools.cached_property
    def _result_type(self) -> type[Any] | None:
        # Evaluated late, as names in annotations may be defined after the class.
        returned: Any = self.body.__annotations__.get('return')
        if isinstance(returned, str):
            returned = eval(returned, self.body.__globals__)
        return returned if hasattr(returned, '_fields') else None

    def specification(self, instance: Any) -> KernelSpecification:
        """Return the specification from which a collection makes the kernel of an instance.

        The attributes that a user's method reads are those at the time when its kernel was made.
        """
        known: KernelSpecification | None = vars(instance).get(CAPTURED, {}).get(self)
        if known is not None:
            return known
        theirs = not is_ours(self.body)
        # Bound, so that the attributes that it reads are found.
        method: Any = MethodType(self.body, copy.copy(instance) if theirs else instance)

        def function(model: Any, *values: Any) -> Any:
            """Run the body on the instance's model or on a model that represents it."""
            other = copy.copy(method.__self__)
            other.model = model
            return method.__func__(other, *values)

        name = f'{instance._kernel_prefix}{self._name}'
        result = self._result_type
        return KernelSpecification(
            *(name, self._lengths_for(instance), function, result),
            *(self._in_body_axes, self._has_loops, self._has_inertia),
            captured=captured_text(function) if theirs else '',
        )

    def _keep(self, instance: Any, specification: KernelSpecification) -> None:
        """Remember what an instance's kernel captured, as its attributes may change later."""
        if specification.captured:
            vars(instance).setdefault(CAPTURED, {})[self] = specification

    def _lengths_for(self, instance: Any) -> list[Argument]:
        found: list[Argument] = []
        for name, length in self._arguments:
            known = getattr(instance, length) if isinstance(length, str) else length
            found.append(name if known is None else (name, known))
        return found

    @overload
    def __get__(
        self, instance: None, owner: type | None = None
    ) -> Callable[Concatenate[Any, P], R]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[P, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the kernel's call for an instance, the plain function for a class.

        Raises:
            KernelBuildError: there is a compiler and it failed.
            InvalidInertiaError: the method needs the inverse of M, which is singular.
        """
        if instance is None:
            return self.__wrapped__
        if self.inverts_mass and instance.singular_mass is not None:
            raise InvalidInertiaError(instance.singular_mass)
        specification = self.specification(instance)
        kernel: Kernel = instance._kernels.get(specification)
        self._keep(instance, specification)
        call: Any = kernel.call
        call.__name__ = self._name
        call.__module__ = self.body.__module__
        call.__doc__ = self.__doc__
        call.__signature__ = self._signature
        call.equation = functools.partial(_equation, specification.function, instance)
        call.lengths = specification.lengths(instance._kernels.model)
        # Not stored if a subclass overrides the method and calls this one through super().
        if inspect.getattr_static(type(instance), self._name) is self:
            setattr(instance, self._name, call)
            # Pickle the call as an attribute of its instance.
            call.__reduce_ex__ = lambda protocol: (getattr, (instance, self._name))
        return call


def _equation(function: Callable[..., Any], instance: Any, /, *values: Any) -> Any:
    """Evaluate a kernel's function in any number system, for `taylor.expand`."""
    return function(instance._kernels.model, *values)


@overload
def compiled(function: Callable[Concatenate[Any, P], R], /) -> Compiled[P, R]: ...


@overload
def compiled(
    *,
    on_demand: bool = False,
    in_body_axes: bool = False,
    inverts_mass: bool = False,
    has_loops: bool = True,
    has_inertia: bool = False,
    **lengths: int | str,
) -> Callable[[Callable[Concatenate[Any, P], R]], Compiled[P, R]]: ...


def compiled(
    function: Callable[..., Any] | None = None,
    /,
    *,
    on_demand: bool = False,
    in_body_axes: bool = False,
    inverts_mass: bool = False,
    has_loops: bool = True,
    has_inertia: bool = False,
    **lengths: int | str,
) -> Any:
    """Decorate a method whose body is an equation, to be recorded and compiled.

    The body is run once on traced arguments. If it is annotated to return a NamedTuple, the
    kernel has several results. `out`, a keyword of every such method, is handled by the kernel
    and never reaches the body.

    Attributes of the instance and globals that the body reads are constants of the kernel, with
    the values that they have when it is made: later changes have no effect on it. What the body
    reads elsewhere does not tell kernels apart, such as a file, the environment, or a module that
    it imports itself: read them outside, and store them in an attribute or a global.

    Args:
        function: the method.
        on_demand: whether `prepare` leaves the method out.
        in_body_axes: whether results are in the axes of the bodies, which are then recorded
            unchanged; for other results the recorder may rotate them.
        inverts_mass: whether it needs the inverse of M; `prepare` leaves it out if M is singular.
        has_loops: whether the body traverses the tree by the model's methods only, so that loops
            can be recorded.
        has_inertia: whether it depends on the masses of bodies, so that payloads are an argument.
        lengths: lengths of arguments that are not n: a number as in ``@compiled(force=3)``, or
            an attribute of the instance as in ``@compiled(u='m')``.
    """
    if function is not None:
        return Compiled(function, {})
    return lambda function: Compiled(
        function, lengths, on_demand, in_body_axes, inverts_mass, has_loops, has_inertia
    )


def compiled_methods(cls: type) -> dict[str, Compiled[Any, Any]]:
    """Return the compiled methods of a class by name, in the order of their definition."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    found = {name: inspect.getattr_static(cls, name) for name in names}
    return {name: method for name, method in found.items() if isinstance(method, Compiled)}


def state_without_kernels(instance: Any) -> dict[str, Any]:
    """Return the state of an instance for pickling and copying: all but its compiled methods."""
    made = {*compiled_methods(type(instance)), CAPTURED}
    return {name: value for name, value in vars(instance).items() if name not in made}


def prepare(*instances: Any, batches: bool = False, names: Collection[str] | None = None) -> None:
    """Make the kernels of some instances, which share a collection, in one go.

    Args:
        instances: objects with compiled methods.
        batches: whether to compile their code for batches, too.
        names: methods that are made if they are compiled; None for all but those on demand.

    Raises:
        KernelBuildError: there is a compiler and it failed.
    """
    methods = [
        (instance, name, method)
        for instance in instances
        for name, method in compiled_methods(type(instance)).items()
        if (name in names if names is not None else not method.on_demand)
        and not (method.inverts_mass and instance.singular_mass is not None)
    ]
    specifications = [method.specification(instance) for instance, _, method in methods]
    instances[0]._kernels.prepare(specifications, batches)
    for (instance, name, method), specification in zip(methods, specifications, strict=True):
        method._keep(instance, specification)
        getattr(instance, name)
