"""The networks of the measurements: a six-layer CNN and a ResNet-18 with group norm, and VGG-11 without."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def cnn(width: int = 32) -> nn.Module:
    """Six convolutions of width, width, 2·width, …, 4·width; 288,746 weights for 32, and 72,954 for 16."""
    channels = [width, width, 2 * width, 2 * width, 4 * width, 4 * width]
    layers: list[nn.Module] = []
    before = 3
    for i, after in enumerate(channels):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.GroupNorm(min(8, after), after),
            nn.ReLU(),
        ]
        if i % 2 == 1 and i < 5:
            layers.append(nn.MaxPool2d(2))
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


class _Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.GroupNorm(min(32, after), after) for _ in range(2))
        same = stride == 1 and before == after
        self.past = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(self.norms[1](self.second(y)) + self.past(x))


def resnet18(width: int = 64) -> nn.Module:
    """A ResNet-18 for small images; some 11 million weights."""
    blocks: list[nn.Module] = [
        nn.Conv2d(3, width, 3, 1, 1, bias=False),
        nn.GroupNorm(min(32, width), width),
        nn.ReLU(),
    ]
    before = width
    for stage in range(4):
        after = width << stage
        blocks += [_Block(before, after, 1 if stage == 0 else 2), _Block(after, after, 1)]
        before = after
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def windows(x: torch.Tensor) -> torch.Tensor:
    """Of images of shape (channels, batch, height, width), what a filter of 3 by 3 sees: a row for each of
    its 9·channels places, a column for each pixel.
    """
    channels, batch, height, width = x.shape
    seen = nn.functional.pad(x, (1, 1, 1, 1)).unfold(2, 3, 1).unfold(3, 3, 1)
    return seen.permute(0, 4, 5, 1, 2, 3).reshape(9 * channels, batch * height * width)


class _Product(torch.autograd.Function):
    """Filters times windows. Its gradient in x is a convolution too, of the filters turned round."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = windows(x)
        return (weight.flatten(1) @ seen).view(-1, *x.shape[1:]), seen

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1], inputs[1])

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor, _: Any) -> tuple[torch.Tensor | None, torch.Tensor]:
        seen, weight = ctx.saved_tensors
        back = None
        if ctx.needs_input_grad[0]:
            turned = weight.flip(2, 3).transpose(0, 1).flatten(1)
            back = (turned @ windows(g)).view(-1, *g.shape[1:])
        return back, (g.flatten(1) @ seen.mT).view_as(weight)


class Products(nn.Conv2d):
    """A convolution of 3 by 3 as one matrix product, on images of shape (channels, batch, height, width).

    The same numbers as `nn.Conv2d` to rounding. By `vmap` over agents it is one product in a batch for all,
    where convolutions become groups, for which libraries have slow kernels.
    """

    def __init__(self, before: int, after: int, bias: bool = True) -> None:
        super().__init__(before, after, 3, padding=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of shape (channels after, batch, height, width)."""
        weight = self.weight
        if torch.is_autocast_enabled(x.device.type):
            precision = torch.get_autocast_dtype(x.device.type)
            x, weight = x.to(precision), weight.to(precision)
        if more := -x.shape[0] % 8:  # matrix units take numbers by eights
            x = nn.functional.pad(x, (0, 0, 0, 0, 0, 0, 0, more))
            weight = nn.functional.pad(weight, (0, 0, 0, 0, 0, more))
        said = _Product.apply(x, weight)[0]
        return said if self.bias is None else said + self.bias.to(said.dtype)[:, None, None, None]


class Halved(nn.Module):
    """The largest of two by two pixels."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of half the height and width."""
        height, width = x.shape[-2:]
        return x.view(*x.shape[:-2], height // 2, 2, width // 2, 2).amax((-3, -1))


class Turned(nn.Module):
    """Images of shape (batch, channels, …) as (channels, batch, …)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The first two dimensions in the other order."""
        return x.transpose(0, 1)


def vgg11(products: bool = True) -> nn.Module:
    """VGG-11 without batch norm for images of 32 by 32, with dropout: 9,750,922 weights. Convolutions start
    as normal numbers of deviation √(2 / (9 · channels after)), their biases as zero.
    """
    layers: list[nn.Module] = [Turned()] if products else []
    before = 3
    for after in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        if after == 0:
            layers.append(Halved() if products else nn.MaxPool2d(2))
            continue
        layer = Products(before, after) if products else nn.Conv2d(before, after, 3, padding=1)
        nn.init.normal_(layer.weight, 0.0, (2 / (9 * after)) ** 0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
        before = after
    layers += [Turned()] if products else []
    for after in (512, 512):
        layers += [nn.Dropout(), nn.Linear(512, after), nn.ReLU()]
    layers.insert(len(layers) - 6, nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(512, 10))
