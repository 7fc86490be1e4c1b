// Charts over time or events: lines, each with a band where it has one.
"use strict";

import { count, number } from "./format.js";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const axis = { font: "12px system-ui, sans-serif", ticks: { show: false } };

const two = (n) => String(n).padStart(2, "0");

// clock writes a time of day, with seconds where marks are less than a minute apart, or a date.
function clock(t, step) {
  const d = new Date(1000 * t);
  if (step >= 86400) return d.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return d.getHours() + ":" + two(d.getMinutes()) + (step < 60 ? ":" + two(d.getSeconds()) : "");
}

// Chart draws series over the same times, or numbers of events. bands says that each has a low and a high end, zero that 0
// is in the picture.
export class Chart {
  constructor(place, { bands = false, floor = null, zero = false, along = "time", label, hover = () => {} }) {
    Object.assign(this, { place, bands, floor, zero, along, label, hover, plot: null, lines: 0, data: null });
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", label);
    place.classList.add("empty");
  }

  size() { return { width: Math.max(this.place.clientWidth, 100), height: this.place.clientHeight }; }

  redraw() {
    this.lines = 0;
    if (this.data) this.show(this.data);
  }

  // show takes the times, and value or value, low and high of each line.
  show(data) {
    const each = this.bands ? 3 : 1, lines = (data.length - 1) / each;
    this.data = data;
    const empty = data[0].length < 2 || lines === 0;
    this.place.classList.toggle("empty", empty);
    if (empty || lines !== this.lines) {
      this.plot?.destroy();
      this.plot = null;
      this.lines = 0;
    }
    if (empty) return;
    if (this.plot) {
      this.plot.setData(data);
      return;
    }
    this.lines = lines;
    this.plot = new uPlot(this.options(lines), data, this.place);
  }

  options(lines) {
    const series = [{}], bands = [];
    for (let k = 0; k < lines; k++) {
      const stroke = color("--s" + (k % 4 + 1));
      series.push({ stroke, width: 1.75, points: { show: false } });
      if (!this.bands) continue;
      const none = { stroke: "transparent", points: { show: false } };
      series.push(none, none);
      bands.push({ series: [3 * k + 3, 3 * k + 2], fill: stroke + "2e" });
    }
    const grid = { stroke: color("--grid"), width: 1 }, stroke = color("--quiet");
    return {
      ...this.size(), series, bands, legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: this.along === "time" }, y: { range: (_, low, high) => this.range(low, high) } },
      axes: [
        { ...axis, stroke, grid: { show: false }, space: 80, size: 34, values: (_, all, __, ___, step) => all.map((t) => this.along === "time" ? clock(t, step) : count(t)) },
        { ...axis, stroke, grid, size: 62, values: (_, all) => all.map((x) => number(x)) },
      ],
      hooks: { setCursor: [(u) => this.hover(u.cursor.idx)], drawAxes: this.zero ? [(u) => this.drawZero(u, stroke)] : [] },
    };
  }

  drawZero({ ctx, bbox, valToPos }, stroke) {
    const y = Math.round(valToPos(0, "y", true));
    ctx.save();
    Object.assign(ctx, { strokeStyle: stroke, lineWidth: devicePixelRatio });
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }

  range(low, high) {
    if (low === null || high === null) return [0, 1];
    if (this.zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (this.floor !== null) low = Math.min(low, this.floor);
    const edge = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [this.floor !== null && low >= this.floor ? this.floor : low - edge, high + edge];
  }
}
