// Charts: series over two axes, drawn as wide as there is room. A series is columns, and `series` has how each kind is drawn.

const SCALES = {
  '': [(value) => value, (place) => place], log: [Math.log10, (place) => 10 ** place],
  log2: [Math.log2, (place) => 2 ** place], log1p: [(value) => Math.log10(1 + value), (place) => 10 ** place - 1],
};
const textWidth = (text) => { ruler.font = FONT; return ruler.measureText(text).width; };
const ruler = document.createElement('canvas').getContext('2d');

class Axis {
  constructor({ kind = '', scale = '', names = [], ends }, from, to) {
    [this.forward, this.back] = SCALES[scale];
    [this.low, this.high] = (names.length ? [0, names.length] : ends).map(this.forward);
    if (!(this.high > this.low)) this.high = this.low + 1;
    Object.assign(this, { kind, scale, names, from, to });
  }

  at(value) {
    const share = (this.forward(value) - this.low) / (this.high - this.low);
    return this.from + (this.to - this.from) * Math.min(1, Math.max(0, share));
  }

  valueAt(place) { return this.back(this.low + (place - this.from) / (this.to - this.from) * (this.high - this.low)); }

  // About so many places with a label, as [value, text]; what finds no room for its label is left out when it is drawn.
  ticks(most) {
    const { low, high, names, scale, kind } = this;
    if (names.length) return names.map((name, place) => [place + 0.5, name]);
    const wholes = (step, from = low, to = high) => Array.from({ length: Math.max(0, Math.floor(to / step + 1e-9) - Math.ceil(from / step - 1e-9) + 1) },
      (_, place) => (Math.ceil(from / step - 1e-9) + place) * step);
    const values = {
      '': () => wholes(niceStep(high - low, most)),
      log: () => wholes(1, Math.floor(low)).flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power)).filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9),
      log2: () => wholes(Math.max(1, Math.ceil((high - low) / most))).map((power) => 2 ** power),
      log1p: () => [0, ...wholes(1, 0).map((power) => 10 ** power)].filter((value) => Math.log10(1 + value) <= high),
    }[scale]();
    return values.map((value) => [value, written(kind, value)]);
  }
}

const named = (shape, texts, place) => (texts.length ? svg('g', {}, svg('title', {}, texts[place]), shape) : shape);
const boxOf = (tone, x, y, width, height) => svg('rect', { class: tone, x, y, width: Math.max(0.5, width), height: Math.max(0.5, height) });
const each = (columns, draw) => Array.from(columns.x || columns.y, (_, place) => draw(place));
const pathOf = (columns, x, y) => each(columns, (place) => `${x.at(columns.x[place]).toFixed(1)} ${y.at(columns.y[place]).toFixed(1)}`).join('L');
const series = {
  steps: ({ tone, columns }, x, y) => svg('path', {
    class: tone, d: `M${x.at(columns.x[0]).toFixed(1)} ${y.at(0)}${Array.from(columns.y, (value, place) => `V${y.at(value).toFixed(1)}H${x.at(columns.x[place + 1]).toFixed(1)}`).join('')}V${y.at(0)}Z`,
  }),
  line: ({ tone, columns }, x, y) => svg('path', { class: `line ${tone}`, d: `M${pathOf(columns, x, y)}` }),
  // Without a text each, thousands of dots are one shape.
  dots: ({ tone, columns, texts, radius = 3 }, x, y) => (texts.length
    ? each(columns, (place) => named(svg('circle', { class: tone, cx: x.at(columns.x[place]), cy: y.at(columns.y[place]), r: radius }), texts, place))
    : svg('path', { class: `points ${tone}`, 'stroke-width': 2 * radius, d: `M${pathOf(columns, x, y).replaceAll('L', 'h0M')}h0` })),
  stems: ({ tone, columns }, x, y) => svg('path', { class: `stems ${tone}`, d: each(columns, (place) => `M${x.at(columns.x[place]).toFixed(1)} ${y.at(0)}V${y.at(columns.y[place]).toFixed(1)}`).join('') }),
  boxes: ({ tone, columns, texts, gap = 0 }, x, y) => each(columns, (place) => {
    const [left, right] = [x.at(columns.x[place]), x.at(columns.x2[place])];
    const [top, bottom] = [y.at(columns.y2[place]), y.at(columns.y[place])].sort((one, other) => one - other);
    return named(boxOf(tone, left + gap, top, right - left - 2 * gap, bottom - top), texts, place);
  }),
  spans: ({ tone, columns, texts }, x, y) => each(columns, (place) => named(
    boxOf(tone, x.at(columns.x[place]), Math.min(y.from, y.to), x.at(columns.x2[place]) - x.at(columns.x[place]), Math.abs(y.to - y.from)), texts, place)),
  levels: ({ tone, columns, texts }, x, y) => each(columns, (place) => [
    svg('path', { class: `line ${tone}`, d: `M${x.from} ${y.at(columns.y[place])}H${x.to}` }),
    svg('text', { class: 'muted', x: x.to - 4, y: Math.max(12, y.at(columns.y[place]) - 4), 'text-anchor': 'end' }, texts[place])]),
  marks: ({ tone, columns }, x) => each(columns, (place) => svg('path', { class: tone, d: `M${x.at(columns.x[place])} 9l-5 -8h10z` })),
};

