"""The networks of the measurements: a six-layer CNN and a ResNet-18, both with group norm."""

from __future__ import annotations

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


class Products(nn.Conv2d):
    """A convolution of 3 by 3 as one product of matrices, on images of shape (channels, batch, height, width).

    The same numbers as `nn.Conv2d` to rounding. By `vmap` over agents it is one product in a batch for all,
    where convolutions become groups, for which libraries have slow kernels.
    """

    def __init__(self, before: int, after: int, bias: bool = True) -> None:
        super().__init__(before, after, 3, padding=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of shape (channels after, batch, height, width)."""
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        channels, batch, height, width = x.shape
        wide = nn.functional.pad(x, (1, 1, 1, 1))
        places = [wide[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3)]
        seen = torch.stack(places, 1).reshape(9 * channels, batch * height * width)
        said = (self.weight.flatten(1) @ seen).view(-1, batch, height, width)
        return said if self.bias is None else said + self.bias.to(said.dtype)[:, None, None, None]


class Norm(nn.GroupNorm):
    """Group norm on images of shape (channels, batch, height, width)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of the same shape."""
        grouped = x.float().view(self.num_groups, -1, *x.shape[1:])
        variance, mean = torch.var_mean(grouped, (1, 3, 4), correction=0, keepdim=True)
        normal = ((grouped - mean) * torch.rsqrt(variance + self.eps)).view_as(x)
        return normal * self.weight[:, None, None, None] + self.bias[:, None, None, None]


class Turned(nn.Module):
    """Images of shape (batch, channels, …) as (channels, batch, …)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The first two dimensions in the other order."""
        return x.transpose(0, 1)


def cnn_by_products(width: int = 32) -> nn.Module:
    """The network of `cnn`, with the same parameters, by products."""
    plain = cnn(width)
    layers: list[nn.Module] = [Turned()]
    for layer in list(plain)[:-3]:
        if isinstance(layer, nn.Conv2d):
            layers.append(Products(layer.in_channels, layer.out_channels, bias=False))
        elif isinstance(layer, nn.GroupNorm):
            layers.append(Norm(layer.num_groups, layer.num_channels))
        else:
            layers.append(layer)
    made = nn.Sequential(*layers, Turned(), *list(plain)[-3:])
    with torch.no_grad():
        for own, other in zip(made.parameters(), plain.parameters(), strict=True):
            own.copy_(other)
    return made


def vgg11(products: bool = True) -> nn.Module:
    """VGG-11 without batch norm for images of 32 by 32, with dropout: 9,750,922 weights. Convolutions start
    as normal numbers of deviation √(2 / (9 · channels after)), their biases as zero.
    """
    layers: list[nn.Module] = [Turned()] if products else []
    before = 3
    for after in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        if after == 0:
            layers.append(nn.MaxPool2d(2))
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
