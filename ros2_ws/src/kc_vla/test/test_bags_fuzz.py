"""2,000 spoilt bags, of every kind that is read: each is read, repaired or refused, in bounded memory."""

import random
import resource
from pathlib import Path

import pytest
from bag_forms import copy_as
from episode_bag import Script, write_episode
from mcap.writer import CompressionType
from nightly import at_night

from kc_vla.bags.cut_and_merge import cut
from kc_vla.bags.errors import BagError, BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.bags.repair import repair_file
from kc_vla.bags.storage import Storage

INPUTS = 400
"""Of each kind."""
MOST_MIB = 250
"""By which the memory of the process may grow; a chunk of a bag here has some kilobytes."""
SCRIPT = Script(size=4, steps=4, oracle=(0, 2, 4), chunk_length=4)
LENGTHS = (0, 1, 0x7FFF, 0xFFFF, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("whole")
    ours = write_episode(folder / "ours", SCRIPT)
    return {
        "recorded": ours / "ours_0.mcap",
        "lz4": copy_as(folder / "lz4.mcap", ours, compression=CompressionType.LZ4),
        "plain": copy_as(folder / "plain.mcap", ours, compression=CompressionType.NONE, enable_crcs=False),
        "unchunked": copy_as(folder / "unchunked.mcap", ours, compression=CompressionType.NONE, use_chunking=False),
        "sqlite": write_episode(folder / "sqlite", SCRIPT, Storage.SQLITE3) / "sqlite_0.db3",
    }


def spoilt(whole: bytes, dice: random.Random) -> bytes:
    """Flip, cut, repeat, leave out, move, or write lengths that cannot be."""
    data = bytearray(whole)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(data)) if dice.random() < 0.7 else max(0, len(data) - dice.randrange(1, 600))
        end = min(len(data), at + dice.choice((1, 4, 40, 400, 4096)))
        match dice.randrange(7):
            case 0 | 1:
                data[at] ^= 1 << dice.randrange(8)
            case 2:
                size = dice.choice((2, 4, 8))
                data[at : at + size] = (dice.choice(LENGTHS) % 256**size).to_bytes(size, dice.choice(("little", "big")))
            case 3:
                del data[at:end]
            case 4:
                data[at:at] = data[at:end]
            case 5:
                piece = data[at:end]
                del data[at:end]
                to = dice.randrange(len(data) + 1)
                data[to:to] = piece
            case 6:
                del data[dice.randrange(1, len(data) + 1) :]
        if not data:
            return b"\0"
    return bytes(data)


def use(path: Path, decode: bool) -> bool:
    """Do all that is done with a bag; return whether it could be opened. Only `BagError` may come out.

    Decoding begins with reading all definitions, which takes longer than all the rest.
    """
    try:
        reader = BagReader(path)
    except BagReadError:
        return False
    for work in (reader.contents, reader.index):
        try:
            found = work()
        except BagReadError:
            continue
        assert len(reader.damages) <= 2
    refs = [ref for places in (found if isinstance(found, dict) else {}).values() for ref in places]
    count = 0
    for message in reader.messages():
        count += 1
        if not decode:
            continue
        try:
            reader.decode(message)
        except BagReadError:
            continue
    for damage in reader.damages:
        assert "\n" not in damage
    for ref in refs[::7]:
        try:
            assert reader.load(ref).ref == ref
        except BagReadError:
            continue
    assert len(reader.damages) == 1 or count > 0 or not refs
    return True


@pytest.mark.parametrize("kind", ["recorded", *at_night("sqlite", "lz4", "plain", "unchunked")])
def test_spoilt_bags(kind: str, bags: dict[str, Path], tmp_path: Path) -> None:
    whole = bags[kind].read_bytes()
    dice = random.Random(f"{kind} 1")
    path = tmp_path / bags[kind].name
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    opened = 0
    for number in range(INPUTS):
        path.write_bytes(spoilt(whole, dice))
        opened += use(path, decode=number % 20 == 0)
        assert [found.name for found in tmp_path.iterdir()] == [path.name], number  # reading leaves nothing behind
        if number % 5 == 0:
            try:
                cut(path, tmp_path / "part")
            except BagError:
                assert not (tmp_path / "part").exists()
            else:
                assert BagReader(tmp_path / "part").contents().messages > 0
                for file in (tmp_path / "part").iterdir():
                    file.unlink()
                (tmp_path / "part").rmdir()
            try:
                mended = repair_file(path)
            except BagReadError:
                continue
            finally:
                for kept in tmp_path.glob("*.damaged*"):
                    kept.unlink()
            if mended.damage and mended.facts.messages:
                reader = BagReader(path)
                assert len(list(reader.messages())) == mended.facts.messages
                assert reader.damages == []
    assert opened > INPUTS // 2
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MOST_MIB
