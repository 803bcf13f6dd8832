"""What measures networks on a GPU, rehearsed here: its networks, its search for steps, its trainings."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
ROOT = Path(__file__).resolve().parents[2]
if True:  # after torch is known to be there
    from torch.func import functional_call, grad, vmap

    import oneway.torch as ot

torch.set_num_threads(1)


@pytest.fixture(scope="module", autouse=True)
def benches() -> Any:
    """The folder of the benches as a place of modules, for as long as these tests run."""
    sys.path.insert(0, str(ROOT / "benches" / "neural"))
    yield
    sys.path.remove(str(ROOT / "benches" / "neural"))


def gradients(model: Any, images: Any, targets: Any) -> Any:
    """Of three copies with different parameters, as a row of numbers."""
    copies = {
        name: torch.stack([(1 + 0.1 * i) * p.detach() for i in range(3)])
        for name, p in model.named_parameters()
    }

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.cross_entropy(functional_call(model, parameters, (x,)), y)

    return torch.cat([g.flatten() for g in vmap(grad(loss))(copies, images, targets).values()])


def test_convolutions_as_products_are_convolutions() -> None:
    from networks import Products, Turned

    made = []
    for products in (False, True):
        torch.manual_seed(1)
        first, second = (
            Products(*channels) if products else torch.nn.Conv2d(*channels, 3, padding=1)
            for channels in ((3, 5), (5, 8))
        )
        turned = [Turned()] if products else []
        layers = [*turned, first, torch.nn.Tanh(), second, *turned, torch.nn.Flatten()]
        made.append(torch.nn.Sequential(*layers, torch.nn.Linear(8 * 6 * 4, 3)).double())
    images, targets = torch.randn(3, 4, 3, 6, 4).double(), torch.randint(3, (3, 4))
    plain, ours = (gradients(model, images, targets) for model in made)
    assert float((plain - ours).norm() / plain.norm()) < 1e-13
    for one, other in zip(made[0].parameters(), made[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_vgg_is_the_same_network_by_products() -> None:
    from networks import vgg11

    made = []
    for products in (False, True):
        torch.manual_seed(1)
        made.append(vgg11(products).double().eval())
    assert sum(p.numel() for p in made[1].parameters()) == 9_750_922
    images = torch.randn(2, 3, 32, 32).double()
    plain, ours = (model(images).detach() for model in made)
    assert float((plain - ours).norm() / plain.norm()) < 1e-13


def test_the_paper_s_schedule_and_graph() -> None:
    import vgg

    factor = vgg.factor(200)
    assert [factor(k) for k in (0, 1, 5, 149)] == [0, pytest.approx(0.2), 1, 1]
    assert factor(150) == factor(179) == pytest.approx(0.1)
    assert factor(180) == factor(199) == pytest.approx(0.01)
    network = vgg.network()
    assert network.period == 2
    # each is two averages with one other: 1 and 2, then 4 and 8 places on
    one_peer = [0.5 * (torch.eye(16) + torch.eye(16).roll(offset, 0)) for offset in (1, 2, 4, 8)]
    for k in range(2):
        _, push = network.weights(round=k)
        expected = one_peer[2 * k + 1] @ one_peer[2 * k]
        assert torch.allclose(torch.from_numpy(push), expected.double())


def test_a_search_goes_on_until_the_best_step_is_inside(tmp_path: Path) -> None:
    from pieces import MOST, Pieces

    def search(folder: str, best: float) -> tuple[float | None, list[str]]:
        pieces = Pieces(str(tmp_path / folder), "cpu", 100, True)
        train = lambda step, seed: {"validation": -abs(torch.tensor(step / best).log().item())}  # noqa: E731
        found = pieces.search("cell", [0.1, 0.2, 0.4], train)
        return found, sorted(file.stem for file in pieces.out.glob("*.json"))

    found, files = search("inside", 0.2)
    assert found == 0.2
    assert files == ["cell-0.1", "cell-0.2", "cell-0.2-seed-2", "cell-0.2-seed-3", "cell-0.4"]
    found, files = search("above", 0.8)
    assert found == 0.8
    assert len(files) == 5 + 2  # 0.1 to 1.6, and two more seeds
    found, files = search("far", 1e6)
    assert len(files) == MOST + 2  # one budget for all: the best is at the end
    pieces = Pieces(str(tmp_path / "late"), "cpu", 0, True)
    assert pieces.search("cell", [0.1, 0.2], lambda step, seed: {"validation": 1.0}) is None


def test_what_is_there_is_not_measured_again(tmp_path: Path) -> None:
    from pieces import Pieces

    pieces = Pieces(str(tmp_path), "cpu", 100, True)
    first = pieces.piece("one", lambda: {"value": 1})
    assert first is not None
    assert {"device", "torch", "date", "took_seconds", "value"} == set(first)
    assert pieces.piece("one", lambda: {"value": 2}) == first
    assert pieces.piece("bad", lambda: {"value": 1 // 0}) is None
    assert not (tmp_path / "bad.json").exists()


@pytest.fixture
def few_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise in the shape of CIFAR-10."""
    torch.manual_seed(1)
    images, classes = torch.randn(900, 3, 32, 32), torch.arange(900) % 10
    data = ot.data.Data(images[:800], classes[:800], images[800:], classes[800:])
    monkeypatch.setattr(ot.data, "cifar10", lambda: data)


