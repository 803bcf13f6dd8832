# Recipes for developers; `cargo` alone builds and tests.

# What CI runs
ci:
    bash .ci/run

# All tests
test:
    cargo test --workspace

# One round of each method, and one evaluation
bench:
    cargo bench -p oneway --bench engine

# Methods that are data beside the same methods compiled, in one run
bench-traced *only:
    cargo bench -p oneway --bench traced -- {{only}}

# Without arguments it draws the picture in docs/ too; `just bench-scale d=10 family=k-out` measures only these.
# Rounds a second and bytes an agent from 20 agents to a million, against the machine's limits
bench-scale *only:
    cargo bench -p oneway --bench scale -- {{only}}
    {{ if only == "" { "just plot-scale" } else { "true" } }}

# The picture of it, from out/bench-scale.csv
plot-scale:
    python3 -m venv out/venv
    out/venv/bin/pip install --quiet -r benches/scale/requirements.txt
    out/venv/bin/python benches/scale/plot.py

# Loss and gradient over a9a, against the memory and the loads and stores it must do
bench-eval:
    cargo bench -p oneway --bench evaluation

# `--check` compares them with benches/instructions.csv, as CI does; `--write` stores them there; `--methods` counts all methods.
# Instructions of the hot kernels, counted by valgrind: repeatable on a noisy machine
count *arguments:
    scripts/count-instructions {{arguments}}

# The GPU engine on this machine's GPU: bits against the simulator, then speed; `just gpu bits` for a part
gpu *parts:
    cargo bench -p oneway-cuda --bench gpu -- {{parts}}

# Gradients of PyTorch, JAX and CuPy where the engine's points are: bits, then speed; needs the package and PyTorch
gpu-foreign *arguments:
    python3 benches/gpu/foreign.py {{arguments}}

# The picture of it, from benches/gpu/scale.csv, which has the numbers that `just gpu scale` prints
plot-gpu:
    python3 -m venv out/venv
    out/venv/bin/pip install --quiet -r benches/scale/requirements.txt
    out/venv/bin/python benches/gpu/plot.py

# oneway against a NumPy reference and other packages, on the same work: ratios, and whether curves agree
bench-peers *arguments:
    python3 benches/peers/run.py {{arguments}}

# The Python package beside decent-bench, and what a gradient in Python costs
bench-python *arguments:
    python3 benches/peers/python_package.py {{arguments}}

# The Python package: installed into an environment of its own, linted, typed and tested
python:
    python3 -m venv out/venv-python
    out/venv-python/bin/pip install --quiet ".[test]" jax
    out/venv-python/bin/ruff check python
    out/venv-python/bin/mypy
    out/venv-python/bin/python -m pytest python/tests
    out/venv-python/bin/python -m pytest --doctest-modules --pyargs oneway

# docs/python-api.md, from the docstrings
python-reference:
    out/venv-python/bin/python scripts/python-reference.py

# What lost messages do to gradient tracking, here and in decent-bench: one table
bench-loss *arguments:
    python3 benches/loss/run.py {{arguments}}

# The same bits for any number of threads, and again; every method its stored ones in a native build
same-bits:
    scripts/same-bits

# The paper's two experiments
paper:
    cargo run --release -p oneway-lab -- run experiments/paper/multi-sub-ring.toml
    cargo run --release -p oneway-lab -- run experiments/paper/exponential.toml

# Uses a report as a reader would, in headless Chromium, and takes pictures of it
check-report report shots="out/shots":
    scripts/check-report {{report}} {{shots}}

# Uses the live page while a run goes on, in headless Chromium: kills the run, starts it again, counts frames, takes pictures
check-watch shots="out/shots":
    cargo build --release -p oneway-lab
    scripts/check-watch target/release/oneway {{shots}}

# A verdict on every claim of the paper, and the same by an independent computation (needs NumPy)
claims:
    cargo run --release -p oneway-lab -- reproduce
    python3 scripts/check-claims.py out/reproduce

# `just deny --offline` where the database of advisories is there already.
# Licences, advisories and sources of all dependencies (`cargo install cargo-deny` first)
deny *options:
    cargo deny --all-features {{options}} check

# The same without advisories, which are fetched from GitHub
deny-offline:
    cargo deny --all-features --offline check licenses bans sources

# `--target TRIPLE` for another target, `--binary PATH` for a program that is built already.
# A release archive with manual pages, completions and its SHA-256, in out/release
release-archive *options:
    scripts/release/archive {{options}}

# Unpacks an archive into an empty folder and uses it with an empty environment
release-try archive:
    scripts/release/try {{archive}}

