"""Gradients by captured kernels, whose memory is written again at each call; and what augments images."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    from test_neural import LOSS, network, parts, training

    import oneway.torch as ot


class Reused:
    """What `Captured` is to its caller: results lie in memory that the next preparation overwrites."""

    def __init__(self, function: Any) -> None:
        self.function, self.found, self.calls = function, None, 0

    def prepare(self, *given: Any) -> None:
        if self.found is not None:
            for tensor in [*self.found[0].values(), self.found[1]]:
                tensor.fill_(float("nan"))

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        gradients, losses = self.function(*given)
        if self.found is None:
            self.found = {name: one.clone() for name, one in gradients.items()}, losses.clone()
        for name, one in gradients.items():
            self.found[0][name].copy_(one)
        self.found[1].copy_(losses)
        return self.found


@pytest.mark.parametrize("kind", ["smtpp", "dsgd", "storm-tracking", "sgp-momentum", "smtpp-muon", "gt"])
def test_memory_that_is_written_again_changes_no_number(kind: str) -> None:
    plain, reused = training(kind, rounds=12), training(kind, rounds=12)
    reused.copies._captured = Reused(reused.copies._all)
    for run in (plain, reused):
        run.advance(12)
    assert reused.copies._captured.calls >= 12
    assert torch.equal(reused.points, plain.points)
    assert all(torch.equal(reused.states[letter], state) for letter, state in plain.states.items())
    assert reused.record(None)["training_loss"] == plain.record(None)["training_loss"]


def test_captured_kernels_need_cuda() -> None:
    with pytest.raises(ValueError, match="captured=True records kernels of CUDA, and the device is cpu"):
        ot.Simulation(network(), LOSS, parts(), rounds=1, topology="ring", captured=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_captured_kernels_give_the_bits_of_those_that_are_not() -> None:
    runs = [training("smtpp", device="cuda", captured=captured) for captured in (False, True)]
    for run in runs:
        run.advance(10)
    assert torch.equal(runs[0].points, runs[1].points)


def test_crops_are_the_images_moved_by_a_few_pixels() -> None:
    images = torch.arange(1.0, 1 + 2 * 300 * 2 * 5 * 6).view(2, 300, 2, 5, 6)
    moved = ot.data.crops(images, torch.Generator().manual_seed(1), margin=2)
    assert moved.shape == images.shape
    wide = torch.nn.functional.pad(images, (2, 2, 2, 2))
    windows = {
        (down, right): wide[..., down : down + 5, right : right + 6]
        for down in range(5)
        for right in range(5)
    }
    found = set()
    for agent in range(2):
        for i in range(300):
            places = [at for at, window in windows.items() if torch.equal(window[agent, i], moved[agent, i])]
            assert len(places) == 1
            found.add(places[0])
    assert len(found) == 25  # all of them are drawn
    again = ot.data.crops(images, torch.Generator().manual_seed(1), margin=2)
    assert torch.equal(again, moved)
    assert torch.equal(ot.data.crops(images, torch.Generator(), margin=0), images)
