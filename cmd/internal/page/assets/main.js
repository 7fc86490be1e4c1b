// Follows the event stream of the service, while somebody looks.
"use strict";

import { reload, setAbout, showDecisions } from "./decision.js";
import { get } from "./format.js";
import { showAbout, showNow, showPast } from "./health.js";

let events = null, retry = 0, about = {};

function connect() {
  clearTimeout(retry);
  events?.close();
  events = new EventSource("/page/events");
  events.addEventListener("about", (e) => {
    about = JSON.parse(e.data);
    setAbout(about);
    showAbout(about);
    reload();
  });
  events.addEventListener("past", (e) => showPast(JSON.parse(e.data)));
  events.addEventListener("now", (e) => {
    const now = JSON.parse(e.data);
    get("lost").hidden = true;
    showNow(about, now);
    showDecisions(now);
  });
  events.addEventListener("error", () => {
    get("lost").hidden = false;
    if (events.readyState === EventSource.CLOSED) retry = setTimeout(connect, 10_000); // refused: too many look
  });
}

// A hidden page gives its stream to others.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return connect();
  clearTimeout(retry);
  events?.close();
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.target.closest("input, select") || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  get("search").focus();
});
if (!document.hidden) connect();
