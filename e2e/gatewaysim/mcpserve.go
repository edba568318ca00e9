package gatewaysim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

// rpcError is a refusal in the format of JSON-RPC (docs/wire/feeds.md#mcp-proxies).
type rpcError struct {
	Version string `json:"jsonrpc"`
	Error   struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]int `json:"data"`
	} `json:"error"`
	ID json.RawMessage `json:"id"`
}

// codes are the JSON-RPC error codes by HTTP status; other statuses are internal
// errors.
var codes = map[int]int{
	http.StatusBadRequest: -32700, http.StatusUnauthorized: -32001, http.StatusForbidden: -32002, http.StatusTooManyRequests: -32003,
}

const internalError = -32603

// serveMCP checks a call to an MCP proxy and forwards it.
func (v view) serveMCP(w http.ResponseWriter, r *http.Request, a *api, req *request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	call := &rpcCall{}
	if json.Unmarshal(body, call) != nil || call.Method == "" {
		refuseCall(w, call, Decision{Status: http.StatusBadRequest, Body: "Parse error"})
		return
	}
	req.rpc = call
	d := v.decide(a, req)
	switch {
	case d.Status == 0:
		panic(http.ErrAbortHandler)
	case d.Body == noField:
		d.Status = http.StatusUnauthorized // even where other APIs answer 400
		refuseCall(w, call, d)
	case d.Status != http.StatusOK:
		refuseCall(w, call, d)
	default:
		v.passOn(w, a, call, body, v.visible(a, call, d))
	}
}

func refuseCall(w http.ResponseWriter, call *rpcCall, d Decision) {
	e := rpcError{Version: "2.0", ID: call.ID}
	e.Error.Code, e.Error.Message = codes[d.Status], d.Body
	if e.Error.Code == 0 {
		e.Error.Code = internalError
	}
	e.Error.Data = map[string]int{"http_code": d.Status}
	writeJSON(w, d.Status, e)
}

// visible returns the filter for list items, nil when the call is not for a list of
// primitives.
func (v view) visible(a *api, call *rpcCall, d Decision) func(item map[string]any) bool {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.list == call.Method })
	if i < 0 {
		return nil
	}
	k := kinds[i]
	s, _ := newSession(v.policies, a.OrgID, d.Policies) // it succeeded a moment ago, with the same policies
	return func(item map[string]any) bool {
		name, _ := item[k.name].(string)
		return k.of(a.doc).permit(name) && k.may(s.Rights[a.APIID]).permit(name)
	}
}

// passOn sends a call to the target and returns its answer, without hidden list items.
func (v view) passOn(w http.ResponseWriter, a *api, call *rpcCall, body []byte, visible func(map[string]any) bool) {
	failed := Decision{Status: http.StatusBadGateway, Body: http.StatusText(http.StatusBadGateway)}
	req, err := http.NewRequestWithContext(v.p.ctx, http.MethodPost, a.Proxy.TargetURL, bytes.NewReader(body))
	if err != nil {
		refuseCall(w, call, failed)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := v.p.http.Do(req)
	if err != nil {
		refuseCall(w, call, failed)
		return
	}
	defer res.Body.Close()
	var answer map[string]any
	if json.NewDecoder(res.Body).Decode(&answer) != nil {
		refuseCall(w, call, failed)
		return
	}
	if result, ok := answer["result"].(map[string]any); ok && visible != nil {
		filter(result, visible)
	}
	writeJSON(w, res.StatusCode, answer)
}

// filter removes hidden items from every list in a result.
func filter(result map[string]any, visible func(map[string]any) bool) {
	for name, v := range result {
		items, ok := v.([]any)
		if !ok {
			continue
		}
		result[name] = slices.DeleteFunc(items, func(item any) bool {
			object, _ := item.(map[string]any)
			return !visible(object)
		})
	}
}
