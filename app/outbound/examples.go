package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Examples reads example APIs from repositories of files. A repository is a
// folder with an index file, and a folder per example.
type Examples struct {
	Fetcher fetch.Fetcher
	// Allowed lists the exact URLs of indexes or roots that clients may name; the first
	// is the default. The operator chooses them, so they may be private addresses.
	Allowed []string
}

// Codes of the faults of examples.
const (
	codeIndex   = "examples.index"
	codeExample = "examples.not_found"
	codeFetch   = "examples.fetch"
)

// Example is one entry of a list of examples.
type Example struct {
	Location string `json:"location"` // folder below the root
	Name     string `json:"name"`
	Short    string `json:"shortDescription"`
}

// ExampleDetail is one example.
type ExampleDetail struct {
	Name          string          `json:"name"`
	Location      string          `json:"location"`
	Description   string          `json:"description"`
	Features      []string        `json:"features"`
	MinVersion    string          `json:"min_version"` // of the gateway
	Readme        string          `json:"readme,omitempty"`
	APIDefinition json.RawMessage `json:"api_definition,omitempty"` // classic definition
	OAS           json.RawMessage `json:"oas,omitempty"`            // OpenAPI document
}

// Operations lists the reads of examples.
func (s *Examples) Operations() []operation.Operation {
	example := Example{Location: "udg/vat-checker", Name: "VAT number checker", Short: "Checks VAT numbers."}
	failed := func(text string) operation.Option {
		return operation.Answers(map[string]operation.Answer{codeFetch: {Status: 500, Text: text}})
	}
	return operation.Group{
		Surface: operation.Management, Name: "examples", Path: "/api/examples", Tag: "Examples", Permission: access.APIs,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{
			codeIndex:   {Status: 400, Text: "Invalid examples index file or root path."},
			codeExample: {Text: "Example API definition not found."},
		}},
	}.Rows(
		operation.GET("list", "", "List example APIs", s.List, operation.Lists(operation.Item{ID: "location", Name: "name"}), operation.Faulting(codeIndex, codeFetch), operation.Example(nil, []Example{example}),
			operation.Notes("Without the header, the first address in security.allowed_examples_urls is read. The list is empty if that setting is empty."),
			failed("Failed to fetch examples index file.")),
		operation.GET("get", "/{location}", "Fetch an example API", s.Get, operation.Tail(), operation.Faulting(codeIndex, codeExample, codeFetch),
			operation.Example(nil, ExampleDetail{Name: example.Name, Location: example.Location, Description: example.Short, Features: []string{"REST data source"}, MinVersion: "5.0"}),
			failed("Failed to fetch example API definitions.")),
	)
}

type where struct {
	Index string `header:"x-tyk-examples-index" doc:"Address of the index file, or of its folder."`
}

// List returns the examples of a repository, in the order of its index.
func (s *Examples) List(ctx context.Context, in where) ([]Example, error) {
	out := []Example{}
	from, err := s.place(in.Index)
	if err != nil || from.index == nil {
		return out, err
	}
	index, err := s.index(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, e := range index {
		out = append(out, Example{Location: e.Get("location").Text(), Name: e.Get("name").Text(), Short: either(e, "shortDescription", "description")})
	}
	return out, nil
}

type getIn struct {
	where
	Repository string `header:"x-tyk-repo-url" doc:"Address of the repository. Used if the request names no index."`
	Location   string `path:"location" doc:"Folder of the example; may contain slashes."`
	Readme     bool   `query:"readme" doc:"true: the response includes the README of the example."`
	APIDef     bool   `query:"apiDef" doc:"true: the response includes the API definition of the example."`
}

var notFound = fault.New(fault.NotFound, codeExample, "there is no such example")

// Get returns one example.
func (s *Examples) Get(ctx context.Context, in getIn) (ExampleDetail, error) {
	address := in.Index
	if address == "" {
		address = in.Repository
	} else if _, err := s.place(in.Repository); err != nil {
		return ExampleDetail{}, err
	}
	from, err := s.place(address)
	if err != nil {
		return ExampleDetail{}, err
	}
	if from.index == nil {
		return ExampleDetail{}, notFound
	}
	index, err := s.index(ctx, from)
	if err != nil {
		return ExampleDetail{}, err
	}
	i := slices.IndexFunc(index, func(e *doc.Node) bool { return e.Get("location").Text() == in.Location })
	if i < 0 || !plain(in.Location) {
		return ExampleDetail{}, notFound
	}
	folder, e := from.root.JoinPath(in.Location), index[i]
	d := ExampleDetail{
		Name: e.Get("name").Text(), Location: in.Location, Description: either(e, "description", "shortDescription"),
		Features: append([]string{}, e.Get("features").Texts()...), MinVersion: either(e, "minTykVersion", "min_version"),
	}
	if in.Readme {
		text, err := s.read(ctx, folder.JoinPath("readme.md"))
		if errors.Is(err, notFound) {
			text, err = s.read(ctx, folder.JoinPath("README.md"))
		}
		if err != nil && !errors.Is(err, notFound) {
			return d, err
		}
		d.Readme = strings.ToValidUTF8(string(text), "\ufffd")
	}
	if in.APIDef {
		err = s.definition(ctx, folder, &d)
	}
	return d, err
}

// definition reads the API of an example. A description in the folder names the file.
func (s *Examples) definition(ctx context.Context, folder *url.URL, d *ExampleDetail) error {
	about, err := s.node(ctx, folder.JoinPath(".tyk.json"))
	if err != nil {
		return err
	}
	for _, f := range about.Get("files").Items() {
		name := f.Get("file").Text()
		if !plain(name) || strings.Contains(name, "/") || about.Get("type").Text() != "apidef" {
			continue
		}
		api, err := s.node(ctx, folder.JoinPath(name))
		if err != nil {
			return err
		}
		switch {
		case api.Get("openapi").Is(doc.TypeString):
			d.OAS = api.JSON()
		case api.Get("api_definition").Is(doc.TypeObject):
			d.APIDefinition = api.Get("api_definition").JSON()
		case api.Is(doc.TypeObject) && api.Get("oas") == nil:
			d.APIDefinition = api.JSON()
		}
		if oas := api.Get("oas"); oas.Is(doc.TypeObject) {
			d.OAS = oas.JSON()
		}
		return nil
	}
	return notFound
}
