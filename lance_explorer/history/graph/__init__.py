"""The graph of commits: parents of commits, and walks over them.

A node is a commit of a branch. Its versions are *kept* (the table has them), *recorded* (only a
ledger has them), *detached* (on no branch), or lost: all lost versions in a row are one *gap*. An
edge goes from a commit to a parent, with the evidence for it::

    main   1 <-- 2 <-- 3 <-- (4..5) <-- 6 <-- 7     6 follows a gap: what 4 and 5 did is lost
                 ^     ^                      |
                 |     '------- restores -----'     so 3 is the *content parent* of 7
                 |
                 '-- forks -- 2 <-- 3 <-- 4         a branch, b

*follows*: the version before. *restores*: what a Restore went back to. *forks*, *clones*: where the
first version of a branch, or of a clone, was copied from. *built on*: what a detached commit, in
no branch, was made of.

The content of a version comes from its **content parent**: for a Restore the version that it went
back to, for every other commit the previous one. So every version has one path of commits that
produced it, and two versions differ by the commits of their paths that are not common, which is a
:class:`~lance_explorer.history.graph.walks.Path`::

    path(6, 7):  undone 6, (4..5);  common 3;  done 7;  seams (4..5)
    path(b 4, 6):  undone b 4, b 3, b 2;  common 2;  done 3, (4..5), 6;  seams b 2, (4..5)

A *seam* is a place where a walk leaves what can be read: a gap, a detached version, or a fork. No
rule that needs every commit holds across a seam.

Nothing here reads anything: :mod:`lance_explorer.history.history` makes the graph of a branch, and
:mod:`lance_explorer.history.ancestors` that of several.
"""
