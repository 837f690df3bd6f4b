"""How things look: charts, tokens as text, and names of runs.

In: numbers, a token's bytes, or what is known of a run. Out: Plotly figures in the colours of the
theme, and labels that are safe to show.

Open `labels` first, then `chart_style`; `chart_axes` names values along a chart, and `chart_labels`
knows what a name takes; `charts` draws what several pages share. `run_names` gives no two runs the
same label.
"""
