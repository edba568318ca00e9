import './shared';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, byKey, elsewhere, listen } from './http';
import { Me, describe, listOf, may, needs, operations, resources, single, uploads, whoami } from './spec';
import { leave, onLeaving, to, useRoute } from './route';
import { SignIn, resume, signOut } from './session';
import { Home } from './home';
import { later, prefetch } from './later';
import { Palette } from './palette';
import { Denied, Dialog, Loading, Trouble, Voice, setZone, useChoice, zoneName } from './ui';
import './style.css';

const lists = () => import('./lists'), work = () => import('./work'), pages = () => import('./pages');
const ListPage = later(lists, 'ListPage'), AuditPage = later(lists, 'AuditPage'), AuditRecord = later(lists, 'AuditRecord');
const RecordPage = later(work, 'RecordPage'), RunPage = later(work, 'RunPage'), ImportPage = later(work, 'ImportPage'), RulesPage = later(work, 'RulesPage'), RegistryPage = later(work, 'RegistryPage'), PeoplePage = later(work, 'PeoplePage');
const GatewaysPage = later(pages, 'GatewaysPage'), PoliciesPage = later(pages, 'PoliciesPage'), AnalyticsPage = later(pages, 'AnalyticsPage'), KeysPage = later(pages, 'KeysPage'), ClientsPage = later(pages, 'ClientsPage'), CertificatesPage = later(pages, 'CertificatesPage');

function Page() {
  const route = useRoute(), [name, id] = route.path, r = resources.get(name);
  useEffect(() => { document.title = (name ? (id && id !== '+new' ? id + ' · ' : '') + (r?.title ?? byHand.find(([n]) => n === name)?.[2] ?? name) + ' · ' : '') + 'Gatehouse'; }, [name, id]);
  if (!name) return <Home />;
  if (name === 'run' && operations.get(id)) return <RunPage key={id} op={operations.get(id)!} route={route} />;
  if (name === 'apis' && id === 'import') return <ImportPage />;
  if (name === 'rules') return <RulesPage />;
  if (name === 'registry') return <RegistryPage id={id} route={route} />;
  if (name === 'gateways') return <GatewaysPage />;
  if (name === 'people') return <PeoplePage route={route} />;
  if (name === 'rights') return <PoliciesPage id={id} route={route} />;
  if (name === 'analytics') return <AnalyticsPage route={route} />;
  if (name === 'access') return <KeysPage id={id} route={route} />;
  if (name === 'clients') return <ClientsPage route={route} />;
  if (name === 'certificates') return <CertificatesPage route={route} />;
  if (!r) return <><h1>There is no such page</h1><p>The server knows nothing called “{name}”. <a href="#/">Go home</a>.</p></>;
  const wanted = id === '+new' ? r.operations.create : id || single(r) ? r.operations.get : listOf(r);
  if (wanted && !may(wanted, id)) return <><h1>{id ? wanted.summary : r.title}</h1><Denied op={wanted} /></>;
  if (wanted && id === '+new' && uploads(wanted)) return <RunPage key={wanted.id} op={wanted} route={route} />;
  if (name === 'audit') return id ? <AuditRecord id={id} /> : <AuditPage r={r} route={route} />;
  if (id || single(r)) return <RecordPage key={r.name + id + (route.query.get('from') ?? '')} r={r} id={id ?? ''} route={route} />;
  const list = listOf(r);
  if (!list) return <><h1>{r.title}</h1><ul class="plain">{Object.values(r.operations).filter(o => may(o)).map(o => <li key={o.id}><a href={to(['run', o.id])}>{o.summary}</a></li>)}</ul></>;
  return <ListPage key={r.name} r={r} route={route} />;
}

/** What people come for stands first; the rest follows as the description has it. */
const order = ['APIs', 'MCP proxies', 'Client IdPs', 'Policies', 'Keys', 'OAuth', 'Certificates', 'Gateways', 'System', 'Users', 'User groups', 'Service accounts', 'Rules', 'Audit', 'Webhooks', 'Assets'];
const rank = (tag: string) => order.indexOf(tag) < 0 ? order.length : order.indexOf(tag);

