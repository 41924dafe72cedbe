"""Policies: what the file may say, and which cosigners together are enough."""

from __future__ import annotations

import contextlib
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.keys import Signer
from tequio_shared.log import notes
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey
from tequio_shared.log.policy import (
    POLICY_GROUPS,
    POLICY_LOGS,
    STALE_S,
    NoQuorumError,
    Policy,
    StaleLogError,
    UntrustedLogError,
)
from tests.shared.log.test_notes import CHECKPOINT, LOG_KEY, NOTE, ROOT, WITNESS_KEY

SIGNERS = {name: Signer(bytes([40 + at]) * 32) for at, name in enumerate(("X1", "X2", "X3", "Y1"))}
LOG = Signer(bytes([1]) * 32)


def cosigner(name: str) -> VerifierKey:
    return VerifierKey(
        name=f"{name.lower()}.example/w", kind=KeyKind.COSIGNER, key=SIGNERS[name].key
    )


def example() -> str:
    """The specification's example, with one Y."""
    witnesses = "".join(f"witness {name} {cosigner(name).text()}\n" for name in SIGNERS)
    return (
        f"log {LOG_KEY}\n{witnesses}"
        "group X-witnesses 2 X1 X2 X3\n"
        "group Y-witnesses any Y1\n"
        "group X-and-Y all X-witnesses Y-witnesses\n"
        "quorum X-and-Y\n"
    )


AT_S = 1_700_000_000


def cosigned(*names: str, time_s: int = AT_S) -> bytes:
    lines = [
        notes.cosignature_line(CHECKPOINT, cosigner(name).name, SIGNERS[name], time_s)
        for name in names
    ]
    return notes.add_lines(notes.sign_checkpoint(CHECKPOINT, LOG), lines)


def test_the_specifications_example_is_met_by_two_of_x_and_one_of_y_only() -> None:
    policy = Policy.parse(example().encode())
    subsets = chain.from_iterable(combinations(SIGNERS, n) for n in range(len(SIGNERS) + 1))
    for names in subsets:
        enough = len({"X1", "X2", "X3"} & set(names)) >= 2 and "Y1" in names
        assert policy.is_met({cosigner(name) for name in names}) is enough, names


def test_a_note_opens_when_the_quorum_cosigned_it_and_is_refused_before() -> None:
    policy = Policy.parse(example().encode())
    assert policy.open(cosigned("X1", "X3", "Y1")).checkpoint == CHECKPOINT
    for names in ((), ("X1", "Y1"), ("X1", "X2", "X3")):
        with pytest.raises(NoQuorumError, match="lacks the quorum 'X-and-Y'"):
            policy.open(cosigned(*names))


def test_a_log_that_is_served_needs_a_quorum_of_the_last_day() -> None:
    policy, note = Policy.parse(example().encode()), cosigned("X1", "X3", "Y1")
    assert policy.open(note).checkpoint == CHECKPOINT, "a copy may be of any age"
    for now_s in (AT_S - 10 * STALE_S, AT_S, AT_S + STALE_S - 1):
        assert policy.open(note, now_s=now_s).checkpoint == CHECKPOINT
    for now_s, hours in ((AT_S + STALE_S, "24 hours"), (AT_S + 10 * STALE_S, "240 hours")):
        with pytest.raises(StaleLogError, match=f"for the last time {hours} ago"):
            policy.open(note, now_s=now_s)


def test_a_recent_cosignature_does_not_make_the_others_recent() -> None:
    policy = Policy.parse(example().encode())
    line = notes.cosignature_line(CHECKPOINT, cosigner("X1").name, SIGNERS["X1"], AT_S + STALE_S)
    mixed = notes.add_lines(cosigned("X3", "Y1"), [line])  # the quorum asks for all three
    assert policy.open(mixed, now_s=AT_S + 1).checkpoint == CHECKPOINT
    with pytest.raises(StaleLogError, match="for the last time 25 hours ago"):
        policy.open(mixed, now_s=AT_S + STALE_S + 3_600)
    alone = Policy.parse(f"log {LOG_KEY}\nquorum none\n".encode())
    assert alone.open(mixed, now_s=AT_S + 10 * STALE_S).checkpoint == CHECKPOINT


