// The stretch of time that all panels show. Zooming one zooms all.

const [RUN_START, RUN_END] = contents.layers.trace.window_s;
const SHORTEST = Math.max((RUN_END - RUN_START) * 1e-7, 2e-9);
const view = { start: RUN_START, end: RUN_END };
const panels = [];
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

const stale = new Set();
let waiting = false;
const redraw = (some) => {
  for (const panel of some) stale.add(panel);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const panel of [...stale]) if (panel.visible) { stale.delete(panel); panel.draw(); }
  });
};

const drawNow = () => { for (const panel of panels) { stale.delete(panel); panel.draw(); } };

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const panel = panels.find((candidate) => candidate.element === entry.target);
    if (panel) panel.visible = entry.isIntersecting;
  }
  redraw([]);
}, { rootMargin: '300px' });

const register = (element, draw, timed) => {
  const panel = { element, draw, timed, visible: false };
  panels.push(panel);
  stale.add(panel);
  watcher.observe(element);
  return panel;
};

const showTimes = () => {
  const span = view.end - view.start;
  timeOutput.textContent = `${timeText(view.start, span)} … ${timeText(view.end, span)}`;
};

const zoomTo = (start, end) => {
  let span = Math.min(RUN_END - RUN_START, Math.max(SHORTEST, end - start));
  if (!(span > 0)) span = RUN_END - RUN_START;
  const middle = (start + end) / 2;
  view.start = Math.min(Math.max(RUN_START, middle - span / 2), RUN_END - span);
  view.end = view.start + span;
  showTimes();
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
const timeLink = (start, end, place, ...text) => {
  const margin = (end - start) * 0.5 || SHORTEST * 100;
  const [from, to] = [Math.max(RUN_START, start - margin), Math.min(RUN_END, end + margin)];
  return h('a', { href: `#t=${from}:${to}&in=${place}`, title: `Show ${secondsText(start)} to ${secondsText(end)}` }, ...text);
};
const followAddress = () => {
  const found = /^#t=(-?[\d.e+-]+):(-?[\d.e+-]+)(?:&in=(bandwidth|timeline))?$/.exec(location.hash);
  if (!found) return;
  const [start, end] = [Number(found[1]), Number(found[2])];
  if (!(start < end)) return;
  zoomTo(start, end);
  document.getElementById(found[3] || 'bandwidth').scrollIntoView();
};

// A plot over time: drag to zoom, double click for the whole run, arrows, + and − where it has the focus.
const timePlot = (label, height, draw, describe) => {
  const canvas = h('canvas', {});
  canvas.style.height = `${height}px`;
  const cursor = h('div', { class: 'cursor' });
  const selection = h('div', { class: 'selection' });
  const element = h('div', { class: 'plot', tabindex: '0', role: 'img', 'aria-label': `${label}. Arrow keys move in time, plus and minus zoom, 0 shows the whole run.`, onkeydown: byKey }, canvas, cursor, selection);
  let from = null;
  const at = (event) => {
    const box = element.getBoundingClientRect();
    return [Math.min(Math.max(event.clientX - box.left, gutter(box.width)), box.width), event.clientY - box.top, box.width];
  };
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    [from] = at(event);
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', (event) => {
    const [x, y, width] = at(event);
    for (const line of document.querySelectorAll('.cursor')) {
      line.style.transform = `translateX(${x}px)`;
      line.style.visibility = 'visible';
    }
    if (from !== null) {
      selection.style.visibility = 'visible';
      selection.style.transform = `translateX(${Math.min(from, x)}px)`;
      selection.style.width = `${Math.abs(x - from)}px`;
    }
    showHint(describe(timeAt(x - 0.5, width), timeAt(x + 0.5, width), y, width), event);
  });
  const drop = () => { from = null; selection.style.visibility = 'hidden'; };
  element.addEventListener('pointerup', (event) => {
    const [x, , width] = at(event);
    if (from !== null && Math.abs(x - from) > 5) zoomTo(timeAt(Math.min(from, x), width), timeAt(Math.max(from, x), width));
    drop();
  });
  element.addEventListener('pointercancel', drop);
  element.addEventListener('pointerleave', () => {
    hideHint();
    for (const line of document.querySelectorAll('.cursor')) line.style.visibility = 'hidden';
  });
  element.addEventListener('dblclick', showAll);
  element.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const [x, , width] = at(event);
    zoomBy((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, timeAt(x, width));
  }, { passive: false });
  register(element, () => draw(canvas), true);
  return element;
};

const drawTimeAxis = (context, width, top) => {
  const left = gutter(width);
  const span = view.end - view.start;
  const step = niceStep(span, (width - left) / 90);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  context.fillStyle = palette.muted;
  context.strokeStyle = palette.line;
  for (let number = Math.ceil(view.start / step - 1e-9); number * step <= view.end + step * 1e-9; number += 1) {
    const x = xOf(number * step, width);
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + 5);
    context.stroke();
    const text = `${(number * step).toFixed(digits)} s`;
    const room = context.measureText(text).width;
    context.fillText(text, Math.min(Math.max(x - room / 2, left), width - room), top + 17);
  }
};
const timeAxis = () => timePlot('Time axis', 22, (canvas) => {
  const { context, width } = prepared(canvas, 22);
  drawTimeAxis(context, width, 0);
}, (start, end) => [timeText((start + end) / 2, view.end - view.start)]);
