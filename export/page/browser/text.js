// Numbers with units as people read them, and names out of a trace made safe to look at.

// A control or format character could hide or turn round the text beside it, so it is shown as its code.
const shown = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu,
  (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

// A number and its unit stay on one line.
const together = (text) => text.replace(/(\d) (?=(?:%|[kKMGTPE]?i?B(?:\/s)?|[nµm]?s|min|h|[kMG]?Hz)(?![\p{L}\d]))/gu, '$1\u00a0');

// Numbers read as those of Python's model/quantities.py, whose texts stand beside them and whose units the page holds.
const { prefixes: PREFIXES, times: TIMES } = contents.quantities;
const threeDigits = (value) => {
  const rounded = Number(value.toPrecision(3));
  return String(Math.abs(rounded) >= 1000 ? Math.round(value) : rounded);
};

const scaled = (value, unit) => {
  let magnitude = value;
  let step = 0;
  while (Math.abs(magnitude) >= 999.5 && step < PREFIXES.length - 1) { magnitude /= 1000; step += 1; }
  return `${threeDigits(magnitude)} ${PREFIXES[step]}${unit}`;
};

const percentText = (share) => {
  if (share > 0 && share < 1e-6) return '<0.0001 %';
  return share < 0.1 ? `${Number((100 * share).toPrecision(2))} %` : `${Math.round(100 * share)} %`;
};

const DASH = '–';
const known = (value) => value !== null && value !== undefined;
const bytesText = (value) => (known(value) ? scaled(value, 'B') : DASH);
const rateText = (value) => (known(value) ? scaled(value, 'B/s') : DASH);
const countText = (value) => (known(value) ? value.toLocaleString('en-US') : DASH);
const frequencyText = (value) => scaled(value, 'Hz');
// Nine digits: what rounding left in the last places is no value.
const exactNumber = (value) => (typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value));
const exactBytes = (value) => (known(value) ? `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} B` : DASH);
const counted = (count, noun, plural) => `${countText(count)} ${count === 1 ? noun : plural || `${noun}s`}`;

const timeUnit = (seconds) => (seconds ? TIMES.find(([, , least]) => Math.abs(seconds) >= least) : ['s', 1]);
const secondsText = (seconds) => {
  if (!known(seconds)) return DASH;
  if (seconds < 0) return `−${secondsText(-seconds)}`;
  const [unit, size] = timeUnit(seconds);
  return `${threeDigits(seconds / size)} ${unit}`;
};

// What is too short for its ends to differ in three digits is told as one time.
const rangeText = (start, end) => {
  const [from, to] = [secondsText(start), secondsText(end)];
  return from === to ? from : `${from} to ${to}`;
};

// A time within a window: with enough digits to distinguish what the window shows.
// All of a page's are in one unit, that of texts on the end of the run.
const [CLOCK_UNIT, CLOCK] = timeUnit(contents.window_s ? Math.max(1, contents.window_s[1]) : 0);
const timeText = (seconds, span) => {
  const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(span / CLOCK || 1))));
  return `${(seconds / CLOCK).toFixed(digits)} ${CLOCK_UNIT}`;
};

const intervalText = (value, interval) => {
  if (!known(value)) return DASH;
  if (!interval) return secondsText(value);
  const [unit, size] = timeUnit(value);
  const width = (interval[1] - interval[0]) / size;
  const digits = width < 1e-6 ? 3 : Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(width))));
  const [middle, low, high] = [value, interval[0], interval[1]].map((number) => (number / size).toLocaleString(
    'en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return `${middle} ${unit} (${low} … ${high} ${unit})`;
};

const shareText = (part, whole) => {
  if (!(whole > 0) || !known(part)) return DASH;
  return part / whole > 0.99 && part < whole ? '>99 %' : percentText(part / whole);
};

const binaryText = (size) => {
  const step = Math.min(6, Math.floor(Math.log2(size) / 10));
  return `${size / 1024 ** step} ${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][step]}B`;
};

// How a value is written, by what it is measured in: as people read it, and exactly.
const exactly = (unit) => (value) => `${exactNumber(value)}${unit}`;
const KINDS = {
  bytes: [bytesText, exactBytes], rate: [rateText, (rate) => `${Math.round(rate).toLocaleString('en-US')} B/s`],
  seconds: [secondsText, exactly(' s')], frequency: [frequencyText, (value) => `${frequencyText(value)}, a period of ${secondsText(1 / value)}`],
  share: [(share) => shareText(share, 1), exactNumber], count: [countText, countText], ratio: [threeDigits, exactNumber], number: [threeDigits, exactNumber],
  times: [(factor) => `× ${factor >= 100 ? threeDigits(factor) : factor.toFixed(2)}`, exactNumber],
  fixed: [(value) => value.toFixed(2), exactNumber], 'per second': [(value) => `${threeDigits(value)}/s`, exactly('/s')],
  interval: [([value, interval]) => intervalText(value, interval), ([value]) => `${exactNumber(value)} s`],
  range: [([start, end]) => rangeText(start, end), ([start, end]) => rangeText(start, end)],
  binary: [binaryText, exactBytes], text: [String, String], word: [String, String], phrase: [String, String],
};
const written = (kind, value) => (known(value) ? KINDS[kind][0](value) : DASH);
const writtenExactly = (kind, value) => (known(value) ? KINDS[kind][1](value) : 'not known');

const shortened = (text, characters) => {
  if (text.length <= characters) return text;
  const tail = Math.floor((characters - 1) * 2 / 3);
  return `${text.slice(0, Math.max(1, characters - 1 - tail))}…${text.slice(text.length - tail)}`;
};
