"""Reading and writing tokenizers and runs.

In: files, bytes, or another library's tokenizer. Out: a `Tokenizer`, files that other tools load,
or a `FormatError` that names what is wrong.

| format      | files                  | keeps                                                  |
|-------------|------------------------|--------------------------------------------------------|
| native      | tokenizer.bpe.json     | everything                                             |
| huggingface | tokenizer.json         | all but the merges' counts                             |
| gpt2        | vocab.json, merges.txt | vocabulary and merges; not the pre-tokenizer           |
| tiktoken    | tokenizer.tiktoken     | tokens and their order; not pre-tokenizer and specials |

Open `load_save` first; each format has a module of its own. `opening` also takes models that are
not BPE: `foreign` encodes with Hugging Face's library, after a trial in `sandbox`.
"""
