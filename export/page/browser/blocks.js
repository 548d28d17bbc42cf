// Blocks: what the sections of every page are made of. A block is data, and `drawn` has a function for each kind.

const drawn = {};
const blocksOf = (blocks = []) => blocks.map((block) => drawn[block.block](block));

// Text is a string, or a list of strings and of parts that are bold, a link, or a link to a time.
const partOf = (part) => {
  if (typeof part === 'string') return part;
  if (part.time) return timeLink(...part.time, part.place || 'bandwidth', part.rows || {}, part.text || rangeText(...part.time));
  return part.href ? h('a', { href: part.href }, part.text) : h('b', {}, part.text);
};
const textOf = (text) => (Array.isArray(text) ? text.map(partOf) : text);
const definitionOf = (about) => definitions[about] || about || '';

drawn.paragraph = ({ text, muted }) => h('p', { class: muted ? 'muted' : null }, textOf(text));
drawn.heading = ({ text, about }) => h('h3', { title: about ? definitionOf(about) : null, class: about ? 'has-title' : null }, text);
drawn.fold = ({ title, blocks, open, about }) => h('details', { open }, h('summary', { title: about ? definitionOf(about) : null }, title), blocksOf(blocks));
drawn.listing = ({ texts }) => h('ol', {}, texts.map((text) => h('li', {}, textOf(text))));
drawn.beside = ({ blocks, wide }) => h('div', { class: wide ? 'two' : 'grid' }, blocksOf(blocks));
drawn.legend = ({ entries }) => legend(...entries.map(([tone, text, about]) => [tone, text, about ? definitionOf(about) : null]));
drawn.definitions = ({ entries }) => h('dl', { class: 'evidence' }, entries.map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]));
drawn.glossary = () => h('dl', { class: 'glossary' }, Object.entries(definitions).map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]));
drawn.notice = ({ tone, sign, about, text, blocks }) => h('div', { class: `notice ${tone}` },
  h('p', {}, sign ? h('span', { class: 'sign', title: about }, sign) : null, textOf(text)), blocksOf(blocks));

// Several ways to show the same, of which one is chosen.
drawn.choice = ({ title, options }) => {
  const place = h('div', {});
  const show = (number) => { place.replaceChildren(...blocksOf(options[number].blocks)); makeReachable(place); };
  const select = h('select', { onchange: (event) => show(Number(event.target.value)) }, options.map((option, number) => h('option', { value: number }, option.title)));
  show(0);
  return [h('p', {}, h('label', {}, `${title} `, select)), place];
};

