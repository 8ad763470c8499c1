"""Vectors that were computed ahead: those of the model, of all that a name without a meaning is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kc_vla.memory.embedding.ahead import read_ahead, write_ahead
from kc_vla.memory.embedding.cache import Cached
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors
from kc_vla.memory.embedding.minilm import MiniLm
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.references.reference import read
from kc_vla.memory.references.type_vectors import RecordingEmbedder


class Counted:
    """The model, which counts what it computes."""

    name = MiniLm.name

    def __init__(self) -> None:
        self._model = MiniLm()
        self.sentences: list[str] = []

    def embed(self, sentences: Sequence[str]) -> Vectors:
        self.sentences += sentences
        return self._model.embed(sentences)


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("said", ["something sharp", "something for a headache", "something to eat with"])
def test_a_name_without_a_meaning_costs_its_own_vector_alone(said: str, carried: bool) -> None:
    model = Counted()
    Namer(Cached(model, ahead=read_ahead())).named(replace(read(said), carried=carried), ())
    assert model.sentences == [said]


def test_vectors_computed_ahead_are_those_of_the_model() -> None:
    ahead = read_ahead()
    some = sorted(ahead)[::20]
    assert np.allclose(MiniLm().embed(some), np.stack([ahead[each] for each in some]), atol=1e-5)
    assert {vector.shape for vector in ahead.values()} == {(384,)}


@pytest.mark.nightly  # the vectors themselves are compared above
def test_the_same_types_are_meant_as_without_them() -> None:
    some = dict(list(read_ahead().items())[::2])
    known = [Namer(Cached(MiniLm(), ahead=each)) for each in (some, read_ahead())]
    one, other = (namer.named(replace(read("something sharp"), carried=True), ()) for namer in known)
    assert set(one.likely) == set(other.likely)
    assert one.types == pytest.approx(other.types, abs=1e-4)


def test_a_cache_keeps_what_it_was_given_and_computes_the_rest(tmp_path: Path) -> None:
    write_ahead({"mug": np.full(384, 1.0, np.float32)}, tmp_path / "types.npz")
    recorded = RecordingEmbedder(MiniLm())
    vectors = Cached(recorded, ahead=read_ahead(tmp_path / "types.npz")).embed(["cup", "mug", "cup"])
    assert list(recorded.vectors) == ["cup"]
    assert (vectors[1] == 1.0).all()
    assert np.array_equal(vectors[0], vectors[2])


def test_a_file_that_cannot_be_read_is_an_error_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "types.npz").write_bytes(b"no archive")
    with pytest.raises(EmbeddingError, match=r"types.npz: no vectors can be read: .*install the stack anew"):
        read_ahead(tmp_path / "types.npz")
