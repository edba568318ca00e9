package http

import (
	"encoding/json"
	"fmt"
	"maps"
	nethttp "net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// securitySchemes are the credentials of docs/wire/authentication.md#callers.
var securitySchemes = object{
	"accessKey":     object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "A user's access key, without a prefix."},
	"bearer":        object{"type": "http", "scheme": "bearer", "description": "A user's access key as a bearer token."},
	"session":       object{"type": "apiKey", "in": "cookie", "name": operation.SessionCookie, "description": "The session of a browser. Requests that change something also send the value of the cookie csrf_token in the header X-CSRF-Token."},
	"adminSecret":   object{"type": "apiKey", "in": "header", "name": "admin-auth", "description": "The secret of the super-admin."},
	"broker":        object{"type": "apiKey", "in": "header", "name": "admin-auth", "description": "The secret of an identity broker."},
	"portalToken":   object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "The API token of a portal admin, with or without the prefix Bearer."},
	"portalSession": object{"type": "apiKey", "in": "cookie", "name": "portal-session", "description": "The session of a portal user in a browser. Requests that change something also send CSRFToken in the header X-CSRF-Token."},
	"portalSecret":  object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "The secret that the portal shares with identity brokers, with or without the prefix Bearer."},
	"nodeSecret":    object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "The secret that all gateway nodes share, without a prefix."},
}

// securityOf returns the credentials that a row accepts; empty: none.
func securityOf(o *operation.Operation) []any {
	one := func(name string) object { return object{name: []any{}} }
	switch {
	case o.Public:
	case o.Surface == operation.Management:
		users := []any{one("accessKey"), one("bearer"), one("session")}
		if o.Brokers {
			return append(users, one("adminSecret"), one("broker"))
		}
		return users
	case o.Brokers && o.Surface == operation.Portal:
		return []any{one("portalSecret")}
	case o.Brokers:
		return []any{one("adminSecret"), one("broker")}
	case o.Surface == operation.Admin:
		return []any{one("adminSecret")}
	case o.BySession:
		return []any{one("portalSession")}
	case o.Surface == operation.Portal:
		return []any{one("portalToken")}
	case o.Surface == operation.Node:
		return []any{one("nodeSecret")}
	}
	return []any{}
}

// listHeaders describe the headers for the size of a list and the links to its pages.
var listHeaders = object{
	"X-Total-Count": object{"description": "Total number of items.", "schema": object{"type": "integer"}},
	"X-Page":        object{"description": "Number of this page.", "schema": object{"type": "integer"}},
	"X-Per-Page":    object{"description": "Number of items on a page.", "schema": object{"type": "integer"}},
	"Link":          object{"description": "Links to the next and the previous page (RFC 8288).", "schema": object{"type": "string"}},
}

var sharedHeaders = object{
	"RequestID": object{"description": "ID of the request in logs: the one that the client sent if it is valid, otherwise a generated one.", "schema": object{"type": "string"}},
	"ETag":      object{"description": "Entity tag of the response, for If-Match and If-None-Match.", "schema": object{"type": "string"}},
	"Retry":     object{"description": "Seconds to wait before the next try.", "schema": object{"type": "integer"}},
}

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func (d *describer) operation(o *operation.Operation) (object, error) {
	out, err := outputOf(o)
	if err != nil {
		return nil, err
	}
	described := object{"operationId": o.ID, "summary": o.Summary, "tags": []any{o.Tag}, "security": securityOf(o), "x-permission": permission(o)}
	if text := prose(o); text != "" {
		described["description"] = text
	}
	if o.Alone { // tells readers that other methods get 404 in place of 405
		described["x-alone"] = true
	}
	if params := d.parameters(o, out); len(params) > 0 {
		described["parameters"] = params
	}
	if o.Body != nil {
		if described["requestBody"], err = d.requestBody(o); err != nil {
			return nil, err
		}
	}
	responses := d.errors(o, out)
	if o.Status < nethttp.StatusBadRequest { // else the operation only refuses
		if responses[strconv.Itoa(o.Status)], err = d.success(o, out); err != nil {
			return nil, err
		}
	}
	if out.form == stream && out.of.Implements(reflect.TypeFor[operation.Elsewhere]()) {
		responses[strconv.Itoa(nethttp.StatusTemporaryRedirect)] = object{"description": "Redirect to a signed address of the content, which is valid for a few minutes.", "headers": object{
			"X-Request-Id": ref("headers", "RequestID"), "Location": object{"description": "Address of the content.", "schema": object{"type": "string"}}}}
	}
	if o.Rehearsable {
		described["x-rehearsable"] = true
		d.rehearsal(responses)
	}
	if o.Item != nil || out.form == page || out.form == listingForm {
		described["x-list"] = d.listed(o, out)
	}
	d.resourceOf(o, out)
	if conditional(o, out) {
		responses["304"] = object{"description": "The client already has the current version.", "headers": object{
			"X-Request-Id": ref("headers", "RequestID"), "ETag": ref("headers", "ETag")}}
	}
	described["responses"] = responses
	return described, nil
}

