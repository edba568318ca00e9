import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Problem } from './http';
import { Operation, call, may, needs } from './spec';

/** Time that a person waits before we say that we wait. */
export function Loading({ what }: { what: string }) {
  const [slow, set] = useState(false);
  useEffect(() => { const t = setTimeout(() => set(true), 4000); return () => clearTimeout(t); }, []);
  return <p role="status" class="loading">{slow ? `Still loading ${what}. The server is slow; this ends by itself.` : `Loading ${what}…`}</p>;
}

/** What went wrong, where, and what to do. */
export function Trouble({ p, op, retry }: { p: Problem | undefined; op?: Operation; retry?: () => void }) {
  if (!p) return null;
  const denied = p.status === 403 && op && !may(op) && p.code !== 'auth.password';
  return <div role="alert" class="trouble">
    <strong>{denied ? `You may not do this: it needs ${needs(op)}.` : p.detail}</strong>
    {denied ? <p>Ask an admin of your organisation for it. The server says: {p.detail}</p> : p.field && <p>The trouble is at <code>{p.field}</code>.</p>}
    {(p.status > 0 || p.path) && <p class="soft">{p.method} {p.path}{p.status > 0 && ` · ${p.status}`}{p.code && ` · ${p.code}`}{p.request && <> · request <code>{p.request}</code></>}</p>}
    {retry && <button type="button" onClick={retry}>Try again</button>}
  </div>;
}

/** A page or an action that the caller may not have, and what it takes. */
export const Denied = ({ op }: { op: Operation }) => <div class="trouble" role="alert"><strong>You may not do this: it needs {needs(op)}.</strong><p>Ask an admin of your organisation for it.</p></div>;

/** A dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
  const at = useRef<HTMLDialogElement>(null), id = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    at.current!.showModal();
    return () => { at.current?.close(); before?.focus?.(); };
  }, []);
  return <dialog ref={at} aria-labelledby={id} class={wide ? 'wide' : ''} onCancel={e => { e.preventDefault(); close(); }}>
    <header><h2 id={id}>{title}</h2><button type="button" class="quiet" aria-label="Close" onClick={close}>✕</button></header>
    {children}
  </dialog>;
}

let announce: (s: string) => void = () => {};
/** Says something to those who see and to those who listen. */
export const say = (s: string) => announce(s);
export function Voice() {
  const [s, set] = useState('');
  useEffect(() => { announce = set; }, []);
  useEffect(() => { if (!s) return; const t = setTimeout(() => set(''), 6000); return () => clearTimeout(t); }, [s]);
  return <div class={s ? 'voice said' : 'voice'} role="status" aria-live="polite">{s}</div>;
}

export async function copy(text: string, what: string) {
  try { await navigator.clipboard.writeText(text); say(`${what} is in the clipboard.`); } catch { say('The browser does not let the console write to the clipboard.'); }
}

export function download(name: string, text: string, type = 'application/json') {
  const a = document.createElement('a'), url = URL.createObjectURL(new Blob([text], { type }));
  a.href = url;
  a.download = name.replace(/[^\w.-]+/g, '-');
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** What people choose about looks, and nothing else, is kept in the browser. */
export function useChoice(name: string, initial: string): [string, (v: string) => void] {
  const key = 'gatehouse.' + name, [v, set] = useState(() => { try { return localStorage.getItem(key) ?? initial; } catch { return initial; } });
  return [v, (n: string) => { set(n); try { localStorage.setItem(key, n); } catch { /* only for this page then */ } }];
}

let zone = 'local';
export const setZone = (z: string) => { zone = z; };
export const zoneName = () => zone === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
export const isTime = (v: unknown): v is string => typeof v === 'string' && iso.test(v);
export function Time({ at }: { at: string | number }) {
  const d = new Date(typeof at === 'number' ? at * 1000 : at);
  if (isNaN(+d) || d.getUTCFullYear() < 1971) return <span class="soft">never</span>;
  return <time dateTime={d.toISOString()} title={d.toISOString()}>{d.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone === 'UTC' ? 'UTC' : undefined })}</time>;
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400], ['hour', 3600], ['minute', 60]];
export function ago(seconds: number): string {
  const s = Date.now() / 1000 - seconds, f = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [u, n] of units) if (s >= n) return f.format(-Math.floor(s / n), u);
  return 'just now';
}

