"""Every kind of finding, by its code. docs/FINDINGS.md is written from it."""

from collections.abc import Mapping

from lance_explorer.findings.kinds import Kind

__all__ = ["CLEANUP", "KINDS"]

CLEANUP = (
    "Tag the versions to keep, then clean up: table.cleanup_preview(older_than=timedelta(days=...))"
    " shows what goes, what is lost and what would break, and has the call that breaks nothing."
)
"""How to clean up; what that would break in this table is not known here."""

_ALLOW = "If these files belong to the table, open it with allow_bases=[...]."
_REPAIR = "Restore the manifest from a backup; until then the rows of the fragment are unreliable."
_REBUILD = "Build it again, with replace=True: until then searches with it may be wrong."

KINDS: Mapping[str, Kind] = {
    # ------------------------------------------------------------------- manifests and commits
    "unreadable_manifest": Kind(
        "metadata",
        "error",
        "The manifest of a version is damaged, or of a newer format. The version is left out.",
        "_versions/3.manifest: the file is empty",
        "Restore its file from a backup.",
        "The version is left out.",
    ),
    "corrupt_transaction": Kind(
        "metadata",
        "error",
        "The transaction of a version is damaged.",
        "_transactions/4-9e.txn: it is no transaction",
        "Its contents are not affected: nothing needs to be done.",
        "The operation of this version is shown as unknown.",
        (
            "warning",
            "only what it says of compactions is not understood: other sources may have it",
        ),
    ),
    "contradicting_manifests": Kind(
        "metadata",
        "error",
        "A version contradicts the version before or its own transaction, so one of the files is "
        "damaged. The format has no checksums that would show which.",
        "version 4 and the one before contradict each other: the schema differs, and Append "
        "changes none",
        "Compare both manifests with a backup, and do not rely on what differs.",
    ),
    "not_compared": Kind(
        "metadata",
        "info",
        "A commit added so many fragments that they were not compared with its transaction.",
        "version 2 added 250,000 fragments: they were not compared with those in its transaction",
        remedy="Nothing needs to be done.",
    ),
    "commit_of_another_table": Kind(
        "metadata",
        "error",
        "A version has other data files than the one before under the same fragment IDs, although "
        "its operation changes no files: usually a commit to a table that was dropped and "
        "recreated.",
        "version 2 has other data files than version 1 under the same fragment IDs, and Append "
        "changes none",
        remedy="Go back to the version before, and write again what was added.",
        consequence="What it changed is uncertain in all answers.",
    ),
    "fields_renumbered": Kind(
        "metadata",
        "error",
        "A Merge gave columns the field IDs of other columns, so they show the values of those.",
        "version 4 gave columns the field IDs of others: price has the values of cost",
        remedy="Go back to the version before.",
        consequence="The columns show values of others.",
    ),
    "clock_ran_back": Kind(
        "metadata",
        "warning",
        "A version has an earlier time than a version committed before it, because the clock of a "
        "writer was wrong.",
        "version 3 was committed after version 2 and has an earlier time: by up to 2 hours",
        "Name versions by their numbers, or tag them; set the clocks of writers.",
        "A time such as yesterday may give another version than the latest one at that time; "
        "cleanups by age may keep or remove the wrong versions.",
        ("info", "it is less than a minute"),
    ),
    "clock_ahead": Kind(
        "metadata",
        "warning",
        "The time of a version is in the future, because the clock of its writer was wrong.",
        "the time of version 3 is 2 days ahead",
        "Name versions by their numbers, or tag them; set the clocks of writers.",
        "Until then, cleanups by age keep it, and a time such as yesterday does not find it.",
    ),
    "detached_restored": Kind(
        "metadata",
        "warning",
        "A version restored a detached version, which does not record its base. Rows and columns "
        "that it brought are uncertain in all answers (docs/EVIDENCE.md).",
        "version 5 restored a detached version, which does not say what it was built on: rows and "
        "columns that it brought are uncertain in all answers",
        "Restore versions of a branch, or write the rows again.",
    ),
    "compactions_unreadable": Kind(
        "metadata",
        "warning",
        "It is unknown which fragments a compaction replaced, because files are unreadable.",
        "compactions since version 6 are unknown: _deletions/0-6-1.arrow: the file is missing",
        "Restore the missing or damaged files from a backup.",
    ),
    "unreadable_compaction_lineage": Kind(
        "metadata",
        "warning",
        "The record of a compaction, which names the fragments that it replaced, is damaged.",
        "the compaction lineage cannot be read: it is no JSON",
        remedy="Nothing needs to be done for rows of the latest version.",
        consequence="Compactions that are recorded nowhere else cannot be followed.",
    ),
    "unreadable_fragment_reuse": Kind(
        "metadata",
        "warning",
        "The fragment reuse index, which records deferred compactions, is damaged.",
        "the fragment reuse cannot be read: _indices/0a/details.binpb: the file is missing",
        remedy="Restore the missing or damaged files from a backup.",
        consequence="Compactions that are recorded nowhere else cannot be followed.",
    ),
    "commit_not_copied": Kind(
        "metadata",
        "info",
        "An external manifest store has a version whose manifest is not yet in its place.",
        "the external manifest store has this version, and its manifest is still staged at "
        "_versions/3.manifest-8e: readers without the store do not see it",
        "Open the table with pylance and the store: that moves the manifest to its place.",
    ),
    "latest_manifest_missing": Kind(
        "metadata",
        "error",
        "An external manifest store names a latest version whose manifest is missing.",
        "the external manifest store says that this version is the latest, and its manifest "
        "_versions/3.manifest is missing: pylance does not open the table",
        "Restore the manifest from a backup, or remove the version from the store.",
        "The versions before are shown.",
    ),
    "newest_manifest_missing": Kind(
        "metadata",
        "warning",
        "The version hint of writers names a later version than any existing manifest. This is "
        "also so, until the next commit, if the manifest was moved away on purpose.",
        "_versions/latest_version_hint.json says that version 7 was committed, and its manifest "
        "_versions/18446744073709551608.manifest is missing",
        "If it was not moved away on purpose, restore the manifest from a backup. Files that only "
        "this version named are still there until a cleanup removes them.",
        "The version before is the latest readable one.",
    ),
    "manifest_of_other_size": Kind(
        "metadata",
        "warning",
        "A manifest does not have the size that an external manifest store says.",
        "the external manifest store says that the manifest has 600 bytes, and it has 640",
        remedy="Let all writers use the store; see which of both the version should be.",
    ),
    "versions_not_in_store": Kind(
        "metadata",
        "error",
        "The folder has later versions than the external manifest store.",
        "the folder has 1 version after 3, the latest in the external manifest store",
        "Let all writers use the store; commits without it are overwritten or lost.",
        "Readers with the store do not see them, and they are left out here.",
    ),
    "missing_ref": Kind(
        "metadata",
        "error",
        "A tag or branch is listed, but its file is missing.",
        "_refs/tags/gold.json is listed, but is not there",
        "refresh() the table to read it again. If it stays so, restore the file, or create the tag "
        "or branch again.",
    ),
    "corrupt_ref": Kind(
        "metadata",
        "error",
        "The file of a tag or branch is damaged, or branches are ancestors of themselves.",
        "_refs/tags/gold.json: it is no JSON",
        "Restore the files from a backup, or create the tag or branch again.",
    ),
    "opened_through_link": Kind(
        "metadata",
        "warning",
        "The table was opened through a link: Lance treats its two names as two tables.",
        "/data/link.lance and /data/photos.lance are one table, and Lance treats the two names as "
        "two tables",
        remedy="Write, branch and clean up under one name only.",
        consequence="A cleanup under one name removes files that branches created under another "
        "name still read.",
        milder=("info", "the table has no branches"),
    ),
    "base_not_allowed": Kind(
        "metadata",
        "warning",
        "A manifest names files in a location that is not read without permission.",
        "base path 1: /elsewhere is not in the folder of the table",
        _ALLOW,
        "Reading rows from it is an error.",
    ),
    "base_in_another_bucket": Kind(
        "metadata",
        "info",
        "A manifest names files in another bucket than that of the table.",
        "base path 1 is in another bucket or container than the table: s3://other/t.lance",
        remedy="Nothing needs to be done.",
        consequence="It is read as the table is, with the same storage options.",
    ),
    "duplicate_fragment_ids": Kind(
        "metadata",
        "error",
        "Two fragments of a version have the same ID, so two rows may have the same address.",
        "two fragments of version 2 have the same ID: the first such version",
        "Copy the table into a new one with lance.write_dataset.",
        "Counts of such versions are null, and reading their rows is an error.",
    ),
    "rows_not_counted": Kind(
        "metadata",
        "warning",
        "Fragments do not store their number of rows, which is usual for writers up to 0.7.",
        "fragment 0 does not store how many rows it has; version 1 is the first with such "
        "fragments",
        "Any commit of a newer release counts the rows.",
        "Counts of such versions are null.",
        ("info", "the row IDs of the fragment can be counted"),
    ),
    "rows_miscounted": Kind(
        "metadata",
        "warning",
        "Fragments of a manifest without a writer may count deleted rows twice.",
        "fragment 0 says that it has 9 rows, some of them deleted, in a manifest that names no "
        "writer; version 2 is the first with such fragments",
        "Any commit of a newer release counts them.",
        "Counts of such versions are null; pylance reads the rows right.",
    ),
    "too_many_deleted": Kind(
        "metadata",
        "error",
        "According to the manifest, a fragment has more deleted rows than rows.",
        "the manifest says that 12 of 9 rows of fragment 0 are deleted",
        "Restore the manifest from a backup.",
        "One of the two numbers is wrong, so the number of live rows is null.",
    ),
    "deleted_rows_unknown": Kind(
        "metadata",
        "error",
        "The number of deleted rows of a fragment is unknown.",
        "the manifest does not say how many rows are deleted, and the deletion file is missing, "
        "damaged, or not allowed to be read",
        "Restore the deletion file from a backup; until then row counts are unknown.",
    ),
    "rows_contradict_row_ids": Kind(
        "metadata",
        "error",
        "A fragment has different numbers of rows and of row IDs.",
        "the manifest says that the fragment has 9 rows, and 12 row IDs",
        "Restore the manifest from a backup.",
        "One of both is wrong, so counts of its rows are null.",
    ),
    "rows_contradict_versions": Kind(
        "metadata",
        "error",
        "Two versions name different numbers of rows for one data file.",
        "the manifest says that the fragment has 9 rows, and another version says another number "
        "of the same data file",
        "Restore the manifest from a backup.",
        "One of both is wrong, so counts of its rows are null.",
    ),
    "not_opened": Kind(
        "metadata",
        "error",
        "pylance cannot open the latest version or a tagged one, or cannot read its first row.",
        "pylance cannot open version 3: field 4 is its own parent",
        "Restore its manifest and its files from a backup, or restore an older version.",
    ),
    "not_checked": Kind(
        None,
        "warning",
        "A check failed, so nothing is known about what it checks.",
        "storage could not be checked: _refs/branches cannot be listed",
        remedy="Mend what it names, and check again.",
        milder=("info", "one file of it is unreadable, or the check takes long"),
    ),
    "unreadable_table": Kind(
        "metadata",
        "error",
        "One of several tables cannot be opened.",
        "the table cannot be opened: no Lance table at /data/photos.lance",
        "Check that it still exists, and that the credentials are right.",
    ),
    # ------------------------------------------------------------------------------- ledgers
    "damaged_ledger": Kind(
        "metadata",
        "warning",
        "A file of the ledger is damaged, or of a newer release.",
        "a file of the ledger is not read: versions-3.parquet: it is no Parquet file",
        "Record the table again.",
        "What only this file contains is unknown.",
    ),
    "unknown_recording": Kind(
        "metadata",
        "warning",
        "A ledger has versions of a table at this location, but nothing shows that it is this "
        "table.",
        "the ledger has versions 1 to 3 of a table at this place, which has no version and no "
        "data file in common with this one",
        "ledger.open(...) shows them by themselves.",
        "These versions are left out.",
    ),
    "table_went_back": Kind(
        "metadata",
        "warning",
        "A ledger has later versions than the table.",
        "the ledger has versions up to 9 of this table, whose latest version is 7",
        remedy="Record the table under another name if it is a copy.",
        consequence="Versions after the latest one are left out.",
    ),
    # ---------------------------------------------------------------------------- row IDs
    "rows_not_checked": Kind(
        "row_ids",
        "warning",
        "Versions have unknown features, so their rows are not checked.",
        "rows of 2 versions cannot be checked: unknown feature 512",
        "A newer release of lance_explorer may check them.",
    ),
    "stable_row_ids_switched": Kind(
        "row_ids",
        "warning",
        "Stable row IDs were turned on or off.",
        "stable row IDs are on from here on, unlike in version 3",
        remedy="Distinguish rows before and after by version.",
    ),
    "next_row_id_fell": Kind(
        "row_ids",
        "error",
        "The counter of row IDs fell, so IDs may be assigned again.",
        "next_row_id fell from 12 to 9 in version 5 (Restore, lance 8.0.1)",
        "Distinguish rows by version.",
        "Later rows may get IDs of rows before this version.",
    ),
    "row_id_beyond_next": Kind(
        "row_ids",
        "error",
        "A fragment has a row ID that the counter of its version has not assigned yet.",
        "the fragment has row ID 11, though next_row_id is 9",
        "Copy the table into a new one before you write to it.",
        "New rows may get IDs that are already in use.",
    ),
    "row_ids_unused": Kind(
        "row_ids",
        "info",
        "The counter of row IDs rose by more than the number of new rows.",
        "next_row_id rose from 9 to 20 in version 3 (Append, lance 14.0.2), but only 9 rows got "
        "new IDs: 2 are reserved or unused",
        "Nothing needs to be done.",
    ),
    "row_ids_missing": Kind(
        "row_ids",
        "error",
        "A version has stable row IDs, but one of its fragments has none.",
        "the version has stable row IDs, but the fragment has none",
        _REPAIR,
    ),
    "row_id_count": Kind(
        "row_ids",
        "error",
        "A fragment has more or fewer row IDs than rows.",
        "expected 9 row IDs, one for each row, found 12",
        _REPAIR,
    ),
    "row_version_count": Kind(
        "row_ids",
        "error",
        "A fragment has more or fewer row versions than rows.",
        "expected 9 created-at versions, one for each row, found 12",
        _REPAIR,
    ),
    "created_after_updated": Kind(
        "row_ids",
        "warning",
        "According to their row versions, rows were created after their last update.",
        "3 rows were created in a later version than they were last updated",
        "Do not rely on the row versions of this fragment.",
    ),
    "created_at_wrong": Kind(
        "row_ids",
        "warning",
        "Rows that were added later are recorded as created by version 1.",
        "rows whose IDs were assigned later are stored as created by version 1: 3 rows in 1 "
        "fragment, the first in version 4 (Update, lance 4.0.2)",
        "Use created_at_version, which is corrected from the history where possible.",
    ),
    "rows_unreadable": Kind(
        "row_ids",
        "error",
        "The rows of a fragment are unknown, because a file is missing or damaged.",
        "_deletions/0-2-1.arrow: the file is missing",
        "Restore the file from a backup, or try again if versions are being cleaned up at the "
        "moment; until then the rows of the fragment are unknown.",
    ),
    "duplicate_row_ids": Kind(
        "row_ids",
        "error",
        "Two live rows have the same row ID.",
        "row ID 4 is in more than one live row; the first is in fragments 0, 1",
        "Copy the table into a new one.",
        "A row ID finds only one of them.",
    ),
    "row_ids_reused": Kind(
        "row_ids",
        "error",
        "A row ID was assigned again to a later row.",
        "row ID 9 is assigned again in version 6 (Append, lance 8.0.1); the first is in fragment 3",
        "Distinguish them by version.",
        "Earlier rows with these IDs are different rows.",
    ),
    "row_id_encoding": Kind(
        "row_ids",
        "info",
        "Row IDs take many more bytes than they need.",
        "row IDs take 12.0 MB, of which at least 10.1 MB could be saved with the best encoding; "
        "most of that in fragment 3, 8.0 MB",
        "Call dataset.optimize.compact_files(target_rows_per_fragment=...): Lance encodes the row "
        "IDs of the fragments that it writes again. lx.widgets.SegmentEncodings(table) shows what "
        "each fragment takes.",
    ),
    # ---------------------------------------------------------------------------- fragments
    "fragments_without_columns": Kind(
        "files",
        "error",
        "No data file of a fragment has a column of the schema: columns of nulls, which are in no "
        "file, were added, and all other columns were dropped.",
        "no data file of fragment 0 has a column of version 3: 12 rows of nulls cannot be read",
        "Go back to a version whose columns are in files, or delete these rows.",
        "pylance can delete and append rows, but cannot read, update or compact the table.",
    ),
    "small_fragments": Kind(
        "files",
        "warning",
        "A compaction would save 20 fragments or more.",
        "150 of 160 fragments are small or hold many deleted rows; compacted they are about 3 "
        "(the aim is 1,048,576 rows each)",
        remedy="Write larger batches from the start, and compact the table.",
        milder=("info", "it would save fewer than 100"),
    ),
    "deleted_rows": Kind(
        "files",
        "warning",
        "Fragments that a compaction would rewrite hold 10,000 deleted rows, or 100 MB of them.",
        "30,000 deleted rows, about 1.2 MB of data, are kept in 1 of 4 fragments: more than 10 % "
        "of their rows; most in fragment 2, 30,000 of 40,000 rows",
        remedy="Compact the table, and then clean it up.",
    ),
    "spread_deleted_rows": Kind(
        "files",
        "info",
        "Fragments that a compaction skips hold 10,000 deleted rows, or 100 MB of them.",
        "12,000 deleted rows are kept in 3 of 4 fragments: at most 10 % of their rows each, so "
        "that a compaction skips them; most in fragment 2, 5,000 of 60,000 rows",
        remedy="Compact the table with materialize_deletions_threshold=0.",
    ),
    "fragment_ids_run_out": Kind(
        "files",
        "warning",
        "More than half of all possible fragment IDs are used.",
        "the highest fragment ID is 2,147,483,648 of 4,294,967,295",
        "Rewrite the table with lance.write_dataset(): IDs are not reused.",
    ),
    "fragment_too_large": Kind(
        "files",
        "warning",
        "A fragment has more than half of the rows that addresses can reach.",
        "fragment 0 has 2,147,483,648 rows; offsets and deletion files end at 4,294,967,296",
        "Write it in parts: lance.write_dataset(..., max_rows_per_file=...).",
    ),
    "large_manifest": Kind(
        "files",
        "warning",
        "The manifest has 10 MB or more.",
        "the manifest of version 3 has 12.0 MB, 11.0 MB of them for fragments",
        remedy="See table.inspect.manifests() for its parts.",
        consequence="Opening the version reads all of it, and each commit writes it again.",
        milder=("info", "most of it is the transaction of the commit"),
    ),
    "dropped_columns_stay": Kind(
        "files",
        "info",
        "Dropped columns take a megabyte or more of the latest version's data files, and at least "
        "a tenth. Dropping a column removes it only from the schema.",
        "2.0 MB of 2.1 MB in data files of the latest version are of columns that it does not "
        "have: embedding",
        remedy="Write the table anew.",
        consequence="A cleanup does not free them; a compaction does where it rewrites fragments.",
    ),
    "no_upkeep": Kind(
        "files",
        "info",
        "100 versions or more passed without a compaction or a cleanup, and a compaction would "
        "leave fewer fragments.",
        "302 versions since 2026-01-01, and neither a compaction nor a cleanup: 302 fragments "
        "would become about 1",
        remedy="Compact, and then clean up.",
        consequence="Each version adds a fragment that every scan opens and every manifest lists.",
    ),
    "compactions_not_committed": Kind(
        "files",
        "info",
        "Compactions reserved fragment IDs more than a day ago, but did not commit.",
        "3 compactions reserved fragment IDs and did not commit, the last in version 12",
        "Compact while no other job deletes or updates the same rows; a cleanup removes the files "
        "that they left.",
        "Their files take space, and no version names them.",
    ),
    "many_versions": Kind(
        "files",
        "info",
        "1,000 versions or more are kept: finding the latest may mean listing all of them.",
        "1,000 versions are kept; their manifests take 2.1 MB",
        CLEANUP,
    ),
    "v1_manifest_names": Kind(
        "files",
        "info",
        "Manifests are named by the older scheme.",
        "the manifests have names of the older scheme, which do not sort latest first: finding "
        "the latest of 40 versions in an object store means listing all of them",
        remedy="Migrate the names while nobody else uses the table.",
    ),
    "rows_not_scanned": Kind(
        "files",
        "info",
        "Rows in the write-ahead log are not in the table yet.",
        "13 rows were written or deleted in 2 shards of the write-ahead log and are not in this "
        "version, 7 of them in the log alone",
        "Read with lance.mem_wal.LsmScanner, which sees those in tables of the log, or merge them; "
        "table.inspect.mem_wal() lists them.",
        "A plain scan does not see them.",
    ),
    "log_table_missing": Kind(
        "files",
        "error",
        "A table of the write-ahead log was lost before it was merged.",
        "_mem_wal/00…01/311108b8_gen_2/ is missing: generation 2 of the write-ahead log, 5 rows "
        "that were not merged",
        consequence="They are lost, unless the log itself or a backup has them.",
        remedy="Restore the folder from a backup, or write the rows that the log still has.",
    ),
    "deletion_file_contradicts": Kind(
        "files",
        "error",
        "A deletion file is damaged, or does not have the number of rows that the manifest says.",
        "_deletions/0-2-1.arrow: it has 4 rows, and the manifest says 3",
        "The file or the manifest is damaged, so do not rely on the shown counts of this "
        "fragment: restore both from a backup.",
    ),
    # ---------------------------------------------------------------------------- data files
    "corrupt_data_file": Kind(
        "values",
        "error",
        "The end of a data file is damaged, or contradicts the manifest.",
        "data/0.lance: the file is cut off",
        "Restore the file from a backup.",
        "Its rows cannot be read.",
    ),
    "data_file_changed": Kind(
        "values",
        "error",
        "The bytes of a data file differ from the digests in a ledger, although data files never "
        "change.",
        "column text of 0110.lance, of fragment 3, is not what it was when the ledger took its "
        "digest",
        "Restore the file from a backup.",
        "Its values cannot be relied on.",
    ),
    "unreadable_values": Kind(
        "values",
        "error",
        "Values of a column cannot be read: bytes within the file are damaged.",
        "column text cannot be read in 4,096 rows of a1.lance (offsets 0 to 4,095 of fragment 0): "
        "bytes that are no page",
        "Restore the file from a backup; other columns, rows and fragments can still be read.",
        "Every version with the file is affected.",
    ),
    "compaction_changed_values": Kind(
        "values",
        "error",
        "A compaction, which must keep all rows, wrote other rows or values than it read.",
        "the compaction of version 3 did not keep what it rewrote: values of image differ from "
        "before",
        "Write the values of an earlier version again.",
        "Later versions have the wrong values.",
    ),
    "duplicate_keys": Kind(
        "values",
        "error",
        "Several rows have the same key, in columns that were named as unique.",
        "3 keys of sku are there more than once in version 3, in 6 rows",
        "See table.duplicates(key) for the rows, and delete those that should not be there. Let "
        "one writer at a time upsert a key, or make the columns the primary key of the schema, "
        "of which Lance refuses commits that insert one key at once.",
        "A join on the key gives rows twice, and an upsert changes all copies.",
    ),
    "null_keys": Kind(
        "values",
        "warning",
        "Rows have no key, in columns that were named as unique. Null equals nothing, so an "
        "upsert never finds such a row and inserts it again.",
        "4 rows of version 3 have no sku",
        "Give these rows a key, or delete them: table.duplicates(key).to_polars() lists them last.",
    ),
    "rows_contradict_file": Kind(
        "values",
        "error",
        "A data file and its fragment have different numbers of rows.",
        "the manifest says that fragment 0 has 7 rows, and its data file data/0.lance has 9",
        "Restore the manifest or the file from a backup.",
        "The shown counts of this fragment come from the manifest: do not rely on them.",
    ),
    # ---------------------------------------------------------------------------- storage
    "missing_files": Kind(
        "storage",
        "error",
        "Files that versions need are missing.",
        "1 data file that the latest version needs is missing: data/0.lance",
        "Restore the files from a backup, or go back to a version that does not need them.",
        milder=("info", "they are transactions, of which the manifests have copies"),
    ),
    "files_of_wrong_size": Kind(
        "storage",
        "error",
        "Files do not have the size that the manifest names: they were cut off or replaced.",
        "1 data file that the latest version needs is of another size than the manifest names: "
        "data/0.lance",
        "Restore them from a backup.",
        milder=("info", "they are transactions, of which the manifests have copies"),
    ),
    "old_version_bytes": Kind(
        "storage",
        "warning",
        "A gigabyte or more is needed only by old versions that neither a tag nor a branch keeps.",
        "3.1 GB are needed by old versions only: 3.1 GB in data files (40); the latest version "
        "needs 1.0 GB",
        CLEANUP,
        milder=("info", "the latest version needs more than that"),
    ),
    "files_left_over": Kind(
        "storage",
        "warning",
        "No version names some files, and they are too old to belong to a commit in progress.",
        "no version names 3 files, 1.2 GB, older than 7 days",
        "table.cleanup_preview() shows what a cleanup removes, including these files, and the "
        "call for it.",
        milder=("info", "they take little room"),
    ),
    "files_of_unknown_use": Kind(
        "storage",
        "info",
        "Files have names that Lance does not use, or the files that may name them are unreadable.",
        "1 file of unknown use, 12 bytes: notes.txt",
        "Lance does not write files with such names; move them out of the table.",
    ),
    "base_path_not_looked_at": Kind(
        "storage",
        "warning",
        "A base path could not be listed, so sizes leave it out.",
        "base path /elsewhere, where manifests name 3 files, could not be looked at: no such "
        "folder",
        "Check whether it can be reached.",
        "Sizes leave it out.",
    ),
    "files_left_in_base_paths": Kind(
        "storage",
        "info",
        "No version names some files in base paths.",
        "2 files in base paths, 1.0 kB, no version names: data/0.lance, ...",
        "Lance's cleanup does not look into base paths. If no other table uses them and no commit "
        "is in progress, remove the files that table.inspect.storage() lists.",
    ),
    "branch_without_versions": Kind(
        "storage",
        "error",
        "A branch is listed, but has no version.",
        "branch faces has no versions: its folder is missing",
        "Delete the branch.",
    ),
    "branch_under_another_name": Kind(
        "storage",
        "warning",
        "A branch was created in the table under another name, such as a symlink.",
        "branch faces was created in the table under the name /data/link.lance",
        "Before a cleanup, tag the version that the branch was created from: "
        "table.cleanup_preview() has the calls that break nothing.",
    ),
    "empty_index_folders": Kind(
        "storage",
        "info",
        "Folders of former indices are empty.",
        "6 folders of former indices below _indices/ are empty: 0e5b2c9a-..., ...",
        "Remove the empty folders.",
        "They take almost no space.",
    ),
    "tag_without_version": Kind(
        "storage",
        "warning",
        "A tag names a version that is not kept.",
        "tag gold leads nowhere: version 3 is not kept",
        "Delete the tag, or set it to a version that is kept.",
    ),
    # ---------------------------------------------------------------------------- indices
    "index_on_dropped_field": Kind(
        "indices",
        "info",
        "An index is on a field that was dropped from the schema.",
        "the index 'old' is on a field that was dropped from the schema",
        remedy="Drop it.",
    ),
    "index_without_fields": Kind(
        "indices",
        "error",
        "An index is on no field, which no writer makes.",
        "the index 'id_idx' is on no field: damage",
        remedy="Drop it.",
    ),
    "index_coverage_unknown": Kind(
        "indices",
        "info",
        "Which fragments an index covers is not stored, or cannot be read.",
        "which fragments the index 'id_idx' covers is not stored, or cannot be read",
        remedy="Build it anew.",
    ),
    "index_lost": Kind(
        "indices",
        "warning",
        "A commit with another purpose, such as an overwrite, a restore or a rename of the "
        "column, removed an index, and no other index is on its column.",
        "the index 'id_idx' on id is gone since version 3: Overwrite took it along",
        remedy="Build it anew.",
        consequence="Each search reads all rows.",
    ),
    "index_of_other_values": Kind(
        "indices",
        "error",
        "An index covers fragments whose values in its column are newer than the index: their IDs "
        "were used again, or the column was replaced in place.",
        "the index 'id_idx' covers 1 fragment whose values of id were written after it, since "
        "version 4: fragment 0",
        remedy="Build it anew.",
        consequence="Searches that it answers miss rows, or find rows by values that they had.",
    ),
    "index_rebuilt_for_nothing": Kind(
        "indices",
        "info",
        "Three commits or more built an index again, with the same settings, over the same "
        "fragments.",
        "12 commits wrote the index 'id_idx' again, which covered the same fragments before",
        "Update indices only after rows were added: dataset.optimize.optimize_indices() adds the "
        "new rows alone, create_scalar_index(replace=True) reads all.",
        "Each rebuild reads the whole column and writes the whole index.",
    ),
    "equal_indices": Kind(
        "indices",
        "info",
        "Several indices are of one type, with the same settings, on the same column.",
        "the indices 'id_idx', 'id_idx_2' are alike, on id",
        remedy="Drop all but one.",
        consequence="Searches use one of them; the others take space, and time at each update.",
    ),
    "index_covers_nothing": Kind(
        "indices",
        "warning",
        "An index covers none of the rows.",
        "the index 'id_idx' covers none of the 205 rows in 1 fragment",
        remedy="Update it.",
        consequence="Each search reads them all.",
    ),
    "unindexed_rows": Kind(
        "indices",
        "warning",
        "An index does not find 10,000 rows or more.",
        "the index 'id_idx' does not find 20,000 of 60,000 rows (33 %), those of 2 fragments",
        remedy="Update it.",
        consequence="Each search reads them all.",
        milder=("info", "they are less than a tenth of all rows"),
    ),
    "stale_index_entries": Kind(
        "indices",
        "info",
        "10,000 entries of an index or more, a fifth of all, are of removed rows.",
        "up to 12,000 of 40,000 entries of the index 'id_idx' (30 %) are of removed rows",
        remedy="Build it again from the current rows.",
        consequence="Searches skip them.",
    ),
    "many_index_segments": Kind(
        "indices",
        "info",
        "An index is in 4 segments or more.",
        "the index 'id_idx' is in 4 segments",
        remedy="Merge them.",
        consequence="A search reads all of them.",
    ),
    "fragment_reuse_lags": Kind(
        "indices",
        "info",
        "Indices were not updated yet after deferred compactions.",
        "the indices 'id_idx' have not been updated for 1 of 1 deferred compactions",
        remedy="Build them anew.",
    ),
    "unstable_row_ids": Kind(
        "indices",
        "info",
        "A million indexed rows or more moved, and row IDs are not stable.",
        "3 commits moved 1,200,000 rows, and the table has an index",
        "Stable row IDs can only be chosen when a table is created: rewrite it with "
        "lance.write_dataset(..., enable_stable_row_ids=True).",
        "Without stable row IDs each move changes the addresses in index entries.",
    ),
    "index_misses_rows": Kind(
        "indices",
        "error",
        "An index covers rows that it has no entry for.",
        "the index 'id_idx' has no entry for 9 rows, since version 3: row ID 4, 5, 6, ...",
        _REBUILD,
        "No search with it finds them.",
    ),
    "vectors_without_direction": Kind(
        "indices",
        "info",
        "Rows have a zero vector, and the index measures by cosine, which is undefined for zero "
        "vectors.",
        "the index 'vector_idx' measures by cosine and has no entry for 60 rows with a vector of "
        "zeros, since version 3: row ID 4, 5, 6, ...",
        "Nothing is wrong with the index. Write other vectors if the rows should be found.",
        "No search by cosine finds them, with the index or without.",
    ),
    "few_neighbours_found": Kind(
        "indices",
        "warning",
        "Searches through a vector index find few of the nearest rows, compared with a search "
        "without it.",
        "searches through the index 'vector_idx' find 41 % of the 10 nearest rows of 16 sampled "
        "vectors, and 98 % if they look into all partitions and compare whole vectors",
        "Search with larger nprobes and refine_factor, or build the index with other settings.",
        "Nearer rows than the found ones are left out.",
        ("info", "a search that looks into all partitions, and compares whole vectors, finds half"),
    ),
    "vector_index_aged": Kind(
        "indices",
        "warning",
        "Most rows of a vector index were added after its centroids were computed.",
        "the index 'vector_idx' has the centroids of version 2, when it covered 1,000 rows: 91 % "
        "of its 11,000 rows came later; the largest of 8 partitions has 9,800",
        remedy="Build it again: an update keeps its centroids.",
        consequence="If vectors changed since, searches read more, and find less.",
        milder=("info", "it is less than 90 % of them"),
    ),
    "index_unreadable": Kind(
        "indices",
        "error",
        "Searches through an index fail, but a scan works.",
        "searches through the index 'id_idx' fail: page_data.lance: invalid footer",
        "Build it again, with replace=True.",
        "Filters on its column are errors.",
    ),
    "index_has_other_values": Kind(
        "indices",
        "error",
        "An index has entries with wrong values of rows.",
        "the index 'id_idx' has entries with wrong values of 2 rows, since version 3: row ID 4, 5",
        _REBUILD,
        "A search finds them wrongly.",
    ),
    "index_names_no_rows": Kind(
        "indices",
        "error",
        "An index has entries for rows that never existed.",
        "the index 'id_idx' has entries of 2 rows that never were, since version 3: row ID 4, 5",
        _REBUILD,
    ),
    # ------------------------------------------------------- values of changes, rows, searches
    "rewrites_untold": Kind(
        "values",
        "info",
        "Commits wrote values in place without raising the stored row versions.",
        "2 commits wrote values in place and did not raise the versions of rows, the last in "
        "version 7",
        "Nothing needs to be done here: table.changes(), blame() and row() know these commits.",
        "Queries by _row_last_updated_at_version do not find these rows.",
    ),
    "values_lost": Kind(
        "values",
        "warning",
        "Values are null, because no readable file has them.",
        "versions 2 to 4 are not kept: values that rows had only in them are lost",
        remedy="Tag versions that should be kept, and restore missing files from a backup.",
        milder=("info", "the versions that had them are not kept"),
    ),
    "value_file_missing": Kind(
        "values",
        "error",
        "A data file is missing, and so are the values in it.",
        "data/0.lance is missing, and so are the values in it",
        "Restore the file from a backup, or leave out its columns with columns=[...].",
    ),
    "removed_rows_lost": Kind(
        "values",
        "warning",
        "The version before all changes is not kept, so removed rows are unknown.",
        "version 1 is not kept: row versions show which rows were added and written after it, and "
        "not which were removed",
        "Tag versions that should be kept, or begin at a kept version.",
    ),
    "column_in_doubt": Kind(
        "values",
        "warning",
        "Two columns may be the same one, but no kept version shows it. They are shown as two.",
        "column 'a', with field ID 1 since version 6, may be 'b' of version 2: no version that is "
        "kept shows it, so they are two columns",
        remedy="See both columns, and tag versions that are to be kept.",
    ),
    "filter_does_not_fit": Kind(
        "values",
        "info",
        "Versions have no column that a filter names, so they are not searched.",
        "versions 1 to 3 are not searched: they have no column that the filter names",
        "Search by the name or type that the column had in these versions.",
    ),
    # ----------------------------------------------------------------------------- databases
    "tag_on_other_tables": Kind(
        "metadata",
        "info",
        "A tag is on at least two tables of a database, and at least half of them, but not on "
        "this one. It may be meant for all.",
        "tag 'release' is on 6 other tables of the database, and not on this one",
        "Tag the version that belongs to the others: database.at(time) shows which one that is.",
    ),
}
"""The kinds of findings by code."""
