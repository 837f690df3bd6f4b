"""Write an adapted tokenizer into a SentencePiece model, with nothing else in it changed.

A model has no merges: whatever two neighbours spell a piece is joined, the highest score first. So
each new token is one piece, whose score is lower than all before it.
"""

from __future__ import annotations

from bpe_core.adapting.adapted import NO_OLD_ID, Adapted
from bpe_core.errors import ConfigError
from bpe_core.formats.across_words import reads_as
from bpe_core.formats.adapted.adapted_vocabulary import continue_scores, token_text
from bpe_core.formats.load_save import read_merges
from bpe_core.formats.sentencepiece_model import NORMAL, Piece, read_model, replace_pieces


def model_file(adapted: Adapted, data: bytes, name: str) -> bytes:
    """Return a SentencePiece model with the adapted vocabulary; errors give its `name`.

    Pieces that stay keep their bytes, and a new one has the type NORMAL. Raises `ConfigError` if an
    id has no token, or if the file would encode differently.
    """
    tokenizer, old_ids = adapted.tokenizer, adapted.old_ids.tolist()
    if len(old_ids) > tokenizer.vocab_size:
        raise ConfigError(
            f"{name} lists a piece for every id, and the adapted tokenizer leaves some out. Save "
            f"it in the native format."
        )
    scores = continue_scores(adapted, [piece.score for piece in read_model(data).pieces])
    again = set(adapted.removed)
    written = replace_pieces(
        data,
        [
            Piece(token_text(tokenizer, id), scores[id], NORMAL)
            if old == NO_OLD_ID or old in again
            else old
            for id, old in enumerate(old_ids)
        ],
    )
    if not reads_as(read_merges({name: written}, across_words=True), tokenizer):
        raise ConfigError(
            f"The adapted {name} would encode differently. Save the adapted tokenizer in the "
            f"native format."
        )
    return written
