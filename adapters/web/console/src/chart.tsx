import { useEffect, useRef, useState } from 'preact/hooks';

export type Series = { name: string; style: string; values: number[] };
const height = 190, left = 52, right = 8, top = 10, foot = 24, lines = 4, between = 90;
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A round number that is not below n: 1, 2, 2.5 or 5 times a power of ten. */
export function round(n: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1e-9))), f = n / power;
  return (f <= 1 ? 1 : f <= 2 ? 2 : f <= 2.5 ? 2.5 : f <= 5 ? 5 : 10) * power;
}

/** Bars on top of one another, or lines, over time. What it shows stands in a table beside it as well. */
export function Chart({ title, labels, series, bars }: { title: string; labels: string[]; series: Series[]; bars?: boolean }) {
  const at = useRef<HTMLElement>(null), [width, setWidth] = useState(600), n = labels.length;
  useEffect(() => { const o = new ResizeObserver(([e]) => setWidth(Math.max(240, Math.floor(e.contentRect.width)))); o.observe(at.current!); return () => o.disconnect(); }, []);
  const sums = labels.map((_, i) => bars ? series.reduce((s, x) => s + x.values[i], 0) : Math.max(0, ...series.map(x => x.values[i]))), most = round(Math.max(1, ...sums));
  const inner = width - left - right, deep = height - top - foot, step = inner / Math.max(1, n), y = (v: number) => top + deep * (1 - v / most), x = (i: number) => left + step * (i + .5), every = Math.ceil(n / Math.max(1, Math.floor(inner / between)));
  return <figure class="chart" ref={at}><figcaption><span>{title}</span>{series.map(s => <span key={s.name} class={'key ' + s.style}>{s.name}</span>)}</figcaption>
    <svg role="img" aria-label={`${title}: the table has the same numbers.`} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      {Array.from({ length: lines + 1 }, (_, i) => most * i / lines).map(v => <g key={v}><line class="grid" x1={left} x2={width - right} y1={y(v)} y2={y(v)} /><text x={left - 8} y={y(v) + 4} text-anchor="end">{compact.format(v)}</text></g>)}
      {bars ? labels.map((l, i) => { let under = 0; return <g key={i}><title>{`${l}: ${series.map(s => `${s.values[i].toLocaleString('en')} ${s.name}`).join(', ')}`}</title>{series.map(s => { const from = under; under += s.values[i]; return <rect key={s.name} class={s.style} x={x(i) - step * .36} width={Math.max(1, step * .72)} y={y(under)} height={Math.max(0, y(from) - y(under))} />; })}</g>; })
        : series.map(s => <g key={s.name} class={s.style}><polyline points={s.values.map((v, i) => `${x(i)},${y(v)}`).join(' ')} />{n <= 62 && s.values.map((v, i) => <circle key={i} cx={x(i)} cy={y(v)} r={3}><title>{`${labels[i]}: ${Math.round(v)} ms ${s.name}`}</title></circle>)}</g>)}
      {labels.map((l, i) => i % every === 0 && <text key={i} x={x(i)} y={height - 6} text-anchor="middle">{l}</text>)}
    </svg></figure>;
}
