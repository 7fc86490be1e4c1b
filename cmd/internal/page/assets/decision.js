// The newest decision of a stream: its numbers, weights, shares or set, and the course of those that are chosen.
"use strict";

import { Chart } from "./chart.js";
import { setExperiment, showExperiment } from "./experiment.js";
import { count, element, get, interval, measured, number, write } from "./format.js";

const mostRows = 200, mostLines = 4;
let about = {}, decisions = [], shown = null; // the decision of the chosen stream
let order = { by: "place", down: true };
let lines = []; // chosen coordinates, each { at, data }
const legend = (at) => showLegend(at);
const course = new Chart(get("course-chart"), { bands: true, label: "Course of the chosen numbers, each with its interval at 95 %", hover: legend });

export function setAbout(a) {
  about = a;
  setExperiment(a);
}

export function showDecisions(now) {
  decisions = now.decisions;
  if (decisions.length === 0) return;
  choices("stream", decisions.map((d) => [String(d.partition), d.stream]));
  const before = shown;
  shown = decisions.find((d) => String(d.partition) === get("stream").value) || decisions[0];
  if (!before || before.partition !== shown.partition || before.kind !== shown.kind) start();
  follow(now);
  show();
  showExperiment(shown, decisions.length);
}

// choices fills a select and hides it where there is nothing to choose.
function choices(id, all) {
  const select = get(id), key = JSON.stringify(all);
  get(id + "-label").hidden = all.length < 2;
  if (select.dataset.key === key) return;
  const value = select.value;
  select.dataset.key = key;
  select.replaceChildren(...all.map(([v, text]) => element("option", { value: v }, text)));
  if (all.some(([v]) => v === value)) select.value = value;
}

// start is for a stream that was not shown before.
function start() {
  const numbers = shown.kind === "numbers", names = about.names || [];
  const unique = (k) => [...new Set(numbers ? names.map((n) => n[k]) : [])];
  const spans = { step: "each step", hour: "newest whole hour", day: "newest whole day" };
  choices("memory", unique(0).map((m) => [m, /^\d+$/.test(m) ? count(m) + " steps" : spans[m] ?? m]));
  choices("statistic", unique(1).map((s) => [s, s]));
  lines = [];
  const tabled = numbers || shown.kind === "weights" || shown.kind === "names";
  get("course").hidden = !tabled;
  get("table-region").hidden = shown.kind === "set";
  get("search-label").hidden = shown.kind === "set";
  get("set").hidden = tabled;
  order = tabled && !numbers ? { by: "size", down: true } : { by: "place", down: true };
  if (tabled) chooseClear();
}

// chooseClear chooses the numbers that stand out most from the noise.
function chooseClear() {
  const clear = (r) => r.value === null ? -1 : Math.abs(r.value) / (r.high - r.low || 1);
  for (const row of matching().sort((a, b) => clear(b) - clear(a)).slice(0, 3)) choose(row.at);
}

// rows are what the table has, before search and order.
function rows() {
  if (shown.kind === "plays") {
    const all = (shown.shares || []).reduce((sum, s) => sum + s.count, 0);
    return (shown.shares || []).map((s, k) => ({ at: k, name: s.name, value: s.count / all, low: null, high: null }));
  }
  return (shown.at || []).map((at, k) => {
    const row = { at, value: shown.values[k], low: shown.low[k], high: shown.high[k], name: shown.names?.[k] ?? "coordinate " + at };
    if (shown.kind === "numbers") [row.memory, row.statistic, row.name] = about.names[at];
    return row;
  });
}

