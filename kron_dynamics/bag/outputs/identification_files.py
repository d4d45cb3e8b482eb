# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Output of an identification: text report, JSON, URDF and YAML."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from itertools import chain
from pathlib import Path

import yaml

from kron_dynamics import __version__
from kron_dynamics.bag.outputs.earlier_files import INPUTS, OUTPUTS, new_results, outputs_of
from kron_dynamics.bag.outputs.gain_lines import gain_lines
from kron_dynamics.bag.outputs.json_values import json_text
from kron_dynamics.bag.outputs.provenance import LIBRARIES, hashed
from kron_dynamics.bag.outputs.text_tables import number, percent, table
from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.identification.description import beside_the_urdf, identified_urdf
from kron_dynamics.identification.results import Identification, Residual
from kron_dynamics.model.robot_model import RobotModel

SCHEMA = 1
SUMMARY = 'identification.json'
MODELS = {
    'urdf': 'URDF as it was',
    'least_squares': 'weighted least squares',
    'identified': 'identified',
    'urdf_alone': 'new URDF alone',
}
# Parameters that are not excited and changed by less than this share are left out of the table.
UNCHANGED = 1e-3


def identification_report(
    found: Identification, scale: Mapping[str, float | str] | None = None
) -> str:
    """Return the report for a terminal.

    Args:
        found: the identified model.
        scale: factors or units by joint and quantity with which the recordings were read.
    """
    structure = found.structure
    lines = [
        f'trained on {found.training:.4g} s, compared on {found.validation:.4g} s ({found.split})',
        f'rows: {structure.form} form, averaged over +-{structure.width:.3g} s; friction: '
        f'{", ".join(structure.terms)}; description counts {found.strength:g}',
        *(f'chosen: {line}' for line in found.choices),
        f'condition {found.condition:.3g} of {len(found.base)} base parameters with friction; '
        f'the inertia of the robot has {found.structural_rank}',
        '',
        *gain_lines(found.joint_names, found.gains, scale or {}),
        'left of the held-out efforts (share of their norm)',
        *_residual_table(found, found.residuals),
        '',
        'the same without averaging, noise included',
        *_residual_table(found, found.unfiltered),
        '',
        'parameters (95 % interval)',
        *_parameter_table(found),
    ]
    lines += [f'note: {note}' for note in found.notes]
    return '\n'.join(lines)


def _residual_table(found: Identification, residuals: Mapping[str, Residual]) -> list[str]:
    names = [name for name in MODELS if name in residuals]
    rows = [['joint', 'excited', *(MODELS[name] for name in names)]]
    for joint, label in enumerate(found.joint_names):
        shares = [percent(float(residuals[name].joints[joint])) for name in names]
        rows.append([label, f'{found.excited[joint]:.0f}', *shares])
    rows.append(['all', '', *(percent(residuals[name].total) for name in names)])
    return table(rows)


def _parameter_table(found: Identification) -> list[str]:
    rows = [['parameter', 'unit', 'before', 'after', 'from', 'to', '']]
    for item in found.parameters:
        moved = abs(item.after - item.before) > UNCHANGED * max(abs(item.before), 1e-6)
        if item.is_excited or moved:
            shown = [number(v) for v in (item.before, item.after, item.low, item.high)]
            mark = '' if item.is_excited else 'not excited'
            rows.append([item.name, item.unit, *shown, mark])
    return table(rows)


def write_identification(
    found: Identification,
    model: RobotModel,
    urdf: Path,
    text: str,
    bags: Sequence[Path],
    options: Mapping[str, object],
    folder: Path,
) -> tuple[list[str], list[str], list[str]]:
    """Write new URDF, YAML with parameters that URDF lacks, and summary.

    Results of other descriptions in the folder stay, since one may be the description of this run.

    Returns:
        names of the files, notes on the description, and notes on files that were not overwritten.

    Args:
        found: the identified model.
        model: the robot as described.
        urdf: the description's file.
        text: its contents, xacro expanded.
        bags: the recordings used.
        options: options of the identification.
        folder: folder to write to.
    """
    description, notes = identified_urdf(text, model, found)
    name = f'{urdf.stem}_identified'
    texts = {
        f'{name}.urdf': description,
        f'{name}.yaml': yaml.safe_dump(beside_the_urdf(found), sort_keys=False),
    }
    described, recording = (
        [hashed(path) for path in paths if path.is_file()]
        for paths in ([urdf], chain.from_iterable(map(files_of, bags)))
    )
    summary = {
        'schema': SCHEMA,
        INPUTS: [asdict(each) for each in (*described, *recording)],
        'options': dict(options),
        'versions': {
            'kron_dynamics': __version__,
            'python': platform.python_version(),
            **{library: metadata.version(library) for library in LIBRARIES},
        },
        **asdict(found),
        'notes': [*found.notes, *notes],
    }
    kept = list[str]()
    with new_results(
        folder, SUMMARY, kept, removes=False, inputs=[urdf], recording=recording
    ) as work:
        for each, content in texts.items():
            (work / each).write_text(content, encoding='utf-8')
        summary[OUTPUTS] = outputs_of(work, texts)
        (work / SUMMARY).write_text(json_text(summary), encoding='utf-8')
    return [*texts, SUMMARY], list(notes), kept
