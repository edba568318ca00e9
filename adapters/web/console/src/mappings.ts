// What the page of the registry knows about mappings, without anything on a page.

export type Mapping = { scope_to_policy?: Record<string, string> | null };
export type Mappings = Record<string, Mapping>;
/** Names by identifier. */
export type Names = Map<string, string>;

/** The rows of a list by each of their identifiers. */
export function names(rows: any[], keys: string[]): Names {
  const out: Names = new Map();
  for (const row of rows) { const r = row?.api_definition ?? row; for (const k of keys) if (r?.[k]) out.set(String(r[k]), String(r.name ?? r[k])); }
  return out;
}

const has = (o: object, k: string) => Object.prototype.hasOwnProperty.call(o, k);

/** All scopes of some mappings, in the order in which they come. */
export function scopesOf(all: Mappings): string[] {
  const out = new Set<string>();
  for (const m of Object.values(all)) for (const s of Object.keys(m.scope_to_policy ?? {})) out.add(s);
  return [...out];
}

/** Scopes that most mapped APIs have and an API has not: often somebody forgot it there. */
export function gaps(all: Mappings): Map<string, string[]> {
  const count = new Map<string, number>(), rows = Object.entries(all), out = new Map<string, string[]>();
  for (const [, m] of rows) for (const s of Object.keys(m.scope_to_policy ?? {})) count.set(s, (count.get(s) ?? 0) + 1);
  for (const [api, m] of rows) {
    const lacks = [...count].filter(([s, n]) => n * 2 > rows.length && !has(m.scope_to_policy ?? {}, s)).map(([s]) => s);
    if (lacks.length) out.set(api, lacks);
  }
  return out;
}

/** The merge patch (RFC 7396) that makes one table of mappings the other. */
export function patchBetween(before: Mappings, after: Mappings): Record<string, any> {
  const out: Record<string, any> = Object.create(null);
  for (const api of Object.keys(before)) if (!has(after, api)) out[api] = null;
  for (const [api, m] of Object.entries(after)) {
    const old = has(before, api) ? before[api].scope_to_policy ?? {} : undefined, now = m.scope_to_policy ?? {}, scopes: Record<string, string | null> = Object.create(null);
    for (const s of Object.keys(old ?? {})) if (!has(now, s)) scopes[s] = null;
    for (const [s, p] of Object.entries(now)) if (!old || !has(old, s) || old[s] !== p) scopes[s] = p;
    if (!old || Object.keys(scopes).length) out[api] = { scope_to_policy: scopes };
  }
  return out;
}

/** A table with a merge patch applied. */
export function applied(before: Mappings, patch: Record<string, any>): Mappings {
  const out: Mappings = { ...before };
  for (const [api, m] of Object.entries(patch)) {
    if (m === null) { delete out[api]; continue; }
    const scopes = { ...out[api]?.scope_to_policy };
    for (const [s, p] of Object.entries<string | null>(m.scope_to_policy ?? {})) if (p === null || p === '') delete scopes[s]; else scopes[s] = p;
    out[api] = { scope_to_policy: scopes };
  }
  return out;
}

const most = 20_000;

/** Reads lines of API, scope and policy. */
export function parsePaste(text: string): { mappings: Record<string, any>; lines: { api: string; scope: string; policy: string }[]; wrong: { line: number; why: string }[] } {
  const mappings: Record<string, any> = Object.create(null), lines: { api: string; scope: string; policy: string }[] = [], wrong: { line: number; why: string }[] = [];
  text.split(/\r?\n/).forEach((row, i) => {
    if (!row.trim()) return;
    if (lines.length >= most) { if (wrong.length === 0) wrong.push({ line: i + 1, why: `more than ${most} lines; paste them in parts` }); return; }
    const apart = /[\t;,]/.test(row) ? row.split(/[\t;,]/) : row.trim().split(/ +/), [api, scope, policy, ...more] = apart.map(p => p.trim());
    if (!api || !scope) wrong.push({ line: i + 1, why: 'an API and a scope are needed' });
    else if (more.some(Boolean)) wrong.push({ line: i + 1, why: `${apart.length} values; three belong there` });
    else {
      lines.push({ api, scope, policy: policy ?? '' });
      (mappings[api] ??= { scope_to_policy: Object.create(null) }).scope_to_policy[scope] = policy || null;
    }
  });
  return { mappings, lines, wrong };
}

/** What a gateway does with a token (docs/wire/feeds.md#when-gateways-use-the-registry). */
export function verdict(d: any, of: Record<string, string>, text: string, noPolicy: (p: string | undefined) => boolean): { steps: { text: string; ends: boolean }[]; good: boolean; text: string } {
  const steps: { text: string; ends: boolean }[] = [], step = (text: string, ends: boolean) => { steps.push({ text, ends }); return ends; }, end = (good: boolean, text: string) => ({ steps, good, text });
  if (!d.active) { step('The API is not active: gateways do not load it.', true); return end(false, 'No gateway answers for this API.'); }
  if (!d.enable_jwt) { step(`The definition takes no tokens (enable_jwt is off)${d.use_keyless ? '; it lets everybody in' : ''}: the registry is never asked.`, true); return end(!!d.use_keyless, d.use_keyless ? 'Everybody is let in, with a token or without.' : 'The token counts for nothing here.'); }
  if (step(d.is_oas && d.jwt_jwks_uris?.length ? 'The definition has jwt_jwks_uris: gateways use these only, and never ask the registry.' : 'The definition has no addresses of keys of its own.', !!(d.is_oas && d.jwt_jwks_uris?.length))) return end(true, 'Who may come in is decided by the definition alone.');
  if (step(d.jwt_source ? 'The definition has a jwt_source: gateways use it alone, and never ask the registry.' : 'The definition has no jwt_source.', !!d.jwt_source)) return end(true, 'Who may come in is decided by the definition alone.');
  step('A key that a gateway knows by the identity of the token counts before the registry.', false);
  step('The registry is asked for the issuer of the token and this API.', true);
  const own: Record<string, string> = { ...d.jwt_scope_to_policy_mapping, ...d.scopes?.jwt?.scope_to_policy }, all = { ...of, ...own };
  if (Object.keys(own).length) step(`The definition maps ${Object.keys(own).join(', ')} by itself, which wins over the registry.`, true);
  const scopes = text.trim().split(/\s+/).filter(Boolean), mapped = scopes.filter(s => has(all, s)), lost = mapped.filter(s => noPolicy(all[s])), defaults: string[] = d.jwt_default_policies ?? [];
  if (scopes.length === 0) return defaults.length ? end(true, `A token without scopes gets the default policies of the API: ${defaults.join(', ')}.`) : end(false, 'A token without scopes gets nothing: the API has no default policies.');
  if (mapped.length === 0) return end(false, `None of the scopes is mapped here${defaults.length ? '; default policies do not help' : ''}.`);
  if (lost.length) return end(false, `The policy ${all[lost[0]]} does not exist: the gateway could not apply it.`);
  return end(true, `The token gets ${[...new Set(mapped.map(s => all[s]))].join(', ')}.`);
}
