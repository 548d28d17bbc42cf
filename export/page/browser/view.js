// The stretch of time that all panels show. Zooming one zooms all.

const [RUN_START, RUN_END] = contents.window_s;
const SHORTEST = Math.max((RUN_END - RUN_START) * 1e-7, 2e-9);
const view = { start: RUN_START, end: RUN_END };
const timeOutput = h('output', { 'aria-live': 'polite', title: 'The stretch of time that all panels show, in s from the start of the trace.' });

const gutter = (width) => (width < 640 ? 70 : 96);
const xOf = (time, width) => {
  const left = gutter(width);
  return left + (time - view.start) / (view.end - view.start) * (width - left);
};
const timeAt = (x, width) => {
  const left = gutter(width);
  return view.start + (x - left) / (width - left) * (view.end - view.start);
};

// Where a stretch of time lies on a plot: [x, width], null where it is not shown.
const spanOf = (start, end, width, least = 0) => {
  const [left, from, to] = [gutter(width), xOf(start, width), xOf(end, width)];
  if (to < left || from > width) return null;
  // What is at the very end is seen too.
  const x = Math.min(Math.max(left, from), width - least);
  return [x, Math.max(least, Math.min(width, to) - x)];
};

const showTimes = () => {
  const span = view.end - view.start;
  timeOutput.textContent = `${timeText(view.start, span)} … ${timeText(view.end, span)}`;
};

// The stretch that is shown stands in the address, so that it can be sent and is there after a reload. Browsers allow
// few such changes in a row.
let writing = 0;
const noted = (time) => String(Number(time.toPrecision(12)));
const writeAddress = () => {
  clearTimeout(writing);
  const from = location.href;
  writing = setTimeout(() => {
    // Whoever has followed a link or gone back meanwhile is elsewhere.
    if (location.href !== from) return;
    const whole = view.start <= RUN_START && view.end >= RUN_END;
    const at = whole ? '' : `#t=${noted(view.start)}:${noted(view.end)}`;
    if (whole ? location.hash.startsWith('#t=') : location.hash.split('&')[0] !== at) history.replaceState(history.state, '', at || location.pathname);
  }, 250);
};

const onZoom = [];
const zoomTo = (start, end) => {
  let span = Math.min(RUN_END - RUN_START, Math.max(SHORTEST, end - start));
  if (!(span > 0)) span = RUN_END - RUN_START;
  const middle = (start + end) / 2;
  view.start = Math.min(Math.max(RUN_START, middle - span / 2), RUN_END - span);
  view.end = view.start + span;
  showTimes();
  for (const act of onZoom) act();
  writeAddress();
  redraw(panels.filter((panel) => panel.timed));
};
const zoomBy = (factor, around) => {
  const middle = around === undefined ? (view.start + view.end) / 2 : around;
  zoomTo(middle - (middle - view.start) * factor, middle + (view.end - middle) * factor);
};
const panBy = (share) => { const step = (view.end - view.start) * share; zoomTo(view.start + step, view.end + step); };
const showAll = () => zoomTo(RUN_START, RUN_END);

const STEPS = {
  ArrowLeft: () => panBy(-0.2), ArrowRight: () => panBy(0.2), '+': () => zoomBy(0.5), '=': () => zoomBy(0.5),
  '-': () => zoomBy(2), '0': showAll, Home: showAll, Escape: showAll,
};
const byKey = (event) => {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  step();
};

const timeTools = () => h('div', { class: 'time-tools', role: 'group', 'aria-label': 'Stretch of time shown' },
  timeOutput,
  [['◀', 'Earlier', () => panBy(-0.4)], ['▶', 'Later', () => panBy(0.4)], ['+', 'Zoom in', () => zoomBy(0.5)],
    ['−', 'Zoom out', () => zoomBy(2)]].map(([sign, label, act]) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, sign)),
  h('button', { type: 'button', onclick: showAll }, 'whole run'));

// A place in time that a person can follow: `#t=START:END&in=SECTION`, in s.
const timeLink = (start, end, place, rows, text) => {
  const margin = (end - start) * 0.5 || SHORTEST * 100;
  const [from, to] = [Math.max(RUN_START, start - margin), Math.min(RUN_END, end + margin)];
  const which = Object.entries(rows).filter(([, value]) => known(value)).map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join('');
  return h('a', { href: `#t=${noted(from)}:${noted(to)}&in=${place}${which}`, title: `Show ${rangeText(start, end)}` }, text);
};
// Going back from such a place returns to what was shown before it; a link to a section leaves the time as it is.
const rowsOf = {};
let beforeLink = null;
let toSection = false;
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  if (link) toSection = !link.hash.startsWith('#t=') && link.hash !== location.hash;
});
const followAddress = () => {
  const found = /^#t=(-?[\d.e+-]+):(-?[\d.e+-]+)(?:&in=(bandwidth|timeline))?((?:&(?:layer|file|rank)=[^&]*)*)$/.exec(location.hash);
  if (!found) {
    if (beforeLink && !toSection) { zoomTo(beforeLink.start, beforeLink.end); beforeLink = null; }
    toSection = false;
    return;
  }
  const [start, end] = [Number(found[1]), Number(found[2])];
  if (!(start < end)) return;
  beforeLink = beforeLink || { start: view.start, end: view.end };
  zoomTo(start, end);
  const place = found[3] || 'bandwidth';
  const rows = Object.fromEntries(new URLSearchParams(found[4]));
  if (Object.keys(rows).length && rowsOf[place]) rowsOf[place](rows);
  (document.getElementById(place) || document.getElementById('bandwidth')).scrollIntoView();
};
