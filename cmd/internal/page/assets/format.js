// Numbers and elements as the page writes them.
"use strict";

export const get = (id) => document.getElementById(id);

// write sets a text only where it changes, so that readers of the screen are not told again.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// element makes one with attributes and children; a class of "" is none.
export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "" && value !== undefined) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// signDisplay keeps the sign from −0, and from a negative number that is written as 0.
const signDisplay = "negative";
const whole = new Intl.NumberFormat("en", { signDisplay });
const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, signDisplay });

export const count = (x) => whole.format(x).replaceAll(",", "\u202f");

export function number(x) {
  if (x === null || x === undefined) return "–";
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return count(x).replace("-", "−");
  if (x !== 0 && (Math.abs(x) >= 1e7 || Math.abs(x) < 1e-4)) return x.toExponential(2);
  return four.format(x).replaceAll(",", "\u202f").replace("-", "−");
}

// measured writes a value to as many decimals as interval has, so that no digit is below its noise.
export function measured(value, low, high) {
  const half = (high - low) / 2;
  if (value === null || value === undefined || low === null || high === null || !(half >= 1e-4 && half < 1e7)) return number(value);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(half)));
  const fixed = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals, signDisplay });
  return fixed.format(value).replaceAll(",", "\u202f").replace("-", "−");
}

// interval writes the half width where it is one, else both ends.
export function interval(value, low, high) {
  if (low === null || high === null || value === null) return "";
  const below = value - low, above = high - value;
  if (Math.abs(below - above) <= 0.01 * (below + above)) return "± " + number(Number(((below + above) / 2).toPrecision(3)));
  return number(low) + " … " + number(high);
}

const spans = [["y", 365 * 86400], ["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return "under 1 s";
  if (seconds > 1e4 * spans[0][1]) return (seconds / spans[0][1]).toExponential(1) + " y";
  const i = spans.findIndex(([, length]) => seconds >= length);
  const first = Math.floor(seconds / spans[i][1]);
  if (i + 1 === spans.length) return first + " s";
  const second = Math.floor((seconds - first * spans[i][1]) / spans[i + 1][1]);
  return first + " " + spans[i][0] + (second > 0 ? " " + second + " " + spans[i + 1][0] : "");
}
