// What the deployment promises, and how it is.
"use strict";

import { Chart } from "./chart.js";
import { count, duration, element, get, number, write } from "./format.js";

const lag = new Chart(get("lag-chart"), { floor: 0, label: "Lag in records over the last hour" });
const rate = new Chart(get("rate-chart"), { floor: 0, label: "Records a second over the last hour" });
const hour = 3600;
let past = { time: [], lag: [], records: [] }; // operators alone see lag and records

export function showAbout(about) {
  document.body.classList.toggle("readers", about.readers);
  write(get("deployment"), about.deployment);
  write(get("kind"), about.operator + " · Oriel " + about.version);
  write(get("sentence"), about.promise);
  write(get("details"), about.details);
  write(get("age-text"), "The loss of " + about.aged + " in everything that is released until it is so old. Rounded up. Times are at the mean rate of the last ten minutes.");
}

export function showPast(all) {
  past = { time: all.lag ? all.time : [], lag: all.lag || [], records: all.records || [] };
  drawPast();
}

function drawPast() {
  lag.show([past.time, past.lag]);
  const rates = past.time.map((t, i) => i === 0 ? null : (past.records[i] - past.records[i - 1]) / Math.max(1, t - past.time[i - 1]));
  rate.show([past.time, rates]);
}

// recent is the rate of records over ten seconds or so.
function recent() {
  const last = past.time.length - 1;
  let first = last;
  while (first > 0 && past.time[first] > past.time[last] - 10) first--;
  return first < last ? Math.round((past.records[last] - past.records[first]) / (past.time[last] - past.time[first])) : null;
}

// follow adds a frame to the past.
function follow(now) {
  const t = Math.floor(now.time / 1000);
  if (t <= past.time.at(-1)) return;
  past.time.push(t);
  past.lag.push(now.lag);
  past.records.push(now.counts.records);
  while (past.time[0] < t - hour) for (const list of [past.time, past.lag, past.records]) list.shift();
  drawPast();
}

export function showNow(about, now) {
  const state = now.ready ? (now.standby === "warm" ? "standing by" : "ready") : "waiting";
  write(get("ready"), state);
  get("ready").classList.toggle("good", now.ready);
  document.title = (now.ready ? "" : "(!) ") + about.deployment + " · " + state;
  write(get("steps"), count(now.steps));
  write(get("decisions"), count(now.decided));
  write(get("newest-age"), now.newest === undefined ? "–" : duration(Math.max(0, now.time - now.newest) / 1000) + " ago");
  showAges(now.ages || []);
  if (about.readers) return;
  follow(now);
  write(get("owned"), now.owned + (now.streams ? " of " + now.streams : ""));
  write(get("lag"), count(now.lag));
  write(get("rate"), number(recent()));
  write(get("commits"), count(now.counts.commits));
  showReasons(now);
  showPartitions(now);
}

// showReasons says what the process waits for, and what to read.
function showReasons(now) {
  const lines = now.reasons.flatMap((r) => [...r.lines, "Runbook: deploy/RUNBOOK.md, " + r.section]);
  for (const p of now.partitions) if (p.stopped) lines.push(p.stopped);
  const list = get("reasons");
  list.hidden = lines.length === 0;
  if (list.textContent !== lines.join("")) list.replaceChildren(...lines.map((text) => element("li", {}, text)));
}

function showPartitions(now) {
  if (now.partitions.length === 0) return;
  const rows = now.partitions.map((p) => {
    const state = p.state + (p.restarts ? ", restarted " + p.restarts + " ×" : "");
    return element("tr", {}, element("th", { scope: "row" }, String(p.id)), element("td", { class: "state" }, state),
      ...[p.lag, p.steps, p.commits, p.aborts].map((x) => element("td", { class: "number" }, count(x))));
  });
  if (now.owned > rows.length) rows.push(element("tr", {}, element("td", { colspan: 6, class: "quiet" }, "and " + (now.owned - rows.length) + " more")));
  get("partitions").replaceChildren(...rows);
}

function showAges(ages) {
  if (ages.length === 0) return;
  get("ages").replaceChildren(...ages.map((a) => element("tr", {},
    element("th", { scope: "row" }, a.name), element("td", { class: "number" }, a.steps >= 1e15 ? number(a.steps) : count(a.steps)),
    element("td", {}, duration(a.seconds)), element("td", { class: "number" }, a.epsilon))));
}
