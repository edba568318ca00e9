//go:build unix

package serve

import (
	"errors"
	"testing"
)

// TestFinal states after which exit codes no other child is started. A crash has the
// same code as settings that cannot work.
func TestFinal(t *testing.T) {
	for name, c := range map[string]struct {
		code           int
		first, served  bool
		unfit, want    bool
		stopping, lost bool
	}{
		"the first one never served":              {code: 1, first: true, want: true},
		"it has served and crashed":               {code: 2, first: true, served: true},
		"a later one has settings that are wrong": {code: 2, unfit: true, want: true},
		"a later one crashes at its start":        {code: 2},
		"the settings cannot be checked":          {code: 2, lost: true},
		"a later one finds no database":           {code: 1},
		"it was told to stop":                     {code: 1, stopping: true, want: true},
		"it has stopped":                          {served: true, want: true},
	} {
		v := &supervisor{everServed: !c.first, stopping: c.stopping, unfit: func() (bool, error) {
			if c.lost {
				return false, errors.New("no room for a process")
			}
			return c.unfit, nil
		}}
		if have := v.final(&watched{served: c.served}, c.code); have != c.want {
			t.Errorf("%s: %v", name, have)
		}
	}
}
