"""An external manifest store on this machine, for tests: pylance commits through it."""

import json
from typing import Any
from urllib.request import Request, urlopen

import lance
import obstore
import pyarrow as pa

import lance_explorer as lx
from tests.remote.bucket import KEY_ID, Bucket

__all__ = ["STORE", "Dynamo"]

STORE = "commits"


class Dynamo:
    """The store: the few calls that tests make of it."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.endpoint = bucket.options["aws_endpoint"]
        self.options = {**bucket.options, "dynamodb_endpoint": self.endpoint}
        self.call(
            "CreateTable",
            TableName=STORE,
            KeySchema=[
                {"AttributeName": "base_uri", "KeyType": "HASH"},
                {"AttributeName": "version", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "base_uri", "AttributeType": "S"},
                {"AttributeName": "version", "AttributeType": "N"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )

    def call(self, action: str, **body: Any) -> Any:
        headers = {
            "X-Amz-Target": f"DynamoDB_20120810.{action}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY_ID}/20260101/us-east-1/dynamodb/x",
        }
        request = Request(self.endpoint, json.dumps(body).encode(), headers)
        with urlopen(request) as answer:
            return json.load(answer)

    def uri(self, name: str) -> str:
        return self.bucket.uri(name).replace("s3://", "s3+ddb://") + f"?ddbTableName={STORE}"

    def write(self, name: str, rows: int, mode: str = "append") -> lance.LanceDataset:
        data = pa.table({"a": range(rows)})
        try:
            return lance.write_dataset(
                data, self.uri(name), mode=mode, storage_options=self.options
            )
        except OSError as error:  # asked again, since the store was slow: the table is there
            if mode != "create" or "already exists" not in str(error):
                raise
            return self.read(name)

    def read(self, name: str) -> lance.LanceDataset:
        return lance.dataset(self.uri(name), storage_options=self.options)

    def table(self, name: str, **options: Any) -> lx.Table:
        return lx.open_table(self.uri(name), storage_options=self.options, **options)

    def item(self, name: str, version: int) -> dict[str, dict[str, str]]:
        key = {"base_uri": {"S": name}, "version": {"N": str(version)}}
        item: dict[str, dict[str, str]] = self.call("GetItem", TableName=STORE, Key=key)["Item"]
        return item

    def put(self, item: dict[str, dict[str, str]]) -> None:
        self.call("PutItem", TableName=STORE, Item=item)

    def stage(self, name: str, version: int) -> str:
        """Take a commit back to where it is in the store, and its manifest not in its place."""
        item = self.item(name, version)
        path = item["path"]["S"].removeprefix(f"{name}/")
        staged = f"{path}-0f0e0d0c-1111-2222-3333-444444444444"
        store = self.bucket.store(name)
        obstore.rename(store, path, staged)
        self.put({**item, "path": {"S": f"{name}/{staged}"}})
        return staged
