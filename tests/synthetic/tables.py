"""A table that has metadata only, written as fast as files can be."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from google.protobuf.message import Message
from pyroaring import BitMap

from lance_explorer.format._pb import index_pb2, table_pb2
from lance_explorer.format._pb import transaction_pb2 as pb
from tests.synthetic.folders import DETACHED, MetadataFolder, Naming
from tests.synthetic.fragments import RowSequences, SyntheticFragment, without_id
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.states import Rows, TableState, column
from tests.synthetic.transactions import encode_transaction

__all__ = ["SyntheticTable"]

_FIRST_COMMIT = 1_767_225_600  # 2026-01-01, in seconds since 1970
_SECONDS_BETWEEN_COMMITS = 60
_TIME_OF_TAGS = "2026-01-31T09:30:00.000000001Z"


class SyntheticTable:
    """Writes versions of a table, each as soon as it is asked for.

    Every method that commits returns the table, so that calls can be chained. Two tables made by
    the same calls in folders of the same name have the same files, to the byte.

    Parameters
    ----------
    path : Path
        The root of the table; it is made with the first commit.
    stable_row_ids : bool
        Whether fragments carry row IDs and row versions.
    naming : str
        How manifest files are named: V2, or V1 as old writers do.
    transaction_files : bool
        Whether each transaction is written into a file of its own, too.

    Examples
    --------
    >>> table = SyntheticTable(Path("t.lance")).append(rows=3).append(rows=2).delete({0: [1]})
    >>> table.update({0: [2], 1: [0]}).compact([0, 1, 2]).version
    6
    """

    def __init__(
        self,
        path: Path,
        *,
        stable_row_ids: bool = True,
        naming: Naming = "V2",
        transaction_files: bool = True,
    ) -> None:
        self.path = path
        self.folder = MetadataFolder(path, naming)
        self.state = TableState(self.folder, stable_row_ids)
        self._transaction_files = transaction_files
        self._fragments: dict[bytes, SyntheticFragment] = {}  # all there ever were, for restores
        self._latest = ManifestFile(message=self.state.manifest)
        self._forks: list[tuple[int, str]] = []

    @property
    def version(self) -> int:
        """The latest version; 0 before the first."""
        return self.state.manifest.version

    @property
    def fragment_ids(self) -> list[int]:
        return sorted(self.state.fragments)

    @property
    def num_rows(self) -> int:
        return sum([fragment.num_rows for fragment in self.state.fragments.values()])

    @property
    def branch_name(self) -> str | None:
        manifest = self.state.manifest
        return manifest.branch if manifest.HasField("branch") else None

    # ------------------------------------------------------------------------------- operations

    def append(self, rows: int = 1, fragments: int = 1) -> Self:
        """Add fragments of ``rows`` rows each; the first time, create the table with them."""
        if self.version == 0:
            return self.overwrite(rows, fragments)
        return self.commit("append", pb.Append(fragments=self.state.add(rows, fragments)))

    def overwrite(self, rows: int = 1, fragments: int = 1) -> Self:
        """Replace all fragments."""
        self.state.fragments = {}
        added = self.state.add(rows, fragments)
        operation = pb.Overwrite(fragments=added, schema=self.state.manifest.fields)
        return self.commit("overwrite", operation)

    def delete(self, rows: Rows, predicate: str = "id = 0", *, counted: bool = True) -> Self:
        """Delete rows, and fragments that have no others.

        Without ``counted`` the number of deleted rows is not stored, as once it was not.
        """
        updated, removed = self.state.mask(rows, counted)
        operation = pb.Delete(
            updated_fragments=updated, deleted_fragment_ids=removed, predicate=predicate
        )
        return self.commit("delete", operation)

    def update(self, rows: Rows, *, inserted: int = 0) -> Self:
        """Move rows, with a new score, into a new fragment; inserted ones follow them there.

        Without inserted rows it is what ``update()`` does, else what ``merge_insert()`` does.
        """
        moved = {key: BitMap(offsets) for key, offsets in sorted(rows.items())}
        sequences = self.state.moved_rows(moved, inserted)
        updated, removed = self.state.mask(moved)
        operation = pb.Update(
            updated_fragments=updated,
            removed_fragment_ids=removed,
            fields_for_preserving_frag_bitmap=[0, 1] if inserted else [1],
        )
        count = sum([len(offsets) for offsets in moved.values()]) + inserted
        if count:
            fragment = self.state.put(self.state.next_fragment_id, count, sequences)
            operation.new_fragments.append(without_id(fragment.message))
        return self.commit("update", operation)

    def compact(self, *groups: Sequence[int], into: int = 1) -> Self:
        """Rewrite each group of fragments into others; a commit before reserves their IDs."""
        read_version, first = self.version, self.state.next_fragment_id
        self.reserve(len(groups) * into)
        operation = pb.Rewrite()
        for position, group in enumerate(groups):
            start = first + position * into
            old, new = self.state.rewrite(group, range(start, start + into))
            operation.groups.add(old_fragments=old, new_fragments=new)
        return self.commit("rewrite", operation, read_version=read_version)

    def reserve(self, count: int) -> Self:
        """Set fragment IDs aside."""
        self.state.manifest.max_fragment_id = self.state.next_fragment_id + count - 1
        return self.commit("reserve_fragments", pb.ReserveFragments(num_fragments=count))

    def restore(self, version: int) -> Self:
        """Bring an earlier version back."""
        file = self.folder.read(version)
        fragments = [
            self._fragments[data]
            for data in table_pb2.ManifestEnvelope.FromString(file.fragments).fragments
        ]
        for name in ("version", "next_row_id", "max_fragment_id"):
            setattr(file.message, name, getattr(self.state.manifest, name))
        self.state.fragments = {fragment.id: fragment for fragment in fragments}
        self.state.indices = [*index_pb2.IndexSection.FromString(file.index_section or b"").indices]
        self.state.manifest = file.message
        return self.commit("restore", pb.Restore(version=version))

    def add_column(self, name: str) -> Self:
        """Add a column with values to every fragment."""
        schema, fragments = self.state.manifest.fields, self.state.fragments
        number = max([field.id for field in schema]) + 1
        schema.append(column(number, name))
        for key, fragment in fragments.items():
            file = self.state.data_file(fragment.message.physical_rows, [number])
            fragments[key] = fragment.with_file(file, self.version + 1)
        messages = [fragment.message for fragment in fragments.values()]
        return self.commit("merge", pb.Merge(fragments=messages, schema=schema))

    def turn_on_row_ids(self, *, with_versions: bool = True) -> Self:
        """Give each row a stable row ID, deleted rows too, by a merge that changes nothing else.

        No call in Python does that: it is as Lance describes it. ``with_versions`` says whether
        rows get row versions as well, which are then those of the merge.
        """
        state, version = self.state, self.version + 1
        state.stable_row_ids = True
        for key in self.fragment_ids:
            fragment = state.fragments[key]
            count = fragment.message.physical_rows
            first = state.manifest.next_row_id
            state.manifest.next_row_id += count
            versions = np.full(count, version, dtype=np.uint64)
            ids = np.arange(first, first + count, dtype=np.uint64)
            sequences = RowSequences([ids], versions, versions)
            message = table_pb2.DataFragment()
            message.CopyFrom(fragment.message)
            sequences.write_to(message)
            if not with_versions:
                message.ClearField("inline_created_at")
                message.ClearField("inline_last_updated_at")
            state.fragments[key] = SyntheticFragment(message, sequences, fragment.deleted)
        messages = [fragment.message for fragment in state.fragments.values()]
        return self.commit("merge", pb.Merge(fragments=messages, schema=state.manifest.fields))

    def rename_column(self, name: str, new_name: str) -> Self:
        """Change the schema alone."""
        schema = self.state.manifest.fields
        [field] = [field for field in schema if field.name == name]
        field.name = new_name
        return self.commit("project", pb.Project(schema=schema))

    def update_config(self, **entries: str) -> Self:
        """Set keys of the config."""
        self.state.manifest.config.update(entries)
        updates = [pb.UpdateMapEntry(key=key, value=value) for key, value in entries.items()]
        changes = pb.UpdateMap(update_entries=updates)
        return self.commit("update_config", pb.UpdateConfig(config_updates=changes))

    def create_index(self, name: str, fields: Sequence[int] = (0,)) -> Self:
        """Add an index that covers all fragments."""
        index = index_pb2.IndexMetadata(
            uuid=table_pb2.Uuid(uuid=self.state.uuid().bytes),
            fields=fields,
            name=name,
            dataset_version=self.version,
            fragment_bitmap=BitMap(self.fragment_ids).serialize(),
            index_details=index_pb2.AnyDetails(type_url="/lance.table.BTreeIndexDetails"),
            index_version=0,
            created_at=1000 * self._seconds(),
        )
        self.state.indices.append(index)
        return self.commit("create_index", pb.CreateIndex(new_indices=[index]))

    def commit(
        self,
        operation: str | int,
        message: Message | bytes = b"",
        *,
        read_version: int | None = None,
        note: str | None = None,
    ) -> Self:
        """Write the next version, of the fragments as they stand.

        Parameters
        ----------
        operation : str or int
            The field of the transaction that holds the operation; or a number that nobody knows.
        message : Message or bytes
            The operation.
        read_version : int, optional
            The version that it was built on; the one before by default.
        note : str, optional
            The message of the commit.
        """
        state, manifest = self.state, self.state.manifest
        read_version = self.version if read_version is None else read_version
        manifest.version += 1
        uuid = state.uuid()
        transaction = encode_transaction(operation, message, read_version, str(uuid), note)
        manifest.transaction_file = f"{read_version}-{uuid}.txn"
        manifest.timestamp.seconds = self._seconds()
        state.set_flags()
        fragments = [state.fragments[key] for key in self.fragment_ids]
        self._fragments.update([(fragment.data, fragment) for fragment in fragments])
        section = index_pb2.IndexSection(indices=state.indices).SerializeToString()
        self._write(
            ManifestFile(
                message=_copy(manifest),
                fragments=b"".join([fragment.record for fragment in fragments]),
                index_section=section or None,
                transaction=transaction,
            )
        )
        if self._transaction_files:
            path = self.path / "_transactions" / manifest.transaction_file
            self.folder.write_bytes(path, transaction)
        self.folder.write_hint(self.version)
        return self

    # ------------------------------------------------------------------------------------- refs

    def tag(self, name: str, version: int | None = None) -> Self:
        """Tag a version, the latest by default."""
        version = self.version if version is None else version
        facts: dict[str, Any] = {
            "branch": self.branch_name,
            "version": version,
            "createdAt": _TIME_OF_TAGS,
            "updatedAt": _TIME_OF_TAGS,
            "manifestSize": self.folder.manifest_path(version).stat().st_size,
            "metadata": {},
        }
        self._main_folder().write_ref("tags", name, facts)
        return self

    def branch(self, name: str) -> "SyntheticTable":
        """Return a new branch, which begins with a version of the same number as this one's."""
        main, old = self._main_folder(), self.state
        branch = SyntheticTable(
            main.root / "tree" / name,
            stable_row_ids=old.stable_row_ids,
            naming=main.naming,
            transaction_files=self._transaction_files,
        )
        base_id, new = len(old.manifest.base_paths), branch.state
        new.fragments = {key: fragment.on_base(base_id) for key, fragment in old.fragments.items()}
        new.indices = [*old.indices]
        new.manifest = _copy(old.manifest)
        new.manifest.base_paths.add(
            id=base_id, name=self.branch_name, is_dataset_root=True, path=str(self.path)
        )
        new.manifest.branch = name
        new.manifest.version -= 1
        clone = pb.Clone(
            is_shallow=True, ref_version=self.version, ref_path=str(self.path), branch_name=name
        )
        branch.commit("clone", clone, read_version=self.version)
        branch._forks = [*self._forks, (self.version, old.uuid().hex)]
        facts: dict[str, Any] = {
            "parentBranch": self.branch_name,
            "parentVersion": self.version,
            "createAt": self._seconds(),
            "manifestSize": self.folder.manifest_path(self.version).stat().st_size,
            "identifier": {"version_mapping": branch._forks},
            "metadata": {},
        }
        main.write_ref("branches", name, facts)
        return branch

    # ------------------------------------------------------------------------ what goes wrong

    def amend(
        self, edit: Callable[[table_pb2.ManifestEnvelope], object] | None = None, **parts: Any
    ) -> Self:
        """Write the latest manifest file again, otherwise than it should be.

        Parameters
        ----------
        edit : callable, optional
            Changes the message. Later versions are not concerned.
        **parts
            Parts of a ManifestFile to replace.
        """
        message = _copy(self._latest.message)
        if edit is not None:
            edit(message)
        self._write(replace(self._latest, message=message, **parts))
        return self

    def remove(self, *versions: int) -> Self:
        """Remove versions with their transactions, as a cleanup does."""
        for version in versions:
            self.folder.transaction_path(version).unlink(missing_ok=True)
            self.folder.manifest_path(version).unlink()
        return self

    def detach(self, number: int) -> Self:
        """Write the latest version once more, as one that stands in no line."""
        message = _copy(self._latest.message)
        message.version = DETACHED | number
        self.folder.write(message.version, replace(self._latest, message=message))
        return self

    def _write(self, file: ManifestFile) -> None:
        self._latest = file
        self.folder.write(self.version, file)

    def _seconds(self) -> int:
        return _FIRST_COMMIT + _SECONDS_BETWEEN_COMMITS * self.version

    def _main_folder(self) -> MetadataFolder:
        """Return the root of the table, which is not a branch's own."""
        root = str(self.path).removesuffix(f"/tree/{self.branch_name}")
        return replace(self.folder, root=Path(root))


def _copy(message: table_pb2.ManifestEnvelope) -> table_pb2.ManifestEnvelope:
    copy = table_pb2.ManifestEnvelope()
    copy.CopyFrom(message)
    return copy
