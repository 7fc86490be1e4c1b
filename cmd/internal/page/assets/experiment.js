// What a stream's experiment has found: the verdict in words, effects with their bands, and these over events.
"use strict";

import { Chart } from "./chart.js";
import { count, element, get, number, write } from "./format.js";

const most = 4; // arms that are drawn
let about = null, partition = null, turn = 0, courses = []; // by arm { events, value, low, high }
const chart = new Chart(get("effect-chart"), { bands: true, along: "events", zero: true, label: "Effect of each arm with its band, over the events of the experiment" });

export function setExperiment(a) {
  about = a.experiment || null;
  partition = null;
  get("experiment").hidden = get("experiment-link").hidden = !about;
  if (about) write(get("experiment-reads"), about.reads);
}

// showExperiment shows that of a decision; several streams have one each.
export function showExperiment(decision, streams) {
  const x = decision.experiment;
  if (!about || !x) return;
  write(get("experiment-title"), "Experiment" + (x.number > 1 ? " " + x.number + ", from step " + count(x.first) + " on" : "") + (streams > 1 ? ", stream " + decision.stream : ""));
  write(get("verdict"), x.says);
  get("verdict").className = "verdict " + x.state;
  if (get("then").textContent !== x.then.join("")) get("then").replaceChildren(...x.then.map((text) => element("li", {}, text)));
  write(get("experiment-events"), count(x.events));
  write(get("experiment-target"), count(about.target));
  write(get("experiment-recent"), x.recent > 0 ? (100 * x.recent).toFixed(0) + " %" : "–");
  write(get("experiment-balance"), x.state === "early" ? "–" : number(Number(x.balance.toPrecision(2))));
  showArms(x);
  if (partition === decision.partition && turn === x.number) follow(x);
  else load(decision.partition, x.arms.length, x.number);
}

// ends writes both ends of a sequence; where it has no upper end, the lower one.
const ends = ([value, low, high]) => value === null ? "–" : high === null ? "from " + number(low) : number(low) + " … " + number(high);

function showArms(x) {
  const cell = (name, text) => element("td", { class: name }, text);
  get("arms-head").replaceChildren(element("th", { scope: "col" }, "Arm"), ...["Effect", "Band at all looks", ...(about.lift ? ["Ratio to control"] : []),
    "Mean " + about.outcome, "e-value", "p-value"].map((text) => element("th", { scope: "col", class: "number" }, text)));
  get("arms").replaceChildren(...x.arms.map((a, k) => element("tr", {},
    element("th", { scope: "row" }, element("span", { class: k === 0 ? "key" : "key s" + k }), a.name + (k === 0 ? ", the control" : a.better ? ", better" : "")),
    cell("number", k === 0 ? "" : number(a.effect[0])), cell("number", k === 0 ? "" : ends(a.effect)),
    ...(about.lift ? [cell("number", k === 0 ? "" : number(a.lift[0]) + " (" + ends(a.lift) + ")")] : []),
    cell("number", number(a.mean[0]) + " (" + ends(a.mean) + ")"), cell("number", k === 0 ? "" : number(a.e)), cell("number", k === 0 ? "" : number(a.p)))));
}

// load gets the courses of the effects of a stream's present experiment, since the process started.
async function load(of, arms, number) {
  partition = of;
  turn = number;
  courses = [];
  for (let arm = 1; arm < Math.min(arms, most + 1); arm++) {
    const answer = await fetch(`/page/course?partition=${of}&arm=${arm}`).catch(() => null);
    if (!answer?.ok || partition !== of || turn !== number) return;
    courses.push(await answer.json());
  }
  draw();
}

// follow adds a look, and gets the courses again where they have become long.
function follow(x) {
  if (courses.length === 0 || x.state === "early" || x.events <= (courses[0].events.at(-1) ?? 0)) return;
  if (courses[0].events.length > 1000) return load(partition, x.arms.length, x.number);
  courses.forEach((c, k) => {
    c.events.push(x.events);
    ["value", "low", "high"].forEach((key, i) => c[key].push(x.arms[k + 1].effect[i]));
  });
  draw();
}

const draw = () => chart.show(courses.length ? uPlot.join(courses.map((c) => [c.events, c.value, c.low, c.high])) : [[]]);
