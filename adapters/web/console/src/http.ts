// The only place that talks to the server.
export type Problem = { status: number; code?: string; detail: string; field?: string; request?: string; method?: string; path?: string };
export type Answer = { status: number; text: string; data: any; etag: string | null; type: string };
export type Ask = { method: string; path: string; query?: [string, string][]; headers?: Record<string, string>; body?: string | FormData; type?: string; wait?: number };

/** Where the control plane is and how we prove who asks. An access key is held here and nowhere else. */
const plane = { base: '', key: '' };
export const connect = (base: string, key: string) => { plane.base = base; plane.key = key; };
export const elsewhere = () => plane.base;
export const byKey = () => plane.key !== '';
/** Origins of other control planes that the policy of this page lets us call. */
export const servers = (document.querySelector('meta[name=servers]') as HTMLMetaElement | null)?.content.split(' ').filter(Boolean) ?? [];

type Event = 'lost' | 'away' | 'back';
const listeners = new Set<(e: Event) => void>();
export const listen = (f: (e: Event) => void) => { listeners.add(f); return () => { listeners.delete(f); }; };
const tell = (e: Event) => listeners.forEach(f => f(e));

const cookie = (name: string) => document.cookie.split('; ').find(c => c.startsWith(name + '='))?.slice(name.length + 1) ?? '';
const patience = 20_000;
let away = false;

export function address(a: Ask): string {
  const q = new URLSearchParams(a.query);
  return plane.base + a.path + (q.size ? '?' + q : '');
}

/** Carries out one call. It ends: with an answer, or with a problem that says what to do. */
export async function send(a: Ask): Promise<Answer> {
  const headers = new Headers(a.headers);
  headers.set('accept', headers.get('accept') ?? 'application/json;q=0.9, application/problem+json, */*;q=0.1');
  if (plane.key) headers.set('authorization', plane.key);
  else if (a.method !== 'GET') headers.set('x-csrf-token', cookie('csrf_token'));
  if (typeof a.body === 'string') headers.set('content-type', a.type ?? 'application/json');
  let r: Response, text: string;
  const where = { method: a.method, path: a.path };
  try {
    r = await fetch(address(a), { method: a.method, headers, body: a.body, credentials: plane.base ? 'omit' : 'same-origin', cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(a.wait ?? patience) });
    text = await r.text();
  } catch (e) {
    if ((e as Error).name === 'TimeoutError') throw { ...where, status: 0, detail: `The server did not answer within ${(a.wait ?? patience) / 1000} seconds. Whether it has done what you asked is not known: look before you try again.` } as Problem;
    if (!away) { away = true; tell('away'); knock(); }
    throw { ...where, status: 0, detail: 'The server cannot be reached. The console tries again by itself.' } as Problem;
  }
  let data: any = null;
  try { data = text ? JSON.parse(text) : null; } catch { data = text; }
  if (r.ok) return { status: r.status, text, data, etag: r.headers.get('etag'), type: r.headers.get('content-type') ?? '' };
  const detail = data?.detail ?? data?.Message ?? data?.message ?? (typeof data === 'string' && data.length < 300 && data || `${r.status} ${r.statusText}`);
  if (r.status === 401 && data?.code !== 'login.credentials' && a.path !== '/login' && data?.code?.startsWith?.('auth.') !== false) tell('lost');
  throw { ...where, status: r.status, code: data?.code, field: data?.field, detail: String(detail), request: data?.request_id ?? r.headers.get('x-request-id') ?? undefined } as Problem;
}

/** Asks every few seconds whether the server is there again. */
async function knock() {
  for (;;) {
    await new Promise(r => setTimeout(r, 2000));
    try {
      await fetch(plane.base + '/hello', { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(5000) });
      away = false;
      return tell('back');
    } catch { /* not yet */ }
  }
}

const quote = (s: string) => `'${s.replace(/'/g, `'\\''`)}'`;

/** The call as a command. The key is a placeholder: commands end up in chats. */
export function curl(a: Ask): string {
  const lines = [`curl -X ${a.method} ${quote(new URL(address(a), location.href).href)}`, `-H "authorization: $GATEHOUSE_KEY"`];
  for (const [k, v] of Object.entries(a.headers ?? {})) lines.push('-H ' + quote(`${k}: ${v}`));
  if (typeof a.body === 'string') lines.push(`-H 'content-type: ${a.type ?? 'application/json'}'`, '--data-binary ' + quote(a.body));
  return lines.join(' \\\n  ');
}
