// Tables: every number with its unit in the cell, and layer, exact value and definition as its hint.

// A hint: whose number it is, its exact value, and what it means.
const saying = (who) => (value, key) => `${who}: ${value}. ${definitions[key]}`;
const exactly = (value, unit = '', unknown = 'not defined') => (known(value) ? `${exactNumber(value)}${unit}` : unknown);

const cell = (label, text, title, long) => h('td', { 'data-label': label, title, class: long ? 'long' : null }, long ? text : text.replaceAll(' ', '\u00a0'));

// So many columns fit where the screen is too narrow for more.
const FEW = 5;
const tableOf = (head, rows, left = [0]) => h('div', { class: 'wide' }, h('table', { class: head.length > FEW ? 'cards' : 'cards few' },
  h('thead', {}, h('tr', {}, head.map((text, place) => h('th', { scope: 'col', class: left.includes(place) ? 'name' : null }, text)))),
  h('tbody', {}, rows)));

const layersSection = () => {
  const { layers, flushes, set_aside: aside, trace } = contents.layers;
  if (!layers.length && !flushes.length && !aside.operations) return null;
  const span = trace.window_s[1] - trace.window_s[0];
  const head = ['Layer', 'Operations', 'Bytes', 'Busy', 'Summed', 'Mean while busy', 'Request min', 'Median', '90\u00a0%', 'Max', 'Ranks', 'Files', 'Handles', 'Own bytes', 'Bytes unknown'];
  const table = tableOf(head, layers.map((entry) => {
    const who = `${entry.layer} ${entry.direction}`;
    const say = saying(who);
    const request = entry.request_bytes || {};
    return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
      cell('Operations', countText(entry.operations), say(countText(entry.operations), 'operations')),
      cell('Bytes', bytesText(entry.bytes), say(exactBytes(entry.bytes), 'bytes')),
      cell('Busy', secondsText(entry.busy_s), say(`${exactNumber(entry.busy_s)} s, ${shareText(entry.busy_s, span)} of the time`, 'busy_s')),
      cell('Summed', secondsText(entry.summed_s), say(`${exactNumber(entry.summed_s)} s`, 'summed_s')),
      cell('Mean while busy', entry.busy_s > 0 ? rateText(entry.bytes / entry.busy_s) : DASH, say(entry.busy_s > 0 ? `${Math.round(entry.bytes / entry.busy_s).toLocaleString('en-US')} B/s` : DASH, 'rate')),
      ['min', 'p50', 'p90', 'max'].map((key, place) => cell(['Request min', 'Median', '90\u00a0%', 'Max'][place], bytesText(request[key]), say(known(request[key]) ? exactBytes(request[key]) : 'unknown', 'request_bytes'))),
      cell('Ranks', countText(entry.ranks), say(countText(entry.ranks), 'ranks')),
      cell('Files', countText(entry.files), say(countText(entry.files), 'files')),
      cell('Handles', countText(entry.handles), say(countText(entry.handles), 'handles')),
      cell('Own bytes', shareText(entry.own_bytes, entry.bytes), say(known(entry.own_bytes) ? `${exactBytes(entry.own_bytes)} in ${counted(entry.own_operations, 'operation')}` : 'unknown', 'own_bytes')),
      cell('Bytes unknown', countText(entry.undefined_bytes_operations), say(countText(entry.undefined_bytes_operations), 'undefined_bytes_operations')));
  }));
  return section('layers', 'Layers', 'What each layer did',
    h('p', {}, 'The highest layer first. A lower layer repeats the bytes of the layers above it: never add layers up.'),
    layers.length ? table : h('p', {}, 'No transfers on the selected files.'),
    flushes.length ? h('p', { class: 'muted' }, 'Flushes: ', flushes.map((entry) => `${entry.layer} ${countText(entry.operations)}, busy for ${secondsText(entry.busy_s)}`).join('; '), '.') : null,
    contents.cut.layers ? h('p', { class: 'muted' }, `${countText(layers.length)} of ${countText(contents.cut.layers)} layers and directions are shown.`) : null,
    aside.operations ? h('details', {}, h('summary', { title: definitions.set_aside }, `Set aside: ${counted(aside.operations, 'operation')} with ${bytesText(aside.bytes)} on ${counted(aside.files, 'file')}`),
      h('table', {}, h('tbody', {}, Object.entries(aside.reasons).sort((one, other) => other[1] - one[1]).map(([reason, count]) => h('tr', {}, h('td', {}, countText(count)), h('td', { class: 'name' }, reason)))))) : null);
};

