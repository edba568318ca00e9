package product

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Detail is the portal's data about one API of a product.
type Detail struct {
	APIID       string
	Description string `json:",omitempty"`
	OASUrl      string `json:",omitempty"`
	Facts
}

// Facts is the data about an API in the dashboard's last answer.
type Facts struct {
	Name       string `json:",omitempty"`
	ListenPath string `json:",omitempty"`
	TargetURL  string `json:",omitempty"`
	APIType    string `json:",omitempty"`
	Status     bool   `json:",omitempty"` // gateways serve it
}

// Details are the APIs of a product. A client sends the complete list. For an existing API,
// data that the client leaves out stays, and only the dashboard sets Facts.
type Details []Detail

// maxID is the maximum length of the identifier of an API in characters, and maxAddress that
// of a URL.
const (
	maxID      = 255
	maxAddress = document.MaxAddress
)

// Take implements table.Taker. A list without any API IDs is ignored.
func (d *Details) Take(sent any) (done, ok bool) {
	if sent == nil {
		*d = nil
		return true, true
	}
	list, isList := sent.([]any)
	if !isList || len(list) > table.MaxList {
		return false, false
	}
	had, named := map[string]Detail{}, 0
	for _, v := range *d {
		had[v.APIID] = v
	}
	out := make(Details, 0, len(list))
	for _, v := range list {
		members, isObject := v.(map[string]any)
		if !isObject {
			return false, false
		}
		id, fine := member(members, "APIID", maxID)
		if !fine {
			return false, false
		}
		if id == "" {
			continue
		}
		named++
		one := had[id]
		one.APIID = id
		if !one.say(members) {
			return false, false
		}
		out = append(out, one)
	}
	if named == 0 && len(list) > 0 {
		return false, true
	}
	slices.SortStableFunc(out, func(a, b Detail) int { return strings.Compare(a.APIID, b.APIID) })
	*d = slices.CompactFunc(out, func(a, b Detail) bool { return a.APIID == b.APIID })
	return true, named == len(list)
}

// say sets the members of a detail that a client sends.
func (d *Detail) say(members map[string]any) bool {
	for _, f := range []struct {
		name string
		at   *string
		most int
	}{{"Description", &d.Description, table.MaxText}, {"OASUrl", &d.OASUrl, maxAddress}} {
		if _, sent := members[f.name]; !sent {
			continue
		}
		s, fine := member(members, f.name, f.most)
		if !fine || f.at == &d.OASUrl && s != "" && s != d.OASUrl && !document.IsAddress(s) {
			return false
		}
		*f.at = s
	}
	return true
}

func member(members map[string]any, name string, most int) (string, bool) {
	s, ok := table.Text(members[name])
	return s, ok && utf8.RuneCountInString(s) <= most
}

// Schema implements table.Taker.
func (*Details) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type": []string{"array", "null"}, "description": "Must contain all APIs of the product.",
		"items": map[string]any{"type": "object", "properties": map[string]any{"APIID": text, "Description": text, "OASUrl": text}},
	}
}
