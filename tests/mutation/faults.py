"""All planted faults; chosen from the written rules, before it was known which tests notice them."""

from __future__ import annotations

from tests.mutation import (
    faults_borders,
    faults_comparison,
    faults_compiler,
    faults_dialects,
    faults_evidence,
    faults_files,
    faults_gate,
    faults_guard,
    faults_knowledge,
    faults_lint,
    faults_live,
    faults_pages,
    faults_prompts,
    faults_report,
    faults_runs,
    faults_scout,
    faults_secrets,
    faults_suites,
    faults_supervision,
    faults_tips,
    faults_trust,
    faults_window,
)
from tests.mutation.mutation import Mutation

ALL: tuple[Mutation, ...] = (
    *faults_knowledge.FAULTS,
    *faults_supervision.FAULTS,
    *faults_pages.FAULTS,
    *faults_runs.FAULTS,
    *faults_borders.FAULTS,
    *faults_files.FAULTS,
    *faults_trust.FAULTS,
    *faults_gate.FAULTS,
    *faults_guard.FAULTS,
    *faults_lint.FAULTS,
    *faults_compiler.FAULTS,
    *faults_dialects.FAULTS,
    *faults_live.FAULTS,
    *faults_window.FAULTS,
    *faults_secrets.FAULTS,
    *faults_scout.FAULTS,
    *faults_tips.FAULTS,
    *faults_prompts.FAULTS,
    *faults_comparison.FAULTS,
    *faults_suites.FAULTS,
    *faults_evidence.FAULTS,
    *faults_report.FAULTS,
)
