package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestOutline: the operations of a description and their order.
func TestOutline(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`: nil, `[]`: nil, `{"paths":3}`: nil, `{"paths":{"/a":3,"/b":{"get":4,"x":{}}}}`: nil,
		`{"paths":{"/b":{"post":{"summary":"Add","operationId":"addB"},"get":{}},"/a":{"delete":{"description":"Away"}}}}`: {"DELETE /a ||Away", "GET /b ||", "POST /b addB|Add|"},
	} {
		n := doctest.Node(t, text)
		var got []string
		for _, o := range Outline(n) {
			got = append(got, fmt.Sprintf("%s %s %s|%s|%s", o.Method, o.Path, o.Name, o.Summary, o.Description))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	many := `{"paths":{"/x":{"get":{"description":"` + strings.Repeat("ä", maxSaid) + `"}}`
	for i := range maxOutlined {
		many += fmt.Sprintf(`,"/y%d":{"get":{}}`, i)
	}
	n, err := doc.ParseNode([]byte(many + "}}"))
	if err != nil {
		t.Fatal(err)
	}
	if out := Outline(n); len(out) != maxOutlined || len(out[0].Description) > maxSaid {
		t.Error(len(out), len(out[0].Description))
	}
}

// TestAnchor: two operations have different anchors.
func TestAnchor(t *testing.T) {
	if a := (Operation{Method: "GET", Path: "/pets/{id}"}).Anchor(); !strings.HasPrefix(a, "get-pets-id-") {
		t.Error(a)
	}
	if Anchor("get", "/a-b") == Anchor("get", "/a/b") || Anchor("get", "/a") == Anchor("put", "/a") {
		t.Error("one place for two operations")
	}
}
