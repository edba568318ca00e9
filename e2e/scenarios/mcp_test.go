package scenarios

import (
	"net/http"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// mcpProxy is the document of an MCP proxy that requires a key.
func mcpProxy(id, upstream string, tools object) object {
	return object{
		"openapi": "3.0.3", "info": object{"title": id, "version": "1.0.0"}, "paths": object{},
		"components": object{"securitySchemes": object{"authToken": object{"type": "apiKey", "in": "header", "name": "Authorization"}}},
		"security":   []any{object{"authToken": []any{}}},
		"x-tyk-api-gateway": extension(id, object{
			"upstream": object{"url": upstream}, "middleware": object{"mcpTools": tools},
			"server": object{"listenPath": object{"value": "/" + id + "/", "strip": true},
				"authentication": object{"enabled": true, "securitySchemes": object{"authToken": object{"enabled": true}}}},
		}),
	}
}

// TestMCP follows tool calls: the proxy's own rules and those of policies apply
// together (docs/wire/feeds.md#mcp-proxies).
func TestMCP(t *testing.T) {
	e := newEstate(t, nil)
	upstream := gatewaysim.NewMCPServer("read", "write", "drop")
	t.Cleanup(upstream.Close)
	blocked := object{"drop": object{"block": object{"enabled": true}}}
	if r := e.api.do(t, http.MethodPost, mcpProxies, mcpProxy("tools", upstream.URL(), blocked)); r.ID != "tools" {
		t.Fatalf("creation: %+v", r)
	}
	e.api.do(t, http.MethodPost, oasAPIs, oasAPI("plain", nil))
	e.api.do(t, http.MethodPost, policies, policy("everything", nil, "tools"))
	limited := func(rights object) object {
		rights["api_id"] = "tools"
		return policy("limited", object{"access_rights": object{"tools": rights}})
	}
	tools := func(allowed, blocked []string) object {
		return object{"tools": object{"allowed": allowed, "blocked": blocked}}
	}
	e.api.do(t, http.MethodPost, policies, limited(object{"mcp_access_rights": tools([]string{"re.*", "wr.*"}, []string{"write"})}))
	e.api.refused(t, http.MethodPost, policies, policy("wrong", object{"access_rights": object{"plain": object{"mcp_access_rights": tools([]string{"a"}, nil)}}}),
		http.StatusBadRequest, `MCP fields can only be configured on MCP Proxies, API \"plain\" is not an MCP Proxy`)

	call := func(token, method, tool string) request {
		e.gateway.PutKey(token, gatewaysim.Key{OrgID: orgID, Policies: []string{token}})
		return request{method: http.MethodPost, path: "/tools/", token: token,
			body: object{"jsonrpc": "2.0", "id": 7, "method": method, "params": object{"name": tool}}}
	}
	e.becomes(t, "a proxy with its policies is loaded", call("limited", "tools/call", "read"), http.StatusOK, `"text":"read"`)
	waitFor(t, e.gateway, "both APIs", func(s gatewaysim.State) bool { return len(s.APIs) == 2 && !s.APIs[0].MCP && s.APIs[1].MCP })
	refusal := `"error":{"code":-32002,`
	e.answers(t, "tool blocked by the policy", call("limited", "tools/call", "write"), http.StatusForbidden, refusal)
	e.answers(t, "tool blocked by the proxy", call("everything", "tools/call", "drop"), http.StatusForbidden, refusal)
	e.answers(t, "tool that is not blocked", call("everything", "tools/call", "write"), http.StatusOK, `"text":"write"`)
	e.answers(t, "list by policy", call("limited", "tools/list", ""), http.StatusOK, `{"tools":[{"inputSchema":{"type":"object"},"name":"read"}]}`)
	e.answers(t, "list by proxy", call("everything", "tools/list", ""), http.StatusOK, `"name":"read"},{"inputSchema":{"type":"object"},"name":"write"}]`)
	anonymous := call("everything", "tools/list", "")
	anonymous.token = ""
	e.answers(t, "no credentials", anonymous, http.StatusUnauthorized, `"error":{"code":-32001,`)

	e.api.do(t, http.MethodPut, policyPath("limited"), limited(object{
		"json_rpc_methods_access_rights": object{"allowed": []string{"tools/call"}, "blocked": []string{}},
		"mcp_primitives":                 []any{object{"type": "tool", "name": "write", "limit": object{"rate": 1, "per": 1000}}}}))
	e.becomes(t, "a method that is not allowed", call("limited", "tools/list", ""), http.StatusForbidden, refusal)
	e.answers(t, "the first call of a limited tool", call("limited", "tools/call", "write"), http.StatusOK, "")
	e.answers(t, "the second", call("limited", "tools/call", "write"), http.StatusTooManyRequests, `"error":{"code":-32003,`)
	allowed := object{"read": object{"allow": object{"enabled": true}}}
	e.api.do(t, http.MethodPut, mcpProxies+"/tools", mcpProxy("tools", upstream.URL(), allowed))
	e.becomes(t, "an allow list of the proxy", call("everything", "tools/call", "write"), http.StatusForbidden, refusal)
	e.api.do(t, http.MethodDelete, mcpProxies+"/tools", nil)
	e.becomes(t, "the proxy is gone", call("everything", "tools/call", "read"), http.StatusNotFound, "")
	e.healthy(t)
}
