// Pictures follow the width of the page by themselves, but not that of the paper.
const PAPER_WIDTH = 670; // A4 less the margins of report.css

function setWidths(width) {
  for (const picture of document.querySelectorAll(".plotly-graph-div")) {
    Plotly.relayout(picture, width === null ? { autosize: true, width: null } : { width });
  }
}

addEventListener("beforeprint", () => setWidths(PAPER_WIDTH));
addEventListener("afterprint", () => setWidths(null));