function matching() {
  const words = get("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const is = (id, value) => value === undefined || get(id).value === "" || get(id).value === value;
  const found = rows().filter((r) => is("memory", r.memory) && is("statistic", r.statistic) &&
    words.every((w) => r.name.toLowerCase().includes(w)));
  const size = { value: (r) => r.value ?? -Infinity, size: (r) => Math.abs(r.value ?? 0), name: (r) => r.name }[order.by];
  if (size) found.sort((a, b) => (size(a) < size(b) ? 1 : size(a) > size(b) ? -1 : a.at - b.at) * (order.down ? 1 : -1));
  return found;
}

function show() {
  const kinds = { numbers: "numbers", weights: "coordinates", plays: "actions", set: "elements", names: "names" };
  const size = shown.kind === "plays" ? rows().length : shown.kind === "set" ? shown.set.length : shown.dimension;
  write(get("newest"), "Decision " + count(shown.index) + " after step " + count(shown.step) + ", " + count(size) + " " + kinds[shown.kind] +
    (shown.until !== undefined ? ", events until " + new Date(shown.until).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "") +
    (shown.kind === "plays" ? "; shares are of the newest of each of the last " + count((shown.shares || []).reduce((sum, s) => sum + s.count, 0)) + " commits" : ""));
  get("band-says").hidden = !shown.band;
  write(get("band-says"), shown.band || "");
  get("members").replaceChildren(...(shown.members || []).map((m) =>
    element("div", {}, element("dt", {}, m.name.replaceAll("_", " ")), element("dd", {}, number(m.value)))));
  if (shown.set) get("set").replaceChildren(...shown.set.map((name) => element("li", {}, name)));
  if (shown.kind !== "set") showTable();
}

const heads = {
  numbers: [["Cell", "name"], ["Value", "value"], ["95 % of noise"], [""]],
  weights: [["Weight", "name"], ["Value", "size"], ["95 % of noise"], [""]],
  names: [["Name", "name"], ["Count", "size"], ["95 % of noise"], [""]],
  plays: [["Action", "name"], ["Share", "value"], [""]],
};

function showTable() {
  showHead();
  const found = matching(), body = get("rows"), focused = document.activeElement?.dataset?.at;
  const visible = found.slice(0, mostRows);
  const reach = scale(visible);
  body.replaceChildren(...visible.map((r) => line(r, reach)));
  if (focused !== undefined) body.querySelector(`button[data-at="${focused}"]`)?.focus();
  get("more").hidden = found.length <= mostRows && found.length > 0;
  write(get("more"), found.length === 0 ? "Nothing matches." : mostRows + " of " + count(found.length) + " are shown; search for the others.");
}

function showHead() {
  const head = heads[shown.kind].filter((h) => h[0] !== "95 % of noise" || known());
  const key = JSON.stringify([shown.kind, order, head.length]);
  if (get("head").dataset.key === key) return;
  const focused = document.activeElement?.dataset?.sort;
  get("head").dataset.key = key;
  get("head").replaceChildren(...head.map(([text, by], k) => {
    if (text === "") return element("td", { class: "band" });
    const sorted = order.by === by ? (order.down ? "descending" : "ascending") : undefined;
    const cell = element("th", { scope: "col", class: k === 1 ? "number" : k === 2 ? "wide" : "", "aria-sort": sorted });
    if (!by) return cell.append(text), cell;
    const button = element("button", { type: "button", "data-sort": by }, text + (sorted ? (order.down ? " ↓" : " ↑") : ""));
    button.addEventListener("click", () => {
      order = { by, down: order.by === by ? !order.down : by !== "name" };
      showTable();
    });
    return cell.append(button), cell;
  }));
  if (focused) get("head").querySelector(`[data-sort="${focused}"]`)?.focus();
}

// known tells whether the noise of any number is.
const known = () => shown.kind === "numbers" || (shown.low || []).some((x) => x !== null);

// unknown says why a number has no value.
const unknown = (r) => r.memory === "hour" || r.memory === "day"
  ? "no whole " + r.memory + " yet, or too few events for the noise" : "too few events for the noise";

// scale is the range that bands of the visible rows share.
function scale(visible) {
  let low = 0, high = 0;
  for (const r of visible) {
    if (r.value === null) continue;
    low = Math.min(low, r.low ?? r.value);
    high = Math.max(high, r.high ?? r.value);
  }
  return { low, high: high > low ? high : low + 1 };
}

function line(r, reach) {
  const slot = lines.findIndex((l) => l.at === r.at), plays = shown.kind === "plays";
  const name = element("th", { scope: "row" });
  if (plays) name.append(r.name);
  else {
    const button = element("button", { type: "button", "data-at": r.at, "aria-pressed": slot >= 0, class: slot >= 0 ? "s" + (slot + 1) : "" }, ...broken(r.name));
    button.addEventListener("click", () => { choose(r.at); showTable(); });
    name.append(button);
  }
  const cells = [element("td", { class: "number" }, plays ? (100 * r.value).toFixed(1) + " %" : measured(r.value, r.low, r.high))];
  if (!plays && known()) cells.push(element("td", { class: r.value === null ? "wide quiet" : "wide" }, r.value === null ? unknown(r) : interval(r.value, r.low, r.high)));
  cells.push(element("td", { class: "band" }, band(r, reach)));
  return element("tr", {}, name, ...cells);
}

// broken lets a line break behind each comma of a name.
const broken = (name) => [element("span", {}, ...name.split(/(?<=,)/).flatMap((part) => [part, document.createElement("wbr")]))];

// band draws a value and its interval on the scale of the table.
function band(r, reach) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "band");
  svg.setAttribute("aria-hidden", "true");
  const x = (v) => (100 * (v - reach.low) / (reach.high - reach.low)).toFixed(2) + "%";
  const add = (name, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    svg.append(e);
  };
  add("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 14 });
  if (r.value === null) return svg;
  add("line", { class: "reach", x1: x(r.low ?? 0), x2: x(r.high ?? r.value), y1: 7, y2: 7 });
  add("circle", { class: "value", cx: x(r.value), cy: 7, r: 3 });
  return svg;
}

