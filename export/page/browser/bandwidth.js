// Bandwidth of each layer and direction, one above the other on one time axis.

// All layers fit on the first screen.
const PLOT = contents.curves.length > 5 ? 40 : contents.curves.length > 3 ? 52 : 70;
const STRIP = 7;
const PANEL = PLOT + 2 * STRIP + 6;
const verdicts = new Map(contents.periods.layers.map((entry) => [`${entry.layer} ${entry.direction}`, entry]));
const verdictOf = (layer, direction) => verdicts.get(`${layer} ${direction}`);
const curves = contents.curves.map((content) => new Curve(content));
const MOST_ABOVE_MEAN = 6;
const DECADES = 4;
const scale = { common: false, range: false, logarithmic: false };

// What is shown is cut into as many columns on every screen, so that the axis is the same on all of them.
const COLUMNS_SHOWN = 480;
const columnLength = () => (view.end - view.start) / COLUMNS_SHOWN;
const columnsOf = (curve, count = COLUMNS_SHOWN) => {
  const step = (view.end - view.start) / count;
  return Array.from({ length: count }, (_, place) => curve.between(view.start + place * step, view.start + (place + 1) * step));
};

// A single step of a few nanoseconds can have a thousand times the rate of all else: what exceeds the largest mean by
// more than MOST_ABOVE_MEAN is cut off at the top.
const topOf = (found) => {
  const mean = found.reduce((top, column) => Math.max(top, column.mean), 0);
  if (!scale.range) return mean;
  return Math.min(mean * MOST_ABOVE_MEAN, found.reduce((top, column) => Math.max(top, column.high), 0));
};

const visibleRegimes = (verdict) => verdict.regimes.filter(
  (regime) => verdict.regimes.length > 1 || regime.start_s > RUN_START || regime.end_s < RUN_END);

const drawBandwidth = (canvas, curve, verdict) => {
  const { context, width } = prepared(canvas, PANEL);
  const left = Math.round(gutter(width));
  const columns = columnsOf(curve);
  const everything = scale.common ? curves.map((other) => topOf(columnsOf(other))) : [topOf(columns)];
  const top = niceTop(Math.max(...everything));
  const share = (rate) => (scale.logarithmic ? Math.max(0, 1 + Math.log10(rate / top) / DECADES) : rate / top);
  const yOf = (rate) => 4 + (PLOT - 4) * (1 - Math.min(1, share(rate)));
  // A column narrower than a pixel is drawn together with its neighbours.
  const found = width - left < COLUMNS_SHOWN ? columnsOf(curve, width - left) : columns;
  const edge = (place) => left + Math.round(place / found.length * (width - left));
  visibleRegimes(verdict).forEach((regime, number) => {
    const span = spanOf(regime.start_s, regime.end_s, width);
    if (!span) return;
    context.fillStyle = number % 2 ? palette['regime-other'] : palette.regime;
    context.fillRect(span[0], 0, span[1], PLOT + 2 * STRIP);
  });
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  for (const part of [0, 0.5]) {
    const y = Math.round(4 + (PLOT - 4) * part) + 0.5;
    drawLine(context, left, y, width, y);
  }
  const [ranges, means] = [[], []];
  found.forEach(({ mean, low, high }, place) => {
    const x = edge(place);
    const wide = edge(place + 1) - x;
    if (scale.range && high > 0) ranges.push([x, yOf(high), wide, Math.max(0.75, yOf(low) - yOf(high))]);
    if (mean > 0) means.push([x, Math.min(yOf(mean), PLOT - 0.75), wide, Math.max(PLOT - yOf(mean), 0.75)]);
  });
  context.fillStyle = palette[`${curve.direction}-light`];
  fillTogether(context, ranges);
  context.fillStyle = palette[curve.direction];
  fillTogether(context, means);
  context.fillStyle = palette.line;
  context.fillRect(left, PLOT, width - left, 1);
  context.fillStyle = palette.muted;
  context.textAlign = 'right';
  canvas.dataset.top = rateText(top);
  context.fillText(rateText(top), left - 6, 13);
  context.fillText(scale.logarithmic ? rateText(top / 10 ** DECADES) : '0', left - 6, PLOT - 1);
  context.font = '11px system-ui, "Segoe UI", Roboto, sans-serif';
  const { phases } = curve;
  if (phases.total) context.fillText('phases', left - 6, PLOT + STRIP + 9);
  context.textAlign = 'left';
  context.fillStyle = palette.phase;
  for (let number = 0; number < phases.start.length; number += 1) {
    const span = spanOf(phases.start[number], phases.end[number], width, 1.5);
    if (span) context.fillRect(span[0], PLOT + 3, span[1], STRIP - 2);
  }
  drawPeriodTicks(context, verdict, phases, width, left);
  drawRegimeNames(context, verdict, width);
};