const nodesSection = () => {
  const { nodes, columns, total, calls } = contents.nodes;
  if (!nodes.length || !(columns.length || calls.length)) return null;
  const inside = (one) => `${one.lower} calls in ${one.upper}`;
  return section('nodes', 'Nodes', 'Nodes of the machine',
    total > nodes.length ? h('p', {}, `${countText(nodes.length)} of ${countText(total)} nodes are shown.`) : null,
    tableOf(['Node', 'Ranks', ...columns.map((column) => `${column.layer} ${column.direction}`), ...calls.map(inside)],
      nodes.map((node, row) => h('tr', {},
        h('th', { scope: 'row', class: 'name' }, [...node.path, node.name].map(nameOf).join(' / ')),
        cell('Ranks', countText(node.ranks), `${counted(node.ranks, 'rank')} of the run on this node.`),
        columns.map((column) => cell(`${column.layer} ${column.direction}`, bytesText(column.bytes[row]), `${column.layer} ${column.direction}: ${exactBytes(column.bytes[row])}. ${definitions.bytes}`)),
        calls.map((one) => cell(inside(one), countText(one.calls[row]), `${counted(one.calls[row], 'call')} of ${one.lower} inside calls of ${one.upper}. ${definitions.calls_inside}`))))));
};

const damageSection = () => {
  const { damage } = contents.layers;
  if (!damage.damaged) return null;
  return section('damage', 'Damage', 'Damage',
    h('p', {}, `${counted(damage.events_read, 'event')} of ${countText(damage.events_expected)} were read. All numbers cover what could be read.`),
    h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ['Location', 'Expected', 'Read'].map((text) => h('th', { scope: 'col' }, text)), h('th', { scope: 'col', class: 'name' }, 'Why'))),
      h('tbody', {}, damage.locations.map((place) => h('tr', {}, h('td', {}, known(place.location) ? String(place.location) : DASH), h('td', {}, countText(place.events_expected)), h('td', {}, countText(place.events_read)), h('td', { class: 'name' }, place.reason)))))),
    contents.cut.damaged_locations ? h('p', {}, `and ${countText(contents.cut.damaged_locations - damage.locations.length)} more locations`) : null);
};

const GLOSSARY_NAMES = { calls_inside: 'calls in calls', busy_s: 'busy', summed_s: 'summed', own_bytes: 'own bytes', undefined_bytes_operations: 'bytes unknown', request_bytes: 'request', period_s: 'period', period_interval_s: 'interval', recurrence_s: 'recurrence', volume_per_period: 'bytes a period', r_io: 'R_IO', b_io: 'B_IO', periodicity_score: 'periodicity score', fs_hz: 'sampling', amplification: 'ratio', attributed_amplification: 'ratio inside', rate: 'mean while busy', hidden_bytes: 'hidden', fan_out: 'fan-out', lag_s: 'lag', metadata_events: 'metadata events', set_aside: 'set aside', collective_calls: 'collective calls', alone_calls: 'by one rank', regime_confidence: 'confidence of a regime' };
const glossarySection = () => section('glossary', 'Glossary', 'What the numbers mean',
  h('dl', { class: 'glossary' }, Object.entries(definitions).map(([key, text]) => [h('dt', {}, GLOSSARY_NAMES[key] || key), h('dd', {}, text)])));
