"""Packed linear layers: the products of the plain ones, and only for networks that allow it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from glauber_core.errors import UserError
from glauber_core.models import MaskedLM, load, loading, packed
from tests.models.checkpoints import FAMILIES, folder, model
from tests.models.test_conditionals import some_states

CPU = torch.device("cpu")
needs_kernel = pytest.mark.skipif(not packed.available(CPU, torch.float32), reason="PyTorch without oneDNN")


def linear(inner: int, outer: int, bias: bool = True) -> nn.Linear:
    with torch.random.fork_rng():
        torch.manual_seed(inner * 1000 + outer)
        return nn.Linear(inner, outer, bias=bias)


def rows(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


# -- the layer --------------------------------------------------------------------------------------------------------


@needs_kernel
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1,), (2, 3), (1, 1), (1, 17), (0, 4), (4,), (64, 5), (2, 3, 4)])
@pytest.mark.parametrize("inner, outer", [(8, 8), (32, 7), (1, 65), (61, 1)])
def test_packed_equals_plain_within_rounding(inner: int, outer: int, shape: tuple[int, ...], bias: bool) -> None:
    plain, x = linear(inner, outer, bias), rows(*shape, inner)
    with torch.inference_mode():
        found, wanted = packed.PackedLinear(plain)(x), plain(x)
    assert found.shape == wanted.shape and found.dtype == torch.float32
    assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-6)


@needs_kernel
def test_rows_need_not_lie_together_in_memory() -> None:
    plain, x = linear(16, 12), rows(3, 5, 16)
    layer = packed.PackedLinear(plain)
    with torch.inference_mode():
        for view in (x[:, ::2], x.transpose(0, 1), x[torch.arange(3), torch.tensor([4, 0, 2])][:, None]):
            assert torch.allclose(layer(view), plain(view), rtol=1e-5, atol=1e-6)


@needs_kernel
def test_packing_replaces_plain_linear_layers_only_and_unpacking_restores_them() -> None:
    class Special(nn.Linear):
        """A layer of its own kind: whatever it does, it is left alone."""

    special = Special(4, 4)
    network = nn.Sequential(linear(4, 4), nn.ReLU(), nn.Sequential(special, linear(4, 2)))
    before, x = dict(network.named_modules()), rows(3, 4)
    weights = {name: w.clone() for name, w in network.state_dict().items()}
    wanted = network(x)
    replaced = packed.pack(network)
    assert [name for _, name, _ in replaced] == ["0", "1"]
    assert {type(m) for m in network.modules() if m is not special} >= {packed.PackedLinear, nn.ReLU}
    assert dict(network.named_modules())["2.0"] is special
    assert not [m for m in network.modules() if type(m) is nn.Linear]
    with torch.inference_mode():
        assert torch.allclose(network(x), wanted, rtol=1e-5, atol=1e-6)
    packed.unpack(replaced)
    after = dict(network.named_modules())
    assert after.keys() == before.keys() and all(after[name] is before[name] for name in before)
    assert network.state_dict().keys() == weights.keys()
    assert all(torch.equal(w, weights[name]) for name, w in network.state_dict().items())
    assert torch.equal(network(x), wanted)


def test_only_float32_on_a_cpu_is_packed() -> None:
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert not packed.available(CPU, dtype)
    for device in ("cuda", "meta", "mps"):
        assert not packed.available(torch.device(device), torch.float32)


def test_without_the_kernel_nothing_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not packed.available(CPU, torch.float32)


# -- in a model -------------------------------------------------------------------------------------------------------


def layers(lm: MaskedLM) -> set[type]:
    return {type(m) for m in lm._model.modules()} & {nn.Linear, packed.PackedLinear}


@needs_kernel
@pytest.mark.parametrize("family", FAMILIES)
def test_a_packed_model_says_so_and_gives_the_logits_of_the_plain_one(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = model(family)
    monkeypatch.setattr(packed, "available", lambda device, dtype: False)
    plain = load(str(folder(family)))
    assert (lm.kernels, plain.kernels) == ("packed", "plain")
    assert packed.PackedLinear in layers(lm) and layers(plain) == {nn.Linear}
    for count, n in ((1, 1), (1, 7), (2, 3), (5, 20)):
        states, positions = some_states(lm, count, n, seed=n), torch.arange(count) % n
        found, wanted = lm(states, positions), plain(states, positions)
        assert torch.allclose(found[:, lm.allowed], wanted[:, lm.allowed], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_in_float64_stays_plain(family: str) -> None:
    lm = load(str(folder(family)), dtype=torch.float64)
    assert lm.kernels == "plain" and layers(lm) == {nn.Linear}


def with_head(monkeypatch: pytest.MonkeyPatch, wrap: Any) -> None:
    """Let the tiny BERT be loaded with something around its vocabulary head."""
    load_network = loading.load_network

    def changed(source: Any, kind: loading.Kind) -> Any:
        network = load_network(source, kind)
        network.cls = wrap(network.cls)
        return network

    monkeypatch.setattr(loading, "load_network", changed)


class Neighbour(nn.Module):
    """A head that predicts each word from the hidden vector of the word before."""

    def __init__(self, head: Any) -> None:
        super().__init__()
        self.head: Any = head

    def forward(self, hidden: Tensor) -> Tensor:
        return self.head(hidden.roll(1, dims=1))


class Average(Neighbour):
    """A head that adds a little of every position's hidden vector."""

    def forward(self, hidden: Tensor) -> Tensor:
        return self.head(hidden + 0.5 * hidden.mean(dim=1, keepdim=True))


class Reading(Neighbour):
    """A head that reads the weight of its decoder itself, which a packed layer does not have."""

    def forward(self, hidden: Tensor) -> Tensor:
        return self.head(hidden) + 0 * self.head.predictions.decoder.weight.sum()


@pytest.mark.parametrize("head", [Neighbour, Average])
def test_a_head_that_reads_another_position_is_refused(head: type, monkeypatch: pytest.MonkeyPatch) -> None:
    with_head(monkeypatch, head)
    with pytest.raises(UserError, match="from more than its own position"):
        load(str(folder("bert")))


def test_a_network_that_cannot_be_packed_runs_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    with_head(monkeypatch, Reading)
    lm = load(str(folder("bert")))
    assert lm.kernels == "plain" and layers(lm) == {nn.Linear}
    states, positions = some_states(lm, 2, 5), torch.tensor([0, 3])
    wanted = model("bert")(states, positions)
    assert torch.allclose(lm(states, positions)[:, lm.allowed], wanted[:, lm.allowed], rtol=1e-4, atol=1e-4)
