# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of all pages: self-contained HTML files that neither load nor send anything."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

# Whatever a recording contains, the browser must not load or send anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write_html(path: Path, title: str, styles: str, body: Sequence[str]) -> None:
    """Write a page.

    Args:
        path: file to write.
        title: title of the page, plain text.
        styles: style sheet.
        body: HTML of the body, including scripts.
    """
    page = [
        '<!DOCTYPE html>',
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<title>{escape(title)}</title>',
        f'<style>{styles}</style>',
        '</head><body>',
        *body,
        '</body></html>',
    ]
    # Names of files may not be valid Unicode.
    path.write_text('\n'.join(page) + '\n', encoding='utf-8', errors='backslashreplace')


def asset(name: str) -> str:
    """Return the text of a file in this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding='utf-8')
