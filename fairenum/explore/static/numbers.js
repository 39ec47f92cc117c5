// Numbers as in the report: few digits, a dash for undefined ones; and scales with round ticks.

export const UNDEFINED = "–";

/** A rate or a gap. */
export const share = (value) => (value === null || value === undefined ? UNDEFINED : value.toFixed(3));

/** A change, with its sign unless nothing is left after rounding. */
export const signed = (value) => {
  if (value === null || value === undefined) return UNDEFINED;
  const text = value.toFixed(3);
  return Number(text) === 0 ? "0.000" : value > 0 ? `+${text}` : text;
};

/** A share in percent. */
export const percent = (value, digits = 1) =>
  (value === null || value === undefined ? UNDEFINED : `${(100 * value).toFixed(digits)} %`);

/** An estimate with its limits. */
export const estimate = ({ value, low, high }) =>
  (low === null || high === null ? share(value) : `${share(value)} [${share(low)}, ${share(high)}]`);

/** Row numbers as ranges: 1, 4 to 7, 9. */
export const ranges = (numbers) => {
  const runs = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const said = ([from, to]) => (from === to ? `${from}` : `${from}${to === from + 1 ? ", " : " to "}${to}`);
  return runs.map(said).join(", ");
};

/** Reads row numbers: "3, 5-8 12". Returns null for any other text. */
export const readRows = (text) => {
  const rows = [];
  for (const part of text.split(/[\s,;]+/).filter(Boolean)) {
    const found = /^(\d+)(?:[-–](\d+))?$/.exec(part);
    if (!found) return null;
    const [from, to] = [Number(found[1]), Number(found[2] ?? found[1])];
    if (to < from || to - from > 100_000) return null;
    for (let row = from; row <= to; row += 1) rows.push(row);
  }
  return rows;
};

const ROUND = [1, 2, 2.5, 5, 10];

/** A step between about `wanted` ticks. */
const step = (span, wanted) => {
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  return power * ROUND.find((one) => span / (power * one) <= wanted);
};

/**
 * A range that includes two limits and ends at ticks.
 * @param {number} low
 * @param {number} high
 * @param {number} [wanted] - approximate number of ticks
 */
export const rounded = (low, high, wanted = 6) => {
  const size = step(high - low, wanted);
  const from = Math.floor(low / size + 1e-9) * size;
  const to = Math.ceil(high / size - 1e-9) * size;
  const count = Math.round((to - from) / size);
  const digits = Math.max(0, -Math.floor(Math.log10(size) + 1e-9) + (String(size).includes("25") ? 1 : 0));
  const ticks = Array.from({ length: count + 1 }, (_, place) => Number((from + place * size).toFixed(digits)));
  return { from, to, ticks, digits };
};
