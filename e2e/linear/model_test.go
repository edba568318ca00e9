package linear_test

import (
	"maps"
	"net/http"

	"github.com/anishathalye/porcupine"
)

// verb is what a request does to a record or to one of its mappings.
type verb string

const (
	create        verb = "create"
	read          verb = "read"
	replace       verb = "replace"
	remove        verb = "remove"
	patch         verb = "patch"
	readMapping   verb = "read mapping"
	putMapping    verb = "put mapping"
	removeMapping verb = "remove mapping"
)

// reads reports whether a request does not change the record.
func (v verb) reads() bool { return v == read || v == readMapping }

// scopes is one mapping: policy by scope.
type scopes map[string]string

// mappings is the table of a record. It is immutable.
type mappings map[string]scopes

func (m mappings) equal(o mappings) bool {
	return maps.EqualFunc(m, o, func(a, b scopes) bool { return maps.Equal(a, b) })
}

// merge is a merge patch of mappings: a nil mapping removes it, a nil policy
// removes the scope.
type merge map[string]map[string]*string

// input is one request.
type input struct {
	Record    string // client_idp_id
	Verb      verb
	API       string
	Name      string
	Mappings  mappings // whole table, or the one mapping to put
	Patch     merge
	Match     string // If-Match; "" for none
	NoneMatch string // If-None-Match; "" for none
}

// output is the answer to a request.
type output struct {
	Unknown  bool // no answer, or one that leaves the outcome open
	Status   int
	Tag      string // ETag
	Name     string
	Mappings mappings // of the whole record, or the one mapping that was read; nil if the answer has none
}

// state is one record.
type state struct {
	Exists   bool
	Tag      string // "" after a write whose answer was lost
	Name     string
	Mappings mappings
}

func (s state) equal(o state) bool {
	return s.Exists == o.Exists && s.Tag == o.Tag && s.Name == o.Name && s.Mappings.equal(o.Mappings)
}

// model is the registry as docs/wire/client-idps.md and RFC 9110, 13.1 describe it, one
// record at a time.
var model = porcupine.Model{
	Partition: byRecord,
	Init:      func() any { return state{} },
	Step: func(s, in, out any) (bool, any) {
		ok, next := s.(state).step(in.(input), out.(output))
		return ok, next
	},
	Equal:             func(a, b any) bool { return a.(state).equal(b.(state)) },
	DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
	DescribeState:     func(s any) string { return s.(state).String() },
}

func byRecord(history []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	at := map[string]int{}
	for _, op := range history {
		record := op.Input.(input).Record
		i, known := at[record]
		if !known {
			i = len(parts)
			at[record] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], op)
	}
	return parts
}

// step reports whether an answer is correct in a state, and returns the next state.
func (s state) step(in input, out output) (bool, state) {
	status, next := s.apply(in)
	wrote := status < 300 && !in.Verb.reads()
	switch {
	case out.Unknown && wrote:
		next.Tag = ""
		return true, next
	case out.Unknown:
		return true, s
	case status != out.Status:
		return false, s
	case status >= 300:
		return true, s
	case wrote:
		return s.wrote(in, out, next)
	}
	return s.read(in, out)
}

// wrote checks the answer to a successful write.
func (s state) wrote(in input, out output, next state) (bool, state) {
	next.Tag = out.Tag
	if in.Verb == remove {
		return true, next
	}
	if out.Tag == "" || out.Tag == s.Tag {
		return false, s
	}
	return out.Mappings == nil || out.Name == next.Name && out.Mappings.equal(next.Mappings), next
}

// read checks the answer to a read, and learns an unknown tag.
func (s state) read(in input, out output) (bool, state) {
	if out.Tag == "" || s.Tag != "" && s.Tag != out.Tag {
		return false, s
	}
	s.Tag = out.Tag
	if in.Verb == readMapping {
		return maps.Equal(out.Mappings[in.API], s.Mappings[in.API]), s
	}
	return out.Name == s.Name && out.Mappings.equal(s.Mappings), s
}

// apply returns the expected status of a request and the resulting record. An unknown
// tag matches none: a client that sent one had seen it.
func (s state) apply(in input) (int, state) {
	switch _, mapped := s.Mappings[in.API]; {
	case in.Verb == create && s.Exists:
		return http.StatusConflict, s
	case in.Verb == create:
		return http.StatusCreated, state{Exists: true, Name: in.Name, Mappings: in.Mappings}
	case !s.Exists || in.Verb == readMapping && !mapped:
		return http.StatusNotFound, s
	case in.Match != "" && in.Match != s.Tag:
		return http.StatusPreconditionFailed, s
	case in.Verb == removeMapping && !mapped:
		return http.StatusNotFound, s
	case in.NoneMatch != "" && in.NoneMatch == s.Tag:
		return http.StatusNotModified, s
	}
	return http.StatusOK, s.changed(in)
}

func (s state) changed(in input) state {
	switch in.Verb {
	case replace:
		s.Name, s.Mappings = in.Name, in.Mappings
	case remove:
		return state{}
	case putMapping:
		s.Mappings = s.Mappings.with(in.API, in.Mappings[in.API])
	case removeMapping:
		s.Mappings = maps.Clone(s.Mappings)
		delete(s.Mappings, in.API)
	case patch:
		s.Mappings = s.Mappings.patched(in.Patch)
	}
	return s
}

func (m mappings) with(api string, sc scopes) mappings {
	m = maps.Clone(m)
	m[api] = sc
	return m
}

// patched applies a merge patch (RFC 7386).
func (m mappings) patched(p merge) mappings {
	m = maps.Clone(m)
	for api, changes := range p {
		if changes == nil {
			delete(m, api)
			continue
		}
		merged := scopes{}
		maps.Copy(merged, m[api])
		for scope, policy := range changes {
			if policy == nil {
				delete(merged, scope)
			} else {
				merged[scope] = *policy
			}
		}
		m[api] = merged
	}
	return m
}
