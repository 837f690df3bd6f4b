"""What only the server that `serve.py` starts needs; no page imports it.

In: requests. Out: those of other sites refused, uploads and messages limited, figures, and memory
freed once tabs are closed.

Open `serve.py` first, which puts these modules around Streamlit's app. `allowed_hosts` refuses,
`limits` enforces `ui.shell.file_upload` and bounds messages, `metrics` counts, `ended_visits`
frees, and `warm_up` imports what pages need before the first visit.
"""
