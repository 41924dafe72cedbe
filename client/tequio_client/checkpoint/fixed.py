"""The files of a folder that follow from the run's manifest alone, whatever the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.checkpoint import config, parts, text_tokens

if TYPE_CHECKING:
    from tequio_client.checkpoint.story import Documents
    from tequio_shared.manifest import Manifest


def files(manifest: Manifest, documents: Documents) -> dict[str, bytes]:
    """Each file's content by its place in the folder; raises MalformedError."""
    corpus = documents.corpus
    tokenizer, settings = text_tokens.files(
        documents.tokenizer, corpus.separator, manifest.model.sequence
    )
    return {
        parts.CONFIG: config.config(documents.config),
        parts.GENERATION: config.generation(corpus),
        parts.TOKENIZER: tokenizer,
        parts.TOKENIZER_CONFIG: settings,
        parts.MANIFEST: manifest.encode(),
        parts.CORPUS: corpus.encode(),
        parts.SOURCE_CONFIG: documents.config,
    }
