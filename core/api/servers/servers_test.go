package servers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// api is a classic definition that listens on a path, with more members.
func api(t testing.TB, id, path, more string) *doc.Node {
	return doctest.Node(t, fmt.Sprintf(`{"api_id":%q,"proxy":{"listen_path":%q}%s}`, id, path, more))
}

var local = servers.Config{Protocol: "https", DefaultHost: "gw.test", Edges: []servers.Edge{
	{Endpoint: "north.test:8443/eu/", Tags: []string{"n"}}, {Endpoint: "http://south.test", Tags: []string{"s", "n"}},
	{Endpoint: "http://south.test/", Tags: []string{"n"}}, {Endpoint: "", Tags: []string{"n"}},
}}

const routing = `,"definition":{"enabled":true,"name":"v1","default":"self","location":%q,"key":"ver","fallback_to_default":%v,"versions":{"v2":"kid"}}`

func TestMerge(t *testing.T) {
	base := api(t, "base", "/base/", fmt.Sprintf(routing, "url-param", true))
	for name, c := range map[string]struct {
		document string
		in       servers.Input
		want     string // list of addresses
	}{
		"root":           {`{}`, servers.Input{New: api(t, "a", "/", "")}, `"https://gw.test/" "/"`},
		"unclean path":   {`{}`, servers.Input{New: api(t, "a", "x//y/../z/", "")}, `"https://gw.test/x/z" "/x/z"`},
		"nothing at all": {`{"servers":[{"url":"/a"}]}`, servers.Input{}, `"/a"`},
		"edges": {
			`{}`, servers.Input{New: api(t, "a", "/a/", `,"tags":["n"]`)},
			`"https://north.test:8443/eu/a" "http://south.test/a" "/a"`,
		},
		"tags off":           {`{}`, servers.Input{New: api(t, "a", "/a/", `,"tags":["n"],"tags_disabled":true`)}, `"https://gw.test/a" "/a"`},
		"root of a versions": {`{}`, servers.Input{New: api(t, "base", "/", fmt.Sprintf(routing, "url", false))}, `"https://gw.test/v1" "/v1"`},
		"parameter": {
			`{}`, servers.Input{New: base},
			`"https://gw.test/base?ver=v1" "/base?ver=v1" "https://gw.test/base" "/base"`,
		},
		"user entries keep their place and form": {
			`{"servers":[{"url":"https://b.test/","x":1.0},"odd",{"url":"/a//"},{"description":"none"},{"url":"https://b.test"},{"url":"https://a.test"}]}`,
			servers.Input{New: api(t, "a", "/a", "")}, `"https://gw.test/a" "/a" "https://b.test/" "" "" "https://a.test"`,
		},
		"renamed version": {
			`{"servers":[{"url":"/base?ver=v2"},{"url":"/base?ver=v3"},{"url":"/kid"},{"url":"/user"}]}`,
			servers.Input{New: api(t, "kid", "/kid", ""), Old: api(t, "kid", "/kid", ""), Base: base, OldBase: base, VersionName: "v3"},
			`"https://gw.test/base?ver=v3" "/base?ver=v3" "https://gw.test/kid" "/kid" "/user"`,
		},
		"no longer a version": {
			`{"servers":[{"url":"/base?ver=v2"},{"url":"/kid"}]}`,
			servers.Input{New: api(t, "kid", "/kid", ""), Old: api(t, "kid", "/kid", ""), OldBase: base},
			`"https://gw.test/kid" "/kid"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Config = local
			d := doctest.Node(t, c.document)
			for range 2 {
				if err := servers.Merge(d, c.in); err != nil {
					t.Fatal(err)
				}
				if got := addresses(d); got != c.want {
					t.Fatalf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

func addresses(d *doc.Node) string {
	var out []string
	for _, s := range d.Get("servers").Items() {
		out = append(out, fmt.Sprintf("%q", s.Get("url").Text()))
	}
	return strings.Join(out, " ")
}

func TestMergeLeavesAlone(t *testing.T) {
	const before = `{"x":1.0,"servers":[{"url":"https://gw.test/a"},{"url":"/a"},{"url":"https://u.test","y":1e2}],"z":0}`
	d := doctest.Node(t, before)
	if err := servers.Merge(d, servers.Input{New: api(t, "a", "/a/", ""), Config: local}); err != nil || string(d.JSON()) != before {
		t.Errorf("%v: %s", err, d.JSON())
	}
}

func TestVariables(t *testing.T) {
	for path, want := range map[string]string{
		"/{a}/{b:[0-9]{2}(?:x|y)}": `{"url":"/{a}/{b}","variables":{"a":{"default":"pathParam1"},"b":{"default":"pathParam2"}}}`,
		"/{p:a/../b}/c/..":         `{"url":"/{p}","variables":{"p":{"default":"pathParam1"}}}`,
		"/{}":                      "", "/{:x}": "", "/{1a}": "", "/{a-b}": "", "/{a}/{a}": "", "/{a:(x)}": "", "/{a:[}": "", "/{a": "", "/a}": "", "/{a:{}": "",
	} {
		d := doctest.Node(t, `{"servers":[{"url":"/kept"}]}`)
		err := servers.Merge(d, servers.Input{New: api(t, "a", path, ""), Config: servers.Config{Hybrid: true, DefaultHost: "gw.test"}})
		if want == "" {
			if fault.KindOf(err) != fault.Invalid || addresses(d) != `"/kept"` {
				t.Errorf("%s: got %v and %s, want a refusal", path, err, d.JSON())
			}
			continue
		}
		if err != nil || string(d.Get("servers").Items()[0].JSON()) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", path, err, d.JSON(), want)
		}
	}
}

// Each byte of a path is read once: if it were read again for each byte, these paths would
// take minutes.
func TestLongPaths(t *testing.T) {
	for _, unit := range []string{"a", "{", "}", "/", "{a}", "/{a"} {
		path := "/" + strings.Repeat(unit, 1_000_000/len(unit))
		if !servers.ChildrenAffected(api(t, "a", path, ""), api(t, "a", path+"b", "")) {
			t.Errorf("%s: another path is the same", path[:5])
		}
	}
	for path, same := range map[string]string{"/a}/./{b": "/a}/{b", "/{{a/../b}/./c": "/{{a/../b}/c", "/{a{/../}}/./b": "/{a{/../}}/b"} {
		if servers.ChildrenAffected(api(t, "a", path, ""), api(t, "a", same, "")) {
			t.Errorf("%s is not %s", path, same)
		}
	}
}

func TestURLs(t *testing.T) {
	header := api(t, "base", "/base/", fmt.Sprintf(routing, "header", true))
	for name, c := range map[string]struct {
		in   servers.Input
		want string
	}{
		"child by path": {
			servers.Input{New: api(t, "kid", "/kid/", `,"internal":true`), Base: api(t, "base", "/b/c/", fmt.Sprintf(routing, "url", false))},
			`[{"protocol":"https","domain":"gw.test","port":null,"listen_path":"b/c","endpoint_path":"v2","query_parameters":[],"headers":[],"url":"https://gw.test/b/c/v2"}]`,
		},
		"base by header": {
			servers.Input{New: header},
			`[{"protocol":"https","domain":"gw.test","port":null,"listen_path":"base","endpoint_path":"","query_parameters":[],"headers":[{"name":"ver","value":"v1"}],"url":"https://gw.test/base"}]`,
		},
		"edges": {
			servers.Input{New: api(t, "a", "/a/", `,"tags":["n"]`)},
			`[{"protocol":"https","domain":"north.test","port":8443,"listen_path":"eu/a","endpoint_path":"","query_parameters":[],"headers":[],"url":"https://north.test:8443/eu/a"},` +
				`{"protocol":"http","domain":"south.test","port":null,"listen_path":"a","endpoint_path":"","query_parameters":[],"headers":[],"url":"http://south.test/a"}]`,
		},
		"domain": {
			servers.Input{New: api(t, "a", "/{v:v[0-9]}/", `,"domain":"{sub:[a-z]+}.d.test:443"`)},
			`[{"protocol":"https","domain":"{sub}.d.test","port":null,"listen_path":"{v}","endpoint_path":"","query_parameters":[],"headers":[],"url":"https://{sub}.d.test:443/{v}"}]`,
		},
		"address": {
			servers.Input{New: api(t, "a", "/", `,"domain":"http://[::1]:8080"`)},
			`[{"protocol":"http","domain":"[::1]","port":8080,"listen_path":"","endpoint_path":"","query_parameters":[],"headers":[],"url":"http://[::1]:8080/"}]`,
		},
		"none": {servers.Input{New: api(t, "a", "/a", `,"tags":["x"]`)}, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Config = local
			locations, err := servers.URLs(c.in)
			got, _ := json.Marshal(locations)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
	if _, err := servers.URLs(servers.Input{New: api(t, "a", "/{", ""), Config: local}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
}

func TestClassicURL(t *testing.T) {
	for _, c := range []struct {
		api    *doc.Node
		config servers.Config
		want   servers.Parts
	}{
		{api(t, "a", "/a/", ""), local, servers.Parts{APIURL: "https://gw.test/a/", BasePath: "/a/", Host: "gw.test"}},
		{api(t, "a", "/a/", `,"domain":"http://d.test:81"`), local, servers.Parts{APIURL: "http://d.test:81/a/", BasePath: "/a/", Host: "d.test:81"}},
		{api(t, "a", "/a/", ""), servers.Config{}, servers.Parts{APIURL: "/a/", BasePath: "/a/"}},
	} {
		if got := servers.ClassicURL(c.api, c.config); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

func TestOwn(t *testing.T) {
	for address, want := range map[string]bool{
		"https://gw.test/a": true, "http://GW.test": true, "http://north.test:8443/": true, "https://south.test/x": true,
		"https://gw.test:81/": false, "https://up.test": false, "/a": false, "gw.test": false, "": false,
	} {
		if got := local.Own(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	if (servers.Config{}).Own("http://gw.test") {
		t.Error("nothing is known")
	}
	if !(servers.Config{DefaultHost: "http://gw.test:80/"}).Own("https://gw.test:80") {
		t.Error("the protocol makes no difference")
	}
}

func TestChildrenAffected(t *testing.T) {
	before := api(t, "base", "/base/", fmt.Sprintf(routing, "url", false)+`,"name":"a"`)
	for change, want := range map[string]bool{
		`{"name":"b"}`: false, `{"definition.name":"v0"}`: false, `{"tags":["n"]}`: true, `{"domain":"d.test"}`: true,
		`{"definition.location":"header"}`: true, `{"definition.key":"k"}`: true, `{"definition.default":"v2"}`: true,
		`{"definition.fallback_to_default":true}`: true, `{"proxy.listen_path":"/other/"}`: true, `{"proxy.listen_path":"/base"}`: false,
	} {
		after := before.Clone()
		for path, v := range doctest.Node(t, change).Members() {
			after.Put(v, strings.Split(path, ".")...)
		}
		if got := servers.ChildrenAffected(before, after); got != want {
			t.Errorf("%s: %v", change, got)
		}
	}
}

// TestReference: a listen path that gateways resolve gives no address, and previous addresses
// are removed.
func TestReference(t *testing.T) {
	document := doctest.Node(t, `{"servers":[{"url":"https://gw.test/old"},{"url":"https://users.test"}]}`)
	in := servers.Input{Old: doctest.Node(t, `{"proxy":{"listen_path":"/old"}}`), New: doctest.Node(t, `{"proxy":{"listen_path":"vault://x"}}`),
		Config: servers.Config{Protocol: "https", DefaultHost: "gw.test"}}
	if err := servers.Merge(document, in); err != nil || string(document.JSON()) != `{"servers":[{"url":"https://users.test"}]}` {
		t.Errorf("%s %v", document.JSON(), err)
	}
	if urls, err := servers.URLs(in); len(urls) != 0 || err != nil {
		t.Error(urls, err)
	}
	if parts := servers.ClassicURL(in.New, in.Config); parts != (servers.Parts{BasePath: "vault://x", Host: "gw.test"}) {
		t.Error(parts)
	}
}

// FuzzMerge: for any JSON nothing panics, a refusal changes nothing, and neither does a second
// run.
func FuzzMerge(f *testing.F) {
	f.Add(`{"servers":[{"url":"/old"}]}`, `{"proxy":{"listen_path":"/{a:[0-9]{2}}/x"},"domain":"{b}.test"}`, `{"definition":{"enabled":true,"name":"v1","versions":{"v2":""}}}`, "v2")
	f.Add(`{"servers":{"a":1}}`, `{"tags":["n",1],"proxy":[]}`, `null`, "")
	f.Add(`[1]`, `{}`, `{}`, "")
	f.Fuzz(func(t *testing.T, document, now, base, name string) {
		var nodes [3]*doc.Node
		for i, text := range []string{document, now, base} {
			n, err := doc.ParseNode([]byte(text))
			if err != nil {
				return
			}
			nodes[i] = n
		}
		in := servers.Input{New: nodes[1], Base: nodes[2], VersionName: name, Config: local}
		_, _ = servers.URLs(in)
		_ = servers.ClassicURL(nodes[1], local)
		_ = servers.ChildrenAffected(nodes[1], nodes[2])
		before := nodes[0].JSON()
		if err := servers.Merge(nodes[0], in); err != nil {
			if string(nodes[0].JSON()) != string(before) {
				t.Fatalf("a refusal changed %s to %s", before, nodes[0].JSON())
			}
			return
		}
		once := string(nodes[0].JSON())
		in.Old, in.OldBase = in.New, in.Base
		if err := servers.Merge(nodes[0], in); err != nil || string(nodes[0].JSON()) != once {
			t.Fatalf("%v\nonce  %s\ntwice %s", err, once, nodes[0].JSON())
		}
	})
}
