"""What a browser draws of tokenizers and runs: in the app, in a saved page, in a notebook.

In: a text and its tokenizers, or a run. Out: packed data for the app's components, and `View`s that
show themselves in a notebook.

Open `notebook` first. `token_packing` and `run_packing` pack, `component_files` reads the
components' files in `ui/components`, and `still` draws without a script.
"""