def test_a_cosigner_twice_counts_once() -> None:
    policy = Policy.parse(example().encode())
    twice = notes.add_lines(
        cosigned("X1", "Y1"),
        [notes.cosignature_line(CHECKPOINT, cosigner("X1").name, SIGNERS["X1"], AT_S + 1)],
    )
    with pytest.raises(NoQuorumError):
        policy.open(twice)


def test_quorum_none_asks_for_the_log_alone() -> None:
    policy = Policy.parse(f"log {LOG_KEY}\nquorum none\n".encode())
    assert policy.open(NOTE).cosignatures == ()
    other = VerifierKey(name="other.example", kind=KeyKind.LOG, key=SIGNERS["X1"].key)
    with pytest.raises(UntrustedLogError, match="does not name the log"):
        policy.open(NOTE, other)


def test_a_policy_without_logs_takes_the_one_that_is_known_otherwise() -> None:
    policy = Policy.parse(f"witness w {WITNESS_KEY}\nquorum w\n".encode())
    signed = policy.open(NOTE, VerifierKey.parse(LOG_KEY))
    assert [one.key.text() for one in signed.cosignatures] == [WITNESS_KEY]
    with pytest.raises(UntrustedLogError, match="names no log"):
        policy.open(NOTE)


def test_a_cosignature_without_a_time_refuses_the_note() -> None:
    policy = Policy.parse(
        f"log {LOG_KEY}\nwitness X1 {cosigner('X1').text()}\nquorum X1\n".encode()
    )
    with pytest.raises(SignatureInvalidError, match="at no time"):
        policy.open(cosigned("X1", time_s=0))


def test_comments_tabs_and_blank_lines_are_passed_over() -> None:
    raw = (
        f"# whom we believe\n\n \t \n\tlog\t{LOG_KEY}  https://log.example/ \n  # end\nquorum none"
    )
    policy = Policy.parse(raw.encode())
    assert policy.logs[0].url == "https://log.example/"
    assert Policy.parse(policy.encode()) == policy


def test_names_are_octets_and_no_octet_is_taken_for_another() -> None:
    k, kelvin, broken = "K", "\u212a", b"\xff\xfe"
    raw = b"".join(
        b"witness %s %s\n" % (name, cosigner(key).text().encode())
        for name, key in ((k.encode(), "X1"), (kelvin.encode(), "X2"), (broken, "X3"))
    )
    policy = Policy.parse(raw + b"quorum " + broken + b"\n")
    assert policy.is_met({cosigner("X3")})
    assert not policy.is_met({cosigner("X1"), cosigner("X2")})
    assert Policy.parse(policy.encode()) == policy


