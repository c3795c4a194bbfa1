"""What an index had of each fragment over versions is what is told of each version."""

import pytest

from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.inspect.index_coverage import index_coverage
from lance_explorer.inspect.index_lives import COVERAGES, index_lives, index_names
from tests.history.compactions import deferred_rounds
from tests.inspect.tables import stored, versions_of
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


def at(lives, position):
    """Return what the index has of each fragment in a version."""
    there = (lives.first <= position) & (position <= lives.last)
    ids = lives.fragment_ids[lives.slot[there]].tolist()
    assert len(set(ids)) == len(ids)
    return dict(zip(ids, [COVERAGES[code] for code in lives.coverage[there]], strict=True))


def told(source, version, name, known):
    """Return the same as the coverage of that version tells it."""
    found = {}
    frame = index_coverage(source, version).filter(name=name)
    for line in frame.iter_rows(named=True):
        if not line["is_current"]:
            words = {"removed"} if line["fragment_id"] in known else None
        elif line["is_covered"] is None:
            words = {"unknown"}
        elif line["is_covered"]:
            words = {"masked"} if line["num_stale_entries"] else {"covered", "masked"}
        else:
            words = {"not_covered"}
        if words:
            found[line["fragment_id"]] = words
    return found


def assert_agrees(source):
    names = index_names(source.history)
    for name in names:
        lives = index_lives(source, name)
        known = set(lives.fragment_ids.tolist())
        for position, version in enumerate(versions_of(source)):
            ours = at(lives, position)
            record = source.history.records[position]
            if name not in {index.name for index in record.indices}:
                states = source.history.intervals.at(position)
                there = {source.history.states[state].id for state in states}
                assert ours == dict.fromkeys(there, "no_index")
                continue
            expected = told(source, version, name, known)
            assert ours.keys() == expected.keys()
            assert [key for key in ours if ours[key] not in expected[key]] == []
    return names


@stored_check()
def check_coverage_is_that_of_each_version(asked):
    view = asked.view
    names = assert_agrees(view)
    assert not SYSTEM_INDICES & set(names)


def test_coverage_goes_through_the_reuse_history(tmp_path):
    assert assert_agrees(deferred_rounds(tmp_path).view) != []


def test_fragments_are_masked_from_the_first_deletion_after_the_index_on(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).delete({0: [0]})
    table.create_index("id_idx").append(rows=2).delete({0: [1]}).compact([0, 1])
    lives = index_lives(stored(table.path), "id_idx")
    stretches = sorted(
        (int(lives.fragment_ids[slot]), int(first) + 1, int(last) + 1, COVERAGES[coverage])
        for slot, first, last, coverage in zip(
            lives.slot, lives.first, lives.last, lives.coverage, strict=True
        )
    )
    assert stretches == [
        (0, 1, 2, "no_index"),
        (0, 3, 4, "covered"),
        (0, 5, 6, "masked"),
        (0, 7, 7, "removed"),
        (1, 4, 6, "not_covered"),
        (2, 7, 7, "not_covered"),
    ]


def slowly(source, name):
    """Return the same, from one version after the other, by what the words mean."""
    history = source.history

    def deleted_in(version):
        if version not in history:
            return {}
        states = history.states_at(history.position(version))
        return {history.states[at].id: int(history.num_deleted_rows[at]) for at in states}

    for record in history.records:
        there = deleted_in(record.version)
        segments = [segment for segment in record.indices if segment.name == name]
        listed = {}
        for segment in segments:
            then = deleted_in(segment.dataset_version)
            listed.update({key: then.get(key, 0) for key in segment.fragment_ids()})
        found = dict.fromkeys(there, "not_covered" if segments else "no_index")
        for key, then in listed.items():
            was = "masked" if there.get(key, 0) > then else "covered"
            found[key] = was if key in there else "removed"
        yield found


def rebuilt_over_and_over(path):
    table = SyntheticTable(path).append(rows=9, fragments=4).create_index("id_idx")
    for number in range(6):
        table.append(rows=9).delete({table.fragment_ids[0]: [number]})
        if number % 2:
            table.state.indices.clear()
        if number != 3:
            table.create_index("id_idx")
        table.delete({table.fragment_ids[-1]: [0]}).delete({table.fragment_ids[-1]: [1]})
        table.compact(table.fragment_ids[1:3])
    table.restore(3)
    return table.create_index("id_idx").append(rows=9)


def test_an_index_that_is_rebuilt_over_and_over_has_what_each_version_tells(tmp_path):
    source = stored(rebuilt_over_and_over(tmp_path / "t.lance").path)
    lives = index_lives(source, "id_idx")
    expected = list(slowly(source, "id_idx"))
    assert [at(lives, position) for position in range(len(source.history))] == expected
    assert set().union(*[found.values() for found in expected]) == {*COVERAGES} - {
        "absent",
        "unknown",
    }


def test_stretches_of_a_fragment_that_touch_differ(tmp_path):
    lives = index_lives(stored(rebuilt_over_and_over(tmp_path / "t.lance").path), "id_idx")
    codes = dict(zip(zip(lives.slot, lives.first, strict=True), lives.coverage, strict=True))
    following = zip(lives.slot, lives.last + 1, strict=True)
    for coverage, place in zip(lives.coverage, following, strict=True):
        assert codes.get(place) != coverage


def test_work_that_nobody_wants_ends_between_two_changes_of_the_index(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append().create_index("id_idx").append()
    source = stored(table.path)
    calls = []

    def check():
        calls.append(1)
        if len(calls) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        index_lives(source, "id_idx", check)


def test_names_of_the_latest_versions_come_first(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append().create_index("old")
    table.state.indices.clear()
    table.create_index("new")
    assert index_names(stored(table.path).history) == ["new", "old"]


def test_a_table_without_versions_of_an_index_has_no_stretches(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0)
    lives = index_lives(stored(table.path), "none")
    assert (len(lives.fragment_ids), len(lives.slot)) == (0, 0)
