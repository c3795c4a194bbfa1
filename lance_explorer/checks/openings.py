"""Whether pylance opens the versions that people read: the latest ones and those with a tag."""

from collections.abc import Iterator

from lance_explorer.errors import LanceExplorerError, UnreachableError
from lance_explorer.findings import Finding, Subject
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView

__all__ = ["opening_findings"]


def opening_findings(view: HistoryView) -> list[Finding]:
    """Return a finding for each latest or tagged version that pylance does not open and read.

    It opens the version and reads its first row, since some manifests are refused only by pylance.
    """
    found = [_refusal(view, branch, version) for branch, version in _versions(view)]
    return [finding for finding in found if finding is not None]


def _versions(view: HistoryView) -> Iterator[tuple[str | None, int]]:
    """Yield the latest version of this branch and of all others, and those with a tag."""
    tagged = [(tag.branch, tag.version) for tag in view.refs.tags.values()]
    latest = list[tuple[str | None, int]]()
    for branch in dict.fromkeys([view.branch, None, *view.refs.branches]):
        try:
            latest.append((branch, view.on_branch(branch).latest_version))
        except LanceExplorerError:
            if branch == view.branch:
                raise
    yield from dict.fromkeys([*latest, *tagged])


def _refusal(view: HistoryView, branch: str | None, version: int) -> Finding | None:
    """Return what is wrong with a version; None if pylance opens and reads it."""

    def not_known(why: str) -> Finding:
        return Finding(
            "not_checked",
            why,
            subject=Subject("version", str(version)),
            versions=(version, version),
            branch=branch,
        )

    try:
        of = view.on_branch(branch)
        check_values(of, version)
        root = value_root(of, version)
    except (LanceExplorerError, FileNotFoundError) as error:
        return not_known(f"pylance was not asked to open version {version}: {error}")
    from lance_explorer.values import read_rows, row_types

    step, options = "open", of.storage.options
    try:
        row_types(root, version, options)
        step = "read the first row of"
        read_rows(root, version, limit=1, storage_options=options)
    except UnreachableError as error:
        return not_known(f"whether pylance opens version {version} is not known: {error}")
    except LanceExplorerError as error:
        why = str(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a class that no module exports
            raise
        why = f"pylance panicked: {error}"
    else:
        return None
    if step != "open" and "not found" in why.lower():
        return None  # the survey of the folder reports missing files
    return Finding(
        "not_opened",
        f"pylance cannot {step} version {version}: {why}",
        subject=Subject("version", str(version)),
        versions=(version, version),
        branch=branch,
    )
