"""Which commits made a table large."""

import lance
import pyarrow as pa

from lance_explorer.history.source import TableSource
from lance_explorer.report.facts import Facts
from lance_explorer.report.growth import growth
from tests.inspect.tables import stored
from tests.synthetic import SyntheticTable


def test_the_commits_that_added_most_come_first_with_what_they_wrote(tmp_path):
    path = tmp_path / "t.lance"
    table = lance.write_dataset(pa.table({"id": range(10)}), path)
    table = lance.write_dataset(pa.table({"id": range(100_000)}), path, mode="append")
    table.update({"id": "id + 1"}, where="id < 10")
    table.delete("id > 0")
    sizes = [
        {
            file.path: file.file_size_bytes or 0
            for fragment in lance.dataset(path, version=version).get_fragments()
            for file in fragment.metadata.files
        }
        for version in (1, 2, 3)
    ]
    steps = [{}, *sizes]
    written = {
        version: sum(size for name, size in after.items() if name not in before)
        for version, (before, after) in enumerate(zip(steps, sizes, strict=False), 1)
    }
    grown = growth(Facts(TableSource(str(path))))
    assert grown["version"][0] == 2
    assert dict(grown.select("version", "written_bytes").iter_rows()) == {
        version: written[version] for version in grown["version"]
    }
    added = [sum(a.values()) - sum(b.values()) for b, a in zip(steps, sizes, strict=False)]
    assert dict(grown.select("version", "added_bytes").iter_rows()) == {
        version: size for version, size in enumerate(added, 1) if size > 0
    }


def test_a_step_over_a_gap_is_nobody_s(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=1).append(rows=1000).append(rows=2)
    assert growth(Facts(TableSource(str(table.path))))["version"].to_list() == [2, 3, 1]
    assert growth(Facts(TableSource(str(table.remove(1).path))))["version"].to_list() == [3]


def test_at_most_ten_are_told(tmp_path):
    table = SyntheticTable(tmp_path)
    for _ in range(15):
        table.append()
    assert len(growth(Facts(TableSource(str(table.path))))) == 10


def test_sizes_that_no_manifest_tells_are_unknown_not_0():
    assert growth(Facts(stored("0.10.18/life_cycle.lance"))).is_empty()
