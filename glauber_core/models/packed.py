"""Linear layers with weights in oneDNN's blocked layout: the same products, two to three times faster on few rows.

On a CPU one Glauber step multiplies a few dozen token rows by every weight of the network. A plain ``nn.Linear``
re-arranges its weight on every call, which then costs more than the product itself; packed once, it costs nothing.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


def available(device: torch.device, dtype: torch.dtype) -> bool:
    """True where PyTorch has the packed kernel: float32 on a CPU build with oneDNN."""
    return (
        device.type == "cpu"
        and dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


class PackedLinear(nn.Module):
    """``x W^T + b`` with W packed at construction; for inference only.

    Args:
        linear: float32 layer on the CPU; its own weight is left as it is.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().contiguous()
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight)
        self._bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: Float[Tensor, "*rows inner"]) -> Float[Tensor, "*rows outer"]:
        return torch.ops.mkldnn._linear_pointwise(x, self._packed, self._bias, "none", [], "")


def pack(network: nn.Module) -> list[tuple[nn.Module, str, nn.Module]]:
    """Replace every ``nn.Linear`` of ``network`` by its packed form, in place; what ``unpack`` needs to undo it."""
    replaced: list[tuple[nn.Module, str, nn.Module]] = []
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear:
                setattr(module, name, PackedLinear(child))
                replaced.append((module, name, child))
    return replaced


def unpack(replaced: list[tuple[nn.Module, str, nn.Module]]) -> None:
    """Put the plain layers back."""
    for module, name, child in replaced:
        setattr(module, name, child)
