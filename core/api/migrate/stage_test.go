package migrate_test

import (
	"bytes"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

func TestStageAndPromote(t *testing.T) {
	classic := load(t, "testdata/convert/versions.in.json")
	r, err := migrate.Convert(classic, numbered())
	if err != nil {
		t.Fatal(err)
	}
	before := text(r)
	staged := migrate.Stage(r)
	if text(r) != before {
		t.Error("staging changed what was staged")
	}
	for _, v := range all(staged) {
		ext := v.OAS.Get(oas.ExtensionKey)
		for i, same := range [][2]string{
			{v.Classic.Get("api_id").Text(), ext.Get("info", "id").Text()},
			{v.Classic.Get("name").Text(), ext.Get("info", "name").Text()},
			{v.Classic.Get("proxy", "listen_path").Text(), ext.Get("server", "listenPath", "value").Text()},
		} {
			if prefix := []string{"staging-", "[staged] ", "/tyk-staging/"}[i]; same[0] != same[1] || same[0][:len(prefix)] != prefix {
				t.Errorf("classic form %q, document %q", same[0], same[1])
			}
		}
		if v.Classic.Get("id").Text()+ext.Get("info", "dbId").Text() != "" {
			t.Error("a copy has the database ID of the original")
		}
	}
	base, child := staged.Base, staged.Versions[0]
	if child.BaseID != base.Classic.Get("api_id").Text() ||
		base.Classic.Get("definition", "versions", child.Name).Text() != child.Classic.Get("api_id").Text() {
		t.Errorf("the copies of base and child do not belong together: %s", text(staged))
	}
	promoted := all(migrate.Promote(staged, classic))
	for i, v := range all(r) {
		if !shown(promoted[i]).Equal(shown(v)) {
			t.Errorf("promoted\n %s\nwant\n %s", shown(promoted[i]).JSON(), shown(v).JSON())
		}
	}
}

// TestPromoteEditedCopy: all changes of a staged copy are promoted, except the values that
// identify it.
func TestPromoteEditedCopy(t *testing.T) {
	classic := load(t, "testdata/convert/versions.in.json")
	r, err := migrate.Convert(classic, numbered())
	if err != nil {
		t.Fatal(err)
	}
	staged := migrate.Stage(r)
	rename := doctest.Node(t, `{"name":"better","listen_path":"/elsewhere/","target_url":"http://new.test"}`)
	staged.Base.Classic.Set("name", rename.Get("name"))
	staged.Base.Classic.Put(rename.Get("listen_path"), "proxy", "listen_path")
	staged.Base.Classic.Put(rename.Get("target_url"), "proxy", "target_url")
	staged.Versions[0].Classic.Put(rename.Get("listen_path"), "proxy", "listen_path")
	p := migrate.Promote(staged, classic)
	if got := p.Base.Classic; got.Get("name").Text() != classic.Get("name").Text() ||
		!got.Get("proxy", "listen_path").Equal(classic.Get("proxy", "listen_path")) || got.Get("proxy", "target_url").Text() != "http://new.test" {
		t.Errorf("base is %s", got.JSON())
	}
	if got := p.Versions[0].Classic.Get("proxy", "listen_path").Text(); got != "/elsewhere/" {
		t.Errorf("child listens at %q", got)
	}
}

func text(r migrate.Result) string {
	var b bytes.Buffer
	for _, v := range all(r) {
		b.Write(shown(v).JSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// TestReferencedListenPath: no path can be below a reference that gateways resolve, so copies
// and versions get paths of their own.
func TestReferencedListenPath(t *testing.T) {
	classic := load(t, "testdata/convert/versions.in.json")
	classic.Put(doctest.Node(t, `"secrets://path"`), "proxy", "listen_path")
	r, err := migrate.Convert(classic, numbered())
	if err != nil {
		t.Fatal(err)
	}
	at := func(v migrate.Version) string { return v.Classic.Get("proxy", "listen_path").Text() }
	id := func(v migrate.Version) string { return v.Classic.Get("api_id").Text() }
	if child := r.Versions[0]; at(r.Base) != "secrets://path" || at(child) != "/"+id(child)+"/" {
		t.Error(at(r.Base), at(child))
	}
	staged := migrate.Stage(r)
	if at(staged.Base) != "/tyk-staging/"+id(r.Base)+"/" || at(staged.Versions[0]) != "/tyk-staging/"+id(r.Versions[0])+"/" {
		t.Error(at(staged.Base), at(staged.Versions[0]))
	}
	promoted := migrate.Promote(staged, classic)
	if at(promoted.Base) != "secrets://path" || at(promoted.Versions[0]) != at(r.Versions[0]) {
		t.Error(at(promoted.Base), at(promoted.Versions[0]))
	}
}
