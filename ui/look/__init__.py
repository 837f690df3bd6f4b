"""The look of charts, tokens as text, and names of runs.

In: numbers, a token's bytes, or what is known of a run. Out: Plotly figures in the colours of the
theme, and labels that are safe to show.

Open `labels` first, then `chart_style`. `chart_axes` labels the axes, `chart_labels` measures
labels, and `charts` draws what several pages share. `run_names` labels runs, no two alike.
"""
