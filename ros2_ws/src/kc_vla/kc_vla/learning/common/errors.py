"""What can go wrong with learning. Every message is one line that says what is wrong and what to do."""

from __future__ import annotations


class LearningError(Exception):
    """Any trouble with learning."""


class DataError(LearningError):
    """Recorded episodes that cannot be learned from."""


class TrainingRunError(LearningError):
    """A folder of a training run that lacks something, or belongs to another run."""
