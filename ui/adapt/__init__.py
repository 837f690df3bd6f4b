"""The parts of the Adapt page.

In: an existing tokenizer, and a corpus. Out: a tokenizer with more tokens, fewer or others, what
that gains, and the files that a model needs to follow.

Open `extend_mode` first, then `shrink_mode` and `replace_mode`, whose work is in
`background_work`, done by a process in `adapting_process`. `order_form`, `removal_form` and `terms`
ask for what they need; `gain_parts`, `new_tokens` and `files_part` show what came of it.
"""
