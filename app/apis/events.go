package apis

import (
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Event is the name of the event of every change of an API.
const Event = "api_event"

// maxName bounds the name of the API in an event, in bytes.
const maxName = 256

// happened is the payload of an event.
type happened struct {
	Action store.Op `json:"action"`
	ID     string   `json:"id"`
	APIID  string   `json:"api_id"`
	Name   string   `json:"name"`
}

// events are the events of changes of APIs for external receivers.
var events = &crud.Events[apidef.API]{Names: []string{Event}, Of: func(before, after *apidef.API) []deliver.Event {
	a, action := after, store.Updated
	switch {
	case before == nil:
		action = store.Created
	case after == nil:
		a, action = before, store.Deleted
	}
	name := a.Name()
	return []deliver.Event{{Name: Event, Message: happened{action, a.ID(), a.APIID(), name[:min(len(name), maxName)]}}}
}}