const drawPeriodTicks = (context, verdict, phases, width, left) => {
  if (!known(verdict.period_s)) return;
  context.fillStyle = palette.period;
  const stretches = verdict.regimes.length ? verdict.regimes : [{ start_s: RUN_START, end_s: RUN_END, period_s: verdict.period_s }];
  for (const regime of stretches) {
    const period = regime.period_s;
    const spacing = period / (view.end - view.start) * (width - left);
    if (!(spacing >= 4)) continue;
    const first = phases.start.find((time) => time >= regime.start_s && time <= regime.end_s);
    const origin = first === undefined ? regime.start_s : first;
    const from = Math.max(0, Math.ceil((view.start - origin) / period));
    const until = Math.min(regime.end_s, view.end);
    for (let number = from; origin + number * period <= until; number += 1) {
      context.fillRect(xOf(origin + number * period, width), PLOT + STRIP + 3, 1.5, STRIP - 1);
    }
  }
};

const drawRegimeNames = (context, verdict, width) => {
  for (const regime of visibleRegimes(verdict)) {
    const [from, visible] = spanOf(regime.start_s, regime.end_s, width) || [0, 0];
    const text = `every ${secondsText(regime.period_s)}`;
    const room = context.measureText(text).width;
    if (visible < room + 8) continue;
    context.fillStyle = palette.page;
    context.fillRect(from + 2, 4, room + 4, 14);
    context.fillStyle = palette.text;
    context.fillText(text, from + 4, 14);
  }
};

const describeBandwidth = (curve, verdict) => (start, end) => {
  const { mean, low, high } = curve.between(start, end);
  const lines = [`${curve.layer} ${curve.direction} at ${timeText((start + end) / 2, view.end - view.start)}`,
    `mean ${rateText(mean)} over ${secondsText(end - start)}, from ${rateText(low)} to ${rateText(high)}`];
  const { phases } = curve;
  const number = phases.end.findIndex((time, place) => time >= start && phases.start[place] <= end);
  if (number >= 0) {
    const which = phases.together > 1 ? `${phases.together} phases` : `phase ${countText(number + 1)} of ${countText(phases.total)}`;
    lines.push(`${which}: ${secondsText(phases.end[number] - phases.start[number])}, ${bytesText(phases.bytes[number])}`);
  }
  const regime = visibleRegimes(verdict).find((stretch) => stretch.start_s <= end && stretch.end_s >= start);
  if (regime) lines.push(`regime: every ${secondsText(regime.period_s)}${known(regime.confidence) ? `, confidence ${regime.confidence.toFixed(2)}` : ''}`);
  return lines;
};

const peakText = ({ peak }, label) => (peak ? h('span', { title: `${label}: the highest rate of all, ${exactNumber(peak.rate)} B/s from ${exactNumber(peak.start_s)} s on for ${secondsText(peak.length_s)}. ${definitionOf('bandwidth')}` },
  `peak ${rateText(peak.rate)} for ${secondsText(peak.length_s)}`) : null);

