# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`compiled`: a method whose body is an equation, replaced by its kernel when first needed."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.kernels.kernel import Kernel
from kron_dynamics.kernels.specification import Argument, KernelSpecification

P = ParamSpec('P')
R = TypeVar('R')


class Compiled(Generic[P, R]):
    """Descriptor of a compiled method; `compiled` makes it.

    The first access on an instance stores the kernel's call among the instance's own attributes,
    where every later access finds it without coming here. The instance has `model`, `_kernels`, a
    collection, and `_kernel_prefix`, which goes before the method's name there.

    Attributes:
        on_demand: whether `prepare` leaves it out.
        inverts_mass: whether it needs the inverse of M, which a joint that moves no mass denies.
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
        """Describe a method; the given arguments have other lengths than n, or an attribute's."""
        self.on_demand = on_demand
        self.inverts_mass = inverts_mass
        self._in_body_axes = in_body_axes
        self._has_loops = has_loops
        self._has_inertia = has_inertia
        self._name = function.__name__
        self._body = function
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
        # The names in annotations may be defined after the class: not to be read any earlier.
        returned: Any = self._body.__annotations__.get('return')
        if isinstance(returned, str):
            returned = eval(returned, self._body.__globals__)
        return returned if hasattr(returned, '_fields') else None

    def specification(self, instance: Any) -> KernelSpecification:
        """Return what a collection has to know to make the kernel of an instance."""
        body: Callable[..., Any] = self._body

        def function(model: Any, *values: Any) -> Any:
            """Run the body on the instance's model or on one that stands for it."""
            other = copy.copy(instance)
            other.model = model
            return body(other, *values)

        name = f'{instance._kernel_prefix}{self._name}'
        result = self._result_type
        return KernelSpecification(
            *(name, self._lengths_for(instance), function, result),
            *(self._in_body_axes, self._has_loops, self._has_inertia),
        )

    def _lengths_for(self, instance: Any) -> list[Argument]:
        found: list[Argument] = []
        for name, length in self._arguments:
            known = getattr(instance, length) if isinstance(length, str) else length
            found.append(name if known is None else (name, known))
        return found

    def _equation(self, instance: Any, *values: Any) -> Any:
        """The same in any number system, for `taylor.expand`."""
        return self.specification(instance).function(instance._kernels.model, *values)

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
            InvalidInertiaError: it needs the inverse of M, which has none.
        """
        if instance is None:
            return self.__wrapped__
        if self.inverts_mass and instance.singular_mass is not None:
            raise InvalidInertiaError(instance.singular_mass)
        specification = self.specification(instance)
        kernel: Kernel = instance._kernels.get(specification)
        call: Any = kernel.call
        call.__name__ = self._name
        call.__module__ = self._body.__module__
        call.__doc__ = self.__doc__
        call.__signature__ = self._signature
        call.equation = functools.partial(self._equation, instance)
        call.lengths = specification.lengths(instance._kernels.model)
        # A class that overrides the method and comes here through super() keeps its own.
        if inspect.getattr_static(type(instance), self._name) is self:
            setattr(instance, self._name, call)
            # A pickle looks here before it looks at the class, which knows nothing of instances.
            call.__reduce_ex__ = lambda protocol: (getattr, (instance, self._name))
        return call


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
    """Decorate a method whose body is an equation: it is recorded and compiled.

    The body is run once with traced arguments, each of length n unless ``@compiled(force=3)``
    gives another, or ``@compiled(u='m')`` that of the instance's attribute m. A NamedTuple that it
    is annotated to return means several results. `has_inertia` is for what depends on the masses
    of bodies: payloads become an argument of it. `out`, a keyword of every such method, is the
    kernel's own and never reaches the body. `prepare` leaves out what is compiled on demand only,
    and what inverts M where a joint moves no mass. A result in the axes of the bodies is recorded
    with these very axes; for others the recorder may choose them. A body that goes through the
    tree in ways of its own has no loops to record.
    """
    if function is not None:
        return Compiled(function, {})
    return lambda function: Compiled(
        function, lengths, on_demand, in_body_axes, inverts_mass, has_loops, has_inertia
    )


def compiled_methods(cls: type) -> dict[str, Compiled[Any, Any]]:
    """Return a class's compiled methods by name, in the order of their definition."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    found = {name: inspect.getattr_static(cls, name) for name in names}
    return {name: method for name, method in found.items() if isinstance(method, Compiled)}


def state_without_kernels(instance: Any) -> dict[str, Any]:
    """Return what a pickle or a copy of an instance holds: all but its compiled methods."""
    made = compiled_methods(type(instance))
    return {name: value for name, value in vars(instance).items() if name not in made}


def prepare(*instances: Any, batches: bool = False) -> None:
    """Make the kernels of some instances, which share a collection, together and now.

    Args:
        instances: objects with compiled methods.
        batches: whether to make their code for batches, too.

    Raises:
        KernelBuildError: there is a compiler and it failed.
    """
    methods = [
        (instance, name, method)
        for instance in instances
        for name, method in compiled_methods(type(instance)).items()
        if not method.on_demand
        and not (method.inverts_mass and instance.singular_mass is not None)
    ]
    instances[0]._kernels.prepare(
        [method.specification(instance) for instance, _, method in methods], batches
    )
    for instance, name, _ in methods:
        getattr(instance, name)
