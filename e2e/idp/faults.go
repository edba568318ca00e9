package idp

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// Endpoint is a kind of request.
type Endpoint string

// The endpoints.
const (
	Discovery    Endpoint = "discovery"
	Registration Endpoint = "registration"
	Reading      Endpoint = "reading"
	Updating     Endpoint = "updating"
	Deletion     Endpoint = "deletion"
	Tokens       Endpoint = "tokens"
	Claims       Endpoint = "claims"
	Keys         Endpoint = "keys"
)

// Endpoints are those for the registration of clients and for their tokens.
var Endpoints = []Endpoint{Discovery, Registration, Reading, Updating, Deletion, Tokens}

// Fault is a kind of failure.
type Fault string

// The faults.
const (
	Down    Fault = "down"    // the connection is closed without an answer, and nothing is done
	Broken  Fault = "500"     // the request is not carried out
	Garbage Fault = "garbage" // the request is carried out, and the answer is not JSON
	Dies    Fault = "dies"    // the request is carried out, and the connection is closed without an answer
	Slow    Fault = "slow"    // the request is carried out, and the answer takes longer than Patience
	Refuses Fault = "403"     // the request is not carried out
)

// Faults are all of them.
var Faults = []Fault{Down, Broken, Garbage, Dies, Slow, Refuses}

// Patience is less than the duration of a slow answer.
const Patience = 2 * time.Second

type fault struct {
	kind Fault
	left int
}

// Misbehave makes an endpoint fail for a number of requests; -1: until another call.
func (s *Server) Misbehave(at Endpoint, kind Fault, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[at] = &fault{kind, times}
}

// Behave ends all faults.
func (s *Server) Behave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
}

// Calls returns how many times an endpoint was called.
func (s *Server) Calls(at Endpoint) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[at]
}

// due returns the fault of this request, or "".
func (s *Server) due(at Endpoint) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[at]++
	f := s.faults[at]
	if f == nil || f.left == 0 {
		return ""
	}
	f.left--
	return f.kind
}

// at serves an endpoint, with its fault if it has one.
func (s *Server) at(e Endpoint, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch s.due(e) {
		case Down:
			panic(http.ErrAbortHandler)
		case Broken:
			refuse(w, http.StatusInternalServerError, "server_error")
		case Refuses:
			refuse(w, http.StatusForbidden, "access_denied")
		case Garbage:
			next(httptest.NewRecorder(), r)
			_, _ = w.Write([]byte("<html>Welcome!</html>"))
		case Dies:
			next(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case Slow:
			next(httptest.NewRecorder(), r)
			select {
			case <-time.After(2 * Patience):
			case <-r.Context().Done():
			}
			panic(http.ErrAbortHandler)
		default:
			next(w, r)
		}
	}
}
