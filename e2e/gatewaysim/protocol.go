package gatewaysim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
)

const (
	pathRegister = "/register/node"
	pathPing     = "/register/ping"
	pathNode     = "/system/node"
	pathPolicies = "/system/policies"
	pathAPIs     = "/system/apis"
	pathIdPs     = "/system/clientidps"
	pathQuota    = "/system/key/quota_trigger"
)

// Which optional headers a call carries; the table in docs/wire/gateway-nodes.md#headers.
const (
	withNode    = 1 << iota // node id and nonce
	withSession             // session id
	withHost                // host name
)

// answer is a response with the common envelope.
type answer struct {
	status int
	body   []byte
	env    envelope
	envErr error // the body is not a JSON object, or its Nonce is not a string
}

type envelope struct {
	Status  json.RawMessage
	Message json.RawMessage
	Nonce   string
}

// send makes one call to the control plane. Every 200 replaces the nonce, even by an empty one; any
// other status keeps it (docs/wire/gateway-nodes.md#nonces).
func (p *process) send(ctx context.Context, method, path string, body []byte, with int) (answer, error) {
	ans, err := p.roundTrip(ctx, method, path, body, with)
	if ctx.Err() == nil { // a call interrupted by the end of the process does not count
		p.update(func(s *State) {
			p.requests[Request{path, ans.status}]++
			if ans.status == http.StatusOK {
				s.Nonce = ans.env.Nonce
			}
			if ans.status == http.StatusForbidden && with&withNode != 0 {
				s.Refusals++
			}
		})
	}
	return ans, err
}

func (p *process) roundTrip(ctx context.Context, method, path string, body []byte, with int) (answer, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.cfg.DashboardURL+path, reader)
	if err != nil {
		return answer{}, err
	}
	p.sign(req.Header, with)
	resp, err := p.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: reading the answer: %w", path, err)
	}
	ans := answer{status: resp.StatusCode, body: data}
	ans.envErr = json.Unmarshal(data, &ans.env)
	return ans, nil
}

func (p *process) sign(h http.Header, with int) {
	p.gw.mu.Lock()
	node, nonce, session := p.state.NodeID, p.state.Nonce, p.state.SessionID
	p.gw.mu.Unlock()
	h.Set("Authorization", p.cfg.NodeSecret)
	if with&withNode != 0 {
		h.Set("x-tyk-nodeid", node)
		h.Set("x-tyk-nonce", nonce) // present, but empty if there is none
	}
	if with&withSession != 0 {
		h.Set("x-tyk-session-id", session)
	}
	if with&withHost != 0 {
		h.Set("x-tyk-hostname", p.cfg.Hostname)
	}
}

// register requests a node id until it gets a final answer, for ever if necessary. It reports
// whether the node was accepted: it was not if the process ended, or if the answer was not JSON,
// after which the gateway runs on its own.
func (p *process) register() bool {
	for {
		ans, err := p.send(p.ctx, http.MethodGet, pathRegister, nil, withSession|withHost)
		node := nodeID(ans)
		switch {
		case err != nil:
			p.failed("registration", err)
		case node != "":
			p.update(func(s *State) {
				s.NodeID, s.Nonce, s.Registered = node, ans.env.Nonce, true
				s.Registrations++
			})
			return true
		case ans.status == http.StatusOK && !json.Valid(ans.body):
			p.update(func(s *State) { s.NodeID, s.Nonce, s.Registered = "solo-"+newUUID(), "", false })
			return false
		default:
			p.failed("registration", fmt.Errorf("status %d without a node id", ans.status))
		}
		if !p.sleep(p.cfg.Intervals.Retry) {
			return false
		}
	}
}

// nodeID returns the node id of an answer that counts as a registration: a 200 with any Status, or
// a 409 with Status OK (docs/wire/gateway-nodes.md#registration); otherwise "".
func nodeID(ans answer) string {
	if ans.envErr != nil || (ans.status != http.StatusOK && ans.status != http.StatusConflict) {
		return ""
	}
	var status string
	if ans.status == http.StatusConflict && (json.Unmarshal(ans.env.Status, &status) != nil || status != "OK") {
		return ""
	}
	var message struct{ NodeID string }
	if json.Unmarshal(ans.env.Message, &message) != nil {
		return ""
	}
	return message.NodeID
}

// recoveryWord returns the word in a 403 body that makes the gateway try to
// recover inside a load (docs/wire/gateway-nodes.md#recovery-words), or "".
func recoveryWord(body []byte) string {
	for _, word := range []string{"Nonce failed", "nonce", "No node ID Found"} {
		if strings.Contains(string(body), word) {
			return word
		}
	}
	return ""
}

// isNetworkError reports whether an error is one of docs/wire/gateway-nodes.md#recovery-words that
// make the gateway recover inside a load; a refused certificate, for example, is not.
func isNetworkError(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED, syscall.ECONNRESET,
		syscall.EPIPE, syscall.ENETUNREACH, syscall.EHOSTUNREACH,
	}, func(known error) bool { return errors.Is(err, known) })
}
