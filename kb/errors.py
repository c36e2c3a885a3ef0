"""Errors of the knowledge base, each a sentence a person can act on."""

from __future__ import annotations


class KbError(Exception):
    """An expected failure of the knowledge base."""

    exit_code = 1


class BadFile(KbError):
    """A file is no knowledge base, is damaged, too new, or can't be read or written."""

    exit_code = 3


class NoSuchTip(KbError):
    """No tip has this id."""


class Frozen(KbError):
    """A frozen knowledge base can't be changed."""


class Locked(KbError):
    """Another process is writing; nothing was changed."""


class Unfit(KbError):
    """A tip with lint errors can't become active without a waiver; nothing was changed."""


class BadTip(KbError):
    """A tip that can't be stored: no text, too long, control characters, an invalid site name."""
