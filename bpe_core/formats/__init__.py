"""Reading and writing tokenizers and runs.

In: files, bytes, or another library's tokenizer. Out: a `Tokenizer`, files that other tools load,
or a `FormatError` that names what is wrong.

| format        | files                  | keeps                                                  |
|---------------|------------------------|--------------------------------------------------------|
| native        | tokenizer.bpe.json     | everything                                             |
| huggingface   | tokenizer.json         | all but the merges' counts                             |
| transformers  | tokenizer.json and two | the same, and which special tokens begin and end       |
| gpt2          | vocab.json, merges.txt | vocabulary and merges; not the pre-tokenizer           |
| tiktoken      | tokenizer.tiktoken     | tokens and their order; not pre-tokenizer and specials |
| gguf          | tokenizer.gguf         | all but counts; only cuts that llama.cpp has names for |
| sentencepiece | tokenizer.model        | all but counts; only characters with byte fallback     |

SentencePiece's models are in `sentencepiece_model` and `sentencepiece_scores`. Read, and not
written: Tekken JSON (`tekken`), other kinds of GGUF (`gguf_header`, `gguf_vocabulary`,
`gguf_cuts`), and any of these in a zip.

All files take one road. `folder_files` reads the files of a folder or a zip that are the tokenizer,
and `opening` recognises their format. Each format has its own module, whose reader returns a
`Description` of what the file says. `load_save` makes a `Tokenizer` of it; `engines` chooses the
library that runs it, compares the ids of a probe, and builds the encoder. What plain BPE cannot
represent is encoded by the publisher's library (`run_by_tokenizers`, `run_by_sentencepiece`,
`run_by_tiktoken`), and `run_here` encodes here what remains after added tokens (`before_merging`)
and normal forms of Unicode. `run_across_words` encodes here what Llama 2, Mistral 7B and Gemma are:
BPE over characters (`across_words`, `live_merges`) that writes spaces as ▁.

Open `opening` first: it takes files in memory, and opens those that another library runs, and a
stranger's large ones, in another process, which answers with the description. `open_encoder` takes
a path or a published name. `folder_files` also chooses the format to write, and `sidecars` reads
the small files next to a vocabulary, for which `transformers_classes` knows what each class does.
`checking` holds the code that loads each format in the libraries that read it (`readers`), and runs
it to check that they give the same ids (`opened_elsewhere`).

`run_archive` saves a whole run. `training_note` is the note next to a tokenizer on its training.
`written_kinds` recognises all files written here.
"""