// prose returns the row's own notes, and who may call it.
func prose(o *operation.Operation) string {
	text := o.Notes
	if o.Permission != "" {
		text += fmt.Sprintf("\n\nPermission: `%s`, to %s.", o.Permission, o.Intent)
	}
	for _, n := range o.Needs {
		text += fmt.Sprintf("\n\nAlso needs `%s`, to %s", n.Permission, n.Intent)
		if len(n.Params) > 0 {
			text += ", when `" + strings.Join(n.Params, "` or `") + "` is given"
		}
		text += "."
	}
	return strings.TrimSpace(text)
}

// conditional reports whether a row is a read with an entity tag.
func conditional(o *operation.Operation, out output) bool {
	return o.Method == nethttp.MethodGet && (out.form == entity || out.form == stream || out.form == rendition)
}

func (d *describer) parameters(o *operation.Operation, out output) []any {
	list, seen := []any{}, map[string]bool{}
	add := func(p operation.Param) {
		key := p.In + " " + strings.ToLower(p.Name)
		if seen[key] {
			return
		}
		seen[key] = true
		schema := maps.Clone(d.of(p.Type))
		if p.Is != "" {
			schema["type"] = p.Is
		}
		if len(p.OneOf) > 0 {
			schema["enum"] = p.OneOf
		}
		described := object{"name": p.Name, "in": p.In, "schema": schema}
		if p.In == "path" || p.Required {
			described["required"] = true
		}
		if p.Doc != "" {
			described["description"] = p.Doc
		}
		list = append(list, described)
	}
	for _, p := range o.Params {
		add(p)
	}
	if conditional(o, out) {
		text := reflect.TypeFor[string]()
		add(operation.Param{Name: "If-None-Match", In: "header", Type: text, Doc: "The response is 304 if the resource has one of these entity tags."})
		add(operation.Param{Name: "If-Match", In: "header", Type: text, Doc: "The response is 412 if the resource has none of these entity tags."})
	}
	return list
}

// requestBody describes the body, which is parsed as JSON with any media type. Clients
// may use the media type of a merge patch (RFC 7396, 4).
func (d *describer) requestBody(o *operation.Operation) (object, error) {
	if o.TakesAttachment() {
		return object{"required": true, "content": object{formType: object{"schema": fileForm("The file."), "example": o.Request}}}, nil
	}
	example, err := json.Marshal(o.Request)
	if err != nil {
		return nil, err
	}
	schema := d.of(o.Body)
	if o.Contents != nil {
		schema = d.of(o.Contents)
	}
	media := object{"schema": schema, "example": json.RawMessage(example)}
	content := object{jsonType: media}
	if o.Body == reflect.TypeFor[doc.Patch]() {
		content["application/merge-patch+json"] = media
	}
	if o.Body == reflect.TypeFor[operation.Patch]() {
		content[operation.MergePatch] = media
		content[operation.JSONPatch] = object{"schema": patchSchema, "example": patchExample}
	}
	if o.Body == reflect.TypeFor[operation.Document]() {
		for _, name := range o.Media {
			content[name] = media
		}
		content[yamlType] = object{"schema": schema}
		content[formType] = object{"schema": fileForm("JSON, YAML, or a ZIP file with a document named openapi and the files it refers to.")}
	}
	return object{"required": !o.Body.Implements(reflect.TypeFor[operation.Optional]()), "content": content}, nil
}

// fileForm describes a form with a file.
func fileForm(about string) object {
	return object{"type": "object", "required": []string{filePart}, "properties": object{
		filePart: object{"type": "string", "format": "binary", "description": about}}}
}

// patchSchema describes a JSON patch (RFC 6902).
var patchSchema = object{"type": "array", "description": "A JSON patch (RFC 6902).", "items": object{
	"type": "object", "required": []string{"op", "path"}, "properties": object{
		"op":    object{"enum": []string{"add", "remove", "replace", "move", "copy", "test"}},
		"path":  object{"type": "string", "description": "JSON pointer (RFC 6901)."},
		"from":  object{"type": "string", "description": "JSON pointer to the source, for move and copy."},
		"value": object{"description": "Value, for add, replace and test."},
	}}}

var patchExample = []any{
	object{"op": "test", "path": "/name", "value": "old"}, object{"op": "replace", "path": "/name", "value": "new"}, object{"op": "remove", "path": "/tags/0"},
}

