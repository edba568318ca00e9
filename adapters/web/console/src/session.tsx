import { useState } from 'preact/hooks';
import { Problem, connect, elsewhere, send, servers } from './http';
import { Me, setMe } from './spec';
import { Trouble } from './ui';

/** Asks who we are. Null: nobody is signed in, or the password must be changed first, which the sign-in says. */
export async function resume(): Promise<Me | null> {
  try { const me = (await send({ method: 'GET', path: '/api/users/me' })).data as Me; setMe(me); return me; } catch (e) { if ((e as Problem).status === 401 || (e as Problem).code === 'auth.password') return null; throw e; }
}

export async function signOut() {
  try { await send({ method: 'POST', path: '/logout' }); } catch { /* the cookies end by themselves */ }
  connect('', '');
  setMe(undefined);
}

/** Signs in with a password, which makes a session of the server, or with an access key, which stays in the memory of this page. */
export function SignIn({ done, again }: { done: (me: Me) => void; again?: boolean }) {
  const [by, setBy] = useState<'password' | 'key'>('password'), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), [choices, setChoices] = useState<any[]>(), [expired, setExpired] = useState<Expired>();
  const submit = async (e: any) => {
    e.preventDefault();
    const f = new FormData(e.target), v = (n: string) => String(f.get(n) ?? '');
    setBusy(true); setFault(undefined);
    try {
      if (by === 'key') connect(v('server'), v('key').trim());
      else {
        connect('', '');
        const a = await send({ method: 'POST', path: '/login', body: JSON.stringify({ username: v('username'), password: v('password'), ...(v('org_id') ? { org_id: v('org_id') } : {}) }), wait: 30_000 });
        if (a.data?.Meta?.password_expired) { setExpired({ id: a.data.Meta.user_id, username: v('username'), password: v('password'), org: v('org_id') }); setBusy(false); return; }
        if (a.data?.Meta?.organisations) { setChoices(a.data.Meta.organisations); setBusy(false); return; }
      }
      const me = await resume();
      if (me) { done(me); return; }
      if (by === 'key') connect('', '');
      setFault({ status: 0, detail: by === 'key' ? 'This access key is not known here.' : 'The browser did not keep the session. Allow cookies for this address.' });
    } catch (e) { setFault(e as Problem); if (by === 'key') connect('', ''); }
    setBusy(false);
  };
  if (expired) return <NewPassword of={expired} done={done} />;
  return <form class="sign" onSubmit={submit}>
    {by === 'password' ? <>
      <div class="field"><label for="username">E-mail address</label><input id="username" name="username" type="email" autoComplete="username" required autoFocus /></div>
      <div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autoComplete="current-password" required /></div>
      {choices && <div class="field"><label for="org_id">Organisation</label><select id="org_id" name="org_id" required>{choices.map(c => <option key={c.org_id} value={c.org_id}>{c.owner_name}</option>)}</select></div>}
    </> : <>
      <div class="field"><label for="key">Access key</label><input id="key" name="key" type="password" autoComplete="off" required autoFocus aria-describedby="key-help" /><p class="help" id="key-help">It stays in the memory of this page and is gone when you reload.</p></div>
      {servers.length > 0 && <div class="field"><label for="server">Control plane</label><select id="server" name="server"><option value="">this one</option>{servers.map(s => <option key={s}>{s}</option>)}</select></div>}
    </>}
    <Trouble p={fault} />
    <div class="actions"><button class="primary" disabled={busy}>{busy ? 'Signing in…' : 'Sign in'}</button>
      <button type="button" class="link" onClick={() => { setBy(by === 'key' ? 'password' : 'key'); setFault(undefined); }}>{by === 'key' ? 'Use a password' : 'Use an access key'}</button></div>
    {again && elsewhere() && <p class="help">You were at {elsewhere()}.</p>}
  </form>;
}

type Expired = { id: string; username: string; password: string; org: string };

/** A password that may be kept no longer is changed before anything else. That ends all sessions, so that the new one signs in. */
function NewPassword({ of, done }: { of: Expired; done: (me: Me) => void }) {
  const [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const submit = async (e: any) => {
    e.preventDefault();
    const f = new FormData(e.target), wanted = String(f.get('new')), says = (detail: string) => setFault({ status: 0, detail });
    if (wanted !== f.get('again')) { says('The two new passwords differ. Write the same one twice.'); return; }
    if (wanted === of.password) { says('This is the password that has run out. Choose another one.'); return; }
    setBusy(true); setFault(undefined);
    try {
      await send({ method: 'POST', path: `/api/users/${encodeURIComponent(of.id)}/actions/reset`, body: JSON.stringify({ current_password: of.password, new_password: wanted }), wait: 30_000 });
      await send({ method: 'POST', path: '/login', body: JSON.stringify({ username: of.username, password: wanted, ...(of.org ? { org_id: of.org } : {}) }), wait: 30_000 });
      const me = await resume();
      if (me) { done(me); return; }
      says('The password is changed. Load the page again and sign in with it.');
    } catch (e) { setFault(e as Problem); }
    setBusy(false);
  };
  return <form class="sign" onSubmit={submit}><p>Your password has run out. Choose another one to go on.</p>
    <input type="email" class="hidden" name="username" autoComplete="username" value={of.username} readOnly tabIndex={-1} aria-hidden="true" />
    <div class="field"><label for="new">New password</label><input id="new" name="new" type="password" autoComplete="new-password" required autoFocus /></div>
    <div class="field"><label for="again">The new password again</label><input id="again" name="again" type="password" autoComplete="new-password" required /></div>
    <Trouble p={fault} /><div class="actions"><button class="primary" disabled={busy}>{busy ? 'Changing it…' : 'Change it and go on'}</button></div></form>;
}
