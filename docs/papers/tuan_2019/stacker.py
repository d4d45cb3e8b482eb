# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The stacker of [T] in the paper's notation, and an exact state for checks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import kron_dynamics as kd
from kron_dynamics.symbolic import SymbolicRobot, simplified
from kron_dynamics.symbolic.frame import SymbolicRelativeFrame

ROOT = Path(__file__).resolve().parents[3]
URDF = ROOT / 'urdf' / 'paper_stacker.urdf'
# A grab on frame 3 with oblique axis, so that no term of relative motion is zero; not in [T].
GRAB = """
  <joint name="q4" type="continuous">
    <parent link="frame_3"/> <child link="grab"/>
    <origin xyz="0.5 -0.25 0.75"/> <axis xyz="0 0.6 0.8"/>
  </joint>
  <link name="grab"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="jaw" type="fixed"><parent link="grab"/> <child link="frame_4"/>
    <origin xyz="0.5 1.25 -0.75" rpy="1.5707963267948966 0 0"/></joint>
  <link name="frame_4"/>
</robot>"""
# -y0 points up, so gravity acts along +y0.
GRAVITY = (0, 9.81, 0)

# Symbols of the program and of the paper for the parameters of the URDF. The axes of the mast's
# link and of the paper's frame 2 differ by a right angle: y and z are exchanged.
LETTERS = {
    'm_carriage': 'm1',
    'm_mast': 'm2',
    'm_boom': 'm3',
    'l_q3_z': 'd2',
    'p_frame_2_z': 'd2',
    'p_frame_3_x': 'a3',
    'c_mast_z': 'd2 + y_G2',
    'c_boom_x': 'l3',
    'I_mast_xx': 'I2x',
    'I_mast_zz': 'I2y',
    'I_mast_yy': 'I2z',
    'I_boom_xx': 'I3x',
    'I_boom_yy': 'I3y',
    'I_boom_zz': 'I3z',
    'g': 'g',
}
m1, m2, m3, d2, a3, l3, y_G2, g = sympy.symbols('m1 m2 m3 d2 a3 l3 y_G2 g')
I2x, I2y, I2z, I3x, I3y, I3z = sympy.symbols('I2x I2y I2z I3x I3y I3z')
P, D = sympy.symbols('P D')
PRODUCTS = {P: m3 * l3, D: m3 * l3**2 + I3y - I3x}
Q = sympy.symbols('q1 q2 q3')
q4 = sympy.Symbol('q4')
S2, C2, S3, C3 = sympy.sin(Q[1]), sympy.cos(Q[1]), sympy.sin(Q[2]), sympy.cos(Q[2])

_LATEX = {
    symbol: rf'{symbol.name[0]}_{{{symbol.name[1:].strip("_")}}}'
    for symbol in (m1, m2, m3, d2, a3, l3, y_G2, I2x, I2y, I2z, I3x, I3y, I3z)
}


def load_stacker() -> SymbolicRobot:
    """Return the stacker with symbols for its parameters."""
    return kd.load(URDF, gravity=GRAVITY).symbolic.with_parameters('symbolic')


def in_letters(matrix: Any) -> Any:
    """Return a closed form of the program, simplified, in the paper's notation."""
    renamed = {
        sympy.Symbol(ours): sympy.sympify(theirs, {'y_G2': y_G2, 'g': g})
        for ours, theirs in LETTERS.items()
    }
    return simplified(sympy.ImmutableMatrix(matrix).xreplace(renamed), Q)


def with_products(matrix: Any) -> Any:
    """Return a matrix with P and D substituted for their expressions."""
    return matrix.xreplace({simplified(PRODUCTS[D]): D}).subs(PRODUCTS[P], P)


def tex(expression: Any) -> str:
    """Return LaTeX with S_2 for sin q_2 and so on."""
    text = sympy.latex(expression, symbol_names=_LATEX, fold_func_brackets=True)

    def short(match: re.Match[str]) -> str:
        function, power, index = match.groups()
        return f'{function[0].upper()}_{index}' + (f'^{power}' if power else '')

    return re.sub(r'\\(sin|cos)(?:\^\{(\d)\})? \{q_\{(\d)\}\}', short, text)


class State:
    """A state of the stacker, optionally with a grab, with the parameters of the URDF.

    All numbers are rational.

    Attributes:
        robot: the stacker with exact parameters.
        qd: rates.
        qdd: accelerations.
    """

    def __init__(self, grab: bool = False) -> None:
        """Choose a state whose sines and cosines are rational."""
        text = URDF.read_text(encoding='utf-8')
        if grab:
            text = text.replace('</robot>', GRAB)
        self.robot = kd.loads(text, gravity=GRAVITY).symbolic
        n = self.robot.model.n
        numbers = kd.load(URDF, gravity=GRAVITY).symbolic.with_parameters('symbolic').values
        self._values = {
            sympy.sympify(theirs): numbers[sympy.Symbol(ours)]
            for ours, theirs in LETTERS.items()
            if theirs.isidentifier()
        }
        self.qd = _rationals('1/2', '-1/3', '1/4', '-2/5')[:n]
        self.qdd = _rationals('1/5', '2/3', '-1/2', '3/7')[:n]
        turns = S2, C2, S3, C3, sympy.sin(q4), sympy.cos(q4)
        sides = _rationals('3/5', '4/5', '5/13', '12/13', '8/17', '15/17')
        trigonometry = zip(turns, sides, strict=True)
        self._values |= {Q[0]: sympy.Integer(2), **dict(trigonometry)}

    @property
    def q(self) -> Any:
        """Symbols of the coordinates, shape (3,), or (4,) with a grab."""
        return np.array((*Q, q4)[: self.robot.model.n], dtype=object)

    def at(self, expressions: Any) -> Any:
        """Return the values of expressions at this state, in the same shape."""
        array = np.array(expressions, dtype=object)
        values = [sympy.sympify(x).xreplace(self._values) for x in array.flat]
        assert all(value.is_Rational for value in values)
        return np.array(values, dtype=object).reshape(array.shape)

    def evaluated(self, function: Any, *arguments: Any) -> Any:
        """Return the value of a program's function of q and further arguments at this state."""
        return self.at(self.robot.evaluate(function, tuple(self.q), *arguments))

    def motion(self, frame: SymbolicRelativeFrame) -> Any:
        """Return ((v, omega), (a, alpha)) of a relative frame at this state."""
        robot = self.robot
        rates = dict(zip((*robot.qd, *robot.qdd), (*self.qd, *self.qdd), strict=True))
        forms = frame.velocity(), frame.acceleration()
        motions = [self.at(form.xreplace(rates)).reshape(6) for form in forms]
        return [(motion[:3], motion[3:]) for motion in motions]

    def largest(self, expressions: Any) -> Any:
        """Return the largest magnitude of expressions at this state."""
        return max(abs(value) for value in self.at(expressions).flat)


def _rationals(*texts: str) -> Any:
    return np.array([sympy.Rational(text) for text in texts], dtype=object)
