"""Signed notes, checkpoints and cosignatures, to the byte."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, PeerError, SignatureInvalidError
from tequio_shared.ids import Digest, sha256
from tequio_shared.keys import Signer
from tequio_shared.log import notes
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey

LOG = Signer(bytes([1]) * 32)
WITNESS = Signer(bytes([7]) * 32)
LOG_KEY = "tequio.example/net1+fb2247ff+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
WITNESS_KEY = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
ROOT = Digest(bytes.fromhex("7fb1b00b47e416575b1d3151a2a8e9a98fa035ee7a91936b13d1ae5818b639cd"))
CHECKPOINT = Checkpoint(origin="tequio.example/net1", size=1, root=ROOT)
TEXT = "tequio.example/net1\n1\nf7GwC0fkFldbHTFRoqjpqY+gNe56kZNrE9GuWBi2Oc0=\n"
LOG_LINE = (
    "— tequio.example/net1 +yJH/9iu5mTcuPTYRFxE+sRivZ1jCBDFuONayO4sNDhWmYy+OjA695IaBK5OGB/rUHAya"
    "bIKxVWLkTqMCZ1JOSHhZQY=\n"
)
WITNESS_LINE = (
    "— witness.example/w1 qkoJ0QAAAABlU/EAbNwd02mxetRQInM6qnxALleuegn1g8KHBaxbU0Svpdf85mBKnr4+CLon"
    "rrQtVF2lWnUetkr+y5fYSbG8m+oTAA==\n"
)
NOTE = f"{TEXT}\n{LOG_LINE}{WITNESS_LINE}".encode()

GO_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
GO_NOTE = (
    "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONn"
    "cAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
).encode()

log_key = VerifierKey.parse(LOG_KEY)
witness_key = VerifierKey.parse(WITNESS_KEY)


def named(name: str) -> str:
    """A key's text with the id that this name makes."""
    key = bytes([KeyKind.LOG]) + LOG.key
    key_id = sha256(name.encode(errors="surrogatepass") + b"\n" + key)[:4].hex()
    return f"{name}+{key_id}+{base64.b64encode(key).decode()}"


def test_keys_write_as_the_known_vectors() -> None:
    log = VerifierKey(name="tequio.example/net1", kind=KeyKind.LOG, key=LOG.key)
    witness = VerifierKey(name="witness.example/w1", kind=KeyKind.COSIGNER, key=WITNESS.key)
    assert (log.text(), witness.text()) == (LOG_KEY, WITNESS_KEY)
    assert (log_key, witness_key) == (log, witness)


def test_signing_gives_the_bytes_of_the_known_vector() -> None:
    line = notes.cosignature_line(CHECKPOINT, "witness.example/w1", WITNESS, 1_700_000_000)
    assert notes.add_lines(notes.sign_checkpoint(CHECKPOINT, LOG), [line]) == NOTE


def test_a_cosigned_checkpoint_opens() -> None:
    opened = notes.open_checkpoint(NOTE, log_key, [witness_key])
    assert opened.checkpoint == CHECKPOINT
    assert [(s.key, s.time_s) for s in opened.cosignatures] == [(witness_key, 1_700_000_000)]
    assert notes.open_checkpoint(NOTE, log_key).cosignatures == ()


def test_a_note_of_the_specifications_author_verifies() -> None:
    note = notes.open_note(GO_NOTE, [VerifierKey.parse(GO_KEY)])
    assert note.text == "This is an example message.\n"


def test_the_cosignature_of_the_specification_parses() -> None:
    """The key of the cosignature is not published, so its line is parsed but not verified."""
    root = Digest(base64.b64decode("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="))
    spec = Checkpoint(origin="example.com/behind-the-sofa", size=20852163, root=root)
    assert Checkpoint.parse(spec.text()) == spec
    payload = bytes.fromhex("8d66cf3f") + (1679315147).to_bytes(8, "big") + bytes(64)
    foreign = f"— witness.example.com/w1 {base64.b64encode(payload).decode()}\n"
    named = Checkpoint(origin=spec.origin, size=spec.size, root=spec.root)
    note = notes.add_lines(notes.sign_checkpoint(named, LOG), [foreign])
    own = VerifierKey(name=spec.origin, kind=KeyKind.LOG, key=LOG.key)
    assert notes.open_checkpoint(note, own).checkpoint == spec


