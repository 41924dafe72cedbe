"""Every number that both ends must agree on. Sizes in bytes, times in milliseconds."""

STATEMENT_BYTES = 16_384
"""Largest statement (its JSON)."""
ENTRY_BYTES = 65_535
"""Largest log entry; bundles prefix it with a u16."""
SIGNATURES_PER_ENTRY = 16
JSON_DEPTH = 6
JSON_INTEGER = 2**53 - 1
"""Largest magnitude of an integer in a statement or document (RFC 8259, section 6)."""
STATEMENT_LIFE_MS = 900_000
"""`exp` lies at most this far after `ts`."""
CLOCK_SKEW_MS = 300_000
"""Largest distance of `ts` from the ledger's clock on entry."""
POST_STATEMENTS = 256
"""Most entries in one batch."""
POST_BYTES = 1 << 20

NAME_LEAST = 2
"""Fewest characters of a public name, and of a team's."""
NAME_CHARS = 32
"""Most characters of one."""
NAME_HOLD_MS = 30 * 86_400_000
"""Time for which a name that a key gave up, or that of a team that ended, stays reserved."""
TEAM_MEMBERS = 4_096
"""Most members of a team."""

SNAPSHOT_ENTRIES = 4_096
"""Fewest entries between two snapshots of the state (docs/protocol.md, 6.9)."""
NEWEST_HEADS = 256
"""Newest rounds of a run whose heads are all known; of older ones ever fewer are (9.2)."""
PUBLISHED_HEADS = 16
"""Newest heads of a run that are known as published."""

BLOB_BYTES = 64 << 20
"""Largest blob that the ledger stores; larger things are trees of pieces."""
DOCUMENT_BYTES = 4 << 20
"""Largest JSON document named by a statement (manifest, roster, result)."""
EVIDENCE_BYTES = 1 << 20
"""Largest piece of a payload that is named as evidence, with its path (JSON)."""
FRAME_BYTES = (1 << 20) + 4096
"""Largest frame between peers: one piece of at most 1 MiB, and its envelope."""
PIECE_BYTES = 1 << 20
"""Piece of heads and data shards; contributions have their own (docs/protocol.md)."""
GOSSIP_BYTES = 100_000

WITNESSES = 16
"""Elected per round; all members when there are fewer."""
LARGE_ROSTER = 48
"""Slots with the role witness above which `WITNESSES_OF_LARGE` are elected: 16 of many are too
easily two thirds of one party's."""
WITNESSES_OF_LARGE = 32
RECEIVERS = 8
"""Most other keys that a commitment gives parts of its points to: the result of a round with
`CONTRIBUTORS` commitments that all do so still fits `DOCUMENT_BYTES`."""
WHOLE_PARTS = 1_000
"""Parts that the points of a commitment are divided into."""
CONTRIBUTORS = 4_095
"""Most trainer slots in a round: the bound under which integer sums stay below 2^53."""
SPEED_ROUNDS = 5
"""Verified speed is the median over this many of a peer's last accepted rounds."""

SEASONED_WITNESSES = 4
"""Witnesses in good standing without whom newcomers witness too."""
NEWCOMER_WORK = 10
"""Accepted contributions that make a newcomer, or a suspected key, active."""
PROBATION_WORK = 20
"""Accepted contributions that end a probation."""
STRIKE_ROUNDS = 20
"""Judged contributions, or audits, within which faults count together."""
BAN_QUARANTINES = 2
"""Quarantines within `REPEAT_MS` after which organisers may ban a key."""
DEVIATIONS = 2
"""Proofs that deviate, within `DEVIATION_PROOFS` of a witness, that end its duty."""
DEVIATION_PROOFS = 10
QUARANTINE_MS = 86_400_000
"""Term of a first quarantine; `REPEATED_QUARANTINE_MS` within `REPEAT_MS` of another one."""
REPEATED_QUARANTINE_MS = 604_800_000
REPEAT_MS = 15_552_000_000
APPEAL_BYTES = 4_096
"""The text of an appeal, UTF-8."""
APPEAL_PAUSE_MS = 86_400_000
"""Least time between two appeals of a key."""
APPEAL_MS = 1_209_600_000
"""An appeal that nobody answers for so long ends the quarantine in a probation."""
GAIN_SLOTS = 8
"""Most slots whose loss gain every witness of a round measures."""
GAIN_WINDOWS = 2
"""Windows of a slot, and of nobody, that its gain is measured on."""
GAIN_COST = 16
"""Measuring takes at most this part of the forward passes of a mean share's training."""
GAIN_MOST = 65_536
"""Largest magnitude of a gain: one nat per token, in 2^-16."""
GAIN_POOL = 256
"""Last signs of gains in a run that show whether the measure works there."""
GAIN_ROUNDS = 128
"""Last counted signs of a key: not more than half of them positive make it suspected."""
GAIN_RETURN = 64
"""Signs, more than five eighths of them positive, that such a key needs to become active."""
JURY = 5
"""Auditors that settle a dispute about a contribution, beside those before them."""
AUDIT_ROUNDS = 2
"""Rosters in which an auditor may report, and most rounds since the contribution at an order."""
AUDIT_PAUSE = 32
"""Rounds in which an auditor that did not report is not drawn again."""
REVIEW_ROUNDS = 5
"""Most rounds since the contribution when auditors are drawn that check a jury's sketches."""
AUDITS_OF_ONE = 14
"""Most reports about one contribution."""
SKETCH_NUMBERS = 64
MOST_DIFFERENCE = 1_000_000
"""Largest figure of an audit, in 1/10000."""
CHECKED_BP = 1_250
"""Share of the audits that clear a contribution which a second auditor repeats, in 1/10000."""
CONTRADICTIONS = 2
"""Contradicted audits within `STRIKE_ROUNDS` reports that quarantine."""
WITHHOLDINGS = 2
"""Contributions withheld by a present trainer, within `STRIKE_ROUNDS`, that quarantine."""
VESTING = 64
"""Own contributions, or own proofs, after which the points for one are the author's to keep."""
MEASURED_HEADS = 4
"""Heads, the last ones that were drawn for, of which measures are taken."""
MEASURED_TASKS = 8
"""Most tasks that members drawn for a head answer."""
MEASURED_REQUESTS = 16_384
"""Most choices of all questions in these tasks: each is one pass over its context."""
COMPARED_HEADS = 16
"""Measured heads before one, with the best of which it is compared."""
WORSE_MARGIN = 20
"""Thousandths of a bit per byte by which a worse head differs, unless the run names another."""
SAMPLE_PROMPT_BYTES = 64
"""Most of a held-out text that a model goes on from, UTF-8, in its tokens and in the log."""
SAMPLE_TOKENS = 64
"""Most tokens that it adds."""
NOTICE_CHARS = 200
"""Characters of what organisers tell the volunteers of a run, or everybody in the network."""
ANNOUNCEMENT_INTERVAL_MS = 600_000
"""Least time between two announcements to a whole network, by their own times."""
SAMPLE_BYTES = 400
"""Most of what it adds that the log takes, UTF-8."""
MISSED_ROUNDS = 3
"""Commitments in a row that nobody could fetch: the member must send member.ready again."""
