from plotly.graph_objs import Figure as Figure
