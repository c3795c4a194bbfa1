"""For each code of a finding a test that brings it about."""

__all__ = ["TESTS"]

_BY_TEST = {
    "tests/changes/test_change_feed.py": {
        "test_that_removed_rows_are_lost_with_the_first_version_is_a_line_and_a_finding": [
            "removed_rows_lost"
        ],
    },
    "tests/changes/test_field_ids_given_again.py": {
        "test_a_column_that_a_lost_restore_may_have_brought_back_is_in_doubt": ["column_in_doubt"],
    },
    "tests/changes/test_known_values.py": {
        "test_a_gap_is_a_finding_and_its_rows_have_what_is_kept": ["values_lost"],
        "test_values_of_a_missing_file_are_null_however_they_are_read": ["value_file_missing"],
    },
    "tests/database/test_database.py": {
        "test_a_tag_that_one_table_lacks_is_told": ["tag_on_other_tables"],
    },
    "tests/disk/test_check.py": {
        "test_a_fragment_with_other_rows_than_its_data_file_is_found_by_a_deep_check": [
            "rows_contradict_file"
        ],
        "test_an_index_that_a_compaction_left_behind_is_told": ["index_covers_nothing"],
        "test_missing_and_cut_files_are_errors": [
            "corrupt_data_file",
            "files_of_wrong_size",
            "missing_files",
        ],
        "test_refs_that_lead_nowhere_are_told": ["branch_without_versions", "tag_without_version"],
        "test_versions_that_were_not_set_are_told_from_the_release": ["created_at_wrong"],
        "test_what_only_old_versions_need_is_what_a_cleanup_frees": ["old_version_bytes"],
        "test_what_writers_left_is_told_once_it_is_old": [
            "files_left_over",
            "files_of_unknown_use",
        ],
    },
    "tests/disk/test_commands.py": {
        "test_check_says_what_it_left_out": ["not_checked"],
    },
    "tests/disk/test_damaged_metadata.py": {
        "test_a_base_path_without_a_name_is_a_place_that_is_not_read": ["base_not_allowed"],
        "test_a_deep_check_says_what_pylance_cannot_read": ["not_opened"],
        "test_an_index_without_fields_is_found": ["index_without_fields"],
    },
    "tests/disk/test_index_truth.py": {
        "test_entries_of_places_that_never_were_are_found": ["index_names_no_rows"],
        "test_values_that_an_index_never_heard_of_are_found": [
            "index_has_other_values",
            "index_misses_rows",
        ],
        "test_vectors_of_zeros_have_no_cosine_and_no_index_misses_them": [
            "vectors_without_direction"
        ],
    },
    "tests/disk/test_known_bugs.py": {
        "test_a_known_bug_is_named_with_the_commit_that_did_it": [
            "empty_index_folders",
            "index_of_other_values",
        ],
        "test_an_index_that_is_built_again_over_new_rows_is_not_built_for_nothing": [
            "index_rebuilt_for_nothing"
        ],
        "test_names_stand_for_other_values_as_pylance_reads_them": ["fields_renumbered"],
    },
    "tests/disk/test_seeded_damage.py": {
        "test_a_newest_manifest_that_is_gone_is_told_from_what_writers_noted": [
            "newest_manifest_missing"
        ],
        "test_an_index_through_which_no_search_is_answered_is_an_error": ["index_unreadable"],
    },
    "tests/disk/test_links.py": {
        "test_a_branch_that_was_created_under_another_name_is_kept_by_what_is_offered": [
            "branch_under_another_name"
        ],
        "test_a_table_that_is_opened_through_a_link_is_the_one_at_its_real_place": [
            "opened_through_link"
        ],
    },
    "tests/disk/test_search_trials.py": {
        "test_an_index_of_vectors_that_were_never_trained_on_is_told_until_it_is_built_anew": [
            "few_neighbours_found",
            "vector_index_aged",
        ],
    },
    "tests/disk/test_value_checks.py": {
        "test_a_compaction_that_wrote_other_values_is_found_by_what_it_replaced": [
            "compaction_changed_values"
        ],
        "test_files_of_older_versions_are_read_too": ["unreadable_values"],
    },
    "tests/ledger/test_checksums.py": {
        "test_a_value_that_changed_and_still_decodes_is_told_by_file_and_column": [
            "data_file_changed"
        ],
    },
    "tests/lineage/test_duplicates.py": {
        "test_a_check_of_a_key_finds_what_is_there_twice_and_what_is_null": [
            "duplicate_keys",
            "null_keys",
        ],
    },
    "tests/disk/test_own_bases.py": {
        "test_a_base_path_that_cannot_be_listed_is_a_finding": ["base_path_not_looked_at"],
        "test_what_no_version_names_in_a_base_path_is_counted_and_a_finding": [
            "files_left_in_base_paths"
        ],
    },
    "tests/frames/test_known_from.py": {
        "test_findings_of_a_ledger_are_among_those_of_the_table": ["damaged_ledger"],
    },
    "tests/history/rewrites/test_all_groups.py": {
        "test_a_damaged_transaction_is_a_finding_and_rows_tell_instead": ["corrupt_transaction"],
        "test_a_missing_reuse_history_is_a_finding": ["unreadable_fragment_reuse"],
        "test_damaged_lineage_is_a_finding": ["unreadable_compaction_lineage"],
        "test_what_was_told_while_a_version_vanished_is_not_told_again": ["compactions_unreadable"],
    },
    "tests/history/test_lies.py": {
        "test_a_count_that_is_absent_is_null_and_a_finding": ["rows_not_counted"],
        "test_a_count_that_other_versions_contradict_is_null_and_a_finding": [
            "rows_contradict_versions"
        ],
        "test_a_count_that_row_ids_contradict_is_null_and_a_finding": ["rows_contradict_row_ids"],
        "test_a_deletion_file_that_contradicts_its_manifest_is_found_at_once": [
            "deletion_file_contradicts"
        ],
        "test_a_manifest_without_a_writer_does_not_tell_how_many_rows_are_there": [
            "rows_miscounted"
        ],
        "test_more_deleted_rows_than_rows_are_null_and_a_finding": ["too_many_deleted"],
        "test_two_fragments_with_one_id_are_null_counts_a_finding_and_no_rows": [
            "duplicate_fragment_ids"
        ],
    },
    "tests/history/test_loading.py": {
        "test_a_missing_deletion_file_matters_where_it_has_to_be_counted": ["deleted_rows_unknown"],
    },
    "tests/history/test_namespaces.py": {
        "test_a_commit_that_only_the_namespace_knows": ["commit_not_copied"],
    },
    "tests/history/test_other_tables.py": {
        "test_the_commit_is_named_with_what_may_have_happened_and_its_remedy_helps": [
            "commit_of_another_table"
        ],
    },
    "tests/history/test_unreadable_refs.py": {
        "test_a_branch_whose_reference_is_not_found_is_an_error_of_the_table": ["missing_ref"],
    },
    "tests/inspect/test_contradictions.py": {
        "test_a_schema_that_differs_though_nothing_changed_it_is_a_finding": [
            "contradicting_manifests"
        ],
        "test_commits_with_very_many_fragments_are_not_compared": ["not_compared"],
    },
    "tests/inspect/test_findings.py": {
        "test_damaged_versions_and_refs_are_found": ["corrupt_ref", "unreadable_manifest"],
    },
    "tests/inspect/test_health.py": {
        "test_a_fragment_of_more_rows_than_half_of_what_addresses_reach": ["fragment_too_large"],
        "test_a_large_manifest_is_told_with_what_it_is_spent_on": ["large_manifest"],
        "test_an_index_in_many_segments_is_told_with_the_call_that_merges_them": [
            "many_index_segments"
        ],
        "test_an_index_of_unknown_coverage_is_told": ["index_coverage_unknown"],
        "test_an_index_on_a_field_that_is_gone_is_told": ["index_on_dropped_field"],
        "test_deleted_rows_are_told_where_a_compaction_drops_them": ["deleted_rows"],
        "test_deleted_rows_that_a_compaction_passes_over_are_told_apart": ["spread_deleted_rows"],
        "test_entries_of_rows_that_are_gone_are_counted": ["stale_index_entries"],
        "test_ids_that_run_out_are_a_warning": ["fragment_ids_run_out"],
        "test_indices_that_have_still_to_follow_a_compaction_are_named": ["fragment_reuse_lags"],
        "test_many_versions_are_told": ["many_versions"],
        "test_names_of_the_older_scheme_are_told": ["v1_manifest_names"],
        "test_row_ids_that_could_take_fewer_bytes_are_told": ["row_id_encoding"],
        "test_rows_that_an_index_does_not_find_are_those_of_pylance": ["unindexed_rows"],
        "test_small_fragments_are_those_that_pylance_compacts": ["small_fragments"],
        "test_stable_row_ids_are_advised_where_rows_move_under_indices": ["unstable_row_ids"],
    },
    "tests/inspect/test_mem_wal.py": {
        "test_a_table_of_the_log_that_is_gone_is_told_with_what_the_log_still_has": [
            "log_table_missing"
        ],
        "test_rows_that_a_scan_does_not_see_are_found": ["rows_not_scanned"],
    },
    "tests/inspect/test_row_id_checks.py": {
        "test_a_fragment_without_row_ids": ["row_ids_missing"],
        "test_a_next_row_id_that_falls_below_those_that_are_there": ["next_row_id_fell"],
        "test_a_row_id_that_lives_in_two_fragments": ["duplicate_row_ids"],
        "test_a_sequence_that_is_too_short": ["row_id_count", "row_version_count"],
        "test_damaged_sequences_and_missing_files_spare_the_other_fragments": ["rows_unreadable"],
        "test_row_ids_from_the_next_one_on": ["row_id_beyond_next", "row_ids_unused"],
        "test_row_ids_that_are_given_out_again": ["row_ids_reused"],
        "test_rows_that_were_created_after_their_last_update": ["created_after_updated"],
        "test_stable_row_ids_that_are_switched_off": ["stable_row_ids_switched"],
        "test_versions_with_features_that_are_not_known_are_left_out": ["rows_not_checked"],
    },
    "tests/inspect/test_upkeep.py": {
        "test_a_clock_that_is_ahead_is_told": ["clock_ahead"],
        "test_a_clock_that_ran_back_is_told_also_where_a_time_is_resolved": ["clock_ran_back"],
        "test_a_table_that_was_never_compacted_is_told_and_is_compacted_as_told": ["no_upkeep"],
        "test_an_index_that_a_commit_took_along_is_named_and_built_anew": ["index_lost"],
        "test_bytes_of_dropped_columns_are_told_and_go_as_told": ["dropped_columns_stay"],
        "test_compactions_that_did_not_commit_are_counted": ["compactions_not_committed"],
        "test_indices_that_are_alike_are_named_and_one_is_dropped": ["equal_indices"],
        "test_rows_of_which_no_file_has_a_column_come_back_as_told": ["fragments_without_columns"],
        "test_values_that_lances_change_feed_leaves_out_are_told": ["rewrites_untold"],
    },
    "tests/ledger/test_identity.py": {
        "test_a_table_that_was_put_back_has_no_later_versions": ["table_went_back"],
        "test_with_nothing_in_common_it_is_unknown": ["unknown_recording"],
    },
    "tests/lineage/test_detached_restores.py": {
        "test_a_finding_names_the_restore_of_a_detached_version": ["detached_restored"],
    },
    "tests/lineage/test_find.py": {
        "test_versions_that_the_filter_does_not_fit_are_named": ["filter_does_not_fit"],
    },
    "tests/remote/test_bases.py": {
        "test_a_base_in_another_bucket_is_read_and_told": ["base_in_another_bucket"],
    },
    "tests/remote/test_external_store.py": {
        "test_a_folder_that_is_ahead_of_the_store_is_a_finding": ["versions_not_in_store"],
        "test_a_latest_version_without_manifest_is_a_finding": ["latest_manifest_missing"],
        "test_a_manifest_of_another_size_is_a_finding": ["manifest_of_other_size"],
    },
    "tests/spark/test_metadata_source.py": {
        "test_a_table_that_cannot_be_opened_is_a_finding": ["unreadable_table"],
    },
}

TESTS: dict[str, str] = {
    code: f"{file}::{test}"
    for file, tests in _BY_TEST.items()
    for test, codes in tests.items()
    for code in codes
}
"""The test of each code, without parameters."""
