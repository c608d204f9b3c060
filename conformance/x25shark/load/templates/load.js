// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the plots of load.html. They follow the page from light to dark and back.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("plots").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const look = () => page.looks[dark.matches ? "dark" : "light"];
  const settings = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"], ["toImage"]],
  };
  const places = page.figures.map((figure, number) => {
    const place = document.getElementById(`plot${number}`);
    const layout = { ...figure.layout, template: look() };
    Plotly.newPlot(place, figure.data, layout, settings);
    return place;
  });
  dark.addEventListener("change", () => {
    for (const place of places) Plotly.relayout(place, { template: look() });
  });
})();