func (d *describer) success(o *operation.Operation, out output) (object, error) {
	headers := object{"X-Request-Id": ref("headers", "RequestID")}
	if out.form == listingForm {
		maps.Copy(headers, listHeaders)
	}
	if out.form == entity || out.form == stream || out.form == receipt || out.form == rendition {
		headers["ETag"] = ref("headers", "ETag")
	}
	described := object{"description": nethttp.StatusText(o.Status), "headers": headers}
	switch o.Status {
	case nethttp.StatusSeeOther:
		headers["Location"] = object{"description": "Address to which the browser is sent.", "schema": object{"type": "string"}}
		return described, nil
	case nethttp.StatusNoContent:
		return described, nil
	}
	if media := MediaType(o); media != jsonType {
		content := object{media: object{"schema": object{"type": "string", "format": "binary"}, "example": "(bytes)"}}
		if v, ok := o.Example.(operation.Varied); ok {
			for _, other := range v.MediaTypes() {
				content[other] = content[media]
			}
		}
		described["content"] = content
		return described, nil
	}
	example, err := Example(o)
	if err != nil {
		return nil, err
	}
	content := object{jsonType: object{"schema": d.outputSchema(o, out), "example": json.RawMessage(example)}}
	if s, ok := o.Example.(operation.Stream); ok {
		if mediaType, _, _, _ := s.Stream(); strings.HasPrefix(mediaType, plainType) {
			content[plainType] = content[jsonType]
			delete(content, jsonType)
		}
	}
	if out.form == rendition {
		content[yamlType] = object{"schema": object{}}
		content[fileType] = object{"schema": object{}}
	}
	binary := object{"schema": object{"type": "string", "format": "binary"}}
	if v, ok := reflect.Zero(out.of).Interface().(operation.Varied); ok && out.form == stream { // JSON unless the client asks for another media type
		for _, other := range v.MediaTypes() {
			if _, there := content[other]; !there {
				content[other] = binary
			}
		}
	} else if out.form == stream && out.of.Implements(reflect.TypeFor[operation.File]()) {
		content[fileType] = binary
	}
	described["content"] = content
	return described, nil
}

// MediaType returns the media type of an operation's answers, without parameters.
func MediaType(o *operation.Operation) string {
	s, ok := o.Example.(operation.Stream)
	if !ok {
		return jsonType
	}
	media, _, _, _ := s.Stream()
	media, _, _ = strings.Cut(media, ";")
	return media
}

// Example returns the encoded example answer of an operation.
func Example(o *operation.Operation) ([]byte, error) { return Text(o, o.Example) }

// Text returns an answer of an operation, encoded as it is sent.
func Text(o *operation.Operation, answer any) ([]byte, error) {
	if s, ok := answer.(operation.Stream); ok {
		mediaType, _, plain, _ := s.Stream()
		text := slices.Concat(plain...)
		if strings.HasPrefix(mediaType, plainType) {
			return json.Marshal(string(text))
		}
		return text, nil
	}
	b := newBuffer()
	defer b.release()
	out := compile(reflect.TypeOf(answer), o.Style)
	if r, ok := answer.(operation.Rendition); ok {
		return r.JSON, nil
	}
	err := out.write(b, answer)
	text := slices.Clone(b.text)
	for err == nil && b.more != nil {
		b.text = b.text[:0]
		err = b.more()
		text = append(text, b.text...)
	}
	return text, err
}

func (d *describer) outputSchema(o *operation.Operation, out output) object {
	if out.form == landing && out.elem != nil {
		return d.of(out.elem)
	}
	switch out.form {
	case receipt, landing:
		return object{"type": "object", "required": []string{"Status", "Message", "Meta"}, "properties": object{
			"Status": object{"const": o.Style.Word}, "Message": object{"type": "string"},
			"Meta": object{"type": []string{"string", "object", "null"}}, "ID": object{"type": "string"},
		}}
	case page:
		if o.Style.Bare {
			return object{"type": "array", "items": d.of(out.elem)}
		}
		return object{"type": "object", "required": []string{o.Style.ListKey, pagesKey(o.Style)}, "properties": object{
			o.Style.ListKey:   object{"type": "array", "items": d.of(out.elem)},
			pagesKey(o.Style): object{"type": "integer", "minimum": 1, "description": "Number of pages."},
		}}
	case listingForm:
		return object{"type": "array", "items": d.of(out.elem)}
	case entity:
		return d.of(out.elem)
	case rendition:
		if o.Like != nil {
			return d.of(reflect.TypeOf(o.Like))
		}
		return object{"type": "object"}
	case stream: // the value itself names its media type
		if out.of.Kind() != reflect.Interface {
			switch v := reflect.New(out.of).Interface().(type) {
			case describing:
				return v.Schema()
			case interface{ Like() any }:
				return d.of(reflect.TypeOf(v.Like()))
			}
		}
		return object{}
	}
	return d.of(out.of)
}