// choose adds a coordinate to the chart, or takes it away; of too many the oldest goes.
async function choose(at) {
  const had = lines.some((l) => l.at === at);
  lines = lines.filter((l) => l.at !== at);
  if (had) return draw();
  if (lines.length === mostLines) lines.shift();
  const line = { at, data: { time: [], value: [], low: [], high: [] } };
  lines.push(line);
  const answer = await fetch(`/page/course?partition=${shown.partition}&coordinate=${at}`).catch(() => null);
  if (!answer?.ok) return;
  const past = await answer.json();
  const last = past.time.at(-1) ?? 0; // frames that came meanwhile stay
  const newer = line.data.time.findIndex((t) => t > last);
  for (const key of ["time", "value", "low", "high"]) line.data[key] = past[key].concat(newer < 0 ? [] : line.data[key].slice(newer));
  draw();
}

// reload gets the courses again, after a gap.
export function reload() {
  const chosen = lines.map((l) => l.at);
  lines = [];
  for (const at of chosen) choose(at);
}

// follow adds a frame to the courses.
function follow(now) {
  const t = Math.floor((about.step ? shown.until : now.time) / 1000); // a step by the clock is at its end
  for (const { at, data } of lines) {
    const k = shown.at.indexOf(at);
    if (k < 0 || t <= data.time.at(-1)) continue;
    data.time.push(t);
    data.value.push(shown.values[k]);
    data.low.push(shown.low[k]);
    data.high.push(shown.high[k]);
    while (data.time[0] < t - 3600 * Math.max(1, about.step ?? 0)) for (const list of Object.values(data)) list.shift();
  }
  draw();
}

function draw() {
  const tables = lines.map(({ data }) => [data.time, data.value, data.low, data.high]);
  course.show(tables.length ? uPlot.join(tables) : [[]]);
  write(get("course-of"), lines.length === 0 ? "choose numbers in the table" : known() ? "with what noise does to it, 95 %" : "");
  showLegend(null);
}

function showLegend(at) {
  const all = rows(), k = at ?? -1;
  get("course-legend").replaceChildren(...lines.map((l, i) => {
    const r = all.find((row) => row.at === l.at);
    const data = course.data || [[]], value = at === null || at === undefined ? r?.value : data[3 * i + 1]?.at(k);
    const ends = at === null || at === undefined ? [r?.low, r?.high] : [data[3 * i + 2]?.at(k), data[3 * i + 3]?.at(k)];
    const noise = interval(value ?? null, ends[0] ?? null, ends[1] ?? null);
    l.name = r?.name ?? l.name ?? "coordinate " + l.at;
    return element("li", {}, l.name + ": " + measured(value, ends[0], ends[1]) + (noise ? " " + (noise.startsWith("±") ? noise : "(" + noise + ")") : ""));
  }));
}

for (const id of ["memory", "statistic"]) {
  get(id).addEventListener("change", () => {
    lines = [];
    chooseClear();
    show();
  });
}
get("stream").addEventListener("change", () => showDecisions({ decisions, time: Date.now() }));
get("search").addEventListener("input", () => { if (shown) showTable(); });
