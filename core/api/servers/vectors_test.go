package servers_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/servers.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name     string
		Input    *doc.Node
		Settings struct {
			New, Old, Base *doc.Node
			OldBase        *doc.Node `json:"old_base"`
			VersionName    string    `json:"version_name"`
			Config         struct {
				Protocol    string
				DefaultHost string `json:"default_host"`
				Hybrid      bool
				Edges       []servers.Edge
			}
		}
		Output struct {
			Servers *doc.Node
			Error   *struct{ Stage string }
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			s := v.Settings
			in := servers.Input{
				New: s.New, Old: s.Old, Base: s.Base, OldBase: s.OldBase, VersionName: s.VersionName, Config: servers.Config(s.Config),
			}
			for range 2 { // the second run changes nothing
				err := servers.Merge(v.Input, in)
				if v.Output.Error != nil {
					if err == nil {
						t.Fatal("want a refusal")
					}
					return
				}
				if got := v.Input.Get("servers"); err != nil || !got.Equal(v.Output.Servers) {
					t.Fatalf("%v\ngot  %s\nwant %s", err, got.JSON(), v.Output.Servers.JSON())
				}
				in.Old, in.OldBase = in.New, in.Base
			}
		})
	}
}
