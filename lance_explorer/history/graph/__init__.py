"""The graph of commits: which commit comes from which, and the walks over it.

A node is a commit of a branch. Its versions are *kept* (the table has them), *recorded* (only a
ledger has them), *detached* (on no branch), or lost: all lost versions in a row are one *gap*. An
edge goes from a commit to one that it comes from, and says how that is known::

    main   1 <-- 2 <-- 3 <-- (4..5) <-- 6 <-- 7     6 follows a gap: what 4 and 5 did is lost
                 ^     ^                      |
                 |     '------- restores -----'     so 3 is the *content parent* of 7
                 |
                 '-- forks -- 2 <-- 3 <-- 4         a branch, b

*follows*: the version before. *restores*: what a Restore went back to. *forks*, *clones*: where the
first version of a branch, or of a clone, was copied from. *built on*: what a detached commit, in
no branch, was made of.

What a version contains comes from its **content parent**: the version that a Restore went back to,
for every other commit the one before. So every version has one line of commits that made it, and
two versions differ by the commits of their lines that are not common to both, which is a
:class:`~lance_explorer.history.graph.walks.Path`::

    path(6, 7):  undone 6, (4..5);  common 3;  done 7;  seams (4..5)
    path(b 4, 6):  undone b 4, b 3, b 2;  common 2;  done 3, (4..5), 6;  seams b 2, (4..5)

A *seam* is a place where a walk leaves what can be read: a gap, a detached version, or a fork. No
rule that needs every commit holds across one.

Nothing here reads anything: :mod:`lance_explorer.history.history` makes the graph of a branch, and
:mod:`lance_explorer.history.ancestors` that of several.
"""
