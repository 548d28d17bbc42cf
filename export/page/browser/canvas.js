// Pictures that are drawn when they are seen, sharp on every screen, in the colours of the page.

const FONT = '12px system-ui, "Segoe UI", Roboto, sans-serif';
let palette = {};
const readPalette = () => {
  const style = getComputedStyle(document.documentElement);
  palette = new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`).trim() });
};

// A sheet of paper is drawn as wide as it is, whatever the screen: scaled down from there, labels would be too small.
const PAPER = 700;
const MOST_PIXELS = 16000;
const paper = { printing: false };
const widthOf = (place) => (paper.printing ? PAPER / (place.closest('.grid') ? 2 : 1) : place.clientWidth);

const panels = [];
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

const drawNow = (elements) => {
  for (const panel of panels) if (!elements || elements.includes(panel.element)) { stale.delete(panel); panel.draw(); }
};

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

// Fit a canvas to its place; gives the context in units of CSS pixels.
const prepared = (canvas, height) => {
  const width = widthOf(canvas.parentElement);
  const sharp = paper.printing ? 2 : Math.min(3, Math.max(1, devicePixelRatio || 1));
  const ratio = Math.min(sharp, MOST_PIXELS / height);
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  return { context, width, height };
};

const niceTop = (value) => {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((top) => top >= value * 0.9999);
};

const niceStep = (span, most) => {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.9999);
};

// Text that fits into `room` pixels, its middle left out where it does not.
const fitted = (context, text, room) => {
  let kept = shown(text);
  if (context.measureText(kept).width <= room) return kept;
  let characters = Math.max(3, Math.floor(kept.length * room / context.measureText(kept).width));
  while (characters > 3 && context.measureText(shortened(kept, characters)).width > room) characters -= 1;
  kept = shortened(kept, characters);
  return kept;
};

// Rectangles [x, y, width, height] of one colour as one shape: filled one by one, paper shows hairlines between them.
const fillTogether = (context, rectangles) => {
  context.beginPath();
  for (const rectangle of rectangles) context.rect(...rectangle);
  context.fill();
};

const drawLine = (context, fromX, fromY, toX, toY) => {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
};
