"""A character model of Shakespeare over a directed network: a small transformer; each agent has other works.

    python benches/neural/shakespeare.py [--method smtpp-muon --step 0.05] [--rounds 300] [--device cuda]

Prints the loss in nats a character on the ends of works, of the mean of all models and of the worst agent,
and some text of the mean model. Minutes on a CPU; `--small` is a rehearsal of seconds.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import torch
from torch import Tensor, nn

import oneway.torch as ot


class Block(nn.Module):
    """Attention to what came before, and a layer of neurons."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.mix = nn.Linear(width, width, bias=False)
        self.neurons = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, (batch, length, width)."""
        batch, length, width = x.shape
        parts = self.query_key_value(self.norms[0](x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        scores = q @ k.mT / math.sqrt(width // self.heads)
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        seen = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
        x = x + self.mix(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.neurons(self.norms[1](x))


class Transformer(nn.Module):
    """Scores of the next character, at each place."""

    def __init__(self, letters: int, length: int, width: int = 64, depth: int = 2, heads: int = 4) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Shape (batch, letters, length), as PyTorch's losses of classes take them."""
        # rows of the table by a product: its gradient needs no sorting of letters
        letters = (x[..., None] == torch.arange(self.letters.num_embeddings, device=x.device)).to(
            self.letters.weight.dtype
        )
        said = letters @ self.letters.weight + self.places.weight[: x.shape[1]]
        return self.scores(self.norm(self.blocks(said))).mT


def text(model: nn.Module, alphabet: list[str], length: int, count: int) -> str:
    """What a model writes, a likely character at a time."""
    generator = torch.Generator().manual_seed(1)
    said = [alphabet.index("\n")]
    device = next(model.parameters()).device
    with torch.no_grad():
        for _ in range(count):
            scores = model(torch.tensor([said[-length:]], device=device))[0, :, -1]
            said.append(int(torch.multinomial(scores.softmax(-1).cpu(), 1, generator=generator)))
    return "".join(alphabet[letter] for letter in said[1:])


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Train, print, and return the last row of the history."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--method", default="smtpp-muon")
    parser.add_argument("--topology", default="exponential")
    parser.add_argument("--step", type=float, default=0.05)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--checkpoint")
    parser.add_argument("--small", action="store_true", help="a rehearsal of seconds")
    given = parser.parse_args(arguments)
    if given.small:
        given.agents, given.rounds, given.batch, given.length, given.width = 4, 100, 8, 16, 16
    data, alphabet = ot.data.shakespeare(given.length)
    parts = ot.split(data.inputs, data.targets, given.agents, "even")  # works of their own
    held = torch.linspace(0, len(data.test_inputs) - 1, 100 if given.small else 400).long()
    torch.manual_seed(1)
    training = ot.simulate(
        Transformer(len(alphabet), given.length, given.width),
        nn.functional.cross_entropy,
        parts,
        method=given.method,
        topology=given.topology,
        step=given.step,
        schedule="cosine",
        rounds=given.rounds,
        batch=given.batch,
        device=given.device,
        checkpoint=given.checkpoint,
        evaluate=(data.test_inputs[held], data.test_targets[held]),
        evaluate_every=max(1, given.rounds // 5),
        progress=lambda row: print(json.dumps({**row, "agents_loss": max(row["agents_loss"])}), flush=True),
    )
    print(text(training.model(), alphabet, given.length, 200))
    return training.history[-1]


if __name__ == "__main__":
    main()