def test_grease_and_unknown_keys_are_passed_over() -> None:
    grease = f"— grease.invalid {base64.b64encode(bytes(40)).decode()}\n"
    same_name = f"— tequio.example/net1 {base64.b64encode(bytes(68)).decode()}\n"
    for line in (grease, same_name):
        opened = notes.open_checkpoint(notes.add_lines(NOTE, [line]), log_key, [witness_key])
        assert len(opened.cosignatures) == 1


def test_a_known_key_whose_signature_fails_refuses_the_whole_note() -> None:
    raw = bytearray(base64.b64decode(WITNESS_LINE.split(" ")[2]))
    for at in (4, 11, 12, 75):  # time and signature
        forged = raw.copy()
        forged[at] ^= 1
        line = f"— witness.example/w1 {base64.b64encode(forged).decode()}\n"
        note = f"{TEXT}\n{LOG_LINE}{line}".encode()
        with pytest.raises(SignatureInvalidError):
            notes.open_checkpoint(note, log_key, [witness_key])
        assert notes.open_checkpoint(note, log_key).checkpoint == CHECKPOINT


def test_a_known_key_with_a_payload_of_another_size_refuses_the_note() -> None:
    for size in (1, 7, 8, 63, 71, 73):
        payload = base64.b64encode(witness_key.id + bytes(size)).decode()
        note = f"{TEXT}\n{LOG_LINE}— witness.example/w1 {payload}\n".encode()
        with pytest.raises(SignatureInvalidError):
            notes.open_note(note, [log_key, witness_key])


def test_a_note_that_no_known_key_signed_is_refused() -> None:
    with pytest.raises(SignatureInvalidError):
        notes.open_note(NOTE, [])
    with pytest.raises(SignatureInvalidError):
        notes.open_checkpoint(f"{TEXT}\n{WITNESS_LINE}".encode(), log_key, [witness_key])


def test_the_log_counts_once_and_a_repeated_line_is_no_second_witness() -> None:
    note = notes.add_lines(NOTE, [WITNESS_LINE, WITNESS_LINE, LOG_LINE])
    assert len(notes.open_note(note, [log_key, witness_key]).signatures) == 2


def test_of_a_keys_lines_the_first_one_counts_alone() -> None:
    """Else anybody who passes a note on could spoil it with a forged line."""
    forged = bytearray(base64.b64decode(LOG_LINE.split(" ")[2]))
    forged[-1] ^= 1
    line = f"— tequio.example/net1 {base64.b64encode(forged).decode()}\n"
    assert notes.open_checkpoint(notes.add_lines(NOTE, [line]), log_key).checkpoint == CHECKPOINT
    with pytest.raises(SignatureInvalidError):
        notes.open_checkpoint(f"{TEXT}\n{line}{LOG_LINE}".encode(), log_key)


def test_a_checkpoint_of_another_origin_is_refused() -> None:
    other = VerifierKey(name="other.example/log", kind=KeyKind.LOG, key=LOG.key)
    line = base64.b64encode(other.id + LOG.sign(TEXT.encode())).decode()
    note = f"{TEXT}\n— other.example/log {line}\n".encode()
    assert notes.open_note(note, [other]).text == TEXT
    with pytest.raises(SignatureInvalidError):
        notes.open_checkpoint(note, other)


def test_the_text_ends_at_the_last_empty_line() -> None:
    text = "one\n\ntwo\n"
    line = base64.b64encode(log_key.id + LOG.sign(text.encode())).decode()
    note = f"{text}\n— tequio.example/net1 {line}\n".encode()
    assert notes.open_note(note, [log_key]).text == text


