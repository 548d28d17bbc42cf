// Bandwidth of each layer and direction, one above the other on one time axis.

const PLOT = 70;
const STRIP = 7;
const PANEL = PLOT + 2 * STRIP + 6;
const verdicts = new Map(contents.periods.layers.map((entry) => [`${entry.layer} ${entry.direction}`, entry]));
const verdictOf = (layer, direction) => verdicts.get(`${layer} ${direction}`);
const curves = contents.curves.map((content) => new Curve(content));
const MOST_ABOVE_MEAN = 6;
// Where single operations are far faster than the mean of a column, the range would leave nothing to see of the mean.
const spiky = (curve) => {
  const step = (RUN_END - RUN_START) / 1000;
  let [mean, high] = [0, 0];
  for (let number = 0; number < 1000; number += 1) {
    const found = curve.between(RUN_START + number * step, RUN_START + (number + 1) * step);
    [mean, high] = [Math.max(mean, found.mean), Math.max(high, found.high)];
  }
  return high > mean * MOST_ABOVE_MEAN;
};
const scale = { common: false, range: curves.filter(spiky).length * 2 <= curves.length };

const columnsOf = (curve, width) => {
  const left = Math.round(gutter(width));
  const found = [];
  for (let x = left; x < width; x += 1) found.push(curve.between(timeAt(x, width), timeAt(x + 1, width)));
  return { left, found };
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
  const { left, found } = columnsOf(curve, width);
  const everything = scale.common ? curves.map((other) => topOf(columnsOf(other, width).found)) : [topOf(found)];
  const top = niceTop(Math.max(...everything));
  const yOf = (rate) => 4 + (PLOT - 4) * (1 - Math.min(1, rate / top));
  visibleRegimes(verdict).forEach((regime, number) => {
    const span = spanOf(regime.start_s, regime.end_s, width);
    if (!span) return;
    context.fillStyle = number % 2 ? palette['regime-other'] : palette.regime;
    context.fillRect(span[0], 0, span[1], PLOT + 2 * STRIP);
  });
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  for (const share of [0, 0.5]) {
    const y = Math.round(yOf(top * (1 - share))) + 0.5;
    drawLine(context, left, y, width, y);
  }
  found.forEach(({ mean, low, high }, place) => {
    const x = left + place;
    if (scale.range && high > 0) {
      context.fillStyle = palette[`${curve.direction}-light`];
      context.fillRect(x, yOf(high), 1, Math.max(0.75, yOf(low) - yOf(high)));
    }
    if (mean > 0) {
      context.fillStyle = palette[curve.direction];
      context.fillRect(x, Math.min(yOf(mean), PLOT - 0.75), 1, Math.max(PLOT - yOf(mean), 0.75));
    }
  });
  context.fillStyle = palette.line;
  context.fillRect(left, PLOT, width - left, 1);
  context.fillStyle = palette.muted;
  context.textAlign = 'right';
  context.fillText(rateText(top), left - 6, 13);
  context.fillText('0', left - 6, PLOT - 1);
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

const bandwidthSection = () => {
  const redrawAll = () => redraw(panels.filter((panel) => panel.timed));
  const choice = (name, text, definition) => h('label', { title: definition }, h('input', {
    type: 'checkbox', checked: scale[name], onchange: (event) => { scale[name] = event.target.checked; redrawAll(); },
  }), ` ${text}`);
  return section('bandwidth', 'Bandwidth', 'Bandwidth of the layers',
    h('p', {}, 'One panel a layer and direction, the highest layer first, each on its own scale. Drag to zoom, double-click for the whole run; all panels move together.'),
    h('details', { class: 'tools' }, h('summary', {}, 'Moving about by wheel, touch and keys'),
      h('p', {}, 'Shift and the wheel zoom at the pointer. On a touch screen one finger moves in time and two zoom; tap twice for the whole run. With the focus on a panel, the left and right arrow keys move, + and − zoom, 0 shows the whole run; shift and the arrow keys read values off the picture. Every number has a hint with its layer, unit and definition: point at it, tap it, or go to its table with the Tab key and on with the arrow keys.')),
    legend(['write', 'write: mean of each column', definitions.bandwidth], ['read', 'read', definitions.bandwidth],
      ['write-light', 'from the smallest to the largest rate', definitions.bandwidth], ['phase', 'phases', definitions.phases],
      ['period', 'every period', definitions.period_s]),
    h('div', { class: 'legend tools' }, choice('common', 'one scale for all', 'Draw all panels up to the same bandwidth.'),
      choice('range', 'show the range', 'Scale the panels to the largest rate, not to the largest mean.')),
    curves.length ? null : h('p', {}, 'No bytes were moved by these layers on the selected files.'),
    curves.map((curve) => {
      const verdict = verdictOf(curve.layer, curve.direction);
      const label = `${curve.layer} ${curve.direction}`;
      return h('div', { class: 'panel' },
        h('div', { class: 'panel-head' }, h('h3', {}, label),
          h('span', { title: `${label}: ${exactBytes(verdict.bytes)}. ${definitions.bytes}` }, bytesText(verdict.bytes)),
          h('span', { class: 'muted', title: `${label}: ${verdict.reason}` }, curve.verdict)),
        timePlot(`Bandwidth of ${label}: ${bytesText(verdict.bytes)}, ${curve.verdict}`, PANEL,
          (canvas) => drawBandwidth(canvas, curve, verdict), describeBandwidth(curve, verdict)));
    }),
    curves.length ? timeAxis() : null);
};
