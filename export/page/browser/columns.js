// The contents of the page: packed columns, and curves with their integrals.

const contents = JSON.parse(document.getElementById('contents').textContent);
const definitions = contents.definitions;
const nameOf = (number) => (number < 0 ? '' : contents.names[number]);

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

const unpacked = (column) => {
  const text = atob(column.data);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  return new ARRAYS[column.type](bytes.buffer);
};

// The last place whose value is at most `wanted`; the values increase.
const placeOf = (values, wanted) => {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= wanted) low = middle; else high = middle - 1;
  }
  return low;
};

class Curve {
  constructor(content) {
    this.layer = content.layer;
    this.direction = content.direction;
    this.verdict = content.verdict;
    this.exact = content.exact;
    this.impulses = content.impulses;
    this.peak = content.peak;
    const { start: begins, end: ends, bytes, total, together } = content.phases;
    this.phases = { start: unpacked(begins), end: unpacked(ends), bytes: unpacked(bytes), total, together };
    this.mean = unpacked(content.mean);
    this.low = content.low ? unpacked(content.low) : this.mean;
    this.high = content.high ? unpacked(content.high) : this.mean;
    const [start, end] = content.window_s;
    if (content.edges) {
      this.edges = unpacked(content.edges);
    } else {
      this.edges = Float64Array.from({ length: content.count + 1 },
        (_, place) => start + (end - start) * place / content.count);
    }
    this.volume = new Float64Array(this.edges.length);
    for (let place = 0; place < this.mean.length; place += 1) {
      this.volume[place + 1] = this.volume[place] + this.mean[place] * (this.edges[place + 1] - this.edges[place]);
    }
  }

  volumeUntil(time) {
    const { edges, mean, volume } = this;
    if (time <= edges[0]) return 0;
    if (time >= edges[edges.length - 1]) return volume[volume.length - 1];
    const place = placeOf(edges, time);
    return volume[place] + mean[place] * (time - edges[place]);
  }

  // Mean, smallest and largest rate from `start` to `end`.
  between(start, end) {
    const { edges } = this;
    const first = Math.min(placeOf(edges, start), this.mean.length - 1);
    let low = Infinity;
    let high = 0;
    for (let place = first; place < this.mean.length && (place === first || edges[place] < end); place += 1) {
      low = Math.min(low, this.low[place]);
      high = Math.max(high, this.high[place]);
    }
    const mean = end > start ? (this.volumeUntil(end) - this.volumeUntil(start)) / (end - start) : 0;
    return { mean, low: Math.min(low, mean), high: Math.max(high, mean) };
  }
}
