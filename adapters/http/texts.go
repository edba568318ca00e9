package http

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// faultTexts is what the program says with each code, read from its sources by
// docs/generate: the kind of the fault and its text, in which … stands for what
// differs from case to case. A code with a * stands for several.
//
//go:embed faults.json
var faultTexts []byte

type saying struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

var sayings = sync.OnceValue(func() (all map[string][]saying) {
	if err := json.Unmarshal(faultTexts, &all); err != nil {
		panic(err) // the file is embedded and valid
	}
	return all
})

// saidWith returns the faults that the program creates with a code.
func saidWith(code string) (list []*fault.Error) {
	for _, s := range sayingsOf(code) {
		for _, k := range fault.Kinds() {
			if k.String() == s.Kind {
				list = append(list, fault.New(k, code, "%s", s.Text))
			}
		}
	}
	return list
}

// sayingsOf returns the entries for a code. An exact entry wins over one that matches
// the end of the code, and that over entries that match its beginning, of which the
// longest wins.
func sayingsOf(code string) []saying {
	all := sayings()
	if own := all[code]; own != nil {
		return own
	}
	if any := all["*"+code[strings.LastIndex(code, ".")+1:]]; any != nil {
		return any
	}
	for at := strings.LastIndex(code, "."); at >= 0; at = strings.LastIndex(code[:at], ".") {
		if any := all[code[:at]+".*"]; any != nil {
			return any
		}
	}
	return all[code+".*"]
}
