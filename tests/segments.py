"""Segments made by hand, for tests that need a tokenization but no tokenizer."""

from __future__ import annotations

from bpe_core.types import Segment


def piece_segments(*pieces: bytes | tuple[bytes, int], first_id: int = 0) -> list[Segment]:
    """Return segments of consecutive pieces; a length limits a piece to its first bytes."""
    spans: list[tuple[bytes, int, int]] = []
    text = b""
    for piece in pieces:
        token, length = piece if isinstance(piece, tuple) else (piece, len(piece))
        spans.append((token, len(text), len(text) + length))
        text += token[:length]
    # For each byte, and for the end, the character that holds it.
    holder = [i for i, character in enumerate(text.decode()) for _ in character.encode()]
    segments: list[Segment] = []
    for id_, (token, start, end) in enumerate(spans, first_id):
        before = holder[start - 1] + 1 if start else 0
        first, last = (holder[start], holder[end - 1] + 1) if start < end else (before, before)
        segments.append(Segment(id_, token, first, last, start, end))
    return segments


def covered_text(segments: list[Segment]) -> str:
    """Return the text that segments cover, without an end-of-word marker."""
    return b"".join(s.token[: s.byte_end - s.byte_start] for s in segments).decode()
