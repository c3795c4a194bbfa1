"""The graph that the manifests of a branch make."""

from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.history.graph.commits import Commit, CommitKind, EdgeKind
from lance_explorer.history.paths import parent_position, restores_unseen
from lance_explorer.history.view import HistoryView
from tests.synthetic import SyntheticTable
from tests.synthetic.folders import DETACHED


def test_a_restore_comes_from_what_it_restored(tmp_path):
    table = SyntheticTable(tmp_path).append().append().restore(1).append()
    history = HistoryView.open(str(table.path)).history
    kinds = [edge.kind for edge in history.graph.parents(Commit("", 3))]
    assert kinds == [EdgeKind.RESTORES, EdgeKind.FOLLOWS]
    assert [one.version for one in history.graph.ancestors(Commit("", 4))] == [4, 3, 1]
    assert [parent_position(history, position) for position in range(4)] == [-1, 0, 0, 2]
    assert history.follows_previous.all()


def test_a_detached_version_is_told_once_and_then_is_what_first_restored_it(tmp_path):
    table = SyntheticTable(tmp_path).append()
    for _ in range(2):
        table.commit("restore", pb.Restore(version=DETACHED | 1)).append()
    history = HistoryView.open(str(table.path)).history
    assert history.restored == {2: DETACHED | 1, 4: 2}
    assert history.follows_previous.tolist() == [True, False, True, True, True]
    assert [restores_unseen(history, position) for position in range(5)] == [False, True] + [
        False
    ] * 3
    assert history.graph.kind(Commit("", DETACHED | 1)) is CommitKind.DETACHED
    assert [one.version for one in history.graph.ancestors(Commit("", 2))] == [2, DETACHED | 1, 1]


def test_a_restore_that_does_not_say_what_it_restored_is_unseen(tmp_path):
    table = SyntheticTable(tmp_path).append().append()
    table.commit("restore", pb.Restore(version=3))
    history = HistoryView.open(str(table.path)).history
    assert parent_position(history, 2) == 1
    assert restores_unseen(history, 2)