# A Homebrew formula for an archive that will lie in the folder `url`
release-formula archive url:
    scripts/release/formula {{archive}} {{url}} > out/release/oneway.rb

# The Python wheel, in out/release
release-wheel:
    python3 -m pip wheel . --no-deps --wheel-dir out/release

# All crates as the registry would get them, in the order of their dependencies; nothing is uploaded
release-crates *options:
    cargo publish --workspace --dry-run {{options}}

# An image with the command in it (needs podman)
release-image:
    podman build -f deploy/Containerfile.oneway -t oneway .

# The packed a9a, from the raw records
pack-a9a:
    python3 crates/oneway/data/pack_a9a.py

# The certificate of a thousand agents, with the time that each part takes: about a minute
bench-certificate:
    cargo test --release -p oneway --test laws contraction -- --ignored --nocapture

# docs/methods.md and its pictures, from the registry
methods-page:
    cargo run --release -p oneway-lab -- methods --page docs

# docs/commands.md from `--help`, docs/codecs.md from the registry, the lists of decisions, the book's table of contents
reference-pages:
    cargo build --release -p oneway-lab -p oneway-agent
    scripts/reference-pages

# The same
commands-page: reference-pages

# The book over docs/, in out/book; `just book serve --open` shows it while you write
book *arguments:
    scripts/book {{arguments}}

# The book as a reader meets it, in headless Chromium: widths, themes, pictures, search
check-book shots="out/shots-book": book
    scripts/with-browser scripts/check-book.mjs out/book {{shots}}

# Every block of README and the book that can run, the slow ones too: three minutes of processor time; Python's are in `just python`
docs-test:
    cargo build --release -p oneway-lab -p oneway-agent --bins
    cargo build --release -p oneway --examples
    scripts/check-docs --run target/release
    scripts/check-docs --run target/release --slow

# Agents on a ring against bare Zenoh and plain TCP, in one run; `agents=3 dim=1000000 rounds=50` for long rows
bench-agents *arguments:
    cargo bench --profile release -p oneway-agent --bench links -- {{arguments}}

# A ring under MPI against a bare loop of the same messages, in one job, and what messages and update take; `just bench-mpi 8 problem.dim=1000000 run.iterations=20`
bench-mpi processes="8" *settings:
    cargo build --profile release -p oneway-mpi --features mpi --bench ring
    mpirun --allow-run-as-root --oversubscribe -n {{processes}} "$(ls -t target/release/deps/ring-* | grep -v '\.d$' | head -1)" experiments/agents/ring.toml {{settings}}

# What messages cost here, for `oneway-agent model`: exchanges under 2, 4 and 8 processes, the costs that they tell, in
# out/mpi-costs.json, and what is then predicted of whole rounds; three minutes
fit-model:
    cargo build --profile release -p oneway-mpi --features mpi --bench cost
    mkdir -p out
    rm -f out/mpi-measured.csv
    for processes in 2 4 8; do mpirun --allow-run-as-root --oversubscribe -n $processes "$(ls -t target/release/deps/cost-* | grep -v '\.d$' | head -1)" out/mpi-measured.csv; done
    "$(ls -t target/release/deps/cost-* | grep -v '\.d$' | head -1)" fit out/mpi-measured.csv out/mpi-costs.json

# Under mpirun, twenty processes killed one after another at random moments of one run; the bits of a run that nobody disturbed
kill-mpi:
    cargo test --release -p oneway-mpi --features mpi --test mpirun -- --ignored --nocapture

# All sbatch examples in a Slurm of this machine alone (as root; needs Debian's slurmctld, slurmd, slurm-client and munge)
try-slurm:
    cargo build --release -p oneway-lab -p oneway-agent
    cargo build --release -p oneway-mpi --features mpi
    scripts/try-slurm

# Any bytes to the decoder of frames, for as long as you like (needs nightly and cargo-fuzz); `-max_total_time=600` for ten minutes
fuzz-frames *arguments:
    cd crates/oneway-agent && cargo +nightly fuzz run frame -- {{arguments}}

# `just soak 200 20000 --secure` for links with certificates.
# A long run of agents of which one is killed at random, again and again; then the same in the simulator
soak kills="200" rounds="20000" *options:
    cargo build --release -p oneway-agent -p oneway-lab
    rm -rf out/soak-agents
    target/release/oneway-agent launch experiments/agents/soak.toml --set run.iterations={{rounds}} --kill {{kills}} --checkpoint-every 50 --out out/soak-agents {{options}}
    target/release/oneway run experiments/agents/soak.toml --set run.iterations={{rounds}} --out out/soak --no-report
    cmp out/soak-agents/curves.csv out/soak/curves.csv
