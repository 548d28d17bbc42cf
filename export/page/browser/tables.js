// What each layer did, node by node, and what is lost: tables of the documents that the commands write, too.

const muted = (text) => h('p', { class: 'muted' }, text);
const whoOf = (entry) => `${entry.layer} ${entry.direction}`;
const share = (part, whole) => (whole > 0 && known(part) ? part / whole : null);
const within = (value, operations) => (entry) => ({ value: entry[value], said: known(entry[value]) ? `${exactBytes(entry[value])} in ${counted(entry[operations], 'operation')}` : null });

// What the columns of a metric have more to say of than its value.
const METRIC_CELLS = {
  busy_s: (entry) => ({ value: entry.busy_s, said: known(entry.busy_s) ? `${exactNumber(entry.busy_s)} s, ${shareText(entry.busy_s, RUN_END - RUN_START)} of the time` : null }),
  own_bytes: (entry) => ({ ...within('own_bytes', 'own_operations')(entry), value: share(entry.own_bytes, entry.bytes) }),
};
const metricColumn = ({ key, title, kind, about }) => [title, METRIC_CELLS[key] || key, kind, about];

drawn.layers = () => {
  const { layers, flushes, set_aside: aside } = contents.layers;
  if (!layers.length && !flushes.length && !aside.operations) return null;
  return [h('p', {}, 'The highest layer first. A lower layer repeats the bytes of the layers above it: never add layers up.'),
    tableFrom([['Layer', whoOf, 'text'], ...contents.metrics.map(metricColumn)], layers) || h('p', {}, 'No transfers on the selected files.'),
    flushes.length ? muted(`Flushes: ${flushes.map((entry) => `${entry.layer} ${countText(entry.operations)}, busy for ${secondsText(entry.busy_s)}`).join('; ')}.`) : null,
    contents.cut.layers ? muted(`${countText(layers.length)} of ${countText(contents.cut.layers)} layers and directions are shown.`) : null,
    aside.operations ? h('details', {}, h('summary', { title: definitionOf('set aside') }, `Set aside: ${counted(aside.operations, 'operation')} with ${bytesText(aside.bytes)} on ${counted(aside.files, 'file')}`),
      tableFrom([['Reason', '0', 'text'], ['Operations', '1', 'count', 'set aside']], Object.entries(aside.reasons).sort((one, other) => other[1] - one[1]))) : null];
};

drawn.nodes = () => {
  const { nodes, columns, total, calls } = contents.nodes;
  if (!nodes.length || !(columns.length || calls.length)) return null;
  return [total > nodes.length ? h('p', {}, `${countText(nodes.length)} of ${countText(total)} nodes are shown.`) : null,
    tableFrom([['Node', ([, node]) => [...node.path, node.name].map(nameOf).join(' / '), 'text'], ['Ranks', '1.ranks', 'count', 'Ranks of the run on this node.'],
      ...columns.map((column) => [whoOf(column), ([row]) => column.bytes[row], 'bytes', 'bytes']),
      ...calls.map((one) => [`${one.lower} calls in ${one.upper}`, ([row]) => one.calls[row], 'count', 'calls in calls'])], [...nodes.entries()])];
};

drawn.damage = () => {
  const { damage } = contents.layers;
  if (!damage.damaged) return null;
  return [h('p', {}, `${counted(damage.events_read, 'event')} of ${countText(damage.events_expected)} were read. All numbers cover what could be read.`),
    tableFrom([['Location', (place) => (known(place.location) ? String(place.location) : DASH), 'text'], ['Expected', 'events_expected', 'count', 'Events that the definitions promise.'],
      ['Read', 'events_read', 'count', 'Events that could be read.'], ['Why', 'reason', 'text']], damage.locations),
    contents.cut.damaged_locations ? h('p', {}, `and ${countText(contents.cut.damaged_locations - damage.locations.length)} more locations`) : null];
};