// A little curve of a run in a table: bytes between 0 and 255.
const sparkline = ({ about, curves }) => svg('svg', { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', class: 'spark', role: 'img', 'aria-label': about },
  svg('title', {}, about), curves.map(({ tone, values }) => {
    const heights = unpacked(values);
    const wide = 1000 / heights.length;
    return svg('path', { class: tone, d: `M0 100${Array.from(heights, (height, place) => `V${(100 - 98 * height / 255).toFixed(1)}H${((place + 1) * wide).toFixed(1)}`).join('')}V100` });
  }));

// Tables: every number with its kind in the cell, and layer, exact value and definition as its hint. A cell is a value, or
// a value with what is said of it; columns say what values are measured in.
const FEW = 5;
const cellOf = (cell) => (cell !== null && typeof cell === 'object' && !Array.isArray(cell) ? cell : { value: cell });
const nameCell = ({ value, href, title, notes }) => (notes
  ? h('th', { scope: 'row', class: 'name stacked', title }, h('span', {}, href ? h('a', { href }, value) : value), notes.map(([tone, text]) => h('div', { class: `muted note of-${tone}`, title: `${tone}: ${text}` }, text)))
  : h('th', { scope: 'row', class: 'name', title }, value));
const tableCell = (column, cell, who) => {
  const { value, said, kind = column.kind, time } = cellOf(cell);
  if (kind === 'spark') return h('td', { 'data-label': column.title, class: 'picture' }, value ? sparkline(value) : DASH);
  const text = time ? partOf({ time }) : written(kind, value);
  const about = column.about && !time ? `${who}: ${said || writtenExactly(kind, value)}. ${definitionOf(column.about)}` : said;
  const name = kind === 'text' ? 'name long' : ['interval', 'range', 'phrase'].includes(kind) || time ? 'long' : null;
  return h('td', { 'data-label': column.title, class: name, title: about }, name ? text : String(text).replaceAll(' ', '\u00a0'));
};
const tableRow = (columns) => ([first, ...rest]) => {
  const name = cellOf(first);
  return h('tr', {}, nameCell(name), rest.map((cell, place) => tableCell(columns[place + 1], cell, name.value)));
};
const headOf = (column, place, inside) => h('th', { scope: 'col', class: place === 0 || column.kind === 'text' ? 'name' : null }, inside || column.title);
const tableOf = (columns, heads, body, more = '') => h('div', { class: 'wide' }, h('table', { class: `${columns.length > FEW ? 'cards' : 'cards few'}${more}` }, h('thead', {}, h('tr', {}, heads)), body));

drawn.table = ({ columns, rows, ranked }) => (ranked ? rankedTable(columns, rows, ranked)
  : tableOf(columns, columns.map((column, place) => headOf(column, place)), h('tbody', {}, rows.map(tableRow(columns)))));

// A table of entries: columns are [title, value, kind, definition], a value is a function of the entry or a path into it.
const valueOf = (entry, value) => (typeof value === 'function' ? value(entry) : value.split('.').reduce((found, name) => (known(found) ? found[name] : null), entry));
const tableFrom = (columns, entries) => (entries.length ? drawn.table({
  columns: columns.map(([title, , kind = 'count', about]) => ({ title, kind, about })), rows: entries.map((entry) => columns.map(([, value]) => valueOf(entry, value))),
}) : null);

// A table that is ordered by any column and searched by name; some rows at a time.
const STEP = 100;
const rankedTable = (columns, rows, noun) => {
  const sorted = columns.map((column, place) => place).filter((place) => columns[place].kind !== 'spark');
  const numbered = rows.map((row, place) => ({ row, place, name: `${cellOf(row[0]).value} ${cellOf(row[0]).title}`.toLowerCase() }));
  const keyOf = (row, place) => {
    const { value, order = value } = cellOf(row[place]);
    return known(order) ? order : -1;
  };
  let [key, down, most, wanted] = [sorted[1], true, STEP, ''];
  const body = h('tbody', {});
  const status = h('span', { role: 'status', class: 'muted' });
  const more = h('button', { type: 'button', class: 'more', onclick: () => { most += STEP; fill(); } }, 'More');
  const by = (place, turned) => { down = turned ? !down : place > 0; key = place; fill(); };
  const heads = columns.map((column, place) => headOf(column, place, sorted.includes(place)
    ? h('button', { type: 'button', class: 'sort', title: `${definitionOf(column.about)} Order by it.`.trim(), onclick: () => by(place, place === key) }, column.title) : null));
  const order = h('select', { onchange: (event) => by(Number(event.target.value)) },
    sorted.map((place) => h('option', { value: place }, columns[place].title)));
  const fill = () => {
    const found = numbered.filter(({ name }) => name.includes(wanted));
    found.sort((one, other) => {
      const [a, b] = [keyOf(one.row, key), keyOf(other.row, key)];
      const before = typeof a === 'string' ? a.localeCompare(b) : a - b;
      return (down ? -before : before) || one.place - other.place;
    });
    body.replaceChildren(...found.slice(0, most).map(({ row }) => tableRow(columns)(row)));
    makeReachable(body.parentElement || body);
    status.textContent = `${countText(Math.min(most, found.length))} of ${counted(found.length, noun)} shown`;
    more.hidden = most >= found.length;
    heads.forEach((head, place) => head.setAttribute('aria-sort', place === key ? (down ? 'descending' : 'ascending') : 'none'));
    order.value = key;
  };
  fill();
  return [h('p', { class: 'tools' }, h('label', {}, 'Order: ', order), ' ',
    h('label', {}, 'Name: ', h('input', { type: 'search', oninput: (event) => { wanted = event.target.value.toLowerCase(); most = STEP; fill(); } })), ' ', status),
  tableOf(columns, heads, body, ' close'), more];
};
