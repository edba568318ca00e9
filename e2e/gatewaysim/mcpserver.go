package gatewaysim

import (
	"encoding/json"
	"net"
	"net/http"
)

// MCPServer is an MCP server for tests: it lists its tools and answers every tool call
// with the tool's name.
type MCPServer struct {
	server *http.Server
	url    string
}

// NewMCPServer starts a server with these tools on a loopback port. It panics if there
// is no free loopback port. Close it when done.
func NewMCPServer(tools ...string) *MCPServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("gatewaysim: MCP server: " + err.Error())
	}
	s := &MCPServer{url: "http://" + listener.Addr().String() + "/"}
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answerCall(w, r, tools) })}
	go func() { _ = s.server.Serve(listener) }() // ends with Close
	return s
}

// URL returns the server's address, for a proxy's upstream.
func (s *MCPServer) URL() string { return s.url }

// Close stops the server at once.
func (s *MCPServer) Close() { _ = s.server.Close() }

func answerCall(w http.ResponseWriter, r *http.Request, tools []string) {
	var call rpcCall
	if json.NewDecoder(r.Body).Decode(&call) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	result := map[string]any{}
	switch call.Method {
	case "tools/list":
		list := []any{}
		for _, name := range tools {
			list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		result["tools"] = list
	case "tools/call":
		result["content"] = []any{map[string]any{"type": "text", "text": call.Params.Name}}
	}
	writeJSON(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
}