const dataOf = ({ draw, x, x2, y, y2, every }) => {
  const columns = Object.fromEntries(Object.entries({ x, x2, y, y2 }).filter(([, column]) => column).map(([name, column]) => [name, unpacked(column)]));
  if (every) columns.x = Float64Array.from({ length: columns.y.length + (draw === 'steps' ? 1 : 0) }, (_, place) => every[0] + place * every[1]);
  return columns;
};
const endsOf = (found, names) => found.flatMap(({ columns }) => names.map((name) => columns[name])).filter((column) => column && column.length)
  .reduce(([low, high], column) => [column.reduce((least, value) => Math.min(least, value), low), column.reduce((most, value) => Math.max(most, value), high)], [Infinity, -Infinity]);

// What the series say at a place of the pointer: of stems the nearest one, of those beside each other the highest.
const readingOf = (found, x, place) => {
  let value = x.valueAt(place);
  const stems = found.find(({ draw }) => draw === 'stems');
  if (stems) {
    let best = 0;
    stems.columns.x.forEach((other, number) => {
      const [old, now] = [stems.columns.x[best], other].map((one) => Math.abs(x.at(one) - place));
      if (now < old || (now < 4 && stems.columns.y[number] > stems.columns.y[best])) best = number;
    });
    value = stems.columns.x[best];
  }
  return [value, found.filter(({ name }) => name).slice(0, 8).map(({ name, columns }) => {
    const at = placeOf(columns.x, value);
    return [name, value < columns.x[0] || at >= columns.y.length ? 0 : columns.y[at]];
  })];
};

drawn.chart = ({ title, caption, about, height, most, x: across = {}, y: up = {}, series: content, read, heading }) => {
  const found = content.map((one) => ({ texts: [], ...one, columns: dataOf(one) })).filter(({ columns }) => (columns.x || columns.y).length);
  const [low, high] = endsOf(found, ['y', 'y2']);
  const [xEnds, yEnds] = [across.ends || endsOf(found, ['x', 'x2']), up.ends || [Math.min(0, low), 1.05 * high]];
  const box = h('div', { class: 'chart' });
  box.style.maxWidth = most ? `${most}px` : null;
  const base = height + (across.kind ? 24 : 0) + (across.title ? 16 : 0);
  box.style.height = `${base}px`;
  let xAxis = null;
  const draw = () => {
    const width = Math.min(widthOf(box), most || Infinity);
    // The title of the axis stands above what is drawn.
    const y = new Axis({ ...up, ends: yEnds }, up.names ? 6 : height, up.names ? height : up.title ? 24 : 6);
    const ticks = up.kind || up.names ? y.ticks(Math.max(2, height / 40)) : [];
    const left = ticks.length ? Math.max(up.names ? 0 : 70, Math.min(width / 3, 170, 12 + ticks.reduce((wide, [, text]) => Math.max(wide, textWidth(text)), 0))) : 0;
    const x = new Axis({ ...across, ends: xEnds }, left, width - 4);
    xAxis = x;
    let taken = -Infinity;
    const picture = svg('svg', { width, height: base, role: 'img', 'aria-label': title },
      found.map((one) => series[one.draw](one, x, y)),
      svg('path', { class: 'axis', d: `M${left} 6V${height + 0.5}H${width}` }),
      ticks.filter(([value], place) => place === 0 || Math.abs(y.at(value) - y.at(ticks[place - 1][0])) > 11)
        .map(([value, text]) => svg('text', { x: left - 7, y: y.at(value) + 4, 'text-anchor': 'end', class: 'muted' }, fitted(ruler, text, left - 8))),
      across.kind ? x.ticks(Math.max(2, (width - left) / 100)).map(([value, text]) => {
        const half = textWidth(text) / 2;
        const at = Math.min(Math.max(x.at(value), half), width - half);
        if (at - half < taken) return null;
        taken = at + half + 10;
        return [svg('path', { class: 'axis', d: `M${x.at(value)} ${height}v4` }), svg('text', { x: at, y: height + 18, 'text-anchor': 'middle', class: 'muted' }, text)];
      }) : null,
      across.title ? svg('text', { x: (left + width) / 2, y: base - 4, 'text-anchor': 'middle', class: 'muted' }, across.title) : null,
      up.title ? svg('text', { x: left + 6, y: 18, class: 'muted' }, up.title) : null);
    box.replaceChildren(picture);
    makeReachable(box);
  };
  if (read) {
    box.addEventListener('pointermove', (event) => {
      const [value, values] = readingOf(found, xAxis, event.clientX - box.getBoundingClientRect().left);
      showHint([`${across.title || title}: ${writtenExactly(across.kind, value)}`, ...values.map(([name, one]) => `${name}: ${written(up.kind, one)}`)], event);
    });
    box.addEventListener('pointerleave', hideHint);
  }
  register(box, draw, false);
  return h('figure', {}, heading ? h('h3', {}, title) : null, box, caption ? h('figcaption', { title: about ? definitionOf(about) : null }, caption) : null);
};
