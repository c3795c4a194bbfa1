// Draws the figures of notebooks; their values are in the page. In a card they are small and still.
for (const values of document.querySelectorAll("script[data-figure]")) {
  const { data, layout } = JSON.parse(values.textContent);
  const place = document.getElementById(values.dataset.figure);
  if (place.closest(".lx-card")) {
    const margin = { l: 30, r: 10, t: 10, b: 24 };
    const small = { ...layout, margin, height: place.clientHeight, width: undefined, showlegend: false };
    small.font = { ...layout.font, size: 8 };
    small.title = undefined;
    small.annotations = [];
    for (const trace of data) trace.mode = trace.mode?.replace(/\+?text\+?/, "") || trace.mode;
    Plotly.newPlot(place, data, small, { responsive: true, staticPlot: true });
  } else {
    Plotly.newPlot(place, data, layout, { responsive: true, displaylogo: false });
  }
}
