// How bytes flow from layer to layer, drawn from the top of the stack down, and what the findings say about it.

const LABEL = 22;
const BAND = 66;
const BAR = 14;
const times = (factor) => (known(factor) ? `× ${factor >= 100 ? threeDigits(factor) : factor.toFixed(2)}` : DASH);

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
        hidden > 0 ? band('hidden', `${bytesText(pair.hidden_bytes)} of ${pair.lower} outside of any operation of ${pair.upper}. ${definitions.hidden_bytes}`, upper, fromEnd, fromEnd, lower, toStart + visible, toStart + visible + hidden) : null];
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
    const notes = h('div', { class: 'flow-note' }, below(entry.layer).map((pair) => h('span', { title: `${definitions.amplification} ${definitions.hidden_bytes}` }, pairText(pair))));
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

const pairRow = (pair) => {
  const who = `${pair.upper} → ${pair.lower}, ${pair.direction}`;
  const say = saying(who);
  return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
    cell('Above', bytesText(pair.upper_bytes), say(`${exactBytes(pair.upper_bytes)} in ${counted(pair.upper_operations, 'operation')} above`, 'bytes')),
    cell('Below by descent', bytesText(pair.lower_bytes), say(`${exactBytes(pair.lower_bytes)} in ${counted(pair.lower_operations, 'operation')} below`, 'bytes')),
    cell('Ratio', times(pair.amplification), say(exactly(pair.amplification), 'amplification')),
    cell('Ratio inside', times(pair.attributed_amplification), say(exactly(pair.attributed_amplification), 'attributed_amplification')),
    cell('Hidden', bytesText(pair.hidden_bytes), say(exactBytes(pair.hidden_bytes), 'hidden_bytes')),
    cell('Fan-out', known(pair.fan_out) ? threeDigits(pair.fan_out) : DASH, say(exactly(pair.fan_out), 'fan_out')),
    cell('Ranks above', countText(pair.writers_upper), say(countText(pair.writers_upper), 'writers')),
    cell('Ranks below', countText(pair.writers_lower), say(countText(pair.writers_lower), 'writers')),
    cell('Ranks a call', distributionText(pair.movers_beneath_call), say(distributionText(pair.movers_beneath_call), 'movers')));
};

// Where nobody knows what of the lower layer served the upper one.
const sideRow = (pair) => {
  const who = `${pair.upper} | ${pair.lower}, ${pair.direction}`;
  return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
    cell('Above', bytesText(pair.upper_bytes), `${who}: ${exactBytes(pair.upper_bytes)} moved by the upper layer.`),
    cell('Below', bytesText(pair.lower_layer_bytes), `${who}: ${exactBytes(pair.lower_layer_bytes)} moved by the lower layer, whoever caused it.`),
    cell('Ratio', times(pair.layer_ratio), `${who}: bytes of the lower layer over those of the upper one.`),
    cell('Ranks above', countText(pair.writers_upper), `${who}: ranks that moved bytes in the upper layer.`),
    cell('Ranks below', countText(pair.lower_layer_writers), `${who}: ranks that moved bytes in the lower layer.`));
};

const flowSection = () => {
  if (!contents.compare || !contents.compare.pairs.length) return null;
  const head = ['Layers', 'Above', 'Below by descent', 'Ratio', 'Ratio inside', 'Hidden', 'Fan-out', 'Ranks above', 'Ranks below', 'Ranks a call'];
  if (contents.compare.pairs.some((pair) => known(pair.lower_layer_bytes))) {
    return section('flow', 'Layers side by side', 'Layers side by side',
      h('p', {}, `${contents.layers.trace.recorder} tells bytes by intervals of time: these are all that each layer moved. What of it served which layer is not recorded.`),
      tableOf(['Layers', 'Above', 'Below', 'Ratio', 'Ranks above', 'Ranks below'], contents.compare.pairs.map(sideRow)));
  }
  return section('flow', 'Flow', 'From layer to layer',
    h('p', {}, 'Bars are bytes, all on one scale. A band leads from a layer to what the layer below made of it; what that moved outside of the upper layer’s operations is hidden traffic.'),
    legend(['write', 'written'], ['read', 'read'], ['hidden-bytes', 'hidden: outside of the upper layer’s operations', definitions.hidden_bytes]),
    h('div', { class: 'two' }, ['write', 'read'].map(flowFigure)),
    h('details', {}, h('summary', {}, `Numbers of ${counted(contents.compare.pairs.length, 'pair')} of layers`),
      tableOf(head, contents.compare.pairs.map(pairRow))),
    contents.cut.pairs ? h('p', { class: 'muted' }, `${countText(contents.compare.pairs.length)} of ${countText(contents.cut.pairs)} pairs are shown.`) : null);
};

