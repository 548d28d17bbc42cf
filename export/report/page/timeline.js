// What each rank did with each file of a layer, and when.

const ROW = 13;
const HEAD = 20;
// Data is drawn over all else: at the scale of a run thousands of closes would hide the writes between them.
const DRAWN = [0, 6, 5, 4, 3, 1, 2];
const KIND_COLOURS = ['use', 'read', 'write', 'flush', 'open', 'close', 'other'];

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

const timelineSection = () => {
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

  // Merged marks cover each other, so reads then have the upper half of a row and writes the lower one.
  const halves = contents.timeline.gap_s > 0;
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
      for (const kind of DRAWN) {
        context.fillStyle = palette[KIND_COLOURS[kind]];
        for (let place = marks.first[row.number]; place < marks.first[row.number + 1]; place += 1) {
          if (marks.kind[place] !== kind) continue;
          const span = spanOf(toTime(marks.start[place]), toTime(marks.end[place]), width, kind < 4 ? 1 : 1.5);
          if (!span) continue;
          // Whole pixels: parts of them would let what lies below shine through.
          const x = Math.floor(span[0]);
          const extent = Math.max(1, Math.round(span[0] + span[1]) - x);
          if (kind === 0) context.fillRect(x, y + 4, extent, ROW - 7);
          else if (halves && kind < 3) context.fillRect(x, y + (kind === 1 ? 1 : ROW / 2), extent, ROW / 2 - 1);
          else if (kind < 4) context.fillRect(x, y + 1, extent, ROW - 2);
          else context.fillRect(x, y + 2, extent, ROW - 5);
        }
      }
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
    for (let number = marks.first[row.number]; number < marks.first[row.number + 1] && lines.length < 7; number += 1) {
      const [from, to] = [toTime(marks.start[number]), toTime(marks.end[number])];
      if (to < start - margin || from > end + margin) continue;
      const what = contents.timeline.kinds[marks.kind[number]];
      const times = marks.count[number] > 1 ? `${countText(marks.count[number])} × ` : '';
      const volume = marks.bytes[number] > 0 ? `, ${bytesText(marks.bytes[number])}` : '';
      lines.push(`${times}${what}: ${secondsText(to - from)}${volume}`);
    }
    return lines;
  };

  const plot = timePlot('I/O timeline by layer, file and rank', height, draw, describe);
  const layers = [...new Set(rows.map((row) => row.layer))];
  const chosen = { layer: '', text: '' };
  const filter = () => {
    const wanted = chosen.text.toLowerCase();
    arrange((row) => (!chosen.layer || row.layer === chosen.layer)
      && (!wanted || `${row.who} ${row.file}`.toLowerCase().includes(wanted)));
    redraw(panels.filter((panel) => panel.element === plot));
  };
  const box = h('div', { class: 'scroll' }, plot);
  const select = h('select', { onchange: (event) => { chosen.layer = event.target.value; filter(); } },
    h('option', { value: '' }, 'all'), layers.map((layer) => h('option', { value: layer }, layer)));
  rowsOf.timeline = ({ layer, file, rank }) => {
    if (layers.includes(layer)) {
      chosen.layer = layer;
      select.value = layer;
      filter();
    }
    const fits = (row) => 2 * (file === row.file) + (rank !== undefined && Number(rank) >= row.first && Number(rank) <= row.last);
    const best = shownRows.filter((entry) => entry.row).reduce((found, entry) => (!found || fits(entry.row) > fits(found.row) ? entry : found), null);
    drawNow([plot]);
    box.scrollTop = best ? Math.max(0, best.y - HEAD - 2) : 0;
    box.scrollIntoView();
  };
  const { by_file: byFile, ranks_a_row: together } = contents.timeline;
  return section('timeline', 'Timeline', 'I/O timeline',
    h('p', {}, byFile ? 'Each row is a rank’s use of a file in a layer.' : together > 1
      ? `Each row is the use of a layer by ${counted(together, 'rank')} that follow each other, over all files.`
      : 'Each row is a rank’s use of a layer, over all files.',
      contents.timeline.gap_s > 0 ? ` Marks closer than ${secondsText(contents.timeline.gap_s)} are drawn as one.` : ''),
    legend(['use', 'handle open'], ['read', 'read'], ['write', 'write'], ['flush', 'flush'], ['open', 'open'], ['close', 'close'], ['other', 'seek, lock, other']),
    h('div', { class: 'legend tools' },
      h('label', {}, 'Layer ', select),
      h('label', {}, 'File or rank ', h('input', { type: 'search', oninput: (event) => { chosen.text = event.target.value; filter(); } }))),
    box, timeAxis());
};
