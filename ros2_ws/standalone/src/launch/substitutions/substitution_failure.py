"""The error of a substitution that cannot be performed."""


class SubstitutionFailure(RuntimeError):  # noqa: N818  (the name is upstream's)
    """A substitution has no value in the current launch context."""
