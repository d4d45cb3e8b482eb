# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a bag as one self-contained HTML page with plots.

The plots are drawn by uPlot (uPlot.iife.min.js, uPlot.min.css; MIT license, uPlot.LICENSE).
"""
