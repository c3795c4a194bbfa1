"""A frame of the metadata as an answer, wherever answers are shown."""

import json

import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli.group import main
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.widgets.questions import answer_to
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

TABLE = DATA / "14.0.2" / "life_cycle.lance"


@pytest.mark.parametrize("name", FRAMES)
def test_each_frame_is_an_answer_with_its_rows(name):
    table = lx.open_table(TABLE)
    answer = table.answer(name)
    told = json.loads(answer.json())
    frame = table.versions() if name == "versions" else getattr(table.inspect, name)()
    assert sum(len(section["rows"]) for section in told["sections"].values()) == len(frame)
    assert answer.sentence.endswith(".")


def test_tags_and_branches_are_told_everywhere(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance").append().append().tag("gold", 1)
    made.branch("dev")
    made.remove(1)
    table = lx.open_table(made.path)
    answer = table.answer("refs")
    assert answer.sentence == "1 tag and 1 branch; `gold` is of versions that are not kept."
    assert "gold" in answer.text(width=80)
    assert "| gold |" in answer.markdown()
    assert "gold" in answer.html()
    printed = CliRunner().invoke(main, ["inspect", str(made.path), "refs"]).output
    assert printed.splitlines()[0] == answer.sentence
    asked = answer_to(table, "show refs?")
    assert asked is not None
    assert asked.sentence == answer.sentence


def test_a_frame_that_there_is_not_is_refused():
    table = lx.open_table(TABLE)
    with pytest.raises(lx.InvalidArgumentError, match="no frame 'nonsense'; there are: "):
        table.answer("nonsense")
    assert answer_to(table, "show nonsense") is None
