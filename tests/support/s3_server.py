"""A server of S3 on this machine, with a user and a bucket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
OPEN_ACTIONS = 4
"""How many are allowed without a signature: those that make the user and the bucket."""


class Bucket:
    """The bucket s3://bucket, as folders here."""

    def __init__(self, endpoint: str, key: dict[str, str]) -> None:
        self.endpoint, self.key = endpoint, key
        names = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
        self.s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **names)

    def put(self, name: str, data: bytes) -> None:
        self.s3.put_object(Bucket="bucket", Key=name, Body=data)

    def put_folder(self, folder: Path, name: str) -> None:
        for path in filter(Path.is_file, folder.rglob("*")):
            self.put(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def names(self) -> list[str]:
        return [each["Key"] for each in self.s3.list_objects_v2(Bucket="bucket").get("Contents", [])]

    def get(self, name: str) -> bytes:
        found: bytes = self.s3.get_object(Bucket="bucket", Key=name)["Body"].read()
        return found

    def folder(self, name: str) -> dict[str, bytes]:
        inside = [each.removeprefix(f"{name}/") for each in self.names() if each.startswith(f"{name}/")]
        return {each: self.get(f"{name}/{each}") for each in inside if not each.startswith(".")}

    @property
    def environment(self) -> dict[str, str]:
        """What lets one in."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": self.key["SecretAccessKey"],
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def s3_server() -> Iterator[Bucket]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(OPEN_ACTIONS)}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        how = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
        how |= {"aws_access_key_id": "any", "aws_secret_access_key": "one"}
        users = boto3.client("iam", **how)
        users.create_user(UserName="ann")
        users.put_user_policy(UserName="ann", PolicyName="all", PolicyDocument=json.dumps(ALL))
        key = users.create_access_key(UserName="ann")["AccessKey"]
        boto3.client("s3", **how).create_bucket(Bucket="bucket")
        yield Bucket(how["endpoint_url"], key)
    finally:
        server.kill()
        server.wait()