// The iterations of a loop one after the other; what stands out has a note and a colour.
const LOOP = 14;
const loopPanel = ({ title, total, together, notes, ...packedTimes }) => {
  const [start, end] = [unpacked(packedTimes.start), unpacked(packedTimes.end)];
  const draw = (canvas) => {
    const { context, width } = prepared(canvas, LOOP);
    for (let number = 0; number < start.length; number += 1) {
      const span = spanOf(start[number], end[number], width, 1);
      if (!span) continue;
      context.fillStyle = notes[number] ? palette.period : palette.io;
      context.fillRect(span[0], 2, span[1] > 4 ? span[1] - 1 : span[1], LOOP - 4);
    }
    context.fillStyle = palette.muted;
    context.textAlign = 'right';
    context.fillText('iterations', gutter(width) - 6, LOOP - 3);
  };
  const describe = (from, until) => {
    const number = end.findIndex((time, place) => time >= from && start[place] <= until);
    if (number < 0) return [`${timeText((from + until) / 2, view.end - view.start)}: in no iteration`];
    const first = number * together + 1;
    const which = together > 1 ? `iterations ${countText(first)} to ${countText(Math.min(total, first + together - 1))}` : `iteration ${countText(first)}`;
    return [`${which} of ${countText(total)}: ${secondsText(end[number] - start[number])} from ${timeText(start[number], view.end - view.start)} on`,
      ...(notes[number] ? [`stands out ${notes[number]}`] : [])];
  };
  return h('div', { class: 'panel' }, h('div', { class: 'muted' }, title),
    timePlot(`Iterations of ${title}`, LOOP, draw, describe));
};

drawn.bandwidth = () => {
  if (!curves.length) return h('p', {}, 'No bytes were moved by these layers on the selected files.');
  const redrawAll = () => redraw(panels.filter((panel) => panel.timed));
  const columnNote = h('b', {});
  const showColumn = () => { columnNote.textContent = secondsText(columnLength()); };
  onZoom.push(showColumn);
  showColumn();
  const choice = (name, text, definition) => h('label', { title: definition }, h('input', {
    type: 'checkbox', checked: scale[name], onchange: (event) => { scale[name] = event.target.checked; redrawAll(); },
  }), ` ${text}`);
  return [
    h('details', { class: 'tools' }, h('summary', {}, 'How to read this: means over ', columnNote, ', drag to zoom'),
      h('p', {}, 'One panel a layer and direction, the highest layer first, each on its own scale: bars are means over columns of time, and their areas are bytes. The highest rate of all, which lasts much shorter, stands beside the name. Drag to zoom, double-click for the whole run; all panels move together.'),
      h('p', {}, 'Shift and the wheel zoom at the pointer. On a touch screen one finger moves in time and two zoom; tap twice for the whole run. With the focus on a panel, the left and right arrow keys move, + and − zoom, 0 shows the whole run; shift and the arrow keys read values off the picture. Every number has a hint with its layer, unit and definition: point at it, tap it, or go to its table with the Tab key and on with the arrow keys.')),
    curves.map((curve) => {
      const verdict = verdictOf(curve.layer, curve.direction);
      const label = `${curve.layer} ${curve.direction}`;
      return h('div', { class: 'panel' },
        h('div', { class: 'panel-head' }, h('h3', {}, label),
          h('span', { title: `${label}: ${exactBytes(verdict.bytes)}. ${definitionOf('bytes')}` }, bytesText(verdict.bytes)),
          peakText(curve, label),
          h('span', { class: 'muted', title: `${label}: ${verdict.reason}` }, curve.verdict)),
        timePlot(`Bandwidth of ${label}: ${bytesText(verdict.bytes)}, ${curve.verdict}`, PANEL,
          (canvas) => drawBandwidth(canvas, curve, verdict), describeBandwidth(curve, verdict)));
    }),
    contents.loops.map(loopPanel),
    curves.length ? timeAxis() : null,
    legend(...['write', 'read'].filter((way) => curves.some((curve) => curve.direction === way)).map((way, number) => [way, number ? way : `${way}: mean of each column`, definitionOf('bandwidth')]),
      ['phase', 'phases', definitionOf('phases')],
      ...(curves.some((curve) => verdictOf(curve.layer, curve.direction).period_s) ? [['period', 'every period', definitionOf('period')]] : [])),
    h('div', { class: 'legend tools' }, choice('common', 'one scale for all', 'Draw all panels up to the same bandwidth.'),
      choice('range', 'with the range in each column', 'Draw in pale colour from the smallest to the largest rate of each column, and scale the panels to it.'),
      choice('logarithmic', 'logarithmic', `Draw ${DECADES} powers of ten, so that low rates show beside high ones; areas are no bytes then.`))];
};
