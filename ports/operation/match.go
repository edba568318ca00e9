package operation

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Match is the preconditions of a request (RFC 9110, 13.1). The zero Match always holds: it is
// that of a client that sends none.
type Match struct {
	ifMatch, ifNoneMatch []string     // entity tags without quotes; "*" for any
	at                   store.Serial // the serial that rules have decided about; 0: any
}

var matchParams = []Param{
	{Name: "If-Match", In: "header", Type: reflect.TypeFor[string](), Doc: "The request is carried out only if the resource has one of these entity tags; otherwise the response is 412."},
	{Name: "If-None-Match", In: "header", Type: reflect.TypeFor[string](), Doc: "The request is carried out only if the resource has none of these entity tags; otherwise the response is 304 for a read and 412 for a write."},
}

// CodeMatch is the code of the fault for a precondition that does not hold.
const CodeMatch = "precondition.failed"

// Check returns an error unless a resource with this serial may be changed or read. The tag of
// any of its representations stands for the serial.
func (m Match) Check(at store.Serial) error {
	if m.at != 0 && m.at != at {
		return fault.New(fault.Unavailable, CodeMoved, "The resource keeps changing; try again")
	}
	if m.ifMatch == nil && m.ifNoneMatch == nil {
		return nil
	}
	return Match{ifMatch: revisions(m.ifMatch), ifNoneMatch: revisions(m.ifNoneMatch)}.CheckTag(Tag(at), true)
}

// AsYAML is the suffix of the tag of a YAML representation, after the serial.
const AsYAML = "-yaml"

func revisions(tags []string) []string {
	out := slices.Clone(tags)
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], AsYAML)
	}
	return out
}

// CheckTag is Check for a resource that may not exist yet.
func (m Match) CheckTag(tag string, exists bool) error {
	if m.ifMatch != nil && !has(m.ifMatch, tag, exists) {
		return fault.New(fault.Stale, CodeMatch, "If-Match does not hold: the resource has changed; read it again").At("If-Match")
	}
	if m.ifNoneMatch != nil && has(m.ifNoneMatch, tag, exists) {
		return fault.New(fault.Stale, CodeMatch, "If-None-Match does not hold: the resource exists").At("If-None-Match")
	}
	return nil
}

// Unchanged reports whether the client already has the resource with this tag.
func (m Match) Unchanged(tag string) bool {
	return m.ifMatch == nil && m.ifNoneMatch != nil && has(m.ifNoneMatch, tag, true)
}

// IsZero reports whether there is no precondition.
func (m Match) IsZero() bool { return m.ifMatch == nil && m.ifNoneMatch == nil && m.at == 0 }

func has(tags []string, tag string, exists bool) bool {
	return exists && (slices.Contains(tags, "*") || slices.Contains(tags, tag))
}

// Tag returns the entity tag of a record with a serial. Clients never see revisions, because
// revisions reveal how much other organisations write.
func Tag(at store.Serial) string { return strconv.FormatUint(uint64(at), 10) }

// MatchOf returns the preconditions of a call.
func MatchOf(c *Call) (m Match, err error) {
	if s := c.whole(); s != nil {
		m.at = s.At
	}
	if c.Header["If-Match"] == "" && c.Header["If-None-Match"] == "" {
		return m, nil
	}
	if m.ifMatch, err = parseTags(c, "If-Match"); err == nil {
		m.ifNoneMatch, err = parseTags(c, "If-None-Match")
	}
	return m, err
}

// parseTags reads a list of entity tags. If-Match compares strongly, so weak
// tags never match there; If-None-Match compares weakly (RFC 9110, 8.8.3.2).
func parseTags(c *Call, header string) ([]string, error) {
	list := strings.TrimSpace(c.Header[header])
	if list == "" {
		return nil, nil
	}
	if list == "*" {
		return []string{"*"}, nil
	}
	tags := []string{}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		tag, weak := strings.CutPrefix(part, "W/")
		if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			return nil, fault.New(fault.Invalid, CodeParameter, `%s must be * or a list of entity tags in double quotes`, header).At(header)
		}
		if !weak || header == "If-None-Match" {
			tags = append(tags, tag[1:len(tag)-1])
		}
	}
	return tags, nil
}

// IfAt returns the precondition that a resource still has a serial, for use cases that read
// before they write.
func IfAt(at store.Serial) Match { return Match{ifMatch: []string{Tag(at)}} }