def test_more_than_sixteen_signatures_are_read() -> None:
    line = f"— grease.invalid {base64.b64encode(bytes(40)).decode()}\n"
    assert notes.open_note(notes.add_lines(NOTE, [line] * 40), [log_key]).text == TEXT
    with pytest.raises(MalformedError):
        notes.open_note(notes.add_lines(NOTE, [line] * 100), [log_key])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\n\n",
        TEXT.encode(),
        f"{TEXT}\n".encode(),
        f"{TEXT}\n{LOG_LINE}"[:-1].encode(),
        f"{TEXT}{LOG_LINE}".encode(),
        f"{TEXT}\n{LOG_LINE}\n".encode(),
        f"{TEXT}\n{LOG_LINE}".replace("—", "-").encode(),
        f"{TEXT}\n{LOG_LINE}".replace("\n", "\r\n").encode(),
        f"{TEXT}\n{LOG_LINE}— a\n".encode(),
        f"{TEXT}\n{LOG_LINE.removeprefix('— ')}".encode(),
        f"{TEXT}\n{LOG_LINE}— a b c\n".encode(),
        f"{TEXT}\n{LOG_LINE}— a+b AAAAAAAA\n".encode(),
        f"{TEXT}\n{LOG_LINE}— a\u00a0b AAAAAAAA\n".encode(),
        f"{TEXT}\n{LOG_LINE}— a AAAAAA==\n".encode(),
        f"{TEXT}\n{LOG_LINE}— a AAAAAAB=\n".encode(),
        f"{TEXT}\n{LOG_LINE}— a AAAA_AAA\n".encode(),
        f"\t{TEXT}\n{LOG_LINE}".encode(),
        f"{TEXT}\n{LOG_LINE}".encode() + b"\xff\n",
        NOTE + b"\n" * 70_000,
    ],
)
def test_what_is_no_note_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        notes.open_note(raw, [log_key])


@pytest.mark.parametrize(
    "line", ["", "\n", WITNESS_LINE[:-1] + "x", WITNESS_LINE * 2, WITNESS_LINE.removeprefix("— ")]
)
def test_only_one_whole_line_at_a_time_is_added(line: str) -> None:
    with pytest.raises(MalformedError):
        notes.add_lines(NOTE, [line])


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT[:-1],
        TEXT + "extension",
        TEXT + "extension\n",
        TEXT.replace("\n1\n", "\n01\n"),
        TEXT.replace("\n1\n", "\n+1\n"),
        TEXT.replace("\n1\n", "\n-1\n"),
        TEXT.replace("\n1\n", "\n\u0661\n"),
        TEXT.replace("\n1\n", "\n\n"),
        TEXT.replace("\n1\n", "\n9223372036854775808\n"),
        TEXT.replace("\n1\n", "\n" + "9" * 5000 + "\n"),
        TEXT.replace("tequio.example/net1", ""),
        TEXT.replace("tequio.example/net1", "a b"),
        TEXT.replace("tequio.example/net1", "a+b"),
        TEXT.replace("Oc0=", "Oc1="),
        TEXT.replace("Oc0=", ""),
        TEXT.replace("\n1\n", "\n1\n\n"),
    ],
)
def test_what_is_no_checkpoint_is_malformed(text: str) -> None:
    with pytest.raises(MalformedError):
        Checkpoint.parse(text)


@given(st.integers(0, 2**63 - 1), st.binary(max_size=4))
def test_any_checkpoint_reads_back(size: int, seed: bytes) -> None:
    checkpoint = Checkpoint(origin="tequio.example/net1", size=size, root=sha256(seed))
    assert Checkpoint.parse(checkpoint.text()) == checkpoint
    signed = notes.sign_checkpoint(checkpoint, LOG)
    assert notes.open_checkpoint(signed, log_key).checkpoint == checkpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "name+00000000",
        LOG_KEY[:-1],
        LOG_KEY.replace("fb2247ff", "FB2247FF"),
        LOG_KEY.replace("fb2247ff", "fb2247fe"),
        LOG_KEY.replace("net1", "net2"),
        LOG_KEY.replace("net1", "net 1"),
        named("a\x00b"),
        named("a\u2028b"),
        named("a\ud800b"),
        "+fb2247ff+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c",
        LOG_KEY.replace("+AYqI", "+BoqI"),
        LOG_KEY + "AA",
        "\ud800" + LOG_KEY,
    ],
)
def test_what_is_no_verifier_key_is_malformed(text: str) -> None:
    with pytest.raises(MalformedError):
        VerifierKey.parse(text)


