"""Walks over random graphs of commits, against a walk that takes every version by itself."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.history.evidence import Evidence
from lance_explorer.history.graph.commits import Commit, CommitKind, CommitLine, Edge, EdgeKind
from lance_explorer.history.graph.walks import CommitGraph

DETACHED = 1 << 63


@dataclass(frozen=True)
class Story:
    """Branches with all versions that they ever had, and the last version of each."""

    lines: tuple[CommitLine, ...]
    lasts: dict[str, int]

    def naive_parent(self, commit: Commit) -> Commit | None:
        """Return what a version has its content from; a lost one belongs to its gap."""
        line = {line.branch: line for line in self.lines}.get(commit.branch)
        if line is None:
            return None
        if commit.version in line.built_on:
            return self.gap_of(commit.branch, line.built_on[commit.version])
        target = line.restored.get(commit.version)
        if target is not None:
            return self.gap_of(commit.branch, target)
        if commit.version > line.begin:
            return self.gap_of(commit.branch, commit.version - 1)
        return None if line.origin is None else self.gap_of(*line.origin.parent)

    def gap_of(self, branch: str, version: int) -> Commit | None:
        line = {line.branch: line for line in self.lines}.get(branch)
        if version <= 0:
            return None
        if line is None or version in line.built_on:
            return Commit(branch, version)
        while version > line.begin and not {version, version - 1} & {*line.versions}:
            version -= 1
        return Commit(branch, version)

    def naive_ancestors(self, commit: Commit | None) -> list[Commit]:
        found = []
        while commit is not None:
            found.append(commit)
            commit = self.naive_parent(commit)
        return found


@st.composite
def stories(draw: st.DrawFn) -> Story:
    lines, lasts = list[CommitLine](), dict[str, int]()
    for number in range(draw(st.integers(1, 3))):
        branch, begin, origin = "abc"[number], 1, None
        if number:
            parent = draw(st.sampled_from([line.branch for line in lines]))
            least = next(line.begin for line in lines if line.branch == parent)
            begin = draw(st.integers(least, lasts[parent]))
            kind = draw(st.sampled_from([EdgeKind.FORKS, EdgeKind.CLONES]))
            origin = Edge(kind, Commit(parent, begin), Evidence.RECORDED)
        last = begin + draw(st.integers(0, 12))
        kept = draw(st.sets(st.integers(begin, last), min_size=1))
        versions = sorted({*kept, last})
        built_on = {
            DETACHED + n: draw(st.integers(begin, last)) for n in range(draw(st.integers(0, 2)))
        }
        restored = dict[int, int]()
        for version in versions:
            targets = [*range(begin, version)]
            targets += [detached for detached, base in built_on.items() if base < version]
            if targets and draw(st.integers(0, 3)) == 0:
                restored[version] = draw(st.sampled_from(targets))
        recorded = draw(st.sets(st.sampled_from(versions)))
        lines.append(CommitLine(branch, versions, restored, built_on, begin, origin, recorded))
        lasts[branch] = last
    return Story(tuple(lines), lasts)


def commits_of(story: Story) -> list[Commit]:
    return [Commit(line.branch, version) for line in story.lines for version in line.versions]


@given(stories())
def test_the_content_of_a_version_comes_from_the_same_commits(story):
    graph = CommitGraph(story.lines)
    for commit in commits_of(story):
        assert [*graph.ancestors(commit)] == story.naive_ancestors(commit)


@given(stories(), st.data())
def test_a_path_undoes_what_one_version_alone_comes_from_and_does_the_others(story, data):
    graph = CommitGraph(story.lines)
    ends = st.sampled_from([None, *commits_of(story)])
    one, other = data.draw(ends), data.draw(ends)
    path = graph.path(one, other)
    before, after = story.naive_ancestors(one), story.naive_ancestors(other)
    common = next((commit for commit in before if commit in after), None)
    assert path.undone == tuple([commit for commit in before if commit not in after])
    assert path.done == tuple([commit for commit in after if commit not in before][::-1])
    assert path.common == common == graph.common_ancestor(one, other)


@given(stories(), st.data())
def test_seams_are_all_commits_that_cannot_be_read_and_those_that_leave_a_branch(story, data):
    graph = CommitGraph(story.lines)
    ends = st.sampled_from(commits_of(story))
    path = graph.path(data.draw(ends), data.draw(ends))
    kept = {*commits_of(story)}
    leaving = {
        commit
        for commit in path.undone + path.done
        if (parent := story.naive_parent(commit)) and parent.branch != commit.branch
    }
    passed = {*path.undone, *path.done, *([path.common] if path.common else [])}
    assert path.seams == (passed - kept) | leaving


@given(stories(), st.data())
def test_a_fold_hands_each_state_on_from_the_content_parent(story, data):
    graph = CommitGraph(story.lines)
    some = data.draw(st.sets(st.sampled_from(commits_of(story)), min_size=1))
    steps = list[Commit]()

    def step(
        commit: Commit, parent: Commit | None, state: tuple[Commit, ...] | None
    ) -> tuple[Commit, ...]:
        steps.append(commit)
        assert (parent is None) == (state is None)
        return (commit, *(state or ()))

    states = graph.fold(some, step)
    assert len(steps) == len({*steps})
    lines = {commit: story.naive_ancestors(commit) for commit in some}
    shared = [
        commit for commit in lines[min(some)] if all(commit in line for line in lines.values())
    ]
    for commit in some:
        whole = lines[commit]
        first = whole.index(shared[0]) + 1 if shared else len(whole)
        assert states[commit] == tuple(whole[:first])


@given(stories())
def test_what_restores_undid_is_on_no_way_that_led_to_a_version(story):
    graph = CommitGraph(story.lines)
    restored = {line.branch: line.restored for line in story.lines}
    for commit in commits_of(story):
        line = story.naive_ancestors(commit)
        undone = [*graph.undone(commit)]
        assert undone == [
            (one.branch, range(restored[one.branch][one.version] + 1, one.version))
            for one in line
            if one.version in restored[one.branch]
        ]
        kept = {one for one in line if graph.can_be_read(one)}
        assert not any(Commit(b, version) in kept for b, some in undone for version in some)


@given(stories())
def test_only_a_restore_has_two_parents_and_its_content_parent_comes_first(story):
    graph = CommitGraph(story.lines)
    for line in story.lines:
        for version in line.versions:
            edges = graph.parents(Commit(line.branch, version))
            assert (edges[:1] and edges[0].kind is EdgeKind.RESTORES) == (
                edges[:1] and version in line.restored
            )
            assert len(edges) <= 1 + (version in line.restored)


def test_a_version_is_kept_recorded_detached_or_in_a_gap():
    line = CommitLine("", [2, 3, 6], built_on={DETACHED: 2}, recorded={3})
    graph = CommitGraph([line])
    kinds = {version: graph.commit("", version) for version in (0, 1, 2, 3, 4, 5, 6, 9, DETACHED)}
    assert {version: commit and commit.version for version, commit in kinds.items()} == {
        0: None,
        1: 1,
        2: 2,
        3: 3,
        4: 4,
        5: 4,
        6: 6,
        9: 7,
        DETACHED: DETACHED,
    }
    told = [graph.kind(commit) for commit in kinds.values() if commit]
    kept, gap = CommitKind.KEPT, CommitKind.GAP
    assert told == [gap, kept, CommitKind.RECORDED, gap, gap, kept, gap, CommitKind.DETACHED]


def test_what_led_over_a_gap_is_lost_and_what_a_detached_version_was_built_on_is_inferred():
    graph = CommitGraph([CommitLine("", [1, 4], {4: DETACHED}, {DETACHED: 3})])
    restore, follows = graph.parents(Commit("", 4))
    assert restore == Edge(EdgeKind.RESTORES, Commit("", DETACHED), Evidence.RECORDED)
    assert follows == Edge(EdgeKind.FOLLOWS, Commit("", 2), Evidence.RECORDED)
    assert graph.parents(Commit("", DETACHED)) == (
        Edge(EdgeKind.BUILT_ON, Commit("", 2), Evidence.INFERRED),
    )
    assert graph.parents(Commit("", 2)) == (Edge(EdgeKind.FOLLOWS, Commit("", 1), Evidence.LOST),)


def test_a_restore_of_what_cannot_be_before_it_follows_the_version_before():
    for target in (0, 3, 7):
        graph = CommitGraph([CommitLine("", [1, 2, 3], {3: target})])
        assert graph.content_parent(Commit("", 3)) == Commit("", 2)


def test_the_branch_that_another_one_came_from_may_be_gone():
    origin = Edge(EdgeKind.FORKS, Commit("gone", 2), Evidence.RECORDED)
    graph = CommitGraph([CommitLine("b", [2, 3], begin=2, origin=origin)])
    path = graph.path(None, Commit("b", 3))
    assert path.done == (Commit("gone", 2), Commit("b", 2), Commit("b", 3))
    assert path.seams == {Commit("gone", 2), Commit("b", 2)}
    assert graph.kind(Commit("gone", 2)) is CommitKind.GAP
