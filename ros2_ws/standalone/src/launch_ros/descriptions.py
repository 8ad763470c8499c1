"""Descriptions under the import path that upstream also offers them at."""

from .parameter_descriptions import Parameter, ParameterFile, ParameterValue

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]