def test_a_verifier_key_of_small_order_is_refused() -> None:
    identity = b"\x01" + b"\x01" + bytes(31)
    key_id = sha256(b"log.example\n" + identity)[:4].hex()
    with pytest.raises(SignatureInvalidError):
        VerifierKey.parse(f"log.example+{key_id}+{base64.b64encode(identity).decode()}")


@given(st.binary(max_size=200))
def test_any_bytes_open_or_are_the_peers_fault(raw: bytes) -> None:
    with pytest.raises(PeerError):
        notes.open_note(raw, [log_key])
    with pytest.raises(PeerError):
        VerifierKey.parse(raw.decode("latin-1"))
    with pytest.raises(PeerError):
        Checkpoint.parse(raw.decode("latin-1"))


@given(st.integers(0, len(NOTE) - 1), st.binary(max_size=3))
def test_an_altered_checkpoint_opens_as_itself_or_is_refused(at: int, patch: bytes) -> None:
    raw = NOTE[:at] + patch + NOTE[at + 2 :]
    try:
        opened = notes.open_checkpoint(raw, log_key, [witness_key])
    except PeerError:
        return
    assert opened.checkpoint == CHECKPOINT


@pytest.mark.parametrize("line", ["", "x\n", LOG_LINE[:-1], LOG_LINE + LOG_LINE, "\n" + LOG_LINE])
def test_only_signature_lines_are_added_to_a_note(line: str) -> None:
    with pytest.raises(MalformedError):
        notes.add_lines(NOTE, [line])


def test_a_note_and_its_lines_are_read_up_to_their_limits() -> None:
    def padded(size: int) -> bytes:
        text = "x" * (size - len(f"\n\n{LOG_LINE}".encode())) + "\n"
        return f"{text}\n{LOG_LINE}".encode()

    assert len(padded(notes.NOTE_BYTES)) == notes.NOTE_BYTES
    assert notes.note_text(padded(notes.NOTE_BYTES)).startswith("xx")
    with pytest.raises(MalformedError, match="note of 65537 bytes"):
        notes.note_text(padded(notes.NOTE_BYTES + 1))
    count = notes.NOTE_BYTES // len(LOG_LINE.encode())
    assert len(notes.signature_lines(LOG_LINE.encode() * count)) == count
    for raw in (LOG_LINE.encode() * (count + 1), f"{LOG_LINE[:-1]}x".encode()):
        with pytest.raises(MalformedError, match="not signature lines"):
            notes.signature_lines(raw)
    filled = notes.add_lines(NOTE, [LOG_LINE] * (notes.NOTE_SIGNATURES - 2))
    assert notes.note_text(filled) == TEXT
    with pytest.raises(MalformedError, match="note with 101 signatures"):
        notes.note_text(notes.add_lines(filled, [LOG_LINE]))


def test_a_tree_size_is_below_2_to_the_63rd_and_has_one_spelling() -> None:
    assert [notes.parse_size(text) for text in ("0", "10", f"{2**63 - 1}")] == [0, 10, 2**63 - 1]
    for text in (f"{2**63}", "00", "01"):
        with pytest.raises(MalformedError, match=r"leading zero or is 2\^63"):
            notes.parse_size(text)


@pytest.mark.parametrize(
    ("size", "root"), [(-1, ROOT), (2**63, ROOT), (1, ROOT[:-1]), (1, ROOT + b"x"), (0, b"")]
)
def test_a_checkpoint_that_no_tree_has_cannot_be_made(size: int, root: bytes) -> None:
    with pytest.raises(MalformedError, match=f"no tree has size {size} and root"):
        Checkpoint(origin="tequio.example/net1", size=size, root=Digest(root))
