from __future__ import annotations

import pytest

from quarterdeck.core.programs.grammar import OUTSIDE, PROGRAM, SECRET, SEND, WRITE
from quarterdeck.core.programs.operands import scripts
from quarterdeck.core.programs.operands.file_checks import (
    archive,
    chmod,
    cloud,
    cloud_copy,
    copy,
    in_place,
    last_file,
    leads_out,
    rsync,
    tar,
    zipped,
)


def test_packing_what_is_outside_passes_it_on() -> None:
    assert tar(("src",), ("tar", "-cf", "a.tgz", "src"), "", 0) == 0
    assert tar(("/etc/passwd",), ("tar", "-cf", "a.tgz", "/etc/passwd"), "", 0) & SECRET
    assert tar(("src",), ("tar", "-c", "--file", "/x", "src"), "", 0) & OUTSIDE
    assert tar(("cf", "host:a.tar", "src"), ("tar", "cf", "host:a.tar", "src"), "", 0) & PROGRAM
    assert archive("host:a.tar", "") == PROGRAM
    assert zipped(("a.zip", "src"), ("zip", "a.zip", "src"), "", 0) == WRITE
    assert zipped(("a.zip", "/etc/passwd"), ("zip",), "", 1) & SECRET


@pytest.mark.parametrize("option", ["-i", "-ni", "-i.bak", "--in-place=.bak"])
def test_editing_in_place_writes_every_file(option: str) -> None:
    check = in_place(scripts.sed, "--in")
    assert check(("p", "/etc/hosts"), ("sed", option, "p", "/etc/hosts"), "", 0) & OUTSIDE
    assert not check(("/a/d", "a.txt"), ("sed", option, "/a/d", "a.txt"), "", 0) & OUTSIDE
    assert not check(("p", "/etc/hosts"), ("sed", "-n", "p", "/etc/hosts"), "", 0) & OUTSIDE
    assert check(("/etc/hosts",), ("sed", option, "-e", "p", "/etc/hosts"), "", 0) & OUTSIDE


def test_a_cloud_command_reads_and_writes_local_files_in_the_project() -> None:
    assert cloud((), ("az", "blob", "download", "--file", "out.bin"), "", 0) == 0
    assert cloud((), ("az", "blob", "download", "--file", "/x"), "", 0) & OUTSIDE
    assert cloud((), ("aws", "ec2", "describe", "--cli-input-json=file:///x"), "", 0) & SECRET
    assert cloud((), ("aws", "logs", "get-log-group", "--name", "/aws/x"), "", 0) == 0
    assert cloud((), ("aws", "apigateway", "get-export", "/x"), "", 0) & OUTSIDE
    assert cloud_copy(("s3://b/x", "."), ("aws", "s3", "cp", "s3://b/x", "."), "", 0) == 0
    assert cloud_copy(("~", "s3://b"), ("aws", "s3", "sync", "~", "s3://b"), "", 0) & SECRET
    assert leads_out("@/x", "")
    assert not leads_out("a/b", "")


def test_copies_and_modes() -> None:
    assert rsync(("src", "host:x"), (), "", 0) & SEND
    assert copy(("a", "/x"), ("cp", "a", "/x"), "", 0) == OUTSIDE
    assert copy(("/x", "a"), ("cp", "/x", "a"), "", 0) == WRITE
    assert chmod(("u+s", "a"), ("chmod",), "", 0) & OUTSIDE
    assert last_file(("a", "/x"), (), "", 0) == OUTSIDE