/** Pages made by hand, in the group that they are about, and the operation without which they show nothing. */
const byHand = [['registry', 'Client IdPs', 'Registry', 'clientidps.get'], ['rights', 'Policies', 'Rights', 'policies.list'], ['analytics', 'Analytics', 'Charts', 'usage.totals'], ['access', 'Keys', 'Rights of keys', 'keys.detailed'], ['clients', 'OAuth', 'Clients of an API', 'oauth.list'], ['certificates', 'Certificates', 'Expiry and use', 'certs.details'], ['gateways', 'Gateways', 'Live gateways', 'system.nodes.list'], ['people', 'Users', 'Permissions', 'users.list']] as const;

/** Groups of the description, with what the caller may see. */
function Navigation({ close }: { close: () => void }) {
  const route = useRoute(), groups = new Map<string, { name: string; title: string }[]>();
  for (const r of resources.values()) {
    const list = listOf(r);
    if (r.name === 'oauth' || r.name === 'history') continue; // their lists need an API or a record, whose pages offer them
    if (r.name === 'rules' ? !may(r.operations.get) : single(r) ? !may(r.operations.get) : !list || !may(list)) continue;
    groups.set(r.tag, [...groups.get(r.tag) ?? [], { name: r.name, title: r.name === 'rules' ? 'Rules' : r.title }]);
  }
  const link = (name: string, title: string) => <li key={name}><a href={name ? to([name]) : '#/'} onClick={close} aria-current={(route.path[0] ?? '').split('.')[0] === name || route.path[0] === name ? 'page' : undefined}>{title}</a></li>;
  for (const [page, tag, title, asks] of byHand) if (may(operations.get(asks))) groups.set(tag, [{ name: page, title }, ...groups.get(tag) ?? []]);
  return <ul>{link('', 'Home')}{[...groups].sort((a, b) => rank(a[0]) - rank(b[0])).map(([tag, all]) => all.length === 1 ? link(all[0].name, all[0].title.length > 24 ? tag : all[0].title) : <li key={tag}><span class="tag">{tag}</span><ul>{all.map(x => link(x.name, x.title))}</ul></li>)}
    <li><a href="#/all" onClick={close} aria-current={route.path[0] === 'all' ? 'page' : undefined}>All operations</a></li></ul>;
}

function All() {
  const [find, set] = useState(''), shown = [...operations.values()].filter(o => (o.summary + o.path + o.tag).toLowerCase().includes(find.toLowerCase()));
  return <><header class="page"><h1>All operations</h1></header><div class="tools"><input type="search" id="find" aria-label="Find an operation" placeholder="Find an operation…" value={find} onInput={(e: any) => set(e.target.value)} /></div>
    <div class="scroll" tabIndex={0} role="region" aria-label="Operations"><table><thead><tr><th scope="col">Operation</th><th scope="col">Group</th><th scope="col">Call</th><th scope="col">Permission</th></tr></thead><tbody>{shown.map(o => <tr key={o.id}><th scope="row">{may(o) ? <a href={to(['run', o.id])}>{o.summary}</a> : o.summary}</th><td>{o.tag}</td><td><code>{o.method} {o.path}</code></td><td>{may(o) ? <span class="badge yes">yes</span> : <span class="soft">needs {needs(o)}</span>}</td></tr>)}</tbody></table></div></>;
}

