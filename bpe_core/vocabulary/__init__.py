"""Examine a finished vocabulary.

In: a tokenizer, and for some questions a run or a corpus. Out: its tokens as a searchable table,
two trees, an audit, the training lines behind a token, or a smaller tokenizer.

Open `table` first. `audit` and `reachability` find unused and unreachable tokens, `pruning` removes
them; `trees` has both trees, `provenance` finds the training lines, and `token_chains` decides
which tokens can be neighbours.
"""
