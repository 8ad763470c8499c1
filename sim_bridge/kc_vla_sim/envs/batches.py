"""States of a batch of environments: dataclasses of tensors whose first dimension counts the environments."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

State = TypeVar("State", bound="DataclassInstance")


def with_rows(state: State, index: Tensor, rows: State) -> State:
    """Return `state`, all of tensors (N, ...), with `rows` (M, ...) in place of those at `index` (M,).

    `index` is int64, in order.
    """
    names = [field.name for field in fields(state)]
    return replace(state, **{name: getattr(state, name).index_copy(0, index, getattr(rows, name)) for name in names})
