package classic_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestCopiesOfWebhooks: event handlers that refer to a webhook by its ID become copies
// of it when it changes. A change that would make the copies too large is refused, and
// changes nothing.
func TestCopiesOfWebhooks(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const handler = `{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1"}}`
	with := func(n int) string {
		return strings.Replace(apistest.Classic("a", "A", "/a/"), `"api_definition":{`,
			`"api_definition":{"event_handlers":{"events":{"AuthFailure":[`+strings.Repeat(handler+",", n-1)+handler+`],"KeyExpired":[`+handler+`]}},`, 1)
	}
	w.Want("admin", "POST", "/apis", with(1000), 400, "has 1001 entries, and may have 1000")
	w.Done("admin", "POST", "/apis", with(999))
	for _, c := range []struct {
		size    int
		refused bool
	}{{70 << 10, true}, {1 << 10, false}} {
		before := w.Head()
		_, err := w.DB.Update(t.Context(), w.Scope(), func(wr store.Writer) error {
			return w.APIs.RefreshHook(t.Context(), wr, webhook.Hook{ID: "h1", Draft: webhook.Draft{Method: "PUT", TargetPath: "https://h.example/" + strings.Repeat("x", c.size)}})
		})
		if refused := fault.CodeOf(err) == "webhook.copies"; refused != c.refused || refused != (w.Head() == before) || !refused && err != nil {
			t.Errorf("%d bytes: %v", c.size, err)
		}
	}
	if _, text := w.Stored("a"); strings.Count(text, strings.Repeat("x", 1<<10)) != 1000 {
		t.Error("handlers do not say what the webhook says")
	}
}
