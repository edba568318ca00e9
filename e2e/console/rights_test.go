package console_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// byHand are the pages that are not generated from a resource in the description, each with
// the operation that it needs at least.
var byHand = map[string]string{
	"registry": "clientidps.list", "gateways": "system.nodes.list", "people": "users.list", "rights": "policies.list", "analytics": "usage.totals",
	"access": "keys.detailed", "clients": "oauth.list", "certificates": "certs.details", "rules": "rules.get", "audit": "audit.list", "apis/import": "apis.oas.import",
}

// watched counts calls, and records refused ones.
const watched = `(() => { const real = window.fetch; window.calls = { open: 0, refused: [] };
window.fetch = async (u, o) => { calls.open++; try { const r = await real.call(window, u, o); if (r.status === 401 || r.status === 403) calls.refused.push((o?.method ?? 'GET') + ' ' + u + ' ' + r.status); return r; } finally { calls.open--; } }; })(); 0`

// quiet is true when all calls of the page are done and shown.
const quiet = `calls.open === 0 && !document.querySelector('.loading') && document.querySelector('main h1') && new Promise(done => setTimeout(() => done(calls.open === 0 && !document.querySelector('.loading')), 30))`

// offered returns what a page offers: the targets of links, and buttons that begin a change.
const offered = `({ links: [...document.querySelectorAll('a[href^="#/"]')].map(a => a.getAttribute('href').slice(2)), denied: document.querySelector('main').innerText.match(/it needs [^.\n]*/)?.[0] ?? '',
changes: [...document.querySelectorAll('main button')].filter(b => !b.disabled && b.checkVisibility()).map(b => b.innerText.trim()).filter(s => /^(New|Save|Review|Delete|Remove|Reload|Create|Make|Upload|Import|Revoke|Paste|Duplicate|Discard)\b/.test(s)) })`

type offers struct {
	Links, Changes []string
	Denied         string
}

// TestOnlyOneRight: a user who may only read one group of resources is offered exactly what
// that permission allows on every linked page; every other address shows which permission is
// missing, and makes no calls.
func TestOnlyOneRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.describe()
	made := w.populate(d)
	groups := []string{"apis"}
	if thorough() {
		groups = d.groups()
	}
	for _, group := range groups {
		t.Run(group, func(t *testing.T) {
			mail := group + "@example.com"
			w.ask("POST", "/api/users", fmt.Sprintf(`{"first_name":"Bob","last_name":"B","email_address":%q,"password":"a-long-passphrase","active":true,"user_permissions":{%q:"read"}}`, mail, group))
			b := open(t, w.at)
			b.Expect("/api/users/me", "status of 404", "status of 400", "status of 405", "status of 500", "status of 502", "status of 503")
			b.load("")
			b.Fill("E-mail address", mail)
			b.Fill("Password", "a-long-passphrase")
			b.Click("Sign in")
			b.See("Hello, Bob")
			must(t, b.Run(watched, nil))
			seen := b.crawl(group)
			b.strangers(d, group, made, seen)
		})
	}
}

// groups returns the permission groups of users.
func (d *described) groups() []string {
	out := map[string]bool{}
	for _, p := range d.permissions() {
		if p.Group != "" && p.Group != "IsAdmin" && p.Group != "*" {
			out[p.Group] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// look opens a view and returns what it offers once it is complete.
func (b *tab) look(place string) offers {
	b.T.Helper()
	b.visit(place)
	b.Wait("location.hash === " + quote("#/"+place))
	b.Wait("/* #/" + place + " */ " + quiet)
	if refused := value[[]string](b, "calls.refused.splice(0)"); len(refused) > 0 {
		b.T.Errorf("#/%s: the page asks for what is refused: %q", place, refused)
	}
	return value[offers](b, offered)
}

// crawl follows every link from the home page on, two of each kind.
func (b *tab) crawl(group string) map[string]bool {
	b.T.Helper()
	seen, sorts, next := map[string]bool{}, map[string]int{}, []string{""}
	for len(next) > 0 {
		place := next[0]
		next = next[1:]
		got := b.look(place)
		seen[place] = true
		if got.Denied != "" {
			b.T.Errorf("a link leads to #/%s, which says: %s", place, got.Denied)
		}
		if len(got.Changes) > 0 {
			b.T.Errorf("#/%s offers %q to somebody who may only read %s", place, got.Changes, group)
		}
		for _, link := range got.Links {
			path, _, _ := strings.Cut(link, "?")
			first, rest, deep := strings.Cut(path, "/")
			sort := fmt.Sprint(first, deep)
			if first == "run" {
				sort = path
			} else if rest == "+new" || rest == "import" {
				b.T.Errorf("#/%s offers #/%s to somebody who may only read", place, link)
			}
			if !seen[link] && !slices.Contains(next, link) && sorts[sort] < 2 && (first != "run" || sorts[sort] == 0) {
				sorts[sort]++
				next = append(next, link)
			}
		}
	}
	if len(seen) < 4 {
		b.T.Errorf("links lead only to %v", slices.Sorted(maps.Keys(seen)))
	}
	b.T.Logf("%d pages are offered", len(seen))
	return seen
}

// strangers opens unlinked pages by their address.
func (b *tab) strangers(d *described, group string, made map[string]string, seen map[string]bool) {
	b.T.Helper()
	all := d.permissions()
	places := maps.Clone(byHand)
	for _, r := range d.Resources {
		if list := r.Operations["list"]; list != "" && places[r.Name] == "" && r.Name != "history" {
			places[r.Name] = list
		}
		if make := r.Operations["create"]; make != "" {
			places[r.Name+"/+new"] = make
		}
		if id := made[r.Name]; id != "" && r.Operations["get"] != "" {
			places[r.Name+"/"+id] = r.Operations["get"]
		}
	}
	if thorough() {
		for id := range all {
			places["run/"+id] = id
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		p, known := all[places[place]]
		lacks := p.lacks(group)
		if !known || seen[place] || lacks == (right{}) {
			continue
		}
		got := b.look(place)
		want := "it needs the permission " + lacks.Group + " (" + lacks.Level + ")"
		if lacks.Group == "IsAdmin" {
			want = "it needs the rights of an admin"
		}
		if got.Denied != want || len(got.Changes) > 0 {
			b.T.Errorf("#/%s says %q and offers %q, want %q", place, got.Denied, got.Changes, want)
		}
	}
}

// permission says who may call an operation.
type permission struct {
	Callers []string
	right
	Needs []struct {
		right
		Parameters []string
	}
}

// right is an entry of the permission map.
type right struct{ Group, Level string }

// lacks returns the first right that is missing for a user who may read a group.
func (p permission) lacks(group string) right {
	all := []right{p.right}
	for _, n := range p.Needs {
		if len(n.Parameters) == 0 {
			all = append(all, n.right)
		}
	}
	for _, r := range all {
		if r.Group != "" && r != (right{group, "read"}) {
			return r
		}
	}
	return right{}
}

// permissions returns the permissions of the operations of users, by identifier.
func (d *described) permissions() map[string]permission {
	out := map[string]permission{}
	for path, methods := range d.Paths {
		for _, o := range methods {
			if strings.HasPrefix(path, "/api/") && slices.Contains(o.Permission.Callers, "user") {
				out[o.ID] = o.Permission
			}
		}
	}
	return out
}
