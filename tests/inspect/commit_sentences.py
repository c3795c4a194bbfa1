"""What the commits of all stored tables did, in words.

The sentences are stored beside this file. After a change that is meant, write them anew, and read
them:

    python -m tests.inspect.commit_sentences
"""

from pathlib import Path

from lance_explorer.inspect.commit_words import describe_commits
from tests.inspect.tables import EVERY, stored

STORED_SENTENCES = Path(__file__).with_name("commit_sentences.txt")


def sentences_text() -> str:
    """Return all tables, each with one line a version."""
    return "\n".join([_text(path) for path in EVERY])


def _text(path: Path) -> str:
    source = stored(path)
    lines = [
        f"    {record.version} {record.operation}: {sentence}"
        for record, sentence in zip(source.history.records, describe_commits(source), strict=True)
    ]
    return "\n".join([path.as_posix(), *lines, ""])


if __name__ == "__main__":
    STORED_SENTENCES.write_text(sentences_text())
