// Numbers with units as people read them, and names out of a trace made safe to look at.

// A control or format character could hide or turn round the text beside it, so it is shown as its code.
const shown = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu,
  (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

const threeDigits = (value) => {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return '0';
  if (magnitude >= 99.95) return Math.round(value).toLocaleString('en-US');
  if (magnitude >= 9.995) return value.toFixed(1);
  if (magnitude >= 0.9995) return value.toFixed(2);
  if (magnitude >= 0.09995) return value.toFixed(3);
  return Number(value.toPrecision(3)).toString();
};

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

const scaled = (value, unit) => {
  let magnitude = value;
  let step = 0;
  while (Math.abs(magnitude) >= 999.5 && step < PREFIXES.length - 1) { magnitude /= 1000; step += 1; }
  const number = step === 0 && magnitude === Math.round(magnitude) ? String(magnitude) : threeDigits(magnitude);
  return `${number} ${PREFIXES[step]}${unit}`;
};

const percentText = (share) => (share > 0 && share < 1e-4 ? '<0.01 %' : `${threeDigits(100 * share)} %`);

const DASH = '–';
const known = (value) => value !== null && value !== undefined;
const bytesText = (value) => (known(value) ? scaled(value, 'B') : DASH);
const rateText = (value) => (known(value) ? scaled(value, 'B/s') : DASH);
const countText = (value) => (known(value) ? value.toLocaleString('en-US') : DASH);
const frequencyText = (value) => (value < 1 ? `${Number(value.toPrecision(3))} Hz` : scaled(value, 'Hz'));
// Nine digits: what rounding left in the last places is no value.
const exactNumber = (value) => (typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value));
const exactBytes = (value) => `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} B`;
const counted = (count, noun, plural) => `${countText(count)} ${count === 1 ? noun : plural || `${noun}s`}`;

const secondsText = (seconds) => {
  if (!known(seconds)) return DASH;
  if (seconds < 0) return `−${secondsText(-seconds)}`;
  const magnitude = Math.abs(seconds);
  if (magnitude === 0 || magnitude >= 0.0999) return `${threeDigits(seconds)} s`;
  if (magnitude >= 0.9995e-3) return `${threeDigits(seconds * 1e3)} ms`;
  return `${threeDigits(seconds * 1e6)} µs`;
};

// A time within a window: with as many digits as tell apart what the window shows.
const timeText = (seconds, span) => {
  const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(span || 1))));
  return `${seconds.toFixed(digits)} s`;
};

const intervalText = (value, interval) => {
  if (!known(value)) return DASH;
  if (!interval) return secondsText(value);
  const [unit, factor] = value >= 0.0999 ? ['s', 1] : value >= 0.9995e-3 ? ['ms', 1e3] : ['µs', 1e6];
  const width = (interval[1] - interval[0]) * factor;
  const digits = width <= 1e-12 * value * factor ? 3 : Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(width))));
  const [middle, low, high] = [value, interval[0], interval[1]].map((number) => (number * factor).toLocaleString(
    'en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return `${middle} ${unit} (${low} … ${high} ${unit})`;
};

const shareText = (part, whole) => {
  if (!(whole > 0)) return DASH;
  const percent = 100 * part / whole;
  if (percent > 0 && percent < 1) return '<1 %';
  if (percent > 99 && percent < 100) return '>99 %';
  return `${Math.round(percent)} %`;
};

const shortened = (text, characters) => {
  if (text.length <= characters) return text;
  const tail = Math.floor((characters - 1) * 2 / 3);
  return `${text.slice(0, Math.max(1, characters - 1 - tail))}…${text.slice(text.length - tail)}`;
};
