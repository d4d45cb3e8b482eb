# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The equations of the papers, and those that are not computed as printed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@cache
def numbers(*ranges: str) -> tuple[str, ...]:
    """Return the numbers of ranges, such as '3', '5-7' and 'A-1-8'."""
    found = []
    for text in ranges:
        letter = text[:2] if text[0] in 'AB' else ''
        first, _, last = text[len(letter) :].partition('-')
        found += [f'{letter}{k}' for k in range(int(first), int(last or first) + 1)]
    return tuple(found)


@dataclass(frozen=True)
class Paper:
    """The equations of a paper; those in neither table are computed as printed.

    Attributes:
        title: authors and title.
        numbers: all numbers, in the order of the text.
        corrected: corrections, by ranges of numbers.
        no_computation: reasons why there is nothing to compute, by ranges.
        examples: equations of one machine, which the page computes by general functions.
    """

    title: str
    numbers: tuple[str, ...]
    corrected: dict[tuple[str, ...], str]
    no_computation: dict[tuple[str, ...], str]
    examples: tuple[str, ...] = ()

    @staticmethod
    def listed(ranges: tuple[str, ...]) -> tuple[str, ...]:
        """Return the numbers of the ranges in a key of a table."""
        return numbers(*ranges)

    @classmethod
    def note(cls, table: dict[tuple[str, ...], str], number: str) -> str | None:
        """Return the note of a table for a number; None if there is none."""
        for ranges, words in table.items():
            if number in cls.listed(ranges):
                return words
        return None


PAPERS = {
    'T': Paper(
        title='N. T. M. Tuan, P. T. Chung, D. D. Khoa, P. D. Phong, *Kinematic and dynamic '
        'analysis of multibody systems using the Kronecker product*, 2019',
        numbers=numbers('1-107'),
        examples=numbers('102-107'),
        corrected={
            ('17',): 'the tilde covers the whole product A a',
            ('36',): 'rows z^T dx/dq and x^T dy/dq',
            ('43',): 'dA/dt p^(b) = dA/dt A^T A p^(b)',
            ('45',): 'block tilde over J_R',
            ('83',): 'only one factor d',
            ('85',): 'alpha instead of mu',
            ('86-88',): 'block tildes over all J_R',
            ('89',): 'tilde over the whole product A J_R; both sides times qd (x) qd',
            ('90',): 'tilde over the whole product A J_R',
            ('103',): 'sin q_3 in (2, 9)',
            ('106',): 'M_22 and M_33',
            ('107',): 'the fourth entry of row 2',
        },
        no_computation={
            ('6',): 'names of the columns',
            ('22',): 'names of the axes',
            ('25-27',): 'dependence on q',
        },
    ),
    'P': Paper(
        title="K. Parsa, *The Lagrangian derivation of Kane's equations*",
        numbers=numbers('1-46', 'A-1-8', 'B-9-19'),
        corrected={
            ('26',): 'only for a constant g',
            ('41',): '(d omega/dq) B, 3 x m',
            ('46',): 'with gamma = dB/dt u + dd/dt written out',
            ('A-2', 'B-19'): '2 edot times e* = 2 e* star edot',
            ('A-8',): 'times outside, star inside',
            ('B-16',): 'D e star = e* times D and D e times = e* star D',
        },
        no_computation={},
    ),
    'N': Paper(
        title='I. Negrean, K. Kacso, F. Rusu, *Formulations in advanced systems dynamics*',
        numbers=numbers('1-78'),
        examples=numbers('68-78'),
        corrected={
            (
                '6',
            ): '{E q + k~ (1 - cos q*) + k~^2 (q - sin q*)} v, or sin q* instead of the first q',
            (
                '8',
                '10-11',
                '18',
                '33',
                '38',
                '45',
            ): 'ordered products instead of exp of sums',
            ('9',): 'the sum ends at j = i - 1',
            ('14',): 'ordered products instead of exp of sums; products of ME(V_i32) from m = i',
            ('16',): 'Delta_i k_i',
            ('20',): 'dots restored; 2 Vdot qdd',
            ('22',): 'dots restored; derivatives of the whole products',
            ('23',): 'dots restored; 2 Jdot qdd; derivatives of the whole products',
            ('50',): 'dots restored; form of the general motion for every motion',
            ('51',): 'dots restored',
            ('52',): 'dots restored',
            ('53',): 'dots restored; terms free of the jerk',
            ('54',): '+ omega x I omega; partial angular velocities',
            (
                '59',
            ): 'm-th time derivative of T with respect to that of q, and T with respect to q',
            ('60',): 'with respect to the time derivative of q of order m + 2',
            ('61',): 'dots restored; inertial components',
            ('62',): 'dots restored; E_A^(1) complete',
            ('63',): 'dots restored',
            ('64-65',): 'with the complete E_A^(1)',
            ('67',): 'E_A^(2) with respect to the time derivative of q of order m + 3; the middle '
            'member lacks the rate of Q_g',
            ('69',): 'signs of the last two terms',
            ('71',): 'without one factor qdd_1',
            ('75',): 'I_z (9 qd_3^2 qdd_3^2 + qd_3^6) / 2 is missing',
            ('77',): 'without g',
        },
        no_computation={
            ('26',): 'names of the coordinates of a body',
            ('48',): 'definition of the inertia',
            ('55',): 'dependence on q',
            ('66',): 'wrong: half of dE_A^(1)/dqd is not a function of M',
        },
    ),
    'K': Paper(
        title='N. V. Khang, D. C. Dat, N. T. M. Tuan, *Taylor expansion for matrix functions of '
        'vector variable using the Kronecker product*, 2019',
        numbers=numbers('1-71'),
        corrected={
            ('13', '16'): 'derivatives of scalars are rows',
            ('34',): 'E of size n^j',
            ('49',): 'E of size p n in the last term',
            ('51',): 'y - y_0 at the end of the last line',
            ('54',): 'q_e instead of w',
            ('62',): 'follows from (41), not (43)',
        },
        no_computation={
            ('1',): 'one variable, (36) with n = 1',
            ('22', '24', '37', '42'): 'a vector or a matrix by its components',
            ('26', '28'): 'long forms of (27)',
            ('29-33', '35'): 'steps of the proof of (27)',
            ('38-40',): 'steps towards (41)',
            ('43-44', '46'): 'steps towards (47)',
            ('56-59',): 'names of the deviations',
        },
    ),
}
