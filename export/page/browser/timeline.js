// What each rank did with each file of a layer, and when.

const ROW = 13;
const HEAD = 20;
const KIND_COLOURS = ['use', 'read', 'write', 'flush', 'open', 'close', 'other', 'io'];
const FLUSH = KIND_COLOURS.indexOf('flush');

// The kinds of marks in each column of pixels of a row. Those in one column share its height, so that none hides another;
// beside transfers and flushes all else is a stripe: at the scale of a run there are thousands of closes between writes.
const STRIPE = 1;
class KindColumns {
  constructor(width) { this.kinds = new Uint8Array(Math.ceil(width)); }

  add(kind, [x, extent]) {
    const first = Math.floor(x);
    const last = Math.max(first + 1, Math.round(x + extent));
    for (let column = first; column < last; column += 1) this.kinds[column] |= 1 << kind;
  }

  draw(context, top, height) {
    const { kinds } = this;
    const shapes = KIND_COLOURS.map(() => []);
    for (let first = 0, next = 0; first < kinds.length; first = next) {
      for (next = first + 1; next < kinds.length && kinds[next] === kinds[first]; next += 1);
      const present = KIND_COLOURS.map((_, kind) => kind).filter((kind) => kinds[first] & (1 << kind));
      const data = present.filter((kind) => kind <= FLUSH).length;
      const rest = present.length - data;
      const shared = data ? (height - STRIPE * rest) / data : height / rest;
      let y = 0;
      for (const kind of present) {
        const below = y + (data && kind > FLUSH ? STRIPE : shared);
        shapes[kind].push([first, top + Math.round(y), next - first, Math.round(below) - Math.round(y)]);
        y = below;
      }
    }
    shapes.forEach((rectangles, kind) => {
      if (!rectangles.length) return;
      context.fillStyle = palette[KIND_COLOURS[kind]];
      fillTogether(context, rectangles);
    });
  }
}

const timelineRows = () => {
  const { rows } = contents.timeline;
  return rows.layer.map((layer, number) => ({
    number,
    layer: nameOf(layer),
    file: !contents.timeline.by_file ? 'all files' : rows.file[number] < 0 ? '(no file)' : nameOf(rows.file[number]),
    group: `${layer} ${rows.file[number]}`,
    who: rows.rank[number] < 0 ? 'no rank' : rows.rank[number] === rows.last_rank[number] ? `rank ${rows.rank[number]}` : `${rows.rank[number]}–${rows.last_rank[number]}`,
    first: rows.rank[number],
    last: rows.last_rank[number],
    operations: rows.operations[number],
    bytes: rows.bytes[number],
  }));
};

const timelineMarks = (count) => {
  const packed = contents.timeline.marks;
  const columns = Object.fromEntries(Object.keys(packed).map((name) => [name, unpacked(packed[name])]));
  const first = new Uint32Array(count + 1);
  columns.row.forEach((row) => { first[row + 1] += 1; });
  for (let row = 0; row < count; row += 1) first[row + 1] += first[row];
  return { ...columns, first };
};

