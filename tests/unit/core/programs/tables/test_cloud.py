"""Infrastructure and clouds by their grammar: verbs tell what a subcommand does."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_terraform_plan_covers_what_it_is_for() -> None:
    assert covers_all("terraform plan:*", "terraform plan -var-file=x")
    assert covers_none("terraform plan:*", "terraform plan -out=x", "terraform plan -chdir=/x")


def test_aws_covers_what_it_is_for() -> None:
    assert covers_all("aws:*", "aws s3 ls", "aws ec2 describe-instances --filters x")
    assert covers_none(
        "aws:*",
        "aws s3 rm s3://x",
        "aws ec2 run-instances",
        "aws secretsmanager get-secret-value",
        "aws s3 ls --endpoint-url http://x",
    )


def test_gcloud_covers_what_it_is_for() -> None:
    assert covers_all("gcloud:*", "gcloud compute instances list --project x")
    assert covers_none("gcloud:*", "gcloud compute instances delete x", "gcloud auth print-access-token")


def test_az_covers_what_it_is_for() -> None:
    assert covers_all("az:*", "az vm list")
    assert covers_none("az:*", "az vm delete -n x", "az account get-access-token")
