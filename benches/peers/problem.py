"""The work that all peers share: a9a over 20 agents, the exponential graphs, oneway's samples.

f_i(x) = (1/m) Σ_j ln(1 + exp(−y_j a_jᵀx)) + α Σ_k x_k²/(1 + x_k²) over the agent's m rows; agents take theirs in
the order of the file, and the remainder is dropped.
"""

from pathlib import Path

import numpy as np

AGENTS, FEATURES, ALPHA = 20, 123, 0.01
STEP, MOMENTUM, SEED = 0.1, 0.1, 1
ROUNDS, RECORD_EVERY = 1000, 10


def load(folder, split):
    """(row starts, columns, labels) of a LIBSVM file whose values are all 1; the parsed form is kept beside it."""
    text = Path(folder) / f"a9a-{split}.txt"
    kept = text.with_suffix(".npz")
    if not kept.exists() or kept.stat().st_mtime < text.stat().st_mtime:
        labels, columns, starts = [], [], [0]
        for line in text.read_text(encoding="ascii").splitlines():
            label, *entries = line.split()
            labels.append(float(label))
            for entry in entries:
                column, value = entry.split(":")
                assert value == "1", "a9a is binary"
                columns.append(int(column) - 1)
            starts.append(len(columns))
        np.savez(kept, starts=starts, columns=columns, labels=labels)
    with np.load(kept) as parsed:
        return parsed["starts"], parsed["columns"], parsed["labels"]


def training_rows(folder):
    """a9a's training rows as (starts, columns, labels), the remainder that no agent gets cut off; and m."""
    starts, columns, labels = load(folder, "train")
    m = len(labels) // AGENTS
    starts = starts[: AGENTS * m + 1]
    return starts, columns[: starts[-1]], labels[: AGENTS * m], m


def dense(starts, columns):
    """The rows as a dense matrix."""
    rows = np.zeros((len(starts) - 1, FEATURES))
    rows[np.repeat(np.arange(len(rows)), np.diff(starts)), columns] = 1.0
    return rows


def exponential(both_ways=False):
    """W of the exponential graph, i → i + 1, 2, 4, … mod n: every link and self weigh the same, so R = C = W.

    All agents have equal degrees, so these are the Metropolis weights too where links go both ways.
    """
    links = np.eye(AGENTS)
    offset = 1
    while offset < AGENTS:
        for i in range(AGENTS):
            links[(i + offset) % AGENTS, i] = 1.0
            if both_ways:
                links[i, (i + offset) % AGENTS] = 1.0
        offset *= 2
    return links / links[0].sum()


def samples(rounds, m, seed=SEED):
    """oneway's samples: rows[k, i] is the row, 0 to m − 1, that agent i looks at for state k (docs/bit-contract.md).

    Philox4x32-10 with key = seed and counter = [block 0, agent, k, purpose 0]; ⌊b·m/2⁶⁴⌋ of its first 64 bits b.
    """
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    multipliers = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
    keys, weyl = [seed & 0xFFFFFFFF, seed >> 32], [0x9E3779B9, 0xBB67AE85]
    k, agent = np.meshgrid(np.arange(rounds, dtype=np.uint64), np.arange(AGENTS, dtype=np.uint64), indexing="ij")
    words = [np.zeros_like(k), agent, k, np.zeros_like(k)]
    for _ in range(10):
        first, second = multipliers[0] * words[0], multipliers[1] * words[2]
        key = [np.uint64(key) for key in keys]
        words = [second >> shift ^ words[1] ^ key[0], second & low, first >> shift ^ words[3] ^ key[1], first & low]
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, weyl)]
    m = np.uint64(m)  # b·m/2⁶⁴ by halves: (w₁·m + (w₀·m div 2³²)) div 2³²
    return ((words[1] * m + (words[0] * m >> shift)) >> shift).astype(np.intp)
