"""Parameters of a node for what its memory does with images of what it remembers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.live_units import MemorySight
from kc_vla.memory.recall.unit_images import UnitImages
from kc_vla.memory.served import ServerSettings
from kc_vla.memory.short_term.state_reader import A_MINUTE, StateReader
from kc_vla.ros.detections import DetectionParameters
from kc_vla.ros.parameters import parameter


@dataclass(frozen=True)
class SightParameters(DetectionParameters):
    """Parameters of a node that keeps images of what it remembers."""

    crops: str = parameter("", "folder for a crop of each unit, which pages show; empty: they are kept in the process")
    crop_longest: int = parameter(128, "px of the longest side of a crop", low=8, high=1024)
    most_crops: int = parameter(1000, "crops that are kept", low=1, high=100_000)
    most_crop_bytes: int = parameter(16 << 20, "bytes of all crops", low=1 << 20, high=1 << 33)
    vision_model: str = parameter("", "model of the server that reads states from crops; empty: no states are read")
    vision_a_minute: int = parameter(A_MINUTE, "most requests to that model within a minute", low=1, high=600)
    image_embedding: str = parameter(
        "",
        "model of images and sentences with which recall also compares crops: a folder, or "
        "hub:OWNER/NAME@REVISION#SHA256+SHA256",
    )

    def sight(self, server: str, timeout_s: float) -> MemorySight:
        """Return what these parameters ask for; crops of an earlier run are removed, as its units are forgotten.

        Args:
            server: address of an OpenAI-compatible API.
            timeout_s: for one answer of it, s.

        Raises:
            StackError: the folder or a model cannot be used.
        """
        limits = CropLimits(self.crop_longest, self.most_crops, self.most_crop_bytes)
        crops = CropStore(Path(self.crops).expanduser() if self.crops else None, limits)
        crops.clear()
        reader = images = None
        if self.vision_model:
            reader = StateReader(ServerSettings(self.vision_model, server, timeout_s), self.vision_a_minute)
        if self.image_embedding:
            from kc_vla.memory.embedding.clip import open_image_embedder  # what runs it takes long to import

            images = UnitImages(open_image_embedder(self.image_embedding), crops.read)
        return MemorySight(crops, reader, images)
