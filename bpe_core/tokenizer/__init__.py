"""The tokenizer: text to ids, and back.

In: a vocabulary, merges and a pre-tokenizer; then text or ids. Out: ids, text, the position of each
token in the text, or the merges that produced it.

Start with `tokenizer`; `steps` find added tokens and change a text before it is cut, and
`encoding` and `decoding` do the rest. `rank_merging` encodes a word by its
merges and explains it, `trie` encodes without merging; `encoding` decides when `compiled`
takes over. `tables` holds the vocabulary and the merges, and derives each lookup when it is asked.
`segments` locates tokens in a text, and `readings` cuts one with the vocabulary in other ways, and
finds the tokens at the end of a prompt that added text may change. `protocol` is what every encoder
offers, and `gpt2` is GPT-2's tokenizer.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.tokenizer.chat_report import (
        ChatReport,
        Drift,
        find_drift,
        listed_ids,
        report_chats,
    )
    from bpe_core.tokenizer.compiled import CompiledEncoder, can_compile
    from bpe_core.tokenizer.conversation import (
        READING,
        Conversation,
        Fault,
        read_conversation,
        read_conversations,
    )
    from bpe_core.tokenizer.decoding import DecodeStream, OnInvalid, check_ids, decode_utf8
    from bpe_core.tokenizer.encoding import Kernels, TextEncoder, forget_words
    from bpe_core.tokenizer.gpt2_tokenizer import (
        END_OF_TEXT,
        GoldenCase,
        data_folder,
        gpt2,
        gpt2_golden_cases,
        gpt2_golden_result,
    )
    from bpe_core.tokenizer.protocol import (
        Boundaries,
        Encoder,
        NamedEncoder,
        Trained,
        boundaries,
        find_own,
        named,
        to_encoder,
    )
    from bpe_core.tokenizer.rank_merging import (
        Explanation,
        explain_word,
        merge_in,
        merge_steps,
        merge_symbols,
    )
    from bpe_core.tokenizer.readings import (
        DROPOUT,
        MAX_PROMPT,
        READERS,
        Reader,
        UnstableEnd,
        encode_by,
        unstable_end,
    )
    from bpe_core.tokenizer.segments import TokenColumns, columns_to_segments
    from bpe_core.tokenizer.shared_blocks import Encoded
    from bpe_core.tokenizer.steps import (
        AddedToken,
        AllowedSpecial,
        allowed_tokens,
        check_text,
        find_plain_cut,
        found_in_one_search,
    )
    from bpe_core.tokenizer.tables import (
        MAX_FREE_IDS,
        MAX_ID,
        TokenTable,
        replace_all,
        spell_with,
    )
    from bpe_core.tokenizer.tokenizer import Tokenizer
    from bpe_core.tokenizer.trie import Trie, stay_apart
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