def test_a_cell_of_the_table_is_trained(tmp_path: Path, few_images: None) -> None:
    import trainings
    from pieces import Pieces

    names = ["smtpp-muon", "qg-dsgdm"]
    cells = {"one-peer": trainings.CELLS["one-peer"]._replace(methods=names)}
    whole, trainings.CELLS = trainings.CELLS, cells
    try:
        trainings.table(Pieces(str(tmp_path), "cpu", 300, True), ["one-peer"], 1)
    finally:
        trainings.CELLS = whole
    for name in names:
        found = [json.loads(file.read_text()) for file in tmp_path.glob(f"table-one-peer-{name}-*.json")]
        assert 3 + 2 <= len(found) <= 6 + 2
        assert {one["seed"] for one in found} == {1, 2, 3}
        assert all(one["rounds"] == 5 and one["alpha"] == 0.1 for one in found)
    # each agent sends one vector to one other for SMTPP's pull and one for its push; QG-DSGDm one in all
    sent = [json.loads(next(tmp_path.glob(f"table-one-peer-{name}-*.json")).read_text()) for name in names]
    assert [one["bytes"] for one in sent] == [16 * 4 * 5 * sent[0]["weights"] * vectors for vectors in (2, 1)]


def test_even_and_uneven_data_are_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fashion
    from pieces import Pieces

    torch.manual_seed(1)
    images, classes = torch.randn(900, 1, 28, 28), torch.arange(900) % 10
    data = ot.data.Data(images[:800], classes[:800], images[800:], classes[800:])
    monkeypatch.setattr(ot.data, "fashion_mnist", lambda: data)
    pieces = Pieces(str(tmp_path), "cpu", 300, small=False)
    for _ in range(2):  # what is there is not done again
        fashion.table(pieces, [1.0, 0.1], ["smtpp"], rounds=3, images=640)
        count = pieces.collect()
    assert 2 * (3 + 2) <= count <= 2 * (6 + 2)
    whole = json.loads((tmp_path / "all.json").read_text())
    assert {(one["alpha"], one["seed"]) for one in whole.values()} == {
        (alpha, seed) for alpha in (1.0, 0.1) for seed in (1, 2, 3)
    }
    assert all(one["weights"] == 50_890 and one["rounds"] == 3 for one in whole.values())


def test_the_long_trainings_choose_a_step_and_note_the_way(
    tmp_path: Path, few_images: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import vgg
    from networks import cnn
    from pieces import Pieces

    monkeypatch.setattr(vgg, "vgg11", lambda: cnn(1))
    monkeypatch.setattr(vgg, "BATCH", 2)
    pieces = Pieces(str(tmp_path), "cpu", 300, True)
    vgg.run(pieces, ["sgp", "smtpp"], 1)
    done = json.loads((tmp_path / "vgg-1-sgp-0.2.json").read_text())
    assert done["rounds"] == 25
    assert done["history"][-1]["round"] == 25
    assert done["test"] == done["history"][-1]["accuracy"]
    assert done["agents_least"] <= done["agents_mean"]
    choices = list(tmp_path.glob("vgg-choice-smtpp-*.json"))
    assert 3 <= len(choices) <= 6
    assert len(list(tmp_path.glob("vgg-1-smtpp-*.json"))) == 1
