"""The files of a folder that follow from the run's manifest alone, whatever the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.checkpoint import config, parts, text_tokens
from tequio_client.checkpoint.parts import Form

if TYPE_CHECKING:
    from tequio_client.checkpoint.story import Documents
    from tequio_shared.manifest import Manifest


def files(manifest: Manifest, documents: Documents, *, form: Form = Form.HEAD) -> dict[str, bytes]:
    """Each file's content by its place in the folder; raises MalformedError.

    Adapters by themselves have the configuration of adapters and none of a model.
    """
    corpus = documents.corpus
    tokenizer, settings = text_tokens.files(
        documents.tokenizer, corpus.separator, manifest.model.sequence
    )
    whole = {
        parts.CONFIG: config.config(documents.config),
        parts.GENERATION: config.generation(corpus),
    }
    if manifest.frozen is not None and form is Form.HEAD:
        whole = {parts.ADAPTER_CONFIG: config.adapter(manifest.frozen)}
    return {
        **whole,
        parts.TOKENIZER: tokenizer,
        parts.TOKENIZER_CONFIG: settings,
        parts.MANIFEST: manifest.encode(),
        parts.CORPUS: corpus.encode(),
        parts.SOURCE_CONFIG: documents.config,
    }
