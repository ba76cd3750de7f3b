"""Settings, in a module that imports what nobody has installed."""

from dataclasses import dataclass
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from flash_attn import some_kernel  # type: ignore[import-not-found,unused-ignore]


@dataclass
class Config:
    """As large as engines are; tests ask for smaller ones."""

    model: str
    kernel: Any = some_kernel
    device: torch.device | None = None
    watermark: int = 0