const UNITS = {
  byte: exactBytes, s: secondsText, share: percentText, times, ratio: threeDigits, count: (value) => (Number.isInteger(value) ? countText(value) : threeDigits(value)),
  '1/s': (value) => `${countText(value)}/s`, rank: String,
};
const isEmpty = (value) => !known(value) || value === '' || (typeof value === 'object' && !Object.keys(value).length);
// Numbers that follow each other as one range.
const rangesText = (numbers) => {
  const ranges = [];
  for (const number of numbers) {
    const last = ranges[ranges.length - 1];
    if (last && number === last[1] + 1) last[1] = number; else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (last > first ? `${first}${last > first + 1 ? '–' : ', '}${last}` : `${first}`)).join(', ');
};
const evidenceText = (key, value) => {
  const inUnit = (number) => (typeof number === 'number' ? (UNITS[contents.evidence_units[key]] || String)(number) : String(number));
  if (key === 'steps') return value.map((step) => `${step.upper} → ${step.lower}: ${inUnit(step.amplification)}`).join('; ');
  if (key === 'time_range_s') return rangeText(...value);
  if (contents.evidence_units[key] === 'rank' && Array.isArray(value)) return `${rangesText(value)}${value.length < contents.ranks_shown ? '' : ', …'}`;
  if (Array.isArray(value)) return value.map(inUnit).join(', ');
  if (typeof value === 'object') return Object.entries(value).map(([name, item]) => `${name}: ${inUnit(item)}`).join('; ');
  return inUnit(value);
};

// Which rows of the timeline a finding is about: of its layer, and of the first file and rank that it names.
const rowsNamed = ({ layer, evidence }) => ({ layer, file: (evidence.files || [])[0], rank: known(evidence.busiest_rank) ? evidence.busiest_rank : (evidence.slow_ranks || evidence.ranks || [])[0] });

const finding = (found) => {
  const range = found.evidence.time_range_s;
  return h('div', { class: `finding ${found.severity}` },
    h('p', {}, h('b', {}, found.severity), ` ${found.id} · ${found.layer} · `, found.text),
    h('p', { class: 'advice' }, found.advice),
    range ? h('p', {}, timeLinkTo(range[0], range[1], 'timeline', rowsNamed(found), `Show ${rangeText(...range)} in the timeline`)) : null,
    h('details', {}, h('summary', {}, 'Evidence'), h('dl', { class: 'evidence' }, Object.entries(found.evidence).filter(([, value]) => !isEmpty(value)).map(([key, value]) => [h('dt', {}, key.replaceAll('_', ' ').replace(/^(metadata|transfer|write|flush|exclusive) s$/, '$1 time').replace(/ s$/, '')), h('dd', {}, evidenceText(key, value))]))));
};

const findingsSection = () => {
  if (!contents.compare) return null;
  if (!contents.single_operations) {
    return section('findings', 'Findings', 'What deserves a look', h('p', {}, 'Findings need single operations, which are not recorded.'));
  }
  const { findings } = contents.compare;
  return section('findings', 'Findings', 'What deserves a look',
    findings.length ? h('div', { class: 'two' }, findings.map(finding)) : h('p', {}, 'No rule found anything.'),
    contents.cut.findings ? h('p', { class: 'muted' }, `${countText(findings.length)} of ${countText(contents.cut.findings)} findings are shown.`) : null);
};
