package gatewaysim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// API is the visible part of an API that a gateway has loaded.
type API struct {
	ID         string
	OrgID      string
	Name       string
	ListenPath string // after a second API on the same path was moved
	OAS        bool
	MCP        bool // an MCP proxy by the rule of docs/wire/feeds.md#mcp-proxies
}

// api is one loaded API.
type api struct {
	definition
	listenPath string
	doc        *document // nil for classic APIs
	mcp        bool
}

// entry is one element of the API feed; other members are ignored.
type entry struct {
	Definition json.RawMessage `json:"api_definition"`
	OAS        json.RawMessage
}

// parsedEntry is a decoded entry.
type parsedEntry struct {
	definition
	oas json.RawMessage // nil when absent or null
}

// parseAPIs decodes the Message of /system/apis and appends the local definitions. One
// wrong type anywhere refuses the whole feed; a missing definition is errCrash
// (docs/wire/gateway-nodes.md#rules-that-matter-most).
func parseAPIs(message json.RawMessage, local []json.RawMessage) ([]parsedEntry, error) {
	var entries []entry
	if len(message) > 0 {
		if err := json.Unmarshal(message, &entries); err != nil {
			return nil, err
		}
	}
	for _, raw := range local {
		entries = append(entries, entry{Definition: raw})
	}
	parsed := make([]parsedEntry, len(entries))
	crash := false
	for i, e := range entries {
		if isNull(e.Definition) {
			crash = true // only if the rest of the feed can be decoded
			continue
		}
		var err error
		if parsed[i], err = e.parse(); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	if crash {
		return nil, errCrash
	}
	return parsed, nil
}

func (e entry) parse() (parsedEntry, error) {
	var p parsedEntry
	if err := apiShape.check(e.Definition); err != nil {
		return p, fmt.Errorf("api_definition: %w", err)
	}
	if err := json.Unmarshal(e.Definition, &p.definition); err != nil {
		return p, fmt.Errorf("api_definition: %w", err)
	}
	if !isNull(e.OAS) {
		if e.OAS[0] != '{' {
			return p, fmt.Errorf("oas must be an object")
		}
		p.oas = e.OAS
	}
	return p, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// apiSet is the loaded APIs of a gateway. It is immutable.
type apiSet struct {
	list    []*api // by listen path
	byID    map[string]*api
	skipped map[string]string
}

// newAPISet chooses the APIs that this gateway loads from a feed (sections 3.1 to 3.5):
// the later of two entries with one id. It skips APIs without a listen path, outside
// the segment, and OAS APIs without a valid document. If two APIs have the same path,
// the second is moved. Inactive APIs are loaded like any other.
func newAPISet(entries []parsedEntry, segmented bool, tags []string) *apiSet {
	set := &apiSet{byID: map[string]*api{}, skipped: map[string]string{}}
	last := map[string]int{}
	for i, e := range entries {
		last[e.APIID] = i
	}
	for i, e := range entries {
		if last[e.APIID] != i {
			continue
		}
		a, reason := newAPI(e, segmented, tags)
		if reason != "" {
			set.skipped[e.APIID] = reason
			continue
		}
		set.list = append(set.list, a)
		set.byID[a.APIID] = a
	}
	set.settlePaths()
	return set
}

func newAPI(e parsedEntry, segmented bool, tags []string) (*api, string) {
	a := &api{definition: e.definition, listenPath: e.Proxy.ListenPath}
	shared := slices.ContainsFunc(e.Tags, func(tag string) bool { return slices.Contains(tags, tag) })
	switch {
	case segmented && (e.TagsDisabled || !shared):
		return nil, "outside the segment"
	case a.listenPath == "":
		return nil, "no listen path"
	case !e.IsOAS:
		return a, ""
	case e.oas == nil:
		return nil, "no OAS document"
	}
	doc, err := parseDocument(e.oas)
	if err != nil {
		return nil, "invalid OAS document: " + err.Error()
	}
	a.doc = doc
	a.mcp = a.ApplicationProtocol == "mcp" && a.JSONRPCVersion == "2.0" && doc.mcp
	return a, ""
}

func (s *apiSet) settlePaths() {
	slices.SortStableFunc(s.list, func(a, b *api) int { return strings.Compare(a.listenPath, b.listenPath) })
	taken := map[string]bool{}
	for _, a := range s.list {
		if taken[a.listenPath] {
			a.listenPath += "-" + a.APIID
		}
		taken[a.listenPath] = true
	}
}

func (s *apiSet) summary() []API {
	list := make([]API, len(s.list))
	for i, a := range s.list {
		list[i] = API{ID: a.APIID, OrgID: a.OrgID, Name: a.Name, ListenPath: a.listenPath, OAS: a.IsOAS, MCP: a.mcp}
	}
	return list
}

// route returns the API with the longest listen path that contains the request path, or
// nil. Internal APIs have no address of their own.
func (s *apiSet) route(path string) *api {
	var found *api
	for _, a := range s.list {
		below := strings.HasPrefix(path, a.listenPath) || path == strings.TrimRight(a.listenPath, "/")
		if below && !a.Internal && (found == nil || len(a.listenPath) > len(found.listenPath)) {
			found = a
		}
	}
	return found
}
