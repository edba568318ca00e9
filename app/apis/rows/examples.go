package rows

import "github.com/gatehouse-io/gatehouse/ports/store"

// Examples for the API description.
var (
	extension = map[string]any{
		"info":     map[string]any{"name": "Orders", "id": "orders", "state": map[string]any{"active": true}},
		"upstream": map[string]any{"url": "http://orders.internal:8080/"},
		"server":   map[string]any{"listenPath": map[string]any{"value": "/orders/", "strip": true}},
	}
	// Description is a plain OpenAPI description.
	Description = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"},
		"servers": []any{map[string]any{"url": "http://orders.internal:8080/"}}, "paths": map[string]any{},
	}
	// Document is the document of an OAS API.
	Document = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"}, "paths": map[string]any{},
		"x-tyk-api-gateway": extension,
	}
	// StreamsDocument is the document of a streams API.
	StreamsDocument = map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Orders", "version": "1.0.0"}, "paths": map[string]any{},
		"x-tyk-api-gateway": extension,
		"x-tyk-streaming":   map[string]any{"streams": map[string]any{"out": map[string]any{"input": map[string]any{"http_server": map[string]any{"path": "/in"}}, "output": map[string]any{"http_server": map[string]any{"ws_path": "/out"}}}}},
	}
	// References are records that refer to an API.
	References = []store.Reference{
		{Kind: "policy", ID: "gold", Name: "Gold", Where: "access_rights.orders"},
		{Kind: "clientidp", ID: "corp", Name: "Corporate login", Where: "api_mappings.orders"},
	}
)

// Done returns the response to a write.
func Done(message string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": nil}
}

// Made returns the response to the creation of an API.
func Made(message, meta string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": meta, "ID": "orders"}
}
