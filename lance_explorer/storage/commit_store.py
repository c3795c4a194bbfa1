"""An external manifest store: a DynamoDB table that lists the versions of tables.

Stores that cannot refuse to overwrite an object need it: a version is committed once it is in
DynamoDB, even if its manifest still has its staging name (docs/FORMAT.md 10.1). It is only read
here.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from lance_explorer.errors import InvalidArgumentError, MissingDependencyError, StorageError
from lance_explorer.storage.secrets import Options, without_secrets

__all__ = [
    "EXTERNAL_SCHEME",
    "TABLE_OF_COMMITS",
    "CommitStore",
    "CommittedVersion",
    "external_uri",
    "split_external",
]

EXTERNAL_SCHEME = "s3+ddb"

TABLE_OF_COMMITS = "ddbTableName"
"""The query parameter of a URI that names the DynamoDB table."""

_SECONDS = 8
_ATTEMPTS = 3


class CommittedVersion(NamedTuple):
    """A version in the store; ``path`` starts at the bucket."""

    version: int
    path: str
    size_bytes: int | None


class CommitStore:
    """The versions of tables, in a DynamoDB table.

    Parameters
    ----------
    name : str
        The name of the table of DynamoDB.
    options : Options
        Address and credentials, the same as for the object store: ``dynamodb_endpoint``,
        ``aws_region``, ``aws_access_key_id`` and so on. Missing ones come from the environment.
    """

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self._options = options
        self._client: Any = None

    def newest(self, uri: str, count: int) -> list[CommittedVersion]:
        """Return the newest versions of the table at an ``s3://`` URI, newest first.

        Raises
        ------
        MissingDependencyError
            If boto3 is not installed.
        """
        return list(islice(self._versions(urlsplit(uri).path.strip("/")), count))

    def _versions(self, base: str) -> Iterator[CommittedVersion]:
        create = self._imported()
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            if self._client is None:
                self._client = create()
            pages = self._client.get_paginator("query").paginate(
                TableName=self.name,
                KeyConditionExpression="base_uri = :base",
                ExpressionAttributeValues={":base": {"S": base}},
                ScanIndexForward=False,
                ConsistentRead=True,
            )
            for page in pages:
                yield from [self._of_item(item) for item in page["Items"]]
        except (BotoCoreError, ClientError) as error:
            message = without_secrets(str(error), self._options)
            raise StorageError(
                f"the external manifest store {self.name!r} cannot be read: {message}"
            ) from None

    def _of_item(self, item: Mapping[str, Mapping[str, str]]) -> CommittedVersion:
        try:
            size = item.get("size", {}).get("N")
            return CommittedVersion(
                int(item["version"]["N"]), item["path"]["S"], None if size is None else int(size)
            )
        except (KeyError, ValueError) as error:
            raise StorageError(
                f"the external manifest store {self.name!r} has an entry that Lance did not write: "
                f"{sorted(item)}"
            ) from error

    def _imported(self) -> Callable[[], Any]:
        """Return a factory of clients; fail early if the library is missing."""
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise MissingDependencyError(
                f"{EXTERNAL_SCHEME}:// needs boto3: pip install 'lance-explorer[dynamodb]'"
            ) from error
        given = {name.lower().removeprefix("aws_"): v for name, v in self._options.items()}
        limits = {"connect_timeout": _SECONDS, "read_timeout": _SECONDS}
        region = _plain(given.get("region") or given.get("default_region"))
        return partial(
            boto3.client,
            "dynamodb",
            endpoint_url=_plain(given.get("dynamodb_endpoint"))
            or os.environ.get("DYNAMODB_ENDPOINT"),
            region_name=region or os.environ.get("AWS_REGION"),
            aws_access_key_id=_plain(given.get("access_key_id")),
            aws_secret_access_key=_plain(given.get("secret_access_key")),
            aws_session_token=_plain(given.get("session_token") or given.get("token")),
            config=Config(retries={"max_attempts": _ATTEMPTS}, **limits),
        )


def external_uri(uri: str, name: str) -> str:
    """Return the URI that names objects and the DynamoDB table with their versions.

    Examples
    --------
    >>> external_uri("s3://bucket/t.lance", "commits")
    's3+ddb://bucket/t.lance?ddbTableName=commits'
    """
    return f"{EXTERNAL_SCHEME}{uri[uri.index(':') :]}?{urlencode({TABLE_OF_COMMITS: name})}"


def split_external(uri: str, options: Options) -> tuple[str, CommitStore]:
    """Return the URI of the objects, and the store, that a ``s3+ddb://`` URI names.

    Raises
    ------
    InvalidArgumentError
        If it does not name the DynamoDB table.

    Examples
    --------
    >>> from lance_explorer.storage import Options
    >>> uri, store = split_external("s3+ddb://bucket/t.lance?ddbTableName=commits", Options())
    >>> uri, store.name
    ('s3://bucket/t.lance', 'commits')
    """
    parts = urlsplit(uri)
    query = dict(parse_qsl(parts.query))
    name = query.pop(TABLE_OF_COMMITS, None)
    if name is None or query or parts.fragment or parts.password is not None:
        raise InvalidArgumentError(
            f"expected {EXTERNAL_SCHEME}://bucket/table.lance?{TABLE_OF_COMMITS}=NAME, "
            "with the name of the table of DynamoDB and nothing else behind the question mark"
        )
    return f"s3://{parts.netloc}{parts.path}", CommitStore(name, options)


def _plain(text: str | None) -> str | None:
    """Return an option as plain text: the library compares types."""
    return None if text is None else "".join(text)
