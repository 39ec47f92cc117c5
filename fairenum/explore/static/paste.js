// Reads a person from pasted text: JSON, "name: value" lines, or the heading and a row of a table.

const bare = (cell) => cell.trim().replace(/^"(.*)"$/s, "$1").replaceAll('""', '"');

/** Splits a line at separators outside of quotes. */
const cut = (line, separator) => {
  const cells = [];
  let cell = "", isQuoted = false;
  for (const letter of line) {
    if (letter === '"') isQuoted = !isQuoted;
    if (letter === separator && !isQuoted) { cells.push(bare(cell)); cell = ""; } else cell += letter;
  }
  return [...cells, bare(cell)];
};

const asJson = (text) => {
  try {
    const found = JSON.parse(text);
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
};

const asPairs = (lines, names) => {
  const pairs = lines.map((line) => /^([^:=]+)[:=](.*)$/.exec(line)?.slice(1).map(bare));
  return pairs.every((pair) => pair && names.includes(pair[0])) ? Object.fromEntries(pairs) : null;
};

const asTable = (lines, names) => {
  const separator = ["\t", ";", ","].find((one) => lines[0].includes(one));
  if (!separator) return null;
  const rows = lines.map((line) => cut(line, separator));
  const [heading, cells] = rows.length > 1 ? rows : [names, rows[0]];
  if (rows.length === 1 && cells.length !== names.length) return null;
  const found = Object.fromEntries(heading.map((name, place) => [name, cells[place] ?? ""]));
  return names.some((name) => name in found) ? found : null;
};

/**
 * Reads values by feature; columns that are no feature are ignored.
 * @param {string} text
 * @param {string[]} names - of the features, in their order
 * @returns {Record<string, unknown>|null} null if the text has another format
 */
export const readPerson = (text, names) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) return null;
  const found = asJson(text) ?? asPairs(lines, names) ?? asTable(lines, names);
  return found && Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)));
};