function Console() {
  const [me, setMe] = useState<Me | null>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), [lost, setLost] = useState(false), [away, setAway] = useState(false), [palette, setPalette] = useState(false), [menu, setMenu] = useState(false), [wanted, setWanted] = useState<string>(), [help, setHelp] = useState(false), [ready, setReady] = useState(false);
  const [theme, setTheme] = useChoice('theme', 'auto'), [zone, chooseZone] = useChoice('zone', 'local'), route = useRoute();
  setZone(zone);
  useEffect(() => { document.documentElement.dataset.theme = theme; }, [theme]);
  // Signing in needs no description: it comes meanwhile.
  useEffect(() => { setFault(undefined); resume().then(setMe, setFault); describe().then(() => setReady(true), setFault); }, [round]);
  useEffect(() => listen(e => { if (e === 'lost') setLost(!!whoami()); else { setAway(e === 'away'); if (e === 'back' && !whoami()) again(n => n + 1); } }), []);
  useEffect(() => { onLeaving(setWanted); }, []);
  // Who is signed in opens some page next.
  useEffect(() => { if (!me || !ready) return; const t = setTimeout(() => prefetch(lists, work, pages), 300); return () => clearTimeout(t); }, [!me, ready]);
  useEffect(() => {
    const on = (e: KeyboardEvent) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName) || (e.target as HTMLElement).isContentEditable;
      if ((e.ctrlKey || e.metaKey) && e.key === 'k' && whoami()) { e.preventDefault(); setPalette(true); }
      else if (e.key === '/' && !typing) { const f = document.getElementById('find'); if (f) { e.preventDefault(); f.focus(); } }
      else if (e.key === '?' && !typing) setHelp(true);
      else if (e.key === 'Escape') document.querySelectorAll<HTMLDetailsElement>('details.menu[open]').forEach(d => { d.open = false; });
    };
    const outside = (e: Event) => document.querySelectorAll<HTMLDetailsElement>('details.menu[open]').forEach(d => { if (!d.contains(e.target as Node)) d.open = false; });
    addEventListener('keydown', on); addEventListener('click', outside);
    return () => { removeEventListener('keydown', on); removeEventListener('click', outside); };
  }, []);
  const signedIn = async (m: Me) => { if (elsewhere()) { setReady(false); await describe(); setReady(true); } setLost(false); setMe(m); };
  if (me === null) return <main class="door"><h1>Gatehouse</h1><p class="soft">Sign in to the control plane.</p><SignIn done={signedIn} /><Voice /></main>;
  if (fault && (!ready || me === undefined)) return <main class="door"><h1>Gatehouse</h1><Trouble p={fault} retry={() => again(round + 1)} /></main>;
  if (me === undefined || !ready) return <main class="door"><h1>Gatehouse</h1><Loading what="the console" /></main>;
  return <><a class="skip" href="#main" onClick={e => { e.preventDefault(); document.getElementById('main')!.focus(); }}>Skip to content</a>
    <header class="top"><button type="button" class="quiet burger" aria-expanded={menu} aria-controls="nav" onClick={() => setMenu(!menu)}><span aria-hidden="true">☰</span><span class="hidden">Menu</span></button><a class="brand" href="#/">Gatehouse</a>{elsewhere() && <span class="badge">{elsewhere()}</span>}
      <button type="button" class="seek" onClick={() => setPalette(true)}>Go to, make, find… <kbd>Ctrl K</kbd></button>
      <details class="menu"><summary class="button">{me.first_name || me.email_address}<span class="hidden">: you, and how it looks</span></summary><div><p class="soft">{me.email_address}{byKey() && ', by access key'}</p>
        <label>Colours <select value={theme} onChange={(e: any) => setTheme(e.target.value)}><option value="auto">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
        <label>Times <select value={zone} onChange={(e: any) => chooseZone(e.target.value)}><option value="local">of this browser</option><option value="UTC">UTC</option></select></label>
        <a href={to(['users', me.id])}>You and your sessions</a><button type="button" onClick={() => setHelp(true)}>Keys</button><button type="button" onClick={() => signOut().then(() => setMe(null))}>Sign out</button></div></details></header>
    {away && <p class="banner" role="alert">The server cannot be reached. What you have written is kept here; the console tries again by itself.</p>}
    <nav id="nav" class={menu ? 'open' : ''} aria-label="Pages"><Navigation close={() => setMenu(false)} /><p class="soft zone">Times in {zoneName()}</p></nav>
    <main id="main" tabIndex={-1}>{route.path[0] === 'all' ? <All /> : <Page key={zone} />}</main>
    {palette && <Palette close={() => setPalette(false)} />}
    {lost && <Dialog title="Your session has ended" close={() => { /* only signing in goes on */ }}><p>Sign in again. What you have written is kept.</p><SignIn done={signedIn} again /></Dialog>}
    {wanted && <Dialog title="Leave without saving?" close={() => setWanted(undefined)}><p>What you have changed on this page is not saved.</p><div class="actions"><button type="button" autoFocus onClick={() => setWanted(undefined)}>Stay</button><button type="button" class="danger" onClick={() => { leave(wanted); setWanted(undefined); }}>Leave</button></div></Dialog>}
    {help && <Dialog title="Keys" close={() => setHelp(false)}><dl class="shown"><div><dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt><dd>go to, make, find</dd></div><div><dt><kbd>/</kbd></dt><dd>find in the list</dd></div><div><dt><kbd>Ctrl</kbd> <kbd>S</kbd></dt><dd>review and save</dd></div><div><dt><kbd>Ctrl</kbd> <kbd>F</kbd></dt><dd>search inside the editor</dd></div><div><dt><kbd>Esc</kbd></dt><dd>close</dd></div><div><dt><kbd>?</kbd></dt><dd>this list</dd></div></dl></Dialog>}
    <Voice /></>;
}
render(<Console />, document.getElementById('app')!);
