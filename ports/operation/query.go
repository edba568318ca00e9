package operation

import (
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// ReadQuery reads the query of an address as browsers do: & alone separates parameters, and
// ; is a character like others. Parameters with a % that begins no escape are left out;
// garbled reports whether there is one.
func ReadQuery(raw string) (q url.Values, garbled bool) {
	q = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil {
			garbled = true
			continue
		}
		q[name] = append(q[name], value)
	}
	return q, garbled
}

// legible refuses a call whose query cannot be read: without the parameter that is left out
// it could do more than its caller asks for, such as the real thing in place of a rehearsal.
func (c *Call) legible() error {
	if !c.Garbled {
		return nil
	}
	return fault.New(fault.Invalid, CodeParameter, "The query has a %% that begins no escape: write %%25 for a percent sign").At("query")
}
