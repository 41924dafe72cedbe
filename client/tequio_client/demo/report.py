"""The demo's outcome for machines (`--json`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import digest_from_text

if TYPE_CHECKING:
    from tequio_client.demo.play import Played
    from tequio_shared.api.runs import RunAnswer


def report(played: Played, run: RunAnswer) -> dict[str, object]:
    """The outcome as plain values; sizes in bytes, memory in MiB, points in micro-points."""
    tally = played.tally
    return {
        "rounds_committed": tally.committed,
        "rounds_void": tally.void,
        "heads": tally.heads,
        "heads_agree": tally.all_agree,
        "peers": [
            {
                "peer_id": one.peer,
                "roles": list(one.roles),
                "head": digest_from_text(one.head).hex() if one.head else "",
                "micropoints": played.micropoints[one.key],
                "bytes_sent": one.sent_bytes,
                "bytes_received": one.received_bytes,
                "worker_rss_mb": one.resident_mb,
                "trainer_rss_mb": played.trainer_mb[one.key],
                "compute_fraction": round(one.train_seconds / max(one.elapsed_seconds, 1e-9), 4),
            }
            for one in played.statuses
        ],
        "held_out": {
            "bits_per_byte_start": round(played.start.bits_per_byte, 6),
            "bits_per_byte_end": round(played.end.bits_per_byte, 6),
            "perplexity_end": round(played.end.perplexity, 6),
        },
        "tokens_accepted": run.tokens,
        "tokens_per_s": round(run.tokens / max(played.seconds, 1e-9), 1),
        "log": {"size": tally.size, "root": tally.root},
        "audit_exit": played.audit_exit,
        "ledger_rss_mb": played.ledger_resident_mb,
        "seed_rss_mb": played.seed_resident_mb,
        "seconds": round(played.seconds, 1),
    }
