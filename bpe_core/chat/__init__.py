"""Chat templates: what a model is given when somebody writes messages.

`chat_template` renders messages as the tokenizer's own template says, and `rendering` is what runs
in another process, because a template is a program of a stranger. How a rendered conversation
becomes tokens is `bpe_core.tokenizer.conversation`; `bpe_core.formats.sidecars` finds a template
among a tokenizer's files.
"""
