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
