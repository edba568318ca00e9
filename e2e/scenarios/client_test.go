package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// idp is a client IdP as the management API shows it (docs/wire/client-idps.md#record).
type idp struct {
	ID             string             `json:"_id,omitempty"`
	ClientIDPID    string             `json:"client_idp_id,omitempty"`
	OrgID          string             `json:"org_id,omitempty"`
	Name           string             `json:"name"`
	Issuer         string             `json:"issuer"`
	JWKSURI        string             `json:"jwks_uri"`
	ScopeClaimName string             `json:"scope_claim_name"`
	APIMappings    map[string]mapping `json:"api_mappings,omitempty"`
}

// mapping says which policy each scope grants on one API.
type mapping struct {
	ScopeToPolicy map[string]string `json:"scope_to_policy"`
}

// patch is a merge patch of api_mappings; nil values remove.
type patch map[string]any

// scopes returns the patch that sets (or with nil removes) scopes of one API.
func scopes(api string, set map[string]any) patch {
	return patch{api: map[string]any{"scope_to_policy": set}}
}

// receipt is the answer of writes that return no record.
type receipt struct {
	Status, Message string
	Meta            json.RawMessage
}

// statusError is an answer without a success status.
type statusError struct {
	method, path string
	status       int
	body         string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s", e.method, e.path, e.status, e.body)
}

// errCutOff is the error of a call without a complete answer: the client cannot know its
// outcome.
var errCutOff = errors.New("no answer")

// statusOf returns the status of the answer for an error: 200 for nil, 0 if there was no
// answer.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	return 0
}

// isAway reports whether an answer says that the store is unavailable: the registry of
// identity providers answers 500 then, all others 503.
func isAway(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	if !ok {
		return false
	}
	if strings.HasPrefix(e.path, clientIDPs) && e.status == http.StatusInternalServerError {
		return slices.ContainsFunc([]string{"reading", "saving", "deleting"}, func(doing string) bool {
			return strings.Contains(e.body, `"error `+doing+` client idp"`)
		})
	}
	return e.status == http.StatusServiceUnavailable
}

// client calls one replica, or the balancer, with one credential.
type client struct {
	base   string      // without a slash at the end
	header http.Header // credential
	http   *http.Client
}

// answerLimit is longer than the program may take for one request, so that no request is
// still running when its client gives up.
const answerLimit = 45 * time.Second

func newClient(base, header, credential string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Second}
	return &client{base: base, header: http.Header{header: {credential}}, http: &http.Client{Transport: transport, Timeout: answerLimit}}
}

// encode returns the text of a body; JSON texts stay unchanged.
func encode(in any) ([]byte, error) {
	if raw, ok := in.(json.RawMessage); ok {
		return raw, nil
	}
	return json.Marshal(in)
}

// call sends in as JSON (nil: no body) and decodes the answer into out (nil:
// ignored). Every status but 2xx is a *statusError.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := encode(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header = c.header.Clone()
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errCutOff, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%w: %s %s: %w", errCutOff, method, path, err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return &statusError{method, path, res.StatusCode, string(raw)}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s %s: %w in %s", method, path, err, raw)
	}
	return nil
}

const clientIDPs = "/api/clientidps"

func idpPath(id string) string { return clientIDPs + "/" + url.PathEscape(id) }

func mappingPath(id, api string) string { return idpPath(id) + "/mappings/" + url.PathEscape(api) }

func (c *client) createIDP(ctx context.Context, p idp) error {
	return c.call(ctx, http.MethodPost, clientIDPs, p, nil)
}

func (c *client) idp(ctx context.Context, id string) (p idp, err error) {
	err = c.call(ctx, http.MethodGet, idpPath(id), nil, &p)
	return p, err
}

func (c *client) mapping(ctx context.Context, id, api string) (m mapping, err error) {
	err = c.call(ctx, http.MethodGet, mappingPath(id, api), nil, &m)
	return m, err
}

func (c *client) putMapping(ctx context.Context, id, api string, m mapping) (p idp, err error) {
	err = c.call(ctx, http.MethodPut, mappingPath(id, api), m, &p)
	return p, err
}

func (c *client) patchMappings(ctx context.Context, id string, change patch) (p idp, err error) {
	err = c.call(ctx, http.MethodPatch, idpPath(id)+"/mappings", change, &p)
	return p, err
}
