"""What commits did, in words."""

import lance
import pytest

from lance_explorer import demo
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import describe_commits
from tests.format.samples import DATA
from tests.inspect.commit_sentences import STORED_SENTENCES, sentences_text
from tests.synthetic import SyntheticTable


def sentences(path, branch=None):
    """Return the sentence of each version."""
    view = HistoryView.open(str(path), branch)
    versions = [record.version for record in view.history.records]
    return dict(zip(versions, describe_commits(view), strict=True))


def last_sentence(table):
    return list(sentences(table.path).values())[-1]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return demo.make_photos(tmp_path_factory.mktemp("samples") / "photos.lance")


@pytest.fixture
def table(tmp_path):
    return SyntheticTable(tmp_path / "t.lance").append(rows=10, fragments=2)


@pytest.mark.slow
def test_the_sentences_of_all_stored_tables_are_as_stored():
    assert sentences_text() == STORED_SENTENCES.read_text()


def test_every_kind_of_commit_of_the_sample_has_its_words(photos):
    said = sentences(photos)
    assert {version: said[version] for version in SAMPLE} == SAMPLE


SAMPLE = {
    1: "Table created with 320 rows in 2 fragments and 11 columns.",
    2: "180 rows added; 1 new fragment.",
    3: "Config: `archive.keep_originals` set to `true` and `archive.owner` set to `Family Silva`.",
    4: "Index `photo_id_idx` built.",
    6: "107 rows updated in `caption`; 1 new fragment, 2 changed.",
    8: "Field `megapixels` (`double`) added; filled in 698 rows; 5 fragments changed.",
    11: "67 rows updated, 10 rows added; 1 new fragment, 2 changed.",
    13: "3 fragment IDs reserved for a coming compaction.",
    14: "1,338 rows compacted from 8 fragments into 3; 1 index segment rewritten.",
    15: "Indices `embedding_idx` and `photo_id_idx` rebuilt.",
    19: "260 rows updated in `people` in place; 1 fragment changed.",
    20: "Field `caption` renamed to `title`.",
    21: "Field `megapixels` cast from `double` to `float`; values of 1,858 rows written; "
    "4 fragments changed.",
    26: "293 rows deleted where `album = 'Lisbon'`; 2 fragments changed, 1 removed.",
    28: "Version 25 restored; 293 rows brought back, 300 rows deleted; "
    "1 new fragment, 2 changed, 1 removed.",
    30: "49 rows added, 11 rows deleted; 1 new fragment, 3 changed.",
    34: "Indices `album_idx`, `embedding_idx` and `photo_id_idx` extended.",
    37: "Field `sharpness` dropped.",
    40: "Index `taken_at_idx` dropped.",
}


def test_a_branch_says_where_it_began(photos):
    assert sentences(photos, "faces")[30] == "Branch `faces` created from version 30."


def test_deleted_rows_are_as_many_as_pylance_misses(photos):
    before, after = [lance.dataset(photos, version=v).count_rows() for v in (44, 45)]
    assert sentences(photos)[45].startswith(f"{before - after} rows deleted where `rating = 1`;")


def test_a_kept_version_after_a_gap_says_what_cannot_be_told(table):
    table.append(rows=3).append(rows=4)
    table.folder.manifest_path(2).unlink()
    assert last_sentence(table) == (
        "4 rows added; the version before is not kept, so what else changed is unknown."
    )


def test_an_operation_of_a_later_lance_is_named_by_its_number(table):
    table.commit(250, b"\x08\x01")
    assert last_sentence(table).startswith("Operation number 250, which is not known here;")


def test_a_damaged_transaction_is_told_as_such(table):
    table.commit("delete", b"\x0a\x02\xff\xff")
    assert last_sentence(table).startswith("Delete, but its transaction cannot be read")


def test_text_of_files_stands_on_one_line_without_backticks_and_cut(table):
    table.delete({0: [1]}, predicate="name = '`\n\u202e<b>' OR " + "x" * 500)
    [_, predicate, _] = last_sentence(table).split("`")
    assert predicate.startswith("name = ''\\n\\u202e<b>' OR xxx")
    assert predicate.endswith("xxx...")
    assert len(predicate) == 123


def test_what_is_more_than_a_few_is_counted(table):
    table.update_config(**{f"key{number}": "on" for number in range(8)})
    assert last_sentence(table) == (
        "Config: `key0` set to `on`, `key1` set to `on`, `key2` set to `on` and 5 more."
    )


def test_an_update_in_place_of_a_writer_that_did_not_say_so_is_told_as_such():
    said = sentences(DATA / "0.32.1" / "stable_row_ids.lance")
    assert said[20].startswith("Values of 23 rows in `id` and `score` written in place;")


def test_an_update_that_met_nothing_says_so(table):
    table.commit("update", pb.Update(fields_for_preserving_frag_bitmap=[1]))
    assert last_sentence(table) == "No row changed; nothing differs from the version before."


def test_parts_of_a_struct_are_not_named_beside_it(tmp_path):
    import pyarrow as pa

    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(pa.table({"id": [1, 2]}), path)
    place = pa.struct([("x", pa.float64()), ("y", pa.float64())])
    dataset.add_columns(pa.schema([pa.field("place", place)]))
    assert sentences(path)[2] == "Field `place` (`struct`) added."
