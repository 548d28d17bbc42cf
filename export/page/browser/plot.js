// A plot over time. Mouse: drag to zoom, double click for the whole run, shift and the wheel zoom at the pointer. Touch:
// one finger moves, two zoom. Keys: arrows, + and −, 0; with shift the arrows read values off the picture.

const withCursors = (act) => { for (const line of document.querySelectorAll('.cursor')) act(line); };
const showCursors = (x) => withCursors((line) => { line.style.transform = `translateX(${x}px)`; line.style.visibility = 'visible'; });
const hideCursors = () => withCursors((line) => { line.style.visibility = 'hidden'; });

// Fingers on a plot: each holds on to the time under it.
const touches = (at) => {
  const fingers = new Map();
  const held = (event) => {
    const [x, , width] = at(event);
    return { x, time: timeAt(x, width) };
  };
  return {
    down: (event) => { fingers.set(event.pointerId, held(event)); },
    move: (event) => {
      const finger = fingers.get(event.pointerId);
      if (!finger) return;
      const [x, , width] = at(event);
      finger.x = x;
      const room = width - gutter(width);
      const share = (place) => (place - gutter(width)) / room;
      if (fingers.size === 1) {
        const span = view.end - view.start;
        const start = finger.time - share(x) * span;
        zoomTo(start, start + span);
        return;
      }
      const [one, other] = [...fingers.values()].sort((first, second) => first.time - second.time);
      const distance = share(other.x) - share(one.x);
      if (!(distance > 0.02) || !(other.time > one.time)) return;
      const span = (other.time - one.time) / distance;
      const start = one.time - share(one.x) * span;
      zoomTo(start, start + span);
    },
    up: (event) => {
      fingers.delete(event.pointerId);
      const [, , width] = at(event);
      for (const finger of fingers.values()) finger.time = timeAt(finger.x, width);
    },
  };
};

// Reading values by keys: a cursor that shift and the arrows move, with the hint that a pointer would show there.
const reader = (element, describe) => {
  let place = null;
  const show = () => {
    const box = element.getBoundingClientRect();
    const left = gutter(box.width);
    const x = left + place.x * (box.width - left);
    const y = place.y * box.height;
    showCursors(x);
    showHintAt(describe(timeAt(x - 0.5, box.width), timeAt(x + 0.5, box.width), y, box.width), box.left + x, Math.min(Math.max(box.top + y, 0), innerHeight - 60));
  };
  return {
    key: (event) => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!event.shiftKey || !move) return false;
      event.preventDefault();
      place = place || { x: 0.5, y: Math.min(0.5, 24 / element.clientHeight) };
      const step = 13 / Math.max(26, element.clientHeight);
      place = { x: Math.min(1, Math.max(0, place.x + move[0] * 0.01)), y: Math.min(0.999, Math.max(0, place.y + move[1] * step)) };
      show();
      return true;
    },
    leave: () => { place = null; hideHint(); hideCursors(); },
  };
};

const timePlot = (label, height, draw, describe) => {
  const canvas = h('canvas', {});
  canvas.style.height = `${height}px`;
  const cursor = h('div', { class: 'cursor' });
  const selection = h('div', { class: 'selection' });
  const element = h('div', { class: 'plot', tabindex: '0', role: 'img', 'aria-label': `${label}. Arrow keys move in time, plus and minus zoom, 0 shows the whole run; shift and arrow keys read values.` }, canvas, cursor, selection);
  let from = null;
  const at = (event) => {
    const box = element.getBoundingClientRect();
    return [Math.min(Math.max(event.clientX - box.left, gutter(box.width)), box.width), event.clientY - box.top, box.width];
  };
  const fingers = touches(at);
  const reading = reader(element, describe);
  const hintFor = (event) => {
    const [x, y, width] = at(event);
    showCursors(x);
    showHint(describe(timeAt(x - 0.5, width), timeAt(x + 0.5, width), y, width), event);
  };
  const drop = () => { from = null; selection.style.visibility = 'hidden'; };
  element.addEventListener('keydown', (event) => { if (!reading.key(event)) byKey(event); });
  element.addEventListener('blur', reading.leave);
  element.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'touch') {
      fingers.down(event);
      hintFor(event);
    } else if (event.button === 0) {
      [from] = at(event);
    } else return;
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'touch') {
      fingers.move(event);
      hideHint();
      hideCursors();
      return;
    }
    const [x] = at(event);
    if (from !== null) {
      selection.style.visibility = 'visible';
      selection.style.transform = `translateX(${Math.min(from, x)}px)`;
      selection.style.width = `${Math.abs(x - from)}px`;
    }
    hintFor(event);
  });
  element.addEventListener('pointerup', (event) => {
    if (event.pointerType === 'touch') { fingers.up(event); return; }
    const [x, , width] = at(event);
    if (from !== null && Math.abs(x - from) > 5) zoomTo(timeAt(Math.min(from, x), width), timeAt(Math.max(from, x), width));
    drop();
  });
  element.addEventListener('pointercancel', (event) => { fingers.up(event); drop(); });
  element.addEventListener('pointerleave', (event) => { if (event.pointerType !== 'touch') { hideHint(); hideCursors(); } });
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
  const step = niceStep(span / CLOCK, (width - left) / 90);
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  context.fillStyle = palette.muted;
  context.strokeStyle = palette.line;
  for (let number = Math.ceil(view.start / CLOCK / step - 1e-9); number * step <= view.end / CLOCK + step * 1e-9; number += 1) {
    const x = xOf(number * step * CLOCK, width);
    drawLine(context, x, top, x, top + 5);
    const text = `${(number * step).toFixed(digits)} ${CLOCK_UNIT}`;
    const room = context.measureText(text).width;
    context.fillText(text, Math.min(Math.max(x - room / 2, left), width - room), top + 17);
  }
};
const timeAxis = () => {
  const axis = timePlot('Time axis', 22, (canvas) => {
    const { context, width } = prepared(canvas, 22);
    drawTimeAxis(context, width, 0);
  }, (start, end) => [timeText((start + end) / 2, view.end - view.start)]);
  axis.classList.add('axis');
  return axis;
};
