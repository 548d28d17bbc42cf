// Ranks × time: who moved bytes when, a map for each layer and direction.

drawn.heat = () => {
  const { first_rank: firstRank, bins, maps, ranks } = contents.heat;
  const rows = firstRank.length;
  if (!maps.length) return null;
  const together = rows > 1 ? firstRank[1] - firstRank[0] : 1;
  const ROW_HEIGHT = Math.max(1, Math.min(14, 112 / rows));
  const [before, after] = [4, 8];
  const height = Math.ceil(before + rows * ROW_HEIGHT + after);
  const binLength = (RUN_END - RUN_START) / bins;
  return [
    h('p', {}, `Bytes of each rank in each of ${countText(bins)} stretches of ${secondsText(binLength)}; the stronger the colour the more, on a logarithmic scale over four powers of ten. `,
      together > 1 ? `Each line is ${counted(together, 'rank')}. ` : '', 'Where a lower layer has fewer lines than the one above it, few ranks do the work of many.'),
    maps.map((map) => {
      const cells = unpacked(map.cells);
      const value = (step) => (step ? map.smallest * (map.largest / map.smallest) ** ((step - 1) / 65534) : 0);
      // Four powers of ten below the largest cell can be distinguished; anything less is as light as the least.
      const shade = (step) => Math.max(0.25, 1 + 0.75 * Math.log10(value(step) / map.largest) / 4);
      const active = new Set();
      for (let row = 0; row < rows; row += 1) if (cells.subarray(row * bins, (row + 1) * bins).some((cell) => cell > 0)) active.add(row);
      const label = `${map.layer} ${map.direction}`;
      const draw = (canvas) => {
        const { context, width } = prepared(canvas, height);
        const left = gutter(width);
        context.fillStyle = palette.panel;
        context.fillRect(left, before, width - left, rows * ROW_HEIGHT);
        const [full, none] = [palette[map.direction], palette.panel];
        const [from, to] = [Math.max(0, Math.floor((view.start - RUN_START) / binLength)), Math.min(bins, Math.ceil((view.end - RUN_START) / binLength))];
        for (let row = 0; row < rows; row += 1) {
          for (let bin = from; bin < to; bin += 1) {
            const step = cells[row * bins + bin];
            if (!step) continue;
            // Whole pixels, and a little of them below the next cell: where edges meet, what lies below shines through.
            const x = Math.round(Math.max(left, xOf(RUN_START + bin * binLength, width)));
            const end = Math.round(Math.min(width, xOf(RUN_START + (bin + 1) * binLength, width)));
            const more = bin + 1 < to && cells[row * bins + bin + 1] ? 0.5 : 0;
            context.fillStyle = `color-mix(in srgb, ${full} ${Math.round(100 * shade(step))}%, ${none})`;
            context.fillRect(x, before + row * ROW_HEIGHT, Math.max(1, end - x) + more, Math.max(0.75, ROW_HEIGHT - (ROW_HEIGHT > 4 ? 1 : 0)));
          }
        }
        context.fillStyle = palette.muted;
        context.textAlign = 'right';
        const step = Math.max(1, Math.ceil(14 / ROW_HEIGHT));
        for (let row = 0; row < rows; row += 1) {
          if (row % step) continue;
          context.fillText(`rank ${firstRank[row]}`, left - 6, before + row * ROW_HEIGHT + Math.max(ROW_HEIGHT - 3, 10));
        }
        context.textAlign = 'left';
      };
      const describe = (start, end, y) => {
        const row = Math.min(rows - 1, Math.max(0, Math.floor((y - before) / ROW_HEIGHT)));
        const bin = Math.min(bins - 1, Math.max(0, Math.floor(((start + end) / 2 - RUN_START) / binLength)));
        const from = RUN_START + bin * binLength;
        const last = Math.min(ranks, firstRank[row] + together) - 1;
        return [`${label}, ${together > 1 ? `ranks ${firstRank[row]} to ${last}` : `rank ${firstRank[row]}`}`,
          `${bytesText(value(cells[row * bins + bin]))} from ${timeText(from, view.end - view.start)} on, in ${secondsText(binLength)}`];
      };
      return h('div', { class: 'panel' },
        h('div', { class: 'panel-head' }, h('h3', {}, label), h('span', { class: 'muted' },
          `${countText(active.size)} of ${counted(rows, together > 1 ? 'group' : 'rank')} active; at most ${bytesText(map.largest)} a cell`)),
        timePlot(`Bytes by rank and time of ${label}`, height, draw, describe));
    }), timeAxis()];
};
