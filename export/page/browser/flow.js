// How bytes flow from layer to layer, drawn from the top of the stack down, and what the findings say about it.

const LABEL = 22;
const BAND = 66;
const BAR = 14;
const times = (factor) => written('times', factor);

const pairText = (pair) => {
  const parts = [`${pair.lower}: ${bytesText(pair.lower_bytes)}`];
  if (known(pair.amplification)) parts.push(`${times(pair.amplification)} by descent`);
  if (known(pair.attributed_amplification) && Math.abs(pair.attributed_amplification - pair.amplification) > 0.005) {
    parts.push(`${times(pair.attributed_amplification)} inside its operations`);
  }
  if (pair.hidden_bytes > 0) parts.push(`${bytesText(pair.hidden_bytes)} hidden`);
  return parts.join(', ');
};

// Bars of the layers one below the other, as wide as their bytes, and bands from each to those that serve it.
const flowFigure = (direction) => {
  const moving = contents.layers.layers.filter((entry) => entry.direction === direction && entry.bytes > 0);
  const names = moving.map((entry) => entry.layer);
  const pairs = contents.compare.pairs.filter((pair) => pair.adjacent && pair.direction === direction && pair.lower_bytes > 0
    && names.includes(pair.upper) && names.includes(pair.lower));
  if (!pairs.length) return null;
  const connected = (entry) => pairs.some((pair) => pair.upper === entry.layer || pair.lower === entry.layer);
  const entries = moving.filter(connected);
  const alone = moving.filter((entry) => !connected(entry));
  const most = Math.max(...entries.map((entry) => entry.bytes));
  const wide = (bytes) => 1000 * bytes / most;
  const band = (kind, title, upper, fromStart, fromEnd, lower, toStart, toEnd) => {
    const [top, bottom] = [upper.top + BAR, lower.top];
    const middle = (top + bottom) / 2;
    return svg('path', {
      class: `band ${kind}`,
      d: `M${fromStart} ${top}C${fromStart} ${middle} ${toStart} ${middle} ${toStart} ${bottom}H${toEnd}C${toEnd} ${middle} ${fromEnd} ${middle} ${fromEnd} ${top}Z`,
    }, svg('title', {}, title));
  };
  const below = (upper) => pairs.filter((pair) => pair.upper === upper);
  const drawn = (place, height) => {
    const bands = pairs.map((pair) => {
      const [upper, lower] = [place.get(pair.upper), place.get(pair.lower)];
      const siblings = below(pair.upper).reduce((sum, other) => sum + Math.max(0, other.lower_bytes), 0);
      const share = siblings > 0 ? upper.width * pair.lower_bytes / siblings : 0;
      const [fromStart, fromEnd] = [upper.given, upper.given + share];
      upper.given = fromEnd;
      const visible = wide(Math.max(0, pair.lower_bytes - pair.hidden_bytes));
      const hidden = wide(pair.hidden_bytes);
      const toStart = Math.min(lower.used, Math.max(0, lower.width - visible - hidden));
      lower.used = toStart + visible + hidden;
      return [band(direction, `${pair.upper} to ${pair.lower}: ${pairText(pair)}`, upper, fromStart, fromEnd, lower, toStart, toStart + visible),
        hidden > 0 ? band('hidden', `${bytesText(pair.hidden_bytes)} of ${pair.lower} outside of any operation of ${pair.upper}. ${definitionOf('hidden')}`, upper, fromEnd, fromEnd, lower, toStart + visible, toStart + visible + hidden) : null];
    });
    const bars = entries.map((entry) => {
      const { top, width } = place.get(entry.layer);
      return svg('rect', { x: 0, y: top, width, height: BAR, class: direction }, svg('title', {}, `${entry.layer} ${direction}: ${exactBytes(entry.bytes)}, ${exactBytes(entry.own_bytes)} of it the program’s own`));
    });
    const picture = svg('svg', { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: 'none', class: 'flow-picture', role: 'img', 'aria-label': `Bytes ${direction === 'write' ? 'written' : 'read'} from layer to layer: ${pairs.map((pair) => `${pair.upper} to ${pairText(pair)}`).join('; ')}` }, bands, bars);
    picture.style.height = `${height}px`;
    return picture;
  };
  const rows = entries.map((entry) => {
    const label = h('div', { class: 'flow-label' }, h('b', {}, entry.layer), ` ${bytesText(entry.bytes)} in ${counted(entry.operations, 'operation')}`,
      entry.own_bytes > 0 && entry.own_bytes < entry.bytes ? `, ${bytesText(entry.own_bytes)} its own` : '');
    const notes = h('div', { class: 'flow-note' }, below(entry.layer).map((pair) => h('span', { title: `${definitionOf('amplification')} ${definitionOf('hidden')}` }, pairText(pair))));
    return { entry, label, notes };
  });
  const box = h('div', { class: 'flow' }, rows.map(({ label, notes }) => [label, notes]));
  let picture = null;
  // Labels and notes take more lines on a narrow screen, so the picture is laid out around them.
  const layOut = () => {
    const place = new Map();
    let top = 0;
    rows.forEach(({ entry, label, notes }, number) => {
      label.style.top = `${top}px`;
      const bar = top + Math.max(LABEL, label.offsetHeight) + 2;
      notes.style.top = `${bar + BAR + 12}px`;
      place.set(entry.layer, { top: bar, used: wide(entry.own_bytes), given: 0, width: Math.max(2, wide(entry.bytes)) });
      top = bar + BAR + (number < rows.length - 1 ? Math.max(BAND, notes.offsetHeight + 20) : 4);
    });
    const next = drawn(place, top);
    if (picture) picture.replaceWith(next); else box.prepend(next);
    picture = next;
    box.style.height = `${top}px`;
    makeReachable(box);
  };
  layOut();
  let laidOut = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === laidOut) return;
    laidOut = box.clientWidth;
    layOut();
  }).observe(box);
  return h('div', {}, h('h3', {}, direction === 'write' ? 'Written' : 'Read'), box,
    alone.length ? h('p', { class: 'muted' }, `By itself: ${alone.map((entry) => `${entry.layer}, ${bytesText(entry.bytes)}`).join('; ')}`) : null);
};

