// Sizes of requests, by powers of two.

const LABEL_ROOM = 64;
const binText = (exponent) => {
  const step = Math.min(6, Math.floor(exponent / 10));
  return `${2 ** (exponent - 10 * step)} ${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][step]}B`;
};

const histogramFigure = (content, lowest, highest) => {
  const label = `${content.layer} ${content.direction}`;
  const total = content.operations.reduce((sum, count) => sum + count, 0) + content.empty_operations;
  const bars = content.exponents.map((exponent, place) => ({
    exponent, operations: content.operations[place], bytes: content.bytes[place], text: `${binText(exponent)} to below ${binText(exponent + 1)}`,
  }));
  if (content.empty_operations) bars.unshift({ exponent: lowest - 1, operations: content.empty_operations, bytes: 0, text: '0 B' });
  const [width, height, base] = [340, 120, 96];
  const slots = highest - lowest + 2;
  // A single bar as wide as the picture would look like much.
  const room = Math.min(42, width / slots);
  const top = Math.max(1, ...bars.map((bar) => bar.operations));
  const volume = Math.max(1, ...bars.map((bar) => bar.bytes));
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `Request sizes of ${label}: ${bars.map((bar) => `${bar.text}: ${counted(bar.operations, 'operation')}`).join('; ')}` },
    svg('line', { x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5, class: 'axis' }),
    bars.map((bar) => {
      const x = (bar.exponent - lowest + 1) * room;
      const [count, size] = [Math.max(1, 84 * bar.operations / top), 84 * bar.bytes / volume];
      return svg('g', {}, svg('title', {}, `${label}, requests of ${bar.text}: ${counted(bar.operations, 'operation')}, ${shareText(bar.operations, total)}; ${bytesText(bar.bytes)}`),
        svg('rect', { x, y: 0, width: room, height: base, class: 'catch' }),
        svg('rect', { x: x + 1, y: base - count, width: Math.max(1, room - 2), height: count, class: content.direction }),
        size > 0.5 ? svg('rect', { x: x + 1.5, y: base - size, width: Math.max(1, room - 3), height: size, class: 'outline' }) : null);
    }),
    (() => {
      const step = Math.max(Math.ceil(slots / 5), Math.ceil(LABEL_ROOM / room));
      const labels = [];
      for (let exponent = lowest; exponent <= highest; exponent += step) {
        const x = (exponent - lowest + 1.5) * room;
        labels.push(svg('text', { x: Math.min(Math.max(x, 26), width - 26), y: height - 6, 'text-anchor': 'middle', class: 'muted' }, binText(exponent)));
      }
      return labels;
    })());
  const notes = [`${counted(total, 'request')} of known size`, `highest bar: ${countText(top)} filled, ${bytesText(volume)} outlined`];
  if (content.unknown_operations) notes.push(`${countText(content.unknown_operations)} of unknown size`);
  return h('figure', {}, h('h3', {}, label), picture, h('figcaption', { title: definitions.request_bytes }, notes.join(', ')));
};

const sizesSection = () => {
  if (!contents.sizes.length) return null;
  const sized = contents.sizes.filter((content) => content.exponents.length);
  const exponents = sized.flatMap((content) => content.exponents);
  const unknown = contents.sizes.filter((content) => !content.exponents.length);
  const [lowest, highest] = [Math.min(...exponents), Math.max(...exponents)];
  return section('sizes', 'Requests', 'Request sizes',
    h('p', {}, 'Filled: number of operations by the bytes that they requested, in powers of two. Outlined: their bytes. Each picture has its own height; all have the same axis.'),
    h('div', { class: 'grid' }, sized.map((content) => histogramFigure(content, lowest, highest))),
    unknown.length ? h('p', { class: 'muted' }, `The trace does not know the request sizes of ${unknown.map((content) => `${content.layer} ${content.direction}`).join(', ')}.`) : null);
};