W = f"witness w {WITNESS_KEY}\n"
ML_DSA = "witness.example/w1+aa4a09d1+BmpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no quorum line"),
        (W, "no quorum line"),
        ("quorum none\nquorum none\n", "line 2 of the policy: a second quorum line"),
        ("quorum w\n" + W, "line 1 of the policy: 'w' is not defined above"),
        ("quorum\n", "expected quorum"),
        ("quorum none none\n", "expected quorum"),
        ("qorum none\n", "unknown keyword 'qorum'"),
        (W + f"witness v {WITNESS_KEY}\nquorum none\n", "is listed twice"),
        (f"log {LOG_KEY}\nlog {LOG_KEY}\nquorum none\n", "is listed twice"),
        (W + W, "is listed twice"),
        (f"witness none {WITNESS_KEY}\nquorum none\n", "'none' is already in use"),
        (W + "group w any w\nquorum w\n", "'w' is already in use"),
        (W + "group g any v\nquorum g\n", "'v' is not defined above"),
        (W + "group g any g\nquorum g\n", "'g' is not defined above"),
        (W + "group g any none\nquorum g\n", "'none' is not defined above"),
        (W + "group g all w w\nquorum g\n", "'w' already belongs to a group"),
        (W + "group g any w\ngroup h any w\nquorum h\n", "'w' already belongs to a group"),
        (W + "group g any\nquorum g\n", "expected group"),
        *((W + f"group g {k} w\nquorum g\n", "give 1 to 1") for k in ("0", "2", "01", "-1", "one")),
        (f"log {WITNESS_KEY}\nquorum none\n", "type 0x04, expected 0x01"),
        (f"witness w {LOG_KEY}\nquorum w\n", "type 0x01, expected 0x04"),
        (f"witness w {ML_DSA}\nquorum w\n", "unsupported verifier key"),
        (f"log {LOG_KEY[:-1]}A\nquorum none\n", "line 1"),
        ("log\nquorum none\n", "expected log"),
        ("witness\nquorum none\n", "expected witness"),
        (f"witness w {WITNESS_KEY} https://a b\nquorum none\n", "expected witness"),
        ("quorum none\r\n", "control character 0x0d"),
        ("quorum none\x00\n", "control character 0x00"),
        ("# del\x7f\nquorum none\n", "control character 0x7f"),
        ("quorum none\n" + "#" * 65_536, "at most 65536 are allowed"),
    ],
)
def test_what_is_no_policy_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        Policy.parse(text.encode())


def test_as_many_as_the_specification_asks_for_are_read_and_not_without_bound() -> None:
    def policy(count: int) -> bytes:
        keys = [Signer(at.to_bytes(32, "big")).key for at in range(count)]
        vkeys = [VerifierKey(name="w", kind=KeyKind.COSIGNER, key=key).text() for key in keys]
        lines = [f"witness w{at} {vkey}\ngroup g{at} any w{at}\n" for at, vkey in enumerate(vkeys)]
        return ("".join(lines) + "quorum g0\n").encode()

    assert len(Policy.parse(policy(32)).groups) == 32
    with pytest.raises(MalformedError, match="more than 64 witnesses"):
        Policy.parse(policy(65))


def test_logs_and_groups_are_bounded_too() -> None:
    keys = [Signer(at.to_bytes(32, "big")).key for at in range(POLICY_LOGS + 1)]
    logs = [f"log {VerifierKey(name='l', kind=KeyKind.LOG, key=key).text()}\n" for key in keys]
    groups = [f"group g{at} any {f'g{at - 1}' if at else 'w'}\n" for at in range(POLICY_GROUPS + 1)]
    full = "".join(logs[:-1]) + W + "".join(groups[:-1])
    policy = Policy.parse(f"{full}quorum none\n".encode())
    assert (len(policy.logs), len(policy.groups)) == (POLICY_LOGS, POLICY_GROUPS)
    for more, what in ((logs[-1], "logs"), (groups[-1], "groups")):
        with pytest.raises(MalformedError, match=f"more than 64 {what}"):
            Policy.parse(f"{full}{more}quorum none\n".encode())


@given(st.binary(max_size=300))
def test_no_bytes_do_worse_than_being_refused(raw: bytes) -> None:
    for text in (raw, W.encode() + raw):
        with contextlib.suppress(MalformedError):
            policy = Policy.parse(text)
            assert Policy.parse(policy.encode()) == policy


def test_another_root_under_the_same_cosigners_is_another_checkpoint() -> None:
    other = Checkpoint(origin=CHECKPOINT.origin, size=2, root=ROOT)
    forged = cosigned("X1", "X2", "Y1").replace(CHECKPOINT.text().encode(), other.text().encode())
    with pytest.raises(SignatureInvalidError):
        Policy.parse(example().encode()).open(forged)