// Of whole numbers, such as ranks.
const distributionText = (found) => (found && found.count
  ? found.min === found.max ? countText(found.min) : `${threeDigits(found.mean)} (${countText(found.min)} … ${countText(found.max)})` : DASH);
const spreadOf = (name) => (entry) => ({ value: distributionText(entry[name]), said: entry[name] && entry[name].count ? `mean ${threeDigits(entry[name].mean)}, median ${entry[name].p50}, from ${entry[name].min} to ${entry[name].max}` : null });

const PAIRS = [['Layers', endsOfPair, 'text'], ['Above', within('upper_bytes', 'upper_operations'), 'bytes', 'bytes'], ['Below by descent', within('lower_bytes', 'lower_operations'), 'bytes', 'bytes'],
  ['Amplification', 'amplification', 'times', 'amplification'], ['Inside', 'attributed_amplification', 'times', 'amplification inside'], ['Hidden', 'hidden_bytes', 'bytes', 'hidden'],
  ['Fan-out', 'fan_out', 'ratio', 'fan-out'], ['Ranks above', 'writers_upper', 'count', 'writers'], ['Ranks below', 'writers_lower', 'count', 'writers'], ['Ranks a call', spreadOf('movers_beneath_call'), 'word', 'movers']];
// Where nobody knows what of the lower layer served the upper one.
const SIDES = [['Layers', (pair) => `${pair.upper} | ${pair.lower}, ${pair.direction}`, 'text'], ['Above', 'upper_bytes', 'bytes', 'Bytes that the upper layer moved.'],
  ['Below', 'lower_layer_bytes', 'bytes', 'Bytes that the lower layer moved, whoever caused it.'], ['Ratio', 'layer_ratio', 'times', 'Bytes of the lower layer over those of the upper one.'],
  ['Ranks above', 'writers_upper', 'count', 'Ranks that moved bytes in the upper layer.'], ['Ranks below', 'lower_layer_writers', 'count', 'Ranks that moved bytes in the lower layer.']];

drawn.sides = () => [
  h('p', {}, 'These are all that each layer moved, side by side. What of it served which layer is not recorded.'),
  tableFrom(SIDES, contents.compare.pairs)];
drawn.flow = () => {
  if (!contents.compare || !contents.compare.pairs.length) return null;
  const [flows, beside] = [false, true].map((side) => contents.compare.pairs.filter((pair) => ('layer_ratio' in pair) === side));
  return [
    h('p', {}, 'Bars are bytes, all on one scale. A band leads from a layer to what the layer below made of it; what that moved outside of the upper layer’s operations is hidden traffic.'),
    legend(['write', 'written'], ['read', 'read'], ['hidden-bytes', 'hidden: outside of the upper layer’s operations', definitionOf('hidden')]),
    h('div', { class: 'two' }, ['write', 'read'].map(flowFigure)),
    h('details', {}, h('summary', {}, `Numbers of ${counted(contents.compare.pairs.length, 'pair')} of layers`), tableFrom(PAIRS, flows),
      beside.length ? [muted('Side by side: counters alone tell of one of these, and not what served which.'), tableFrom(SIDES, beside)] : null),
    contents.cut.pairs ? muted(`${countText(contents.compare.pairs.length)} of ${countText(contents.cut.pairs)} pairs are shown.`) : null];
};
