"""What the server needs apart from pages; no page imports it.

In: requests. Out: those of other sites refused, uploads and messages limited, figures, and memory
freed once tabs are closed.

Open `server` first, whose parts `app.py` puts around Streamlit's app. `allowed_hosts` refuses,
`limits` enforces `ui.shell.file_upload` and bounds messages, `metrics` counts, `ended_visits`
frees, and `warm_up` imports what pages need before the first visit.
"""
