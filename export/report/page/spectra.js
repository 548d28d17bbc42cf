// The power of each signal by frequency, with what the method took for candidates.

const SPECTRUM = 130;
const shareOfPower = (share) => `${threeDigits(100 * share)} %`;

const spectrumFigure = (content) => {
  const lines = unpacked(content.line);
  const shares = unpacked(content.share);
  const resolution = content.resolution_hz;
  const [lowest, highest] = [resolution * 0.8, resolution * content.lines * 1.05];
  const top = niceTop(Math.max(content.significant, ...shares));
  const xAt = (frequency, width) => 46 + (width - 52) * Math.log(frequency / lowest) / Math.log(highest / lowest);
  const yAt = (share) => 6 + (SPECTRUM - 26) * (1 - share / top);
  const label = `${content.layer} ${content.direction}`;
  const draw = (canvas) => {
    const { context, width } = prepared(canvas, SPECTRUM);
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.fillStyle = palette.muted;
    for (const share of [0, top]) {
      const y = Math.round(yAt(share)) + 0.5;
      drawLine(context, 46, y, width - 6, y);
      context.textAlign = 'right';
      context.fillText(shareOfPower(share), 42, y + 5);
    }
    context.textAlign = 'center';
    let taken = -Infinity;
    for (let power = Math.ceil(Math.log10(lowest)); 10 ** power <= highest; power += 1) {
      for (const factor of [1, 2, 5]) {
        const frequency = factor * 10 ** power;
        const text = frequencyText(frequency);
        const half = context.measureText(text).width / 2;
        const x = xAt(frequency, width);
        if (frequency < lowest || x - half < Math.max(taken, 40) || x + half > width) continue;
        context.fillText(text, x, SPECTRUM - 3);
        context.fillRect(x - 0.5, yAt(0), 1, 4);
        taken = x + half + 14;
      }
    }
    context.setLineDash([5, 4]);
    context.strokeStyle = palette.muted;
    drawLine(context, 46, yAt(content.significant), width - 6, yAt(content.significant));
    context.setLineDash([]);
    context.fillStyle = palette[content.direction];
    lines.forEach((line, place) => {
      const y = yAt(shares[place]);
      context.fillRect(xAt(line * resolution, width) - 0.75, y, 1.5, yAt(0) - y);
    });
    const mark = (frequency, colour, filled) => {
      if (frequency < lowest || frequency > highest) return;
      const x = xAt(frequency, width);
      context.beginPath();
      context.moveTo(x, 9);
      context.lineTo(x - 5, 1);
      context.lineTo(x + 5, 1);
      context.closePath();
      context.fillStyle = colour;
      context.strokeStyle = colour;
      if (filled) context.fill(); else context.stroke();
    };
    content.candidates_hz.forEach((frequency) => mark(frequency, palette.phase, false));
    content.period_hz.forEach((frequency) => mark(frequency, palette.period, true));
    context.textAlign = 'left';
  };
  const canvas = h('canvas', {});
  canvas.style.height = `${SPECTRUM}px`;
  const strongest = shares.indexOf(Math.max(...shares));
  const summary = `strongest line at ${frequencyText(lines[strongest] * resolution)} (${secondsText(1 / (lines[strongest] * resolution))}) with ${shareOfPower(shares[strongest])} of the power`;
  const plot = h('div', { class: 'plot', role: 'img', tabindex: '0', 'aria-label': `Spectrum of ${label}: ${summary}` }, canvas);
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect();
    const x = event.clientX - box.left;
    let best = 0;
    lines.forEach((line, place) => {
      const [old, now] = [lines[best], line].map((value) => Math.abs(xAt(value * resolution, box.width) - x));
      if (now < old || (now < 4 && shares[place] > shares[best])) best = place;
    });
    const frequency = lines[best] * resolution;
    showHint([`${label}: ${frequencyText(frequency)}, a period of ${secondsText(1 / frequency)}`,
      `${shareOfPower(shares[best])} of the power; noise rarely exceeds ${shareOfPower(content.significant)}`], event);
  });
  plot.addEventListener('pointerleave', hideHint);
  register(plot, () => draw(canvas), false);
  return h('figure', {}, h('h3', {}, label), plot, h('figcaption', { title: definitions.fs_hz },
    `${counted(content.samples, 'bin')} at ${frequencyText(content.fs_hz)}; ${summary}`));
};

const spectraSection = () => (contents.spectra.length ? section('spectra', 'Spectra', 'Spectra',
  h('p', {}, 'Share of the power of each frequency, on a logarithmic axis. Dashed: what the strongest line of white noise exceeds in 1 % of cases. Filled mark: the period; open marks: the candidates of the method.'),
  h('div', { class: 'grid' }, contents.spectra.map(spectrumFigure))) : null);
