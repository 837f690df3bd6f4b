"""Reading and writing tokenizers and runs.

In: files, bytes, or another library's tokenizer. Out: a `Tokenizer`, files that other tools load,
or a `FormatError` that names what is wrong.

| format       | files                  | keeps                                                  |
|--------------|------------------------|--------------------------------------------------------|
| native       | tokenizer.bpe.json     | everything                                             |
| huggingface  | tokenizer.json         | all but the merges' counts                             |
| transformers | tokenizer.json and two | the same, and which special tokens begin and end       |
| gpt2         | vocab.json, merges.txt | vocabulary and merges; not the pre-tokenizer           |
| tiktoken     | tokenizer.tiktoken     | tokens and their order; not pre-tokenizer and specials |
| gguf         | tokenizer.gguf         | all but counts; only cuts that llama.cpp has names for |

Read, and not written: Tekken JSON (`tekken`), SentencePiece's .model (`sentencepiece_model`), other
kinds of GGUF (`gguf_header`, `gguf_vocabulary`, `gguf_cuts`), and any of these in a zip (`zipped`).

Open `load_save` first; each format has its own module, `format_by_name` chooses one by a file's
name, and `sidecars` reads the small files next to a vocabulary. `open_encoder` takes a path or a
published name, and `opening` takes files of any kind in memory: what plain BPE cannot represent is
encoded by the publisher's library (`run_by_tokenizers`, `run_by_sentencepiece`, `run_by_tiktoken`),
after a trial in another process (`trial_process`). `run_here` encodes here what remains after
`added_tokens` and `normal_forms`. `loading_lines` gives the code that loads each format, and
`opened_elsewhere` runs it to check that the library of the format gives the same ids.

`saved_run` saves a whole run (`run_archive`). `written_kinds` recognises all files written here.
"""
