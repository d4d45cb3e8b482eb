# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What all pages share: one file that looks alike, and loads and sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

# Whatever a recording holds, the browser neither loads nor sends anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write_html(path: Path, title: str, styles: str, body: Sequence[str]) -> None:
    """Write a page.

    Args:
        path: file to write.
        title: of the page, plain text.
        styles: its style sheet.
        body: HTML of what is in it, scripts included.
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
    # Names of files may be no text.
    path.write_text('\n'.join(page) + '\n', encoding='utf-8', errors='backslashreplace')


def asset(name: str) -> str:
    """Return the text of a file beside this one."""
    return resources.files(__package__).joinpath(name).read_text(encoding='utf-8')
