# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Output files of an analysis: the summary, and the series in the requested formats."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.outputs.csv_file import CsvFile
from kron_dynamics.bag.outputs.earlier_files import new_results
from kron_dynamics.bag.outputs.page.plot_data import DrawnRun, PlotData
from kron_dynamics.bag.outputs.page.report_page import write_page
from kron_dynamics.bag.outputs.provenance import Provenance, hashed, provenance_of
from kron_dynamics.bag.outputs.series import SeriesBlock, series_blocks
from kron_dynamics.bag.outputs.summary import write_summary
from kron_dynamics.bag.reading.own_results import OWN_FILE
from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.exceptions import BagError

# Formats with a description of their files.
FORMATS = {
    'json': 'summary.json, which is always written',
    'html': 'report.html: all results and plots for a browser',
    'csv': 'series of each run, TOPIC.csv',
    'parquet': 'series of each run, TOPIC.parquet',
    'mcap': 'analysis.mcap: series as topics for PlotJuggler and Foxglove',
}
SUMMARY = 'summary.json'
# Most bytes of a file's name without a number and a suffix; file systems allow 255 in all.
_LONGEST = 230
DEFAULT_FORMATS = ('html', 'csv')


class _Series(Protocol):
    """Receiver of the series of a run."""

    def add(self, block: SeriesBlock) -> None:
        """Add the next rows."""


def require_libraries(formats: Collection[str]) -> None:
    """Check that the libraries of the formats are installed, before anything is computed.

    Raises:
        BagError: a library is missing.
    """
    if 'parquet' in formats:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise BagError(
                "writing Parquet needs the Python package 'pyarrow' (pip install "
                f"'kron_dynamics[parquet]'): {error}"
            ) from error


def write_files(
    analysis: BagAnalysis,
    folder: Path,
    formats: Collection[str] = DEFAULT_FORMATS,
    options: Mapping[str, object] | None = None,
    notes: list[str] | None = None,
) -> list[str]:
    """Write an analysis, and return the names of its files.

    The series of each run are computed once for all formats, block by block. Unchanged files of an
    earlier analysis of the bag in the folder are replaced or removed, other ones are kept as
    NAME~.

    Args:
        analysis: the analysed bag.
        folder: folder to write to; created if it does not exist.
        formats: keys of `FORMATS`.
        options: options of the analysis, for summary and page; files as paths.
        notes: list to which a note about each file that was kept is added.

    Raises:
        BagError: the library of a format is missing.
        OSError: the files cannot be written.
    """
    require_libraries(formats)
    provenance = provenance_of(analysis, options or {})
    kept = [] if notes is None else notes
    bag = analysis.contents.path
    recording = provenance.files[: len(files_of(bag))]
    with new_results(folder, SUMMARY, kept, inputs=[bag], recording=recording) as work:
        files = _write_results(analysis, work, formats, provenance)
        listed = [hashed(work / name) for name in files]
        write_summary(analysis, provenance, listed, work / SUMMARY)
    return [SUMMARY, *files]


def _write_results(
    analysis: BagAnalysis, folder: Path, formats: Collection[str], provenance: Provenance
) -> list[str]:
    """Write all files except the summary, and return their names."""
    files = list[str]()
    drawn: list[DrawnRun] = []
    with ExitStack() as whole:
        bag = None
        if 'mcap' in formats:
            from kron_dynamics.bag.outputs.enriched_bag import EnrichedBag

            bag = whole.enter_context(EnrichedBag(folder / OWN_FILE))
            files.append(OWN_FILE)
        for run, stem in zip(analysis.runs, run_file_names(analysis), strict=True):
            takers = list[_Series]()
            if bag is not None:
                bag.begin(run.replay)
                takers.append(bag)
            if 'html' in formats:
                plots = PlotData(run.replay)
                takers.append(plots)
            files += _write_run(run, folder, stem, formats, takers)
            if 'html' in formats:
                drawn.append(plots.finish())
    if 'html' in formats:
        write_page(analysis, provenance, drawn, folder / 'report.html')
        files.insert(0, 'report.html')
    return files


def _write_run(
    run: RunAnalysis, folder: Path, stem: str, formats: Collection[str], takers: list[_Series]
) -> list[str]:
    """Write the files of a run, pass its series to the takers, and return the names."""
    files, replay = [], run.replay
    with ExitStack() as opened:
        if 'csv' in formats:
            files.append(f'{stem}.csv')
            takers.append(opened.enter_context(closing(CsvFile(replay, folder / files[-1]))))
        if 'parquet' in formats:
            from kron_dynamics.bag.outputs.parquet_file import ParquetFile

            files.append(f'{stem}.parquet')
            takers.append(opened.enter_context(closing(ParquetFile(replay, folder / files[-1]))))
        if takers:
            for block in series_blocks(run):
                for taker in takers:
                    taker.add(block)
    return files


def run_file_names(analysis: BagAnalysis) -> list[str]:
    """Return the file names of each run without suffix, made from its topic."""
    names: list[str] = []
    for run in analysis.runs:
        stem = _shortened(run.replay.run.topic.strip('/').replace('/', '.') or 'joint_states')
        same = sum(name == stem or name.startswith(f'{stem}~') for name in names)
        names.append(f'{stem}~{same + 1}' if same else stem)
    return names


def _shortened(stem: str) -> str:
    """Return a name that leaves room for a suffix; a hash tells names apart that begin alike."""
    name = stem.encode(errors='surrogateescape')
    if len(name) <= _LONGEST:
        return stem
    digest = f'-{hashlib.sha256(name).hexdigest()[:16]}'
    return name[: _LONGEST - len(digest)].decode('utf-8', 'ignore') + digest