/** One value in a table or a read view. */
export function Value({ v, long }: { v: any; long?: boolean }) {
  if (v === null || v === undefined || v === '') return <span class="soft" aria-label="empty">—</span>;
  if (typeof v === 'boolean') return <span class={v ? 'badge yes' : 'badge'}>{v ? 'yes' : 'no'}</span>;
  if (isTime(v)) return <Time at={v} />;
  if (Array.isArray(v)) {
    if (!v.length) return <span class="soft">none</span>;
    if (v.every(x => typeof x !== 'object')) return <span class="tags">{v.slice(0, long ? 100 : 4).map((x, i) => <span key={i} class="badge">{String(x)}</span>)}{v.length > (long ? 100 : 4) && <span class="soft"> and {v.length - (long ? 100 : 4)} more</span>}</span>;
    return <span class="soft">{v.length} {v.length === 1 ? 'item' : 'items'}</span>;
  }
  if (typeof v === 'object') { const n = Object.keys(v).length; return <span class="soft">{n ? `${n} ${n === 1 ? 'member' : 'members'}` : 'none'}</span>; }
  const s = String(v);
  return <span class="value">{!long && s.length > 120 ? s.slice(0, 120) + '…' : s}</span>;
}

export const label = (n: string) => n === '_id' ? 'Database ID' : n.replace(/^x-/, '').replace(/^_/, '').replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ').replace(/^./, c => c.toUpperCase()).replace(/\b(Id|Url|Uri|Api|Apis|Jwt|Jwks|Oauth|Idp|Cors|Ip|Tls|Mtls|Graphql|Hmac)\b/gi, w => ({ id: 'ID', url: 'URL', uri: 'URI', api: 'API', apis: 'APIs', jwt: 'JWT', jwks: 'JWKS', oauth: 'OAuth', idp: 'IdP', cors: 'CORS', ip: 'IP', tls: 'TLS', mtls: 'mTLS', graphql: 'GraphQL', hmac: 'HMAC' } as Record<string, string>)[w.toLowerCase()]);

/** The answer of an operation, asked anew when values change. Without an operation nothing is asked. */
export function useAnswer(op: Operation | undefined, values: Record<string, string>, told?: (data: any) => void): { data: any; fault?: Problem; again: () => void } {
  const [data, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0);
  useEffect(() => {
    if (!op) return;
    let gone = false;
    const t = setTimeout(() => { setFault(undefined); call(op, values).then(a => { if (!gone) { set(a.data); told?.(a.data); } }, e => { if (!gone) { set(undefined); setFault(e); } }); }, data === undefined ? 0 : 150);
    return () => { gone = true; clearTimeout(t); };
  }, [op?.id, JSON.stringify(values), round]);
  return { data, fault, again: () => again(n => n + 1) };
}

/** A secret that no later answer has. */
export function Once({ title, what, secret, close, children }: { title: string; what: string; secret: string; close: () => void; children?: ComponentChildren }) {
  return <Dialog title={title} close={close}><p>{what} is shown now and never again. Copy it to where it belongs.</p><p><code class="once">{secret}</code></p>{children}
    <div class="actions"><button type="button" class="primary" autoFocus onClick={() => copy(secret, what)}>Copy</button><button type="button" onClick={close}>I have it</button></div></Dialog>;
}

const without = -1;
/** A limit as people read it: so many in a time. */
export const amount = (n: any, seconds: any, of = '') => n === undefined || n === null || !n && !seconds ? '—' : Number(n) === without ? 'unlimited' : `${n} ${of}in ${seconds} s`;
/** A title as it stands in the middle of a sentence. */
export const midway = (title: string) => title.replace(/^[A-Z](?=[a-z])/, c => c.toLowerCase());

/** A name, and the way to what it names where the caller may go there. */
export const Known = ({ at, children }: { at: string | undefined; children: ComponentChildren }) => at ? <a href={at}>{children}</a> : <strong>{children}</strong>;