drawn.timeline = () => {
  if (!contents.timeline) return null;
  const rows = timelineRows();
  if (!rows.length) return null;
  const marks = timelineMarks(rows.length);
  const toTime = (value) => RUN_START + value / 4294967295 * (RUN_END - RUN_START);
  let shownRows = [];
  let height = 0;
  const arrange = (accept) => {
    let y = 2;
    let group = null;
    shownRows = [];
    for (const row of rows) {
      if (!accept(row)) continue;
      if (row.group !== group) {
        shownRows.push({ y, head: row });
        y += HEAD;
        group = row.group;
      }
      shownRows.push({ y, row });
      y += ROW;
    }
    height = Math.max(y + 4, 30);
  };
  arrange(() => true);

  const draw = (canvas) => {
    const { context, width } = prepared(canvas, height);
    const left = gutter(width);
    for (const { y, head, row } of shownRows) {
      if (head) {
        context.font = `600 ${FONT}`;
        context.fillStyle = palette.text;
        context.fillText(fitted(context, `${head.layer}  ${head.file}`, width - 4), 2, y + 15);
        context.font = FONT;
        continue;
      }
      context.fillStyle = palette.muted;
      context.textAlign = 'right';
      context.fillText(row.who, left - 6, y + ROW - 3);
      context.textAlign = 'left';
      const columns = new KindColumns(width);
      context.fillStyle = palette.use;
      for (let place = marks.first[row.number]; place < marks.first[row.number + 1]; place += 1) {
        const span = spanOf(toTime(marks.start[place]), toTime(marks.end[place]), width, 1);
        if (span && marks.kind[place]) columns.add(marks.kind[place], span);
        else if (span) context.fillRect(Math.floor(span[0]), y + 4, Math.max(1, Math.round(span[0] + span[1]) - Math.floor(span[0])), ROW - 7);
      }
      columns.draw(context, y + 1, ROW - 2);
    }
    if (!shownRows.length) { context.fillStyle = palette.muted; context.fillText('no row matches', 4, 18); }
  };

  const describe = (start, end, y) => {
    const place = shownRows.find((entry) => entry.row && y >= entry.y && y < entry.y + ROW);
    if (!place) {
      const over = shownRows.find((entry) => entry.head && y >= entry.y && y < entry.y + HEAD);
      return over ? [over.head.layer, over.head.file] : [timeText((start + end) / 2, view.end - view.start)];
    }
    const { row } = place;
    const margin = (end - start) * 1.5;
    const lines = [`${row.layer}, ${row.who}, ${row.file}`,
      `at ${timeText((start + end) / 2, view.end - view.start)}; whole run: ${counted(row.operations, 'operation')}, ${bytesText(row.bytes)}`];
    const found = new Map();
    for (let number = marks.first[row.number]; number < marks.first[row.number + 1]; number += 1) {
      const [from, to] = [toTime(marks.start[number]), toTime(marks.end[number])];
      if (to < start - margin || from > end + margin) continue;
      const so = found.get(marks.kind[number]) || { from, to, count: 0, bytes: 0 };
      found.set(marks.kind[number], { from: Math.min(so.from, from), to: Math.max(so.to, to), count: so.count + marks.count[number], bytes: so.bytes + marks.bytes[number] });
    }
    for (const [kind, { from, to, count, bytes }] of found) {
      const times = count > 1 ? `${countText(count)} × ` : '';
      lines.push(`${times}${contents.timeline.kinds[kind]}: ${count > 1 ? 'within ' : ''}${secondsText(to - from)}${bytes > 0 ? `, ${bytesText(bytes)}` : ''}`);
    }
    return lines;
  };

  const plot = timePlot('I/O timeline by layer, file and rank', height, draw, describe);
  const layers = layersShown();
  const chosen = { layers: layers, text: '' };
  const filter = () => {
    const wanted = chosen.text.toLowerCase();
    arrange((row) => chosen.layers.includes(row.layer)
      && (!wanted || `${row.who} ${row.file}`.toLowerCase().includes(wanted)));
    redraw(panels.filter((panel) => panel.element === plot));
  };
  const box = h('div', { class: 'scroll' }, plot);
  const select = h('select', { onchange: (event) => { chosen.layers = event.target.value ? event.target.value.split(',') : layers; filter(); } },
    h('option', { value: '' }, 'all'), layers.map((layer) => h('option', { value: layer }, layer)));
  rowsOf.timeline = ({ layer = '', file, rank }) => {
    const wanted = layers.filter((one) => layer.split(',').includes(one));
    if (wanted.length) {
      chosen.layers = wanted;
      const value = wanted.join(',');
      if (![...select.options].some((option) => option.value === value)) select.append(h('option', { value }, wanted.join(', ')));
      select.value = value;
      filter();
    }
    const fits = (row) => 2 * (file === row.file) + (rank !== undefined && Number(rank) >= row.first && Number(rank) <= row.last);
    const best = shownRows.filter((entry) => entry.row).reduce((found, entry) => (!found || fits(entry.row) > fits(found.row) ? entry : found), null);
    drawNow([plot]);
    box.scrollTop = best ? Math.max(0, best.y - HEAD - 2) : 0;
  };
  const { by_file: byFile, ranks_a_row: together } = contents.timeline;
  return [
    h('p', {}, byFile ? 'Each row is a rank’s use of a file in a layer.' : together > 1
      ? `Each row is the use of a layer by ${counted(together, 'rank')} that follow each other, over all files.`
      : 'Each row is a rank’s use of a layer, over all files.',
      ' Kinds that fall on one place share the height of the row.',
      contents.timeline.gap_s > 0 ? ` Marks of a kind closer than ${secondsText(contents.timeline.gap_s)} are drawn as one.` : ''),
    legend(['use', 'handle open'], ['read', 'read'], ['write', 'write'], ['flush', 'flush'], ['open', 'open'], ['close', 'close'], ['other', 'seek, lock, other']),
    h('div', { class: 'legend tools' },
      h('label', {}, 'Layer ', select),
      h('label', {}, 'File or rank ', h('input', { type: 'search', oninput: (event) => { chosen.text = event.target.value; filter(); } }))),
    box, timeAxis()];
};
